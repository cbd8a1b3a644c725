"""Sampled walks through hands, for `train.cfr.monte_carlo`: compiled, each thread with a desk of its own.

A walk has a seat that learns. Cards and the other seats' moves are drawn, the others' from the current
strategies; what differs between the schemes is which of the learner's moves are looked into.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tabular.abstraction import NUM_FEATURES, key_of
from agents.tabular.moves import FIRST_ROW, MOVE_DROP, NUM_MOVES, follow_rule, offer
from agents.tabular.slots import EMPTY, find_slot
from tonk_env._jit import below, jit, mix
from tonk_env.batch import deal_hand
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import DRAW, ENDED, STATE_DTYPE
from tonk_env.engine.turn import apply
from tonk_env.limits import MAX_SEATS
from tonk_env.rules import LoweredRules
from tonk_env.view import VIEW_DTYPE, view

SCHEMES = ("external", "outcome", "rollouts")
EXTERNAL, OUTCOME, ROLLOUTS = range(len(SCHEMES))
MAX_DEPTH = 64
"""Decisions of the learner that a walk can look into one below the other; deeper ones are played out."""

ENTRY_DTYPE = np.dtype(
    [
        ("key", np.int64),
        ("is_regret", np.int64),  # 1: regrets, of the learner; 0: probabilities, of another seat
        ("amounts", np.float32, NUM_MOVES),
    ],
    align=True,
)

_ONE = 1 << 31  # random numbers below it, as parts of it
_PATH, _STEP = 1 << 30, 1 << 29  # counters of the learner's draws


class Book(NamedTuple):
    """What all walks of a batch read and none changes.

    Attributes:
        rules: `[1]` RULES_DTYPE.
        tools: `[1]` TOOLS_DTYPE.
        plan, styles: of `Abstraction.compile`.
        rule: `[1]` STYLE_DTYPE, of the bot that makes all other moves.
        slots: `[power of two]` int64, by which rows are found.
        keys: `[K]` int64, of decisions, by row.
        regrets: `[K, NUM_MOVES]` float32, summed so far.
    """

    rules: npt.NDArray[np.void]
    tools: npt.NDArray[np.void]
    plan: npt.NDArray[np.void]
    styles: npt.NDArray[np.void]
    rule: npt.NDArray[np.void]
    slots: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]
    regrets: npt.NDArray[np.float32]


class Desk(NamedTuple):
    """Where one thread works. Rows of `[D, …]` are the decisions looked into one below the other.

    Attributes:
        tables: `[D]` STATE_DTYPE.
        moves: `[D, NUM_MOVES]` int64, actions offered.
        chances: `[D, NUM_MOVES]` float64, of the current strategy.
        values: `[D, NUM_MOVES]` float64, in stakes, to the learner.
        keys, tried: `[D]` int64, of the decision, and its move that is being looked into.
        reaches: `[D]` float64, probability of the learner's draws that led there, under OUTCOME; else 1.
        views, legal, num_legal, discards, actions, payments, facts: scratch space of one row.
        journal: `[E]` ENTRY_DTYPE, what was learned, in order.
        counts: `[2]` int64: entries of the journal, decisions seen.
    """

    tables: npt.NDArray[np.void]
    moves: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    keys: npt.NDArray[np.int64]
    tried: npt.NDArray[np.int64]
    reaches: npt.NDArray[np.float64]
    views: npt.NDArray[np.void]
    legal: npt.NDArray[np.int16]
    num_legal: npt.NDArray[np.int64]
    discards: npt.NDArray[np.int16]
    actions: npt.NDArray[np.int32]
    payments: npt.NDArray[np.float64]
    facts: npt.NDArray[np.int64]
    journal: npt.NDArray[np.void]
    counts: npt.NDArray[np.int64]


def make_desk(rules: LoweredRules, entries: int) -> Desk:
    """Returns a desk whose journal holds so many entries."""
    depth = MAX_DEPTH + 1
    return Desk(
        np.zeros(depth, STATE_DTYPE),
        np.zeros((depth, NUM_MOVES), np.int64),
        np.zeros((depth, NUM_MOVES)),
        np.zeros((depth, NUM_MOVES)),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros(depth),
        np.zeros(1, VIEW_DTYPE),
        np.zeros((1, rules.max_legal), np.int16),
        np.zeros(1, np.int64),
        np.zeros((1, rules.max_legal), np.int16),
        np.zeros(1, np.int32),
        np.zeros((1, MAX_SEATS)),
        np.zeros(NUM_FEATURES, np.int64),
        np.zeros(entries, ENTRY_DTYPE),
        np.zeros(2, np.int64),
    )


@jit
def walk_hands(
    book: Book,
    desk: Desk,
    players: int,
    scheme: int,
    branches: int,
    explore: float,
    key: int,
    first: int,
    hands: int,
) -> None:
    """Walks through hands and writes what is learned into the desk's journal, from its start.

    Args:
        book: not modified.
        desk: overwritten.
        players: seats at the table.
        scheme: EXTERNAL, OUTCOME or ROLLOUTS.
        branches: decisions of the learner that are looked into, one below the other, before the hand is
            played out; at most MAX_DEPTH.
        explore: probability that the learner's own path takes a move at random, under OUTCOME and ROLLOUTS.
        key: fixes all that is random, with a hand's number.
        first: the first hand's number; the dealer and the learner change with it.
        hands: how many.
    """
    desk.counts[:] = 0
    for hand in range(first, first + hands):
        lot = mix(mix(key, hand), 1)
        learner = hand // players % players
        deal_hand(desk.tables, FIRST_ROW, book.rules, 0, players, hand % players, mix(mix(key, hand), 0))
        # Row 0 is the hand itself. What is looked into goes on in the row below, on a copy of the table. Luck
        # goes by the number of moves made, so that moves are compared on even terms.
        at = FIRST_ROW
        while True:
            choice = _next_choice(book, desk, at)
            number, to = int(desk.tables[at]["moves"]), at
            if choice < 0:
                settle(desk.tables, at, book.rules, desk.payments, 0)
                is_path = at == 0
                at = _hand_up(desk, at, float(desk.payments[0, learner]), scheme)
                if at >= 0:
                    move, to = int(desk.tried[at]), at + 1
                elif is_path or scheme != ROLLOUTS:
                    break
                else:
                    at = to = FIRST_ROW
                    move = _draw_path(desk, mix(lot, int(desk.tables[0]["moves"]) + _PATH), explore)
                    if move < 0:
                        break
            elif desk.tables[at]["seat"] == learner and at < branches:
                desk.keys[at] = choice
                move, to = _open(desk, at, scheme, mix(lot, number + _STEP), explore), at + 1
            else:
                if at < branches:
                    _write(desk, at, choice, 0, 0.0)
                move = _draw(desk, at, mix(lot, number), 0.0)
            if to != at:
                desk.tables[to] = desk.tables[at]
            apply(desk.tables, to, book.rules, desk.moves[at, move])
            at = to


@jit
def _open(desk: Desk, at: int, scheme: int, word: int, explore: float) -> int:
    """Returns the first move to look into at a decision of the learner."""
    if at == 0:
        desk.reaches[0] = 1.0
    desk.values[at, :] = 0.0
    desk.reaches[at + 1] = desk.reaches[at]
    if scheme == OUTCOME:
        move = _draw(desk, at, word, explore)
        desk.reaches[at + 1] *= _chance(desk, at, move, explore)
    else:
        move = _next_move(desk, at, -1)
    desk.tried[at] = move
    return int(move)


@jit
def _next_move(desk: Desk, at: int, before: int) -> int:
    """Returns the first move offered after another; NUM_MOVES where there is none."""
    move = before + 1
    while move < NUM_MOVES and desk.moves[at, move] < 0:
        move += 1
    return move


@jit
def _hand_up(desk: Desk, at: int, value: float, scheme: int) -> int:
    """Takes a value in stakes up to the decisions above, and writes what those learn that are done.

    Returns:
        The row of the first one that is not, with its next move in `tried`; -1 where all are done.
    """
    while at > 0:
        at -= 1
        desk.values[at, desk.tried[at]] = value * desk.reaches[at] / desk.reaches[at + 1]
        if scheme != OUTCOME:
            move = _next_move(desk, at, int(desk.tried[at]))
            if move < NUM_MOVES:
                desk.tried[at] = move
                return at
        value = 0.0
        for move in range(NUM_MOVES):
            if desk.moves[at, move] >= 0:
                value += desk.chances[at, move] * desk.values[at, move]
        _write(desk, at, int(desk.keys[at]), 1, value)
    return -1


@jit
def _draw_path(desk: Desk, word: int, explore: float) -> int:
    """Draws how the hand itself goes on once all moves of a decision are looked into; -1: it need not.

    Never by a drop: what that is worth is known by now, and the hand would end.
    """
    if desk.tables[0]["phase"] == DRAW:
        total = 1.0 - desk.chances[0, MOVE_DROP]
        desk.moves[0, MOVE_DROP] = -1
        desk.chances[0, MOVE_DROP] = 0.0
        for move in range(NUM_MOVES):
            desk.chances[0, move] = desk.chances[0, move] / total if total > 0 else 0.0
    return _draw(desk, 0, word, explore)


@jit
def _next_choice(book: Book, desk: Desk, at: int) -> int:
    """Plays table `at` up to a choice between macro moves; returns its key, or -1 where the hand has ended.

    Of the choice, the desk has the moves and their chances in row `at`.
    """
    while desk.tables[at]["phase"] != ENDED:
        desk.counts[1] += 1
        count = legal_actions(desk.tables, at, book.rules, desk.legal[0])
        action = int(desk.legal[0, 0])
        if count > 1:
            view(desk.tables, at, int(desk.tables[at]["seat"]), desk.views, FIRST_ROW)
            found = offer(
                desk.views, FIRST_ROW, desk.legal, count, book.rules, book.plan, book.styles, book.tools,
                desk.discards, desk.moves, at,
            )  # fmt: skip
            if found > 1:
                key = key_of(
                    desk.views, FIRST_ROW, desk.moves, at, book.rules, book.plan, book.styles, book.tools,
                    desk.facts,
                )  # fmt: skip
                found_row = int(book.slots[find_slot(book.slots, book.keys, key)])
                match_regrets(book.regrets, found_row, desk.moves, desk.chances, at)
                return int(key)
            if found == 1:
                for move in range(NUM_MOVES):
                    if desk.moves[at, move] >= 0:
                        action = int(desk.moves[at, move])
            else:
                desk.num_legal[0] = count
                follow_rule(
                    desk.views, desk.legal, desk.num_legal, book.rules, book.rule, book.tools, desk.actions
                )
                action = int(desk.actions[0])
        apply(desk.tables, at, book.rules, action)
    return -1


@jit
def match_regrets(regrets: Any, known: int, moves: Any, chances: Any, row: int) -> None:
    """Writes the strategy of a decision: moves in proportion to their positive regrets, or all alike.

    Args:
        regrets: `[K, NUM_MOVES]` float32.
        known: the decision's row there, or EMPTY where it is new.
        moves: `[D, NUM_MOVES]` int64; negative ones are not offered.
        chances: `[D, NUM_MOVES]` float64; row `row` is overwritten.
        row: which row.
    """
    total, offered = 0.0, 0
    for move in range(NUM_MOVES):
        chances[row, move] = 0.0
        if moves[row, move] >= 0:
            offered += 1
            if known >= 0:
                chances[row, move] = max(0.0, float(regrets[known, move]))
            total += chances[row, move]
    for move in range(NUM_MOVES):
        if moves[row, move] >= 0:
            chances[row, move] = chances[row, move] / total if total > 0 else 1.0 / offered


@jit
def _num_offered(desk: Desk, at: int) -> int:
    offered = 0
    for move in range(NUM_MOVES):
        offered += desk.moves[at, move] >= 0
    return offered


@jit
def _chance(desk: Desk, at: int, move: int, explore: float) -> float:
    """Returns the probability with which `_draw` draws a move."""
    return float(explore / _num_offered(desk, at) + (1 - explore) * desk.chances[at, move])


@jit
def _draw(desk: Desk, at: int, word: int, explore: float) -> int:
    """Draws a move by its chances, mixed with all moves alike; -1 where there is none."""
    left = below(word, _ONE) / _ONE
    drawn = -1
    for move in range(NUM_MOVES):
        if desk.moves[at, move] >= 0:
            drawn = move
            left -= _chance(desk, at, move, explore)
            if left < 0:
                return move
    return drawn


@jit
def _write(desk: Desk, at: int, key: int, is_regret: int, mean: float) -> None:
    """Adds an entry to the journal: regrets against `mean`, or the chances; nothing where it is full."""
    entry = desk.counts[0]
    if entry >= desk.journal.shape[0]:
        return
    desk.journal[entry]["key"] = key
    desk.journal[entry]["is_regret"] = is_regret
    for move in range(NUM_MOVES):
        amount = 0.0
        if desk.moves[at, move] >= 0:
            amount = desk.chances[at, move]
            if is_regret:
                amount = (desk.values[at, move] - mean) / desk.reaches[at]
        desk.journal[entry]["amounts"][move] = amount
    desk.counts[0] = entry + 1


@jit
def add_up(
    journal: Any, entries: int, weight: float, slots: Any, keys: Any, used: int, regrets: Any, strategy: Any
) -> int:
    """Adds what a journal holds to the sums.

    Args:
        journal: `[E]` ENTRY_DTYPE.
        entries: how many there are.
        weight: what each counts.
        slots, keys: of the sums' rows, with room for as many new ones.
        used: rows in use.
        regrets, strategy: `[K, NUM_MOVES]` float32.

    Returns:
        Rows in use.
    """
    for entry in range(entries):
        key = int(journal[entry]["key"])
        slot = find_slot(slots, keys, key)
        if slots[slot] == EMPTY:
            slots[slot], keys[used] = used, key
            used += 1
        row = slots[slot]
        for move in range(NUM_MOVES):
            amount = weight * journal[entry]["amounts"][move]
            if journal[entry]["is_regret"]:
                regrets[row, move] += amount
            else:
                strategy[row, move] += amount
    return used
