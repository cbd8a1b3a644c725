"""Tables of Tonk for agents to decide at, and what must not change their decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from tonk_env._jit import mix
from tonk_env.batch import apply_rows, deal_hands, legal_rows, live_rows, view_rows
from tonk_env.cards import mask_cards
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.limits import MAX_LEGAL
from tonk_env.rules import LoweredRules
from tonk_env.view import VIEW_DTYPE


class Shown(NamedTuple):
    """What agents are asked: a row for each table."""

    views: npt.NDArray[np.void]
    legal: npt.NDArray[np.int16]
    num_legal: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]

    def rows(self, rows: Any) -> Shown:
        """The same questions in another order, or some of them."""
        return Shown(*(np.ascontiguousarray(part[rows]) for part in self))

    def is_legal(self, actions: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Tells of each action whether it is legal."""
        listed = np.arange(MAX_LEGAL) < self.num_legal[:, None]
        found: npt.NDArray[np.bool_] = ((self.legal == actions[:, None]) & listed).any(1)
        return found


def show(tables: npt.NDArray[np.void], rows: npt.NDArray[np.int64], rules: LoweredRules) -> Shown:
    views, legal = np.zeros(len(rows), VIEW_DTYPE), np.zeros((len(rows), MAX_LEGAL), np.int16)
    num_legal = np.zeros(len(rows), np.int64)
    view_rows(tables, rows, views)
    legal_rows(tables, rows, rules.record, legal, num_legal)
    keys = np.array([mix(int(row), int(tables[row]["moves"])) for row in rows], np.int64)
    return Shown(views, legal, num_legal, keys)


def walk(
    agents: list[Agent], rules: LoweredRules, players: int, hands: int
) -> Iterator[tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]]:
    """Plays hands, every decision by one of the agents at random; yields tables and rows before each move."""
    rng = np.random.default_rng(players)
    tables, rows = np.zeros(hands, STATE_DTYPE), np.zeros(hands, np.int64)
    decks = np.array([mix(5, hand) for hand in range(hands)], np.int64)
    full = np.full(hands, players, np.int64)
    deal_hands(tables, rules.record, 0 * full, full, np.arange(hands) % players, decks)
    while live := live_rows(tables, rows):
        yield tables, rows[:live]
        shown = show(tables, rows[:live], rules)
        choices = np.array([agent.act(*shown) for agent in agents])
        actions = choices[rng.integers(len(agents), size=live), np.arange(live)]
        assert apply_rows(tables, rows[:live], rules.record, actions) == -1


def permute_hidden(
    tables: npt.NDArray[np.void], rows: npt.NDArray[np.int64], rules: LoweredRules, seed: int
) -> npt.NDArray[np.void]:
    """Returns the tables with all cards that the seat to move cannot know dealt anew among their places."""
    rng = np.random.default_rng(seed)
    changed = tables.copy()
    for row in rows:
        table = changed[row]
        mover, first, size = int(table["seat"]), int(table["next_card"]), int(table["deck_size"])
        others = [seat for seat in range(int(table["num_players"])) if seat != mover]
        known = {seat: mask_cards(table["known"][seat]) for seat in others}
        hidden = {seat: mask_cards(table["hands"][seat]) for seat in others}
        for seat in others:
            for card in known[seat]:
                hidden[seat].remove(card)
        pool = [card for seat in others for card in hidden[seat]] + table["deck"][first:size].tolist()
        dealt = iter(rng.permutation(pool).tolist())
        for seat in others:
            cards = known[seat] + [next(dealt) for _ in hidden[seat]]
            twice = {card for card in cards if cards.count(card) > 1}
            table["hands"][seat] = [sum(1 << card for card in types) for types in (set(cards), twice)]
            table["counts"][seat] = sum(int(rules.record[0]["values"][card]) for card in cards)
        table["deck"][first:size] = list(dealt)
    return changed
