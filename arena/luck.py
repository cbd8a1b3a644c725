"""Luck taken out of payments: an estimate of the same mean that varies less.

Duplicate deals cancel the luck of the cards as long as agents play them alike. What is left comes after they
part ways, and part of it is known to be luck: which card came from the stock, and which move an agent drew
from its own probabilities. For each of these events a correction is added to the payments: what a value of
the table was expected to be before it, less what it is after it. Given all that went before, each has mean
zero whatever the value, so the adjusted payments have the mean of the payments; the better the value, the
more of their variance goes.

The value of a table is what each seat is paid when the hand is played on from there by rule bots: the mean
of rollouts from the full state, with the stock left shuffled. A rule bot plays for itself, and `expert`
stands in for everybody else. So the value is fixed before the first hand, and the rollouts draw by keys that
nothing else uses: the same in every seating of a deck, so that corrections nearly cancel where agents play
alike. With few rollouts the value is noisy, so corrections are scaled down, by a share fixed beforehand too.

After AIVAT (Burch, Schmid, Moravčík, Morrill and Bowling, 2018), without its sums over private hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import FORFEIT, Agent
from agents.bot import Bot, choose_rows, make_tools
from agents.expert import expert
from tonk_env._jit import below, jit, mix
from tonk_env.batch import deal_match_hand
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import ENDED, STATE_DTYPE
from tonk_env.engine.turn import apply
from tonk_env.limits import MAX_SEATS
from tonk_env.rules import LoweredRules
from tonk_env.rules.lower import STOCK
from tonk_env.view import VIEW_DTYPE, view

Ints = npt.NDArray[np.int64]

_LUCK = 1 << 42
"""The counter that the rollouts of a hand draw by; seats and moves count from 0."""
_PLAYED: Any = np.int64(0)
_ROLLED: Any = np.int64(1)
"""Tables: the hand as it was played, and one that is played on. Typed, or Numba compiles anew for each."""
_ANY: Any = np.int64(-1)
_DOUBT = 16
"""Rollouts at which a correction counts half: with fewer it would add more noise than it takes away."""


@dataclass
class Recording:
    """The moves of hands as they are played.

    Attributes:
        rows: tables, one array for each time that moves were made.
        actions: the moves made there.
        legal: legal moves there, where they were drawn from known probabilities; else None.
        odds: these probabilities; else None.
    """

    rows: list[Ints] = field(default_factory=list)
    actions: list[npt.NDArray[np.int32]] = field(default_factory=list)
    legal: list[npt.NDArray[np.int16] | None] = field(default_factory=list)
    odds: list[npt.NDArray[np.float64] | None] = field(default_factory=list)

    def note(
        self,
        rows: Ints,
        actions: npt.NDArray[np.int32],
        legal: npt.NDArray[np.int16] | None = None,
        odds: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Adds a move at each of `rows` `[N]`; the arrays are copied."""
        self.rows.append(rows.copy())
        self.actions.append(actions.copy())
        self.legal.append(None if legal is None else legal.copy())
        self.odds.append(odds)

    def by_hand(self, hands: int, most: int) -> tuple[Ints, Ints, Ints, npt.NDArray[np.int16], Any]:
        """Returns the moves hand by hand.

        Args:
            hands: how many tables.
            most: legal moves at most.

        Returns:
            starts: `[hands + 1]`, where the moves of each hand begin.
            moves: `[M]` action ids, in the order in which they were made.
            choices: `[M]`, the row below for moves drawn from known probabilities; else -1.
            legal: `[C, most]` int16.
            odds: `[C, most]` float64.
        """
        nothing = np.zeros(0, np.int64)
        rows = np.concatenate([nothing, *self.rows])
        order = np.argsort(rows, kind="stable")
        starts = np.searchsorted(rows[order], np.arange(hands + 1))
        choices, found = [nothing], 0
        for at, odds in zip(self.rows, self.odds, strict=True):
            if odds is None:
                choices.append(np.full(len(at), -1))
                continue
            was_drawn = odds.max(axis=1) < 1
            choices.append(np.where(was_drawn, np.arange(found, found + len(at)), -1))
            found += len(at)
        moves = np.concatenate([nothing, *self.actions])[order]
        empty = np.zeros((0, most))
        legal = np.concatenate([empty.astype(np.int16), *(each for each in self.legal if each is not None)])
        every = np.concatenate([empty, *(each for each in self.odds if each is not None)])
        return starts, moves, np.concatenate(choices)[order], legal, every


