"""Small games of Tonk as flat arrays.

The whole deal is one chance step, over hands as sets of cards: the order in which they came tells nothing.
Every later card from the stock is a chance node.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.tabular.slots import EMPTY, fill_slots, find_slot, make_slots
from tonk_env._jit import fold, jit
from tonk_env.batch import view_rows
from tonk_env.cards import NUM_TYPES
from tonk_env.engine.deal import chance_outcomes, clear, deal
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import CHANCE as CARD_DUE
from tonk_env.engine.state import ENDED, STATE_DTYPE
from tonk_env.engine.turn import apply, apply_chance
from tonk_env.errors import TonkError
from tonk_env.hand import RulesLike, full_deck
from tonk_env.limits import MAX_SEATS
from tonk_env.rules import LoweredRules, lower
from tonk_env.view import VIEW_DTYPE
from train.cfr.flat import CHANCE, NODE_DTYPE, SET_DTYPE, TERMINAL, FlatGame

MAX_NODES = 30_000_000
"""Nodes of the largest game that is expanded: 24 bytes each, and as much again for a solver."""
_MAX_DEALS = int(np.iinfo(np.int16).max)
"""What a node's label can tell apart."""
_DEALING = 0
"""Depth of the root on the way down."""
NODES, SETS, PLACES, ENDS, DEPTH = range(5)
"""What is counted while the game is walked through; the depth is -1 when it is done."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TonkGame(FlatGame):
    """A game of Tonk; the last seat deals, so that seat 0 has the first turn.

    Children of the root are deals, those of a decision the legal actions, ascending, and those of a chance
    node the cards that are left, ascending. The key of an information set is the fingerprint of its seat's
    log (`log` of a view).

    Attributes:
        rules: the rules.
        decks: `[D, deck]` int8, a deck for each child of the root, in dealing order.
        actions: `[num_places]` int16, the action ids.
    """

    rules: LoweredRules
    decks: npt.NDArray[np.int8]
    actions: npt.NDArray[np.int16]

    def views(self, first: int, last: int) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int16], Counts]:
        """Returns what an agent is shown at the information sets from `first` to before `last`.

        Returns:
            views: `[last - first]` VIEW_DTYPE.
            legal: `[last - first, max_legal]` int16, legal action ids.
            num_legal: `[last - first]` int64.
        """
        sets = self.sets[first:last]
        views = np.zeros(len(sets), VIEW_DTYPE)
        legal = np.zeros((len(sets), self.rules.max_legal), np.int16)
        num_legal = sets["num_actions"].astype(np.int64)
        places = np.arange(self.rules.max_legal) < num_legal[:, None]
        start = int(sets["first"][0]) if len(sets) else 0
        legal[places] = self.actions[start : start + int(num_legal.sum())]
        tables, record = np.zeros(len(sets), STATE_DTYPE), self.rules.record
        for row, node in enumerate(sets["node"].tolist()):
            way = [node]
            while self._parents[way[-1]]:
                way.append(int(self._parents[way[-1]]))
            _start(tables, row, record, self.num_players, self.decks, self.nodes, way.pop())
            while way:
                _step(tables, row, record, self.nodes, way.pop())
        view_rows(tables, np.arange(len(sets)), views)
        return views, legal, num_legal

    @functools.cached_property
    def _parents(self) -> npt.NDArray[np.int64]:
        """The parent of each node; the root's is itself."""
        inner = np.flatnonzero(self.nodes["num_children"])
        # Families lie in another order than their parents.
        inner = inner[np.argsort(self.nodes["first_child"][inner])]
        parents = np.repeat(inner, self.nodes["num_children"][inner])
        return np.concatenate([[0], parents])


@jit
def _start(tables: Any, i: int, rules: Any, num_players: int, decks: Any, nodes: Any, node: int) -> None:
    """Deals the deck of a child of the root as a whole; from then on cards are due one by one."""
    which = nodes[node]["label"]
    clear(tables, i, 0, num_players, num_players - 1)
    size = decks.shape[1]
    for at in range(size):
        tables[i]["deck"][at] = decks[which, at]
    tables[i]["deck_size"] = size
    tables[i]["lots"] = 0
    tables[i]["called_suit"] = -1
    tables[i]["explicit"] = 0
    deal(tables, i, rules)
    tables[i]["explicit"] = 1


@jit
def _step(tables: Any, i: int, rules: Any, nodes: Any, node: int) -> None:
    """Goes on to a node from its parent."""
    label: Any = np.int64(nodes[node]["label"])  # for which the engine is compiled already
    if tables[i]["phase"] == CARD_DUE:
        apply_chance(tables, i, rules, label)
    else:
        apply(tables, i, rules, label)


