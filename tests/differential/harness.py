"""Plays the compiled engine and the naive one side by side and compares them after every step."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from tests.naive.engine import NaiveHand
from tests.naive.strategy import Case, shuffled_deck, steered_move
from tonk_env.cards import CARD_TEXT, card_id, cards_text, mask_cards
from tonk_env.engine.deal import clear, deal
from tonk_env.engine.legal import can_do, legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import CHANCE, DRAW, ENDED, ENDINGS, ILLEGAL, STATE_DTYPE
from tonk_env.engine.turn import apply, apply_chance
from tonk_env.limits import MAX_LEGAL, MAX_SEATS
from tonk_env.rules import LoweredRules, lower
from tonk_env.rules.lower import ACTION_KINDS, DISCARD, HIT, SPREAD, TARGET

# Options of the naive engine that the compiled one does not play yet.
NOT_PLAYED = {"spreads": ("must_spread", "hits_per_turn", "taken_must_meld")}


def playable(case: Case) -> Case:
    """The case without the options the compiled engine does not play."""
    options = {
        section: {key: value for key, value in given.items() if key not in NOT_PLAYED.get(section, ())}
        if isinstance(given, dict)
        else given
        for section, given in case.options.items()
    }
    return case._replace(options=options)


def lowered(case: Case) -> LoweredRules:
    return lower(case.options)


class Pair:
    """One hand on both engines."""

    def __init__(self, case: Case, deck: list[str], explicit: bool = False) -> None:
        self.rules = lowered(case)
        self.row = self.rules.record[0]
        self.naive = NaiveHand(case.options, case.num_players, case.dealer, deck)
        self.num_players = case.num_players
        self.tables = np.zeros(1, STATE_DTYPE)
        self.table = self.tables[0]
        self.legal = np.zeros(MAX_LEGAL, np.int16)
        self.payments = np.zeros((1, MAX_SEATS))
        clear(self.tables, 0, 0, case.num_players, case.dealer)
        self.cards = [card_id(card) for card in deck]
        self.deck_left = list(self.cards)
        order = sorted(self.cards) if explicit else self.cards
        self.table["deck"][: len(deck)] = order
        self.table["deck_size"] = len(deck)
        self.table["explicit"] = explicit
        deal(self.tables, 0, self.rules.record)
        self.follow_deck()

    def follow_deck(self) -> None:
        """At chance nodes, chooses the cards of the deck that the naive engine has."""
        while self.table["phase"] == CHANCE:
            at = int(self.table["next_card"])
            assert apply_chance(self.tables, 0, self.rules.record, self.cards[at]) != ILLEGAL

    def text(self, action: int) -> str:
        kind = int(self.row["action_kind"][action])
        which = action - int(self.row["kind_first"][kind])
        if kind in (HIT, DISCARD):
            return f"{ACTION_KINDS[kind]} {CARD_TEXT[self.row['types'][which]]}"
        if kind == SPREAD:
            arranged = self.naive.melds.arrange(
                [CARD_TEXT[c] for c in mask_cards(self.row["spread_cards"][which])]
            )
            assert arranged is not None
            return f"spread {''.join(arranged)}"
        if kind == TARGET:
            each = int(self.row["spreads_per_seat"])
            seat = (int(self.table["seat"]) + which // each) % self.num_players
            return f"target {seat} {which % each}"
        return ACTION_KINDS[kind]

    def ids(self) -> dict[str, int]:
        found = legal_actions(self.tables, 0, self.rules.record, self.legal)
        ids = self.legal[:found].tolist()
        assert ids == sorted(set(ids))
        return {self.text(action): action for action in ids}

    def compare(self) -> dict[str, int]:
        """Asserts that both engines stand at the same place; returns the legal moves with their ids."""
        table, naive = self.table, self.naive
        ids = self.ids()
        assert set(ids) == naive.legal(), (sorted(ids), sorted(naive.legal()))
        for seat in range(self.num_players):
            assert cards_text(mask_cards(table["hands"][seat])).split() == _in_order(naive.hands[seat])
            assert table["num_cards"][seat] == len(naive.hands[seat])
            laid = sorted((s for s in naive.spreads if s.owner == seat), key=lambda s: s.index)
            assert table["num_spreads"][seat] == len(laid)
            for place, spread in enumerate(laid):
                cards = mask_cards(table["spread_cards"][seat, place])
                assert cards_text(cards).split() == _in_order(spread.cards)
        assert table["counts"][: self.num_players].tolist() == naive.counts
        assert table["waits"][: self.num_players].tolist() == naive.waits
        assert cards_text(table["pile"][: table["pile_size"]]).split() == naive.pile
        stock = table["deck"][table["next_card"] : table["deck_size"]]
        assert sorted(cards_text(stock).split()) == sorted(naive.stock)
        settle(self.tables, 0, self.rules.record, self.payments, 0)
        assert self.payments[0, : self.num_players].tolist() == naive.payments
        assert not self.payments[0, self.num_players :].any()
        assert ENDINGS[table["ending"]] == (naive.ending or "none")
        if naive.to_move is None:
            assert table["phase"] == ENDED and not ids
        else:
            assert table["seat"] == naive.to_move and ids
        return ids

    def play(self, move: str, ids: dict[str, int]) -> None:
        assert apply(self.tables, 0, self.rules.record, ids[move]) != ILLEGAL
        self.naive.apply(move)
        self.follow_deck()

    def assert_refuses(self, action: int) -> None:
        """Asserts that an illegal action changes nothing."""
        before = self.tables.tobytes()
        assert not can_do(self.tables, 0, self.rules.record, action)
        assert apply(self.tables, 0, self.rules.record, action) == ILLEGAL
        assert self.tables.tobytes() == before


def _in_order(cards: list[str]) -> list[str]:
    return sorted(cards, key=card_id)


def play_pair(case: Case, rng: random.Random, reached: Counter[Any], explicit: bool = False) -> None:
    """Plays one steered hand on both engines, comparing after every step, and counts what it reached."""
    pair = Pair(case, shuffled_deck(case, rng), explicit)
    ids = pair.compare()
    while ids:
        move = steered_move(set(ids), rng)
        table = pair.table
        if rng.random() < 0.05:
            action = rng.randrange(-1, pair.rules.num_actions + 1)
            if action not in ids.values():
                pair.assert_refuses(action)
        reached[f"move {move.split()[0]}"] += 1
        reached["forced drop"] += int(table["must_drop"])
        reached["drop barred by a wait"] += int(table["phase"] == DRAW and not table["may_drop"])
        reached["blocked from going out"] += int(table["blocked"][table["seat"]])
        pair.play(move, ids)
        ids = pair.compare()
    _count(pair, case, reached)


def _count(pair: Pair, case: Case, reached: Counter[Any]) -> None:
    table, rules = pair.table, pair.rules.rules
    counts = pair.naive.counts
    reached[f"ending {ENDINGS[table['ending']]}"] += 1
    reached[f"players {case.num_players}"] += 1
    reached[f"packs {rules.packs(case.num_players)}"] += 1
    ending = ENDINGS[table["ending"]]
    tied = counts.count(min(counts)) > 1
    if ending in ("drop", "caught"):
        tie = counts[table["ending_seat"]] == min(counts) and tied
        reached[f"tie with the dropper: {rules.drop.tie_with_dropper}"] += tie
        reached[f"{ending} under push-ups"] += rules.scoring == "push_ups"
        if ending == "caught":
            caught = rules.drop.caught
            others = [c for seat, c in enumerate(counts) if seat != table["ending_seat"]]
            several = others.count(min(others)) > 1
            reached[f"several catchers, lowest_tie {caught.lowest_tie}"] += several
            reached[f"caught, lowest_times {caught.lowest_times}"] += 1
    elif ending in ("stock_out", "turn_limit"):
        reached[f"{ending}, {rules.stock_out.result}"] += 1
        reached[f"stock tie: {rules.stock_out.tie}"] += tied and rules.stock_out.result == "lowest_wins"
    elif ending in ("tonk", "out"):
        reached[f"emptied by {ACTION_KINDS[table['emptied_by']]}"] += 1
        out = rules.going_out
        base = {"spread": out.spread, "hit": out.hit, "discard": out.discard}
        reached["going out paid otherwise"] += bool(
            table["multiple"] != base[ACTION_KINDS[table["emptied_by"]]]
        )
    elif ending in ("instant_win", "void"):
        reached[f"{ending}, tie {rules.instant_wins.tie}"] += 1
    reached[f"ace {rules.spreads.ace}"] += int(table["num_spreads"].sum())