class Luck:
    """Corrects payments for luck.

    Args:
        rules: the rules.
        num_players: seats at a table.
        rollouts: after each card drawn; a cost and a precision.
        agents: those that play.
        drawing: the numbers of those that draw their moves: where they are `Mixed`, the luck in it is taken
            out too.
    """

    def __init__(
        self,
        rules: LoweredRules,
        num_players: int,
        rollouts: int,
        agents: Sequence[Agent],
        drawing: Sequence[int] = (),
    ) -> None:
        self.drawing = frozenset(drawing)
        self._rules, self._players, self._rollouts = rules, num_players, rollouts
        stand_in = expert()
        bots = [agent if isinstance(agent, Bot) else stand_in for agent in agents]
        self._styles = np.concatenate([bot.style for bot in bots])
        self._tools = make_tools(rules, num_players)

    def corrections(
        self,
        recording: Recording,
        seating: Ints,
        deck_keys: Ints,
        agent_keys: Ints,
        dealers: Ints,
        deals: Ints,
        multiplier: float,
    ) -> npt.NDArray[np.float64]:
        """Returns what to add to the payments of hands that were played.

        Args:
            recording: their moves.
            seating, deck_keys, agent_keys, dealers: as for `arena.play.play_hands`.
            deals, multiplier: those of `arena.play.Standing`.

        Returns:
            `[B, MAX_SEATS]` float64, in stakes, by seat. Every row sums to zero where payments do.
        """
        found = np.zeros((len(deck_keys), MAX_SEATS))
        tables = np.zeros(2, STATE_DTYPE)
        most = self._rules.max_legal
        _correct(
            tables,
            tables.view(np.int64).reshape(2, -1),
            self._rules.record,
            seating,
            deck_keys,
            agent_keys,
            dealers,
            deals,
            multiplier,
            *recording.by_hand(len(deck_keys), most),
            self._rollouts,
            self._styles,
            self._tools,
            np.zeros(1, VIEW_DTYPE),
            np.zeros((1, most), np.int16),
            np.zeros(1, np.int64),
            np.zeros(1, np.int32),
            np.zeros((1, MAX_SEATS)),
            np.zeros((2, MAX_SEATS)),
            found,
        )
        found *= self._rollouts / (self._rollouts + _DOUBT)
        return found