@jit
def _open(
    tables: Any,
    i: int,
    rules: Any,
    node: int,
    nodes: Any,
    sets: Any,
    actions: Any,
    payoffs: Any,
    slots: Any,
    keys: Any,
    legal: Any,
    left: Any,
    counts: Any,
) -> bool:
    """Writes a node and makes its children; returns whether it has any."""
    nodes[node]["first_child"] = 0
    nodes[node]["num_children"] = 0
    if tables[i]["phase"] == ENDED:
        nodes[node]["seat"] = TERMINAL
        nodes[node]["index"] = counts[ENDS]
        settle(tables, i, rules, payoffs, counts[ENDS])
        counts[ENDS] += 1
        return False
    first = int(counts[NODES])
    found = 0
    nodes[node]["first_child"] = first
    nodes[node]["index"] = 0
    if tables[i]["phase"] == CARD_DUE:
        nodes[node]["seat"] = CHANCE
        total = chance_outcomes(tables, i, left)
        for card in range(left.shape[0]):
            if left[card] > 0:
                nodes[first + found]["label"] = card
                nodes[first + found]["chance"] = left[card] / total
                found += 1
    else:
        seat = int(tables[i]["seat"])
        key = fold(int(tables[i]["log"]), int(tables[i]["own_log"][seat]))
        found = int(legal_actions(tables, i, rules, legal))
        slot = find_slot(slots, keys, key)
        if slots[slot] == EMPTY:
            number, place = int(counts[SETS]), int(counts[PLACES])
            slots[slot] = number
            keys[number] = key
            sets[number]["key"] = key
            sets[number]["first"] = place
            sets[number]["node"] = node
            sets[number]["num_actions"] = found
            sets[number]["seat"] = seat
            for at in range(found):
                actions[place + at] = legal[at]
            counts[SETS] += 1
            counts[PLACES] += found
        nodes[node]["seat"] = seat
        nodes[node]["index"] = slots[slot]
        for at in range(found):
            nodes[first + at]["label"] = legal[at]
            nodes[first + at]["chance"] = 1.0
    nodes[node]["num_children"] = found
    counts[NODES] += found
    return True


@jit
def _walk(
    tables: Any,
    rules: Any,
    num_players: int,
    decks: Any,
    way: Any,
    nodes: Any,
    sets: Any,
    actions: Any,
    payoffs: Any,
    slots: Any,
    keys: Any,
    legal: Any,
    left: Any,
    counts: Any,
) -> None:
    """Walks on through the game, depth first, until it is done or some array may run out of room.

    All that the walk needs to go on is in its arrays, so they may be grown between two calls.

    Args:
        tables: `[levels]` STATE_DTYPE, the tables on the way down to where the walk is.
        rules: `[1]` RULES_DTYPE.
        num_players: seats.
        decks: `[D, deck]` int8.
        way: `[levels, 2]` int64, on the way down: the node, and which of its children is next.
        nodes, sets, actions, payoffs: of the game, filled up to what `counts` says.
        slots, keys: where information sets are found by their keys.
        legal: `[MAX_ACTIONS]` int16, scratch space.
        left: `[NUM_TYPES]` int64, scratch space.
        counts: `[5]` int64, see `NODES`.
    """
    most = legal.shape[0]
    while counts[DEPTH] >= 0:
        if (
            counts[NODES] + most > nodes.shape[0]
            or counts[SETS] + 1 > sets.shape[0]
            or counts[PLACES] + most > actions.shape[0]
            or counts[ENDS] + 1 > payoffs.shape[0]
            or counts[DEPTH] + 2 > tables.shape[0]
        ):
            return
        depth = int(counts[DEPTH])
        node = int(way[depth, 0])
        if way[depth, 1] == nodes[node]["num_children"]:
            counts[DEPTH] -= 1
            continue
        child = int(nodes[node]["first_child"] + way[depth, 1])
        way[depth, 1] += 1
        if depth == _DEALING:
            _start(tables, depth + 1, rules, num_players, decks, nodes, child)
        else:
            tables[depth + 1] = tables[depth]
            _step(tables, depth + 1, rules, nodes, child)
        if _open(
            tables, depth + 1, rules, child, nodes, sets, actions, payoffs, slots, keys, legal, left, counts
        ):
            counts[DEPTH] += 1
            way[depth + 1, 0] = child
            way[depth + 1, 1] = 0


