"""Plays the compiled engine and the naive one side by side and compares them after every step."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from tests.naive.engine import NaiveHand
from tests.naive.strategy import Case, random_chance, shuffled_deck, steered_move
from tonk_env.cards import CARD_TEXT, JOKER, SUITS, card_id, cards_text, mask_cards
from tonk_env.engine.deal import clear, deal, shuffle
from tonk_env.engine.legal import can_do, legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import CHANCE, DRAW, ENDED, ENDINGS, ILLEGAL, PLAY, STATE_DTYPE
from tonk_env.engine.turn import apply, apply_chance, reorder_slaps
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.rules import LoweredRules, lower
from tonk_env.rules.lower import ACTION_KINDS, RUN
from tonk_env.table_text import move_text, spread_text
from tonk_env.view import VIEW_DTYPE, view


def lowered(case: Case) -> LoweredRules:
    return lower(case.options)


class Pair:
    """One hand on both engines."""

    def __init__(
        self, case: Case, rules: LoweredRules, deck: list[str], chance: dict[str, Any], explicit: bool
    ) -> None:
        self.rules = rules
        self.row = self.rules.record[0]
        self.naive = NaiveHand(case.options, case.num_players, case.dealer, deck, **chance)
        self.slap_orders = chance["slap_orders"] or []
        self.num_players = case.num_players
        self.tables = np.zeros(1, STATE_DTYPE)
        self.table = self.tables[0]
        self.legal = np.zeros(MAX_ACTIONS, np.int16)
        self.payments = np.zeros((1, MAX_SEATS))
        self.views = np.zeros(1, VIEW_DTYPE)
        clear(self.tables, 0, 0, case.num_players, case.dealer)
        self.cards = [card_id(card) for card in deck]
        self.deck_left = list(self.cards)
        order = sorted(self.cards) if explicit else self.cards
        shuffle(self.tables, 0, self.rules.record, 0)
        assert sorted(self.table["deck"][: self.table["deck_size"]]) == sorted(self.cards)
        self.table["deck"][: len(deck)] = order
        self.table["called_suit"] = SUITS.index(chance["called_suit"])
        self.table["bet_deals"] = [chance["deals_since_won"][bet] for bet in ("suit", "naturals")]
        self.table["multiplier"] = chance["multiplier"]
        self.table["explicit"] = explicit
        deal(self.tables, 0, self.rules.record)
        self.follow_deck()

    def follow_deck(self) -> None:
        """At chance nodes, chooses the cards of the deck that the naive engine has."""
        while self.table["phase"] == CHANCE:
            at = int(self.table["next_card"])
            assert apply_chance(self.tables, 0, self.rules.record, self.cards[at]) != ILLEGAL

    def ids(self) -> dict[str, int]:
        found = legal_actions(self.tables, 0, self.rules.record, self.legal)
        ids = self.legal[:found].tolist()
        assert ids == sorted(set(ids))
        return {move_text(self.table, self.rules, action): action for action in ids}

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
                assert spread_text(table, self.row, seat, place) == spread.text
        assert table["counts"][: self.num_players].tolist() == naive.counts
        assert table["waits"][: self.num_players].tolist() == naive.waits
        assert cards_text(table["pile"][: table["pile_size"]]).split() == naive.pile
        stock = table["deck"][table["next_card"] : table["deck_size"]]
        assert sorted(cards_text(stock).split()) == sorted(naive.stock)
        settle(self.tables, 0, self.rules.record, self.payments, 0)
        # Shares of a third are not the same to the last bit.
        assert np.allclose(self.payments[0, : self.num_players], naive.payments, rtol=0, atol=1e-9)
        assert not self.payments[0, self.num_players :].any()
        assert ENDINGS[table["ending"]] == (naive.ending or "none")
        if naive.to_move is None:
            assert table["phase"] == ENDED and not ids
        else:
            assert table["seat"] == naive.to_move and table["turn_seat"] == naive.whose_turn and ids
        self.compare_view(int(table["moves"]) % self.num_players)
        return ids

    def compare_view(self, viewer: int) -> None:
        """Asserts that a seat sees what it may know of the naive hand."""
        view(self.tables, 0, viewer, self.views, 0)
        seen, naive, n = self.views[0], self.naive, self.num_players
        seats = [(viewer + step) % n for step in range(n)]
        assert cards_text(mask_cards(seen["hand"])).split() == _in_order(naive.hands[viewer])
        assert seen["count"] == naive.counts[viewer]
        assert seen["num_cards"][:n].tolist() == [len(naive.hands[seat]) for seat in seats]
        assert seen["waits"][:n].tolist() == [naive.waits[seat] for seat in seats]
        assert seen["swapped"][:n].tolist() == [naive.swapped[seat] for seat in seats]
        assert seen["num_spreads"][:n].tolist() == [
            sum(spread.owner == seat for spread in naive.spreads) for seat in seats
        ]
        assert seen["stock_size"] == len(naive.stock) and seen["pile_size"] == len(naive.pile)
        assert seen["top"] == (card_id(naive.pile[-1]) if naive.pile else -1)
        put_away = naive.put_away[viewer]
        assert seen["put_away"] == (-1 if put_away is None else card_id(put_away))
        if naive.to_move is not None:
            assert seats[seen["to_move"]] == naive.to_move and seats[seen["turn_of"]] == naive.whose_turn

    def play(self, move: str, ids: dict[str, int]) -> None:
        asks = int(self.table["num_asks"])
        assert apply(self.tables, 0, self.rules.record, ids[move]) != ILLEGAL
        if self.table["num_asks"] > asks:
            order = np.array(self.slap_orders[asks], np.int8)
            reorder_slaps(self.tables, 0, self.rules.record, order)
        self.naive.play(move)  # `compare` has asserted that it is legal
        self.follow_deck()

    def assert_refuses(self, action: int) -> None:
        """Asserts that an illegal action changes nothing."""
        before = self.tables.tobytes()
        assert not can_do(self.tables, 0, self.rules.record, action)
        assert apply(self.tables, 0, self.rules.record, action) == ILLEGAL
        assert self.tables.tobytes() == before


def _in_order(cards: list[str]) -> list[str]:
    return sorted(cards, key=card_id)


def play_pair(
    case: Case,
    rng: random.Random,
    reached: Counter[Any],
    explicit: bool = False,
    lowered_rules: LoweredRules | None = None,
    drop: float = 0.02,
) -> None:
    """Plays one steered hand on both engines, comparing after every step, and counts what it reached."""
    chance = random_chance(case, rng)
    lowered_rules = lowered(case) if lowered_rules is None else lowered_rules
    rules = lowered_rules.rules
    explicit = explicit and not rules.slap and not rules.side_bets.suit  # only cards are given
    pair = Pair(case, lowered_rules, shuffled_deck(case, rng), chance, explicit)
    ids = pair.compare()
    while ids:
        move = steered_move(set(ids), rng, drop)
        table = pair.table
        if rng.random() < 0.05:
            action = rng.randrange(-1, pair.rules.num_actions + 1)
            if action not in ids.values():
                pair.assert_refuses(action)
        word, *rest = move.split()
        reached[f"move {word}"] += 1
        if word == "target" and len(rest) == 3:
            reached[f"move target {rest[-1]}"] += 1
        _count_options(pair, word, rest, ids, reached)
        reached["forced drop"] += int(table["must_drop"])
        reached["drop barred by a wait"] += int(table["phase"] == DRAW and not table["may_drop"])
        reached["blocked from going out"] += int(table["blocked"][table["seat"]])
        pair.play(move, ids)
        ids = pair.compare()
    _count(pair, case, reached)


def _count_options(
    pair: Pair, word: str, rest: list[str], ids: dict[str, int], reached: Counter[Any]
) -> None:
    """Counts what options do before a move is made."""
    table, rules = pair.table, pair.rules.rules
    hand = pair.naive.hands[int(table["seat"])]
    kinds = {move.split()[0] for move in ids}
    if table["phase"] == PLAY:
        reached[f"must_spread {rules.spreads.must_spread} forbids a discard"] += bool(
            "spread" in kinds and "discard" not in kinds and rules.spreads.must_spread != "no"
        )
        limit = rules.spreads.hits_per_turn
        reached["no more hits this turn"] += limit is not None and int(table["hits_now"]) >= limit
        reached["taken card must be melded"] += rules.spreads.taken_must_meld and int(table["taken"]) >= 0
    if table["phase"] == DRAW:
        reached["take refused"] += "take" not in kinds and bool(pair.naive.pile) and "stock" in kinds
        reached["drop refused by a lock"] += bool(table["locked"]) and "drop" not in kinds
        reached["empty hand must drop"] += not hand
    if word == "spread" and "[" in rest[0]:
        reached["spread with a joker"] += "[Jk]" in rest[0]
        reached["spread with a wild rank"] += rest[0].count("[") > rest[0].count("[Jk]")
        reached["spread with several wilds"] += rest[0].count("[") > 1
        reached[f"spread with wilds, {rules.spreads.min_naturals} naturals needed"] += 1
    if (
        word == "spread"
        and any(rank in rest[0][::2] for rank in rules.deck.wild_ranks)
        and "[" not in rest[0]
    ):
        reached["wild rank as itself"] += 1
    if word == "hit" and rules.deck.has_wilds and (rest[0] == "Jk" or rest[0][0] in rules.deck.wild_ranks):
        reached["hit with a wild"] += 1
    if word in ("discard", "take") and rules.deck.jokers:
        card = rest[0] if rest else pair.naive.pile[-1]
        reached[f"{word} of a {rules.deck.joker_role} joker"] += card == CARD_TEXT[JOKER]
    if word == "slap":
        is_own = table["seat"] == table["thrower"]
        reached[f"slap by {'the discarder' if is_own else 'another'}"] += 1
        reached["slap in a chain"] += int(table["thrower"]) != int(table["turn_seat"])


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
    paid = any(pair.naive.payments)
    reached["widow paid for"] += bool(table["swapped"]) and paid
    reached["long-spread bonus"] += bool(table["long_laid"]) and rules.long_spread_bonus > 0 and paid
    reached["locked at the end"] += bool(table["locked"])
    reached["locked stock-out"] += bool(table["locked"]) and ending in ("stock_out", "turn_limit")
    reached["bet on the suit won"] += rules.side_bets.suit > 0 and table["suit_winner"] >= 0
    reached["bet on naturals won"] += rules.side_bets.naturals > 0 and table["naturals_winner"] >= 0
    reached["multiplied"] += bool(table["multiplier"] != 1) and paid
    reached["a hand went on empty"] += (
        rules.going_out.stock_floor == "players"
        and 0 in [len(hand) for hand in pair.naive.hands]
        and ending not in ("tonk", "out")
    )
    for at in range(int(table["num_wilds"])):
        kind = table["spread_kind"][table["wild_seat"][at], table["wild_place"][at]]
        reached[f"wild in a {'run' if kind == RUN else 'set'}"] += 1