@jit
def _correct(
    tables: Any,
    words: Any,
    rules: Any,
    seating: Any,
    deck_keys: Any,
    agent_keys: Any,
    dealers: Any,
    deals: Any,
    multiplier: float,
    starts: Any,
    moves: Any,
    choices: Any,
    legal: Any,
    odds: Any,
    rollouts: int,
    styles: Any,
    tools: Any,
    views: Any,
    few: Any,
    num_few: Any,
    actions: Any,
    payments: Any,
    means: Any,
    found: Any,
) -> None:
    """Plays each hand again, at table 0, and writes its corrections into `found` `[B, MAX_SEATS]`.

    Args:
        tables: `[2]` STATE_DTYPE, scratch space, and `words`, the same as `[2, words]` int64.
        starts, moves, choices, legal, odds: see `Recording.by_hand`.
        rollouts: after what happened; after what else could have, by its probability.
        styles: `[agents]` STYLE_DTYPE, and `tools`, of the bots that play on.
        views, few, num_few, actions: scratch space of one row.
        payments: `[1, MAX_SEATS]`, and `means`, `[2, MAX_SEATS]`, scratch space.
    """
    stock: Any = np.int64(rules[0]["kind_first"][STOCK])
    scratch = (views, few, num_few, actions, payments)
    players = seating.shape[1]
    for hand in range(starts.shape[0] - 1):
        suit, naturals = deals[hand, 0], deals[hand, 1]
        deal_match_hand(
            tables, _PLAYED, rules, 0, players, dealers[hand], deck_keys[hand], suit, naturals, multiplier
        )
        for at in range(starts[hand], starts[hand + 1]):
            if moves[at] == FORFEIT or tables[_PLAYED]["phase"] == ENDED:
                break
            key = mix(mix(agent_keys[hand], _LUCK), at - starts[hand])
            row = choices[at]
            if row >= 0:
                means[:] = 0.0
                for place in range(odds.shape[1]):
                    share = odds[row, place]
                    if share > 0.0:
                        action: Any = np.int64(legal[row, place])
                        is_made = action == moves[at]
                        _add_rollouts(
                            tables, words, rules, action, _ANY, mix(key, action), rollouts, share, is_made,
                            seating[hand], styles, tools, scratch, means,
                        )  # fmt: skip
                _add_difference(means, found, hand, players)
            first: Any = np.int64(tables[_PLAYED]["next_card"])
            left = np.int64(tables[_PLAYED]["deck_size"]) - first
            if moves[at] == stock and left > 1:
                means[:] = 0.0
                for step in range(left):
                    is_made = step == 0
                    _add_rollouts(
                        tables, words, rules, stock, first + step, mix(key, -2 - step), rollouts, 1.0 / left,
                        is_made, seating[hand], styles, tools, scratch, means,
                    )  # fmt: skip
                _add_difference(means, found, hand, players)
            _make_move(tables, rules, moves[at])


@jit
def _make_move(tables: Any, rules: Any, action: int) -> None:
    """Makes a move as it was played; a kernel of its own, since `apply` is copied into whatever calls it."""
    apply(tables, _PLAYED, rules, action)


@jit
def _add_difference(means: Any, found: Any, hand: int, players: int) -> None:
    for seat in range(players):
        found[hand, seat] += means[0, seat] - means[1, seat]


@jit
def _add_rollouts(
    tables: Any,
    words: Any,
    rules: Any,
    action: int,
    card: int,
    key: int,
    rollouts: int,
    share: float,
    is_made: bool,
    agents: Any,
    styles: Any,
    tools: Any,
    scratch: Any,
    means: Any,
) -> None:
    """Adds the mean payments after a move at table 0 to row 0 of `means`, by its share, and to row 1.

    To the latter only if the move was made.

    Args:
        action: the move.
        card: the place in the deck of the card that is next; -1: any.
        key: what the rollouts draw by.
        rollouts: after what happened.
        share: the probability with which this happens.
        is_made: whether it did.
        agents: `[players]` int64, whose style plays in each seat.
    """
    views, few, num_few, actions, payments = scratch
    first: Any = np.int64(tables[_PLAYED]["next_card"])
    size: Any = np.int64(tables[_PLAYED]["deck_size"])
    times = rollouts if is_made else int(np.ceil(rollouts * share))
    for number in range(times):
        for word in range(words.shape[1]):
            words[_ROLLED, word] = words[_PLAYED, word]
        deck = tables[_ROLLED]["deck"]
        fixed = first
        if card >= 0:
            held = deck[first]
            deck[first] = deck[card]
            deck[card] = held
            fixed += 1
        for at in range(size - 1, fixed, -1):
            other = fixed + below(mix(mix(key, number), at), at - fixed + 1)
            held = deck[at]
            deck[at] = deck[other]
            deck[other] = held
        actions[0] = action
        while True:
            apply(tables, _ROLLED, rules, np.int64(actions[0]))  # type: ignore[arg-type]
            if tables[_ROLLED]["phase"] == ENDED:
                break
            num_few[0] = legal_actions(tables, _ROLLED, rules, few[0])
            seat: Any = np.int64(tables[_ROLLED]["seat"])
            view(tables, _ROLLED, seat, views, 0)
            style = styles[agents[seat] : agents[seat] + 1]
            choose_rows(views, few, num_few, rules, style, tools, actions)
        settle(tables, _ROLLED, rules, payments, 0)
        for other in range(payments.shape[1]):
            value = payments[0, other] / times
            means[0, other] += share * value
            if is_made:
                means[1, other] += value