def _shares(left: Counter[int], size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields the sets of `size` cards that may be dealt from those left, and in how many ways each comes."""
    for cards in combinations_with_replacement(sorted(left), size):
        wanted = Counter(cards)
        ways = math.prod(math.comb(left[card], held) for card, held in wanted.items())
        if ways:
            yield cards, ways


def _deals(left: Counter[int], sizes: list[int]) -> Iterator[tuple[list[tuple[int, ...]], int]]:
    """Yields what each of several hands may be dealt, by their sizes, and the ways."""
    if not sizes:
        yield [], 1
        return
    for cards, ways in _shares(left, sizes[0]):
        for others, more in _deals(left - Counter(cards), sizes[1:]):
            yield [cards, *others], ways * more


def _list_decks(
    rules: LoweredRules, num_players: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    """Returns a deck `[D, deck]` for each deal, the rest ascending, and the deals' probabilities.

    Raises:
        TonkError: there are more than `_MAX_DEALS`.
    """
    row, deck = rules.record[0], full_deck(rules, num_players)
    hands = [int(row["hand_size"][num_players])] * num_players
    sizes = [*hands, *[int(row["widow"])] * num_players, int(row["upcard"])]
    types, at_least = len(set(deck)), 1
    for size in sizes:
        at_least *= max(1, math.comb(types, size))
        types = max(0, types - size)
    decks, ways = [], []
    for parts, number in _deals(Counter(deck), sizes) if at_least <= _MAX_DEALS else ():
        laid = [card for part in parts[num_players:] for card in part]
        first = [cards[at] for at in range(hands[0]) for cards in parts[:num_players]] + laid
        decks.append(first + sorted((Counter(deck) - Counter(first)).elements()))
        ways.append(number)
        if len(decks) > _MAX_DEALS:
            break
    if not 0 < len(decks) <= _MAX_DEALS:
        raise TonkError(
            f"too large to expand: at least {max(at_least, len(decks)):,} deals, {_MAX_DEALS:,} are allowed"
        )
    chances = np.array(ways, np.float64)
    return np.array(decks, np.int8), chances / chances.sum()


def _grown(array: Any, count: int, need: int) -> Any:
    """Returns an array with room for `need` more than `count`, twice as long if it has to be another one."""
    if count + need <= len(array):
        return array
    longer = np.zeros((2 * len(array) + need, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def expand(rules: RulesLike, num_players: int = 2, max_nodes: int = MAX_NODES) -> TonkGame:
    """Expands a game.

    Args:
        rules: as `tonk_env.rules.lower` takes them.
        num_players: seats.
        max_nodes: give up beyond so many.

    Raises:
        TonkError: the game is too large, or has chance besides the cards.
    """
    lowered = lower(rules)
    lowered.rules.check_players(num_players)
    for option, is_on in (("slap", lowered.rules.slap), ("side_bets.suit", lowered.rules.side_bets.suit)):
        if is_on:
            raise TonkError(
                f"only games whose chance is all in the cards are solved, but {option} is in force"
            )
    decks, chances = _list_decks(lowered, num_players)
    most = max(NUM_TYPES, lowered.max_legal)
    nodes = np.zeros(len(decks) + 1 + most, NODE_DTYPE)
    nodes["seat"][0], nodes["chance"][0], nodes["num_children"][0] = CHANCE, 1.0, len(decks)
    nodes["first_child"][0] = 1
    nodes["chance"][1 : len(decks) + 1] = chances
    nodes["label"][1 : len(decks) + 1] = np.arange(len(decks))
    sets, keys = np.zeros(1024, SET_DTYPE), np.zeros(1024, np.int64)
    slots = make_slots(len(keys))
    actions, payoffs = np.zeros(1024 + most, np.int16), np.zeros((1024, MAX_SEATS))
    tables, way = np.zeros(64, STATE_DTYPE), np.zeros((64, 2), np.int64)
    legal, left = np.zeros(most, np.int16), np.zeros(NUM_TYPES, np.int64)
    counts = np.array([len(decks) + 1, 0, 0, 0, 0], np.int64)
    while True:
        _walk(
            tables, lowered.record, num_players, decks, way, nodes, sets, actions, payoffs, slots, keys,
            legal, left, counts,
        )  # fmt: skip
        if counts[DEPTH] < 0:
            break
        if counts[NODES] > max_nodes:
            raise TonkError(
                f"too large to expand: {counts[NODES]:,} nodes after {way[0, 1]:,} of {len(decks):,} deals, "
                f"{max_nodes:,} are allowed"
            )
        nodes = _grown(nodes, int(counts[NODES]), most)
        actions = _grown(actions, int(counts[PLACES]), most)
        payoffs = _grown(payoffs, int(counts[ENDS]), 1)
        tables, way = (_grown(array, int(counts[DEPTH]), 2) for array in (tables, way))
        if counts[SETS] == len(sets):
            sets, keys = (_grown(array, len(array), 1) for array in (sets, keys))
            slots = make_slots(len(keys))
            fill_slots(slots, keys, int(counts[SETS]))
    return TonkGame(
        num_players,
        nodes[: counts[NODES]].copy(),
        sets[: counts[SETS]].copy(),
        payoffs[: counts[ENDS], :num_players].copy(),
        lowered,
        decks,
        actions[: counts[PLACES]].copy(),
    )
