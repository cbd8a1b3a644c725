"""The naive engine against hand-worked cases of the variations: wilds, locks, claims, widows, slaps, bets."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from .engine import NaiveHand
from .helpers import deal, play, starting, texts, whole
from .melds import Meld, Melds
from .options import JOKER, Options, complete, is_wild, sorted_deck
from .strategy import random_chance, random_options, shuffled_deck, steered_move

ONE_JOKER: Options = {"deck": {"jokers": 1}}
TWO_JOKERS: Options = {"deck": {"jokers": 2}}
DEUCES: Options = {"deck": {"wild_ranks": "2"}}


def filled(named: str, hand: str, **options: Any) -> str | None:
    """The named spread as this hand lays it, if it may."""
    meld = Melds(whole(**options)).fill(named.split(), hand.split())
    return None if meld is None else meld.text


def hits(spread: str, card: str, **options: Any) -> dict[str, str]:
    """What a spread of natural cards would be with the card added, by end."""
    meld = Meld(tuple((named, named) for named in spread.split()))
    return {end: grown.text for end, grown in Melds(whole(**options)).hits_on(meld, card).items()}


def leave_in_stock(hand: NaiveHand, cards: int) -> None:
    """Shortens the stock, as if most of it had been drawn."""
    hand.stock = hand.stock[:cards]


# ---- wilds in spreads


def test_a_wild_stands_anywhere_in_a_run() -> None:
    assert texts("5h 6h Jk", **ONE_JOKER) == {"4h[Jk]5h6h", "5h6h7h[Jk]"}
    assert texts("5h 7h Jk", **ONE_JOKER) == {"5h6h[Jk]7h"}
    assert texts("5h 8h Jk", **ONE_JOKER) == set()
    assert texts("5h Jk Jk", **TWO_JOKERS) == {
        "3h[Jk]4h[Jk]5h", "4h[Jk]5h6h[Jk]", "5h6h[Jk]7h[Jk]", "5c[Jk]5d[Jk]5h",
    }  # fmt: skip


def test_min_naturals() -> None:
    two_naturals: Options = {"deck": {"jokers": 2}, "spreads": {"min_naturals": 2}}
    assert texts("5h Jk Jk", **two_naturals) == set()
    assert texts("5h 6h Jk", **two_naturals) == {"4h[Jk]5h6h", "5h6h7h[Jk]"}
    assert texts("Jk Jk", **TWO_JOKERS) == set()
    # Wilds alone are no spread, not even of one natural.
    assert texts("Jk Jk Jk Jk", deck={"jokers": 4}) == set()


def test_in_a_set_a_wild_stands_for_the_first_suit_lacking() -> None:
    assert texts("Kd Ks Jk", **ONE_JOKER) == {"Kc[Jk]KdKs"}
    # With the club king held the joker is the heart: no other three of these four.
    assert texts("Kc Kd Ks Jk", **ONE_JOKER) == {"KcKdKs", "KcKdKh[Jk]", "KcKdKh[Jk]Ks"}
    assert texts("Kh Ks Jk Jk", **TWO_JOKERS) >= {"Kc[Jk]KhKs", "Kc[Jk]Kd[Jk]KhKs"}


def test_in_a_set_with_every_suit_a_wild_is_the_first_suit_with_a_copy_left() -> None:
    two_suits: Options = {"deck": {"suits": 2, "packs": 2, "jokers": 1}}
    assert texts("Kc Kd Jk", **two_suits) == {"KcKc[Jk]Kd"}
    assert texts("Kc Kc Kd Jk", **two_suits) == {"KcKcKd", "KcKcKdKd[Jk]"}
    assert texts("Kc Kc Jk", **two_suits) == {"KcKcKd[Jk]"}
    # Four suits: an unheld suit comes before a second copy.
    four_suits: Options = {"deck": {"packs": 2, "jokers": 1}}
    assert texts("Kc Kd Jk", **four_suits) == {"KcKdKh[Jk]"}
    assert texts("Kc Kc Jk", **four_suits) == {"KcKcKd[Jk]"}


def test_a_spread_must_be_one_that_natural_cards_could_make() -> None:
    assert texts("Kc Kd Jk", deck={"suits": 2, "jokers": 1}) == set()
    assert texts("Kc Qc Jk", **ONE_JOKER) == {"Jc[Jk]QcKc"}
    assert texts("Kc Qc Jk", **ONE_JOKER, spreads={"ace": "low_or_high"}) == {"Jc[Jk]QcKc", "QcKcAc[Jk]"}


def test_fillers_are_the_highest_in_value_then_by_suit_jokers_last() -> None:
    both: Options = {"deck": {"wild_ranks": "2", "jokers": 1}}
    hand = "Kd Ks 2h 2c Jk"
    assert filled("Kc Kd Ks", hand, **both) == "Kc[2c]KdKs"
    assert filled("Kc Kd Kh Ks", hand, **both) == "Kc[2c]KdKh[2h]Ks"
    assert filled("Td Jd Qd Kd", hand, **both) == "Td[2c]Jd[2h]Qd[Jk]Kd"
    # A joker of 25 goes first, one of 2 equals the deuces and goes last.
    high: Options = {"deck": {"wild_ranks": "2", "jokers": 1, "values": {"Jk": 25}}}
    assert filled("Kc Kd Kh Ks", hand, **high) == "Kc[Jk]KdKh[2c]Ks"
    equal: Options = {"deck": {"wild_ranks": "2", "jokers": 1, "values": {"Jk": 2}}}
    assert filled("Td Jd Qd Kd", hand, **equal) == "Td[2c]Jd[2h]Qd[Jk]Kd"
    # Of two wild ranks of one value the suit decides first.
    courts: Options = {"deck": {"wild_ranks": "JQ"}}
    assert filled("3c 4c 5c 6c", "3c 4c Jd Qc", **courts) == "3c4c5c[Qc]6c[Jd]"
    assert filled("3c 4c 5c 6c", "3c 4c Jc Qc", **courts) == "3c4c5c[Jc]6c[Qc]"


def test_a_wild_rank_used_as_itself_is_natural() -> None:
    assert "2h3h4h" in texts("2h 3h 4h", **DEUCES)
    assert "3h4h5h[2h]" in texts("2h 3h 4h", **DEUCES)
    # The two of hearts is itself here, and the other fills.
    assert filled("2h 3h 4h", "2h 2c 4h", **DEUCES) == "2h3h[2c]4h"
    two_naturals: Options = {"deck": {"wild_ranks": "2"}, "spreads": {"min_naturals": 2}}
    assert texts("2h 3h 2c", **two_naturals) == {"2h3h4h[2c]", "Ah[2c]2h3h"}
    assert texts("2c 2d 2h", **DEUCES) >= {"2c2d2h"}


def test_a_card_named_twice_and_held_once_is_natural_once() -> None:
    options: Options = {"deck": {"suits": 2, "packs": 2, "jokers": 2}}
    assert filled("Kc Kc Kd Kd", "Kc Kd Jk Jk", **options) == "KcKc[Jk]KdKd[Jk]"


def test_dead_jokers_are_in_no_spread_and_hit_nothing() -> None:
    dead: Options = {"deck": {"jokers": 3, "joker_role": "dead", "values": {"Jk": 7}}}
    assert texts("5h 6h Jk Jk Jk", **dead) == set()
    assert hits("5h 6h 7h", "Jk", **dead) == {}
    hand = play(deal(dead, ["5h Jk", "9s Kc"], stock="Jk"), "0 stock")
    assert hand.counts[0] == 19
    assert hand.legal() == {"discard 5h", "discard Jk"}


def brute_spreads(hand: list[str], melds: Melds) -> set[str]:
    """Tries every choice of cards of the deck against the wording of RULES, section "Wilds"."""
    options, found = melds.options, set()
    deck = sorted(set(sorted_deck(options, 2)) - {JOKER})
    copies = sorted(deck * melds.packs)
    for size in range(3, len(hand) + 1):
        for chosen in set(combinations(copies, size)):
            named = melds.arrange(list(chosen))
            if named is None:
                continue
            missing = Counter(named) - Counter(hand)
            naturals = Counter(named) - missing
            wilds = [c for c in (Counter(hand) - naturals).elements() if is_wild(c, options)]
            if missing.total() > len(wilds):
                continue
            if missing and naturals.total() < options["spreads"]["min_naturals"]:
                continue
            if len({card[0] for card in named}) == 1:
                grown = Counter(naturals)
                for _ in range(missing.total()):
                    rank = named[0][0]
                    of_rank = [rank + suit for suit in "cdhs"[: options["deck"]["suits"]]]
                    lacking = [c for c in of_rank if grown[c] == 0] or [
                        c for c in of_rank if grown[c] < melds.packs
                    ]
                    grown[lacking[0]] += 1
                if grown != Counter(named):
                    continue
            found.add("".join(named))
    return found


def test_spreads_with_wilds_are_all_found() -> None:
    rng = random.Random(11)
    for deck in [
        {"ranks": "A234", "suits": 2, "packs": 2, "jokers": 2},
        {"ranks": "A23", "suits": 4, "jokers": 2, "wild_ranks": "2"},
        {"ranks": "A2345", "suits": 2, "jokers": 2, "wild_ranks": "4"},
    ]:
        for min_naturals in (1, 2):
            melds = Melds(whole(deck=deck, spreads={"min_naturals": min_naturals, "ace": "wrap"}))
            for _ in range(5):
                hand = rng.sample(sorted_deck({"deck": deck}, 2), 5)
                found = melds.spreads_in(hand)
                assert {"".join(meld.cards) for meld in found} == brute_spreads(hand, melds)
                assert all(Counter(meld.held) <= Counter(hand) for meld in found)


# ---- wilds as hits


def test_a_wild_hits_a_run_at_either_end() -> None:
    assert hits("5h 6h 7h", "Jk", **ONE_JOKER) == {"low": "4h[Jk]5h6h7h", "high": "5h6h7h8h[Jk]"}
    assert hits("Ac 2c 3c", "Jk", **ONE_JOKER) == {"high": "Ac2c3c4c[Jk]"}
    assert hits("Jc Qc Kc", "Jk", **ONE_JOKER) == {"low": "Tc[Jk]JcQcKc"}
    assert hits("Jc Qc Kc", "Jk", **ONE_JOKER, spreads={"ace": "low_or_high"}) == {
        "low": "Tc[Jk]JcQcKc", "high": "JcQcKcAc[Jk]",
    }  # fmt: skip
    # A wild rank may be the very card of the end: then it is natural.
    assert hits("3h 4h 5h", "2h", **DEUCES) == {"low": "2h3h4h5h", "high": "3h4h5h6h[2h]"}
    assert hits("3h 4h 5h", "2c", **DEUCES) == {"low": "2h[2c]3h4h5h", "high": "3h4h5h6h[2c]"}


def test_both_ends_of_a_run_call_for_one_card_at_the_low_end() -> None:
    wrap: Options = {"deck": {"ranks": "A2345", "jokers": 1}, "spreads": {"ace": "wrap"}}
    assert hits("Ac 2c 3c 4c", "Jk", **wrap) == {"low": "Ac2c3c4c5c[Jk]"}
    assert hits("3c 4c 5c Ac", "Jk", **wrap) == {"low": "Ac2c[Jk]3c4c5c"}
    assert hits("Ac 2c 3c 4c 5c", "Jk", **wrap) == {}
    both: Options = {"deck": {"ranks": "A2345", "jokers": 1}, "spreads": {"ace": "low_or_high"}}
    assert hits("2c 3c 4c 5c", "Jk", **both) == {"low": "Ac[Jk]2c3c4c5c"}
    assert hits("3c 4c 5c Ac", "Jk", **both) == {"low": "Ac2c[Jk]3c4c5c"}
    assert hits("Ac 2c 3c 4c", "Jk", **both) == {"high": "Ac2c3c4c5c[Jk]"}


def test_a_wild_hits_a_set_that_lacks_a_card() -> None:
    assert hits("Kc Kd Ks", "Jk", **ONE_JOKER) == {"": "KcKdKh[Jk]Ks"}
    assert hits("Kc Kd Kh Ks", "Jk", **ONE_JOKER) == {}
    assert hits("Kc Kd Kh", "Jk", deck={"suits": 3, "jokers": 1}) == {}
    # Two packs and three suits: a second club; a second real one fits beside a wild one too.
    crowded: Options = {"deck": {"suits": 3, "packs": 2, "jokers": 1, "wild_ranks": "2"}}
    assert hits("Kc Kd Kh", "Jk", **crowded) == {"": "KcKc[Jk]KdKh"}
    # A wild rank on its own rank is itself where it fits, else the first suit lacking.
    assert hits("2c 2d 2s", "2h", **DEUCES) == {"": "2c2d2h2s"}
    assert hits("Kc Kd Ks", "2s", **DEUCES) == {"": "KcKdKh[2s]Ks"}
    assert hits("2c 2d 2h", "2h", **crowded) == {"": "2c2d2h2h"}


def test_a_wild_is_never_exchanged() -> None:
    melds = Melds(whole(**ONE_JOKER))
    kings = Meld((("Kc", "Kc"), ("Kd", "Kd"), ("Kh", "Jk")))
    assert melds.hits_on(kings, "Kh") == {}
    assert [grown.text for grown in melds.hits_on(kings, "Ks").values()] == ["KcKdKh[Jk]Ks"]
    run = Meld((("5h", "5h"), ("6h", "6h"), ("7h", "Jk")))
    assert melds.hits_on(run, "7h") == {}
    assert [grown.text for grown in melds.hits_on(run, "8h").values()] == ["5h6h7h[Jk]8h"]


def test_a_wild_asks_for_its_target() -> None:
    hand = deal(TWO_JOKERS, ["5h 6h 7h 2c 3d", "Jk 3h Kc Qd 9s"], stock="Jd Qs")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Jd", "1 stock")
    assert starting(hand, "hit") == {"Jk"}
    play(hand, "1 hit Jk")
    assert hand.legal() == {"target 0 0 low", "target 0 0 high"}
    play(hand, "1 target 0 0 low")
    assert hand.spreads[0].text == "4h[Jk]5h6h7h"
    assert hand.spreads[0].cards == ["4h", "5h", "6h", "7h"]
    assert (hand.spreads[0].held, hand.spreads[0].fillers) == (["Jk", "5h", "6h", "7h"], {0: "Jk"})
    assert starting(hand, "hit") == {"3h"}


def test_a_wild_with_one_place_asks_for_no_target() -> None:
    hand = deal(TWO_JOKERS, ["Kc Kd Ks 2c 3d", "Jk Kh Th Qd 9s"], stock="Jd Qs")
    play(hand, "0 stock", "0 spread KcKdKs", "0 discard Jd", "1 stock", "1 hit Jk")
    assert hand.spreads[0].text == "KcKdKh[Jk]Ks"
    assert starting(hand, "hit") == set()


def test_targets_of_wilds_and_natural_cards_side_by_side() -> None:
    options: Options = {"deck": {"wild_ranks": "8"}}
    hand = deal(options, ["8c 8d 8s 5h 6h 7h 2c", "8h 4d 2d 3d Kc Jc 9s"], stock="Kd Qs")
    play(hand, "0 stock", "0 spread 8c8d8s", "0 spread 5h6h7h", "0 discard Kd", "1 stock", "1 hit 8h")
    assert hand.legal() == {"target 0 0", "target 0 1 low", "target 0 1 high"}
    play(hand, "1 target 0 1 high")
    assert hand.spreads[1].text == "5h6h7h8h"


def test_a_spread_is_played_as_it_is_written() -> None:
    hand = play(deal(ONE_JOKER, ["5h 6h 2c", "9s 9h Kc"], "Jk"), "0 take")
    assert starting(hand, "spread") == {"4h[Jk]5h6h", "5h6h7h[Jk]"}
    with pytest.raises(ValueError, match="illegal move"):
        hand.apply("spread 5h6h7h")
    play(hand, "0 spread 5h6h7h[Jk]", "0 discard 2c")
    assert (hand.ending, hand.spreads[0].text) == ("out", "5h6h7h[Jk]")


def test_a_taken_joker_may_not_be_discarded_but_another_joker_may() -> None:
    hand = play(deal(TWO_JOKERS, ["5h 2c", "9s 9h"], "Jk"), "0 take")
    assert starting(hand, "discard") == {"5h", "2c"}
    hand = play(deal(TWO_JOKERS, ["Jk 2c", "9s 9h"], "Jk"), "0 take")
    assert starting(hand, "discard") == {"Jk", "2c"}


def test_a_taken_wild_that_is_left_alone_must_still_have_a_place() -> None:
    hand = play(deal(ONE_JOKER, ["5h 6h 7h", "9s 9h Kc"], "Jk"), "0 take")
    # The joker can be hit on the run itself.
    assert "5h6h7h" in starting(hand, "spread")
    one_rank: Options = {"deck": {"ranks": "A23", "jokers": 1}}
    hand = play(deal(one_rank, ["Ah 2h 3h", "As 2s 2c"], "Jk"), "0 take")
    assert "Ah2h3h" not in starting(hand, "spread")


def test_taken_must_meld_with_a_wild() -> None:
    options: Options = {"deck": {"jokers": 1, "wild_ranks": "9"}, "spreads": {"taken_must_meld": True}}
    # The joker fills: it may be taken.
    hand = deal(options, ["5h 6h Kd 2c", "Ac Qs Jd 3d"], "Jk")
    assert "take" in hand.legal()
    play(hand, "0 take")
    assert hand.legal() == {"spread 4h[Jk]5h6h", "spread 5h6h7h[Jk]"}
    # The nine is worth more and fills first: only a spread that needs both wilds uses the joker.
    hand = deal(options, ["5h 6h 9s 2c", "Ac Qs Jd 3d"], "Jk")
    play(hand, "0 take")
    assert "spread 5h6h7h[9s]8h[Jk]" in hand.legal()
    assert "spread 5h6h7h[9s]" not in hand.legal()
    assert starting(hand, "discard") == set()


def test_must_spread_except_aces_with_wilds_among_the_aces() -> None:
    options: Options = {"deck": {"jokers": 1}, "spreads": {"must_spread": "except_aces"}}
    hand = play(deal(options, ["Ac Ad 7s", "9s 9h Kc"], stock="Jk"), "0 stock")
    assert hand.legal() == {"spread AcAdAh[Jk]"} | {f"discard {card}" for card in ["Ac", "Ad", "7s", "Jk"]}
    hand = play(deal(options, ["Kc Kd 7s", "9s 9h Qc"], stock="Jk"), "0 stock")
    assert hand.legal() == {"spread KcKdKh[Jk]"}


# ---- values


def test_joker_values_and_counts() -> None:
    assert deal(TWO_JOKERS, ["Jk Jc", "9s 9h"]).counts[0] == 10
    assert deal({"deck": {"jokers": 2, "values": {"Jk": 25}}}, ["Jk Jc", "9s 9h"]).counts[0] == 35


def test_jokers_come_in_total_not_by_pack() -> None:
    assert sorted_deck({"deck": {"jokers": 3, "packs": 2}}, 2).count(JOKER) == 3


def test_all_ranks_never_matches_a_joker() -> None:
    options = {"deck": {"jokers": 1}, "instant_wins": {"tiers": [{"all_ranks": "TJQK", "pays": 2}]}}
    assert deal(options, ["Jk Jc", "9s 9h"]).ending is None
    assert deal(options, ["Jd Jc", "9s 9h"]).ending == "instant_win"


# ---- lock

LOCK_HANDS = ["5h 6h 7h 2c 8h", "9h 4h Kc Jd Js"]


def test_nobody_else_hits_a_locked_player() -> None:
    moves = ["0 stock", "0 spread 5h6h7h", "0 discard 2c", "1 stock"]
    free = play(deal({"spreads": {"lock_after": 2}}, LOCK_HANDS, stock="Kd Qs"), *moves)
    assert starting(free, "hit") == {"4h"}
    locked = play(deal({"spreads": {"lock_after": 1}}, LOCK_HANDS, stock="Kd Qs"), *moves)
    assert starting(locked, "hit") == set()
    play(locked, "1 discard Qs")
    assert "drop" not in locked.legal()
    play(locked, "0 stock")
    assert "8h" in starting(locked, "hit")  # own hits stay legal


def test_places_on_locked_spreads_are_not_asked_about() -> None:
    # Seat 0 has two spreads and is locked; seat 1's own run is the one place left for its eight.
    hands = ["8c 8d 8s 5h 6h 7h 2c 3d", "8h 9h Th Jh Ks Qd 4c 6s"]
    options: Options = {"spreads": {"lock_after": 2}}
    hand = deal(options, hands, stock="Kd Qs")
    play(hand, "0 stock", "0 spread 8c8d8s", "0 spread 5h6h7h", "0 discard Kd", "1 stock")
    play(hand, "1 spread 9hThJh", "1 hit 8h")
    assert hand.spreads[2].text == "8h9hThJh"


def test_with_a_locked_player_no_drop_and_nobody_wins_at_the_end() -> None:
    options: Options = {"spreads": {"lock_after": 1}, "turn_limit": 2}
    hand = deal(options, LOCK_HANDS, stock="Kd Qs 2d 3d")
    assert "drop" in hand.legal()
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Kd")
    assert hand.legal() == {"stock", "take"}
    play(hand, "1 stock", "1 discard Qs", "0 stock", "0 discard 2d", "1 stock", "1 discard 3d")
    assert (hand.ending, hand.payments) == ("turn_limit", [0, 0])
    hand = deal({"spreads": {"lock_after": 1}}, LOCK_HANDS, stock="Kd")
    leave_in_stock(hand, 1)
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Kd")
    assert (hand.ending, hand.payments) == ("stock_out", [0, 0])


# ---- claims

CLAIMS: Options = {
    "instant_wins": {
        "tiers": [
            {"counts": [50], "pays": 2},
            {"counts": [49], "pays": 1, "claim": "first_turn"},
            {"at_most": 49, "all_ranks": "9TJQK", "pays": 3, "claim": "first_turn"},
        ],
        "tie": "all_paid",
    }
}
FORTY_NINE = "9c Th Jh Qh Ts"
SPREAD_AND_REST = "5h 6h 7h 2c 3d"


def test_a_claim_is_offered_in_the_first_turn_and_paid_by_everybody() -> None:
    options: Options = {"instant_wins": {"tiers": CLAIMS["instant_wins"]["tiers"][:2]}}
    hand = deal(options, [SPREAD_AND_REST, FORTY_NINE, "4d 4s 8h 9h Ks"], stock="Kd Qs Qd Jd Js")
    assert hand.legal() == {"drop", "stock", "take"}
    play(hand, "0 stock", "0 discard Kd")
    assert hand.legal() == {"claim", "drop", "stock", "take"}
    play(hand, "1 claim")
    assert (hand.ending, hand.payments) == ("claim", [-1, 2, -1])
    assert hand.legal() == set()


def test_an_unclaimed_tier_lapses() -> None:
    hand = deal(CLAIMS, [FORTY_NINE, "3c 4d 8h 9h 2s"], stock="Kd Qs")
    play(hand, "0 stock")
    assert "claim" not in hand.legal()
    play(hand, "0 discard Kd", "1 stock", "1 discard Qs")
    assert "claim" not in hand.legal()


def test_no_claim_while_a_spread_is_on_the_table() -> None:
    hand = deal(CLAIMS, [SPREAD_AND_REST, FORTY_NINE], stock="Kd Qs")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Kd")
    assert "claim" not in hand.legal()


def test_the_first_claim_tier_that_fits_is_paid_and_none_takes_part_on_the_deal() -> None:
    hand = play(deal(CLAIMS, [FORTY_NINE, SPREAD_AND_REST]), "0 claim")
    assert hand.payments == [1, -1]
    # Another player's fifty wins on the deal; the forty-nine does not qualify and pays.
    hand = deal(CLAIMS, [FORTY_NINE, "Tc Jc Qc Kc Kh", SPREAD_AND_REST])
    assert (hand.ending, hand.payments) == ("instant_win", [-2, 4, -2])


def test_a_claim_under_push_ups_multiplies_by_what_the_tier_pays() -> None:
    options = {"instant_wins": {"tiers": CLAIMS["instant_wins"]["tiers"][2:]}, "scoring": "push_ups"}
    assert play(deal(options, [FORTY_NINE, SPREAD_AND_REST]), "0 claim").payments == [0, -3 * 23]


def test_a_claim_is_offered_beside_the_widow_and_lapses_with_it() -> None:
    hand = deal(CLAIMS, [FORTY_NINE, SPREAD_AND_REST], stock="Kd", widows="As Ad")
    assert hand.legal() == {"claim", "keep"} | {f"swap {card}" for card in FORTY_NINE.split()}
    play(hand, "0 keep")
    assert hand.legal() == {"drop", "stock", "take"}


# ---- the widow


def test_widows_are_dealt_after_the_hands_from_the_dealers_left() -> None:
    deck = sorted_deck({}, 3)
    hand = NaiveHand({"deal": {"hand_size": 2, "widow": True}}, 3, 0, deck)
    assert hand.widows == [deck[8], deck[6], deck[7]]
    assert (hand.pile, hand.stock) == ([deck[9]], deck[10:])


def test_a_widow_is_swapped_for_one_card_before_drop_or_draw() -> None:
    hand = deal({}, ["Kc 2c", "9s 9h"], stock="Qd Js", widows="Ac 5d")
    assert hand.legal() == {"swap 2c", "swap Kc", "keep"}
    play(hand, "0 swap Kc")
    assert hand.hands[0] == ["2c", "Ac"] and hand.counts[0] == 3
    assert (hand.widows, hand.put_away, hand.swapped) == ([None, "5d"], ["Kc", None], [True, False])
    assert hand.legal() == {"drop", "stock", "take"}
    play(hand, "0 stock", "0 discard Qd")
    assert hand.legal() == {"swap 9s", "swap 9h", "keep"}
    play(hand, "1 keep", "1 stock", "1 discard Js")
    assert hand.legal() == {"drop", "stock", "take"}  # asked once, and the widow stays where it is
    assert hand.widows == [None, "5d"]


def test_the_widow_fee_goes_to_the_winners_evenly() -> None:
    hands = ["Kc 2c", "9s 2h", "9d 2s", "Ah Ad"]
    # A winner's fee to himself cancels.
    hand = play(deal({}, [*hands[:3], "9c 3d"], widows="Ac 5d 5c 5h"), "0 swap Kc", "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [3, -1, -1, -1])
    # Caught: the dropper pays 2, and 1 for the swap.
    hand = play(deal({}, hands, widows="Ac 5d 5c 5h"), "0 swap Kc", "0 drop")
    assert (hand.ending, hand.payments) == ("caught", [-3, -1, -1, 5])
    # Two winners share the fee.
    hand = play(deal({}, ["Kc 2c", "Ac 9s", "Ah 9h"], widows="9c 5d 5c"), "0 swap Kc", "0 drop")
    assert (hand.ending, hand.payments) == ("caught", [-5, 2.5, 2.5])
    share: Options = {"drop": {"tie_with_dropper": "share"}}
    hand = play(deal(share, ["Kc Ac", "Ad 2s", "Kh 2h"], widows="2c 5d 5c"), "0 swap Kc", "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [0.5, 1.5, -2])


def test_no_widow_fee_without_winners() -> None:
    tied: Options = {"turn_limit": 1, "stock_out": {"tie": "void"}}
    moves = ["0 swap Kc", "0 stock", "0 discard Kd", "1 keep", "1 stock", "1 discard Ks"]
    hand = play(deal(tied, ["Kc 2c", "Ah 2h"], stock="Kd Ks", widows="Ac 5d"), *moves)
    assert (hand.ending, hand.payments) == ("turn_limit", [0, 0])
    # Nobody wins a forfeit: the seat that swapped pays no fee.
    hand = play(deal({}, ["Kc 2c", "Ah 2h"], widows="Ac 5d"), "0 swap Kc")
    hand.forfeit(0)
    assert hand.payments == [-2, 2]


def test_the_wait_is_lowered_once_in_a_turn_with_a_widow() -> None:
    options: Options = {"waiting": {"after_spread": 3}}
    hand = deal(options, ["5h 6h 7h 2c", "Kc Jc 9s 9d"], stock="Kd Qs", widows="Ac 5d")
    play(hand, "0 keep", "0 stock", "0 spread 5h6h7h", "0 discard Kd", "1 keep", "1 stock", "1 discard Qs")
    assert hand.waits == [2, 0]


def test_a_widow_is_offered_before_a_forced_drop() -> None:
    options: Options = {"stock_out": {"result": "must_drop"}}
    hand = deal(options, ["Kc 2c", "Ah 9h"], stock="Kd", widows="Ac Ad")
    leave_in_stock(hand, 1)
    play(hand, "0 keep", "0 stock", "0 discard Kd")
    assert hand.legal() == {"swap 9h", "swap Ah", "keep"}
    play(hand, "1 swap 9h")
    assert hand.legal() == {"drop"}


# ---- the stock floor

FLOOR: Options = {"going_out": {"stock_floor": "players"}}


@pytest.mark.parametrize(("left", "ending"), [(4, "out"), (3, None)])
def test_stock_floor_looks_at_the_stock_after_the_draw(left: int, ending: str | None) -> None:
    hand = deal(FLOOR, ["5h 6h 7h", "9s 9h Kc"], stock="8s Qc Qd Ac")
    leave_in_stock(hand, left)
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard 8s")
    assert (hand.ending, hand.hands[0]) == (ending, [])


def test_without_cards_the_turn_ends_and_the_next_is_a_forced_drop() -> None:
    options: Options = {**FLOOR, "waiting": {"after_spread": 3}}
    hand = deal(options, ["5h 6h", "9s 9h"], "7h", stock="8s Qc")
    leave_in_stock(hand, 2)
    play(hand, "0 take", "0 spread 5h6h7h")
    assert (hand.to_move, hand.pile) == (1, [])
    play(hand, "1 stock", "1 discard 9s")
    assert hand.legal() == {"drop"}
    play(hand, "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [1, -1])


def test_a_forced_drop_is_caught_by_another_empty_hand() -> None:
    hand = deal(FLOOR, ["5h 6h", "9s 9h"], "7h", stock="9d Qc")
    leave_in_stock(hand, 2)
    play(hand, "0 take", "0 spread 5h6h7h", "1 stock", "1 spread 9d9h9s", "0 drop")
    assert (hand.ending, hand.payments) == ("caught", [-2, 2])


def test_stock_out_comes_before_the_forced_drop() -> None:
    hand = deal(FLOOR, ["5h 6h", "9s 9h"], stock="7h")
    leave_in_stock(hand, 1)
    play(hand, "0 stock", "0 spread 5h6h7h")
    assert (hand.ending, hand.payments) == ("stock_out", [1, -1])
    hand = deal(FLOOR, ["5h 6h", "9s 9h"], "7h", stock="8s")
    leave_in_stock(hand, 1)
    play(hand, "0 take", "0 spread 5h6h7h", "1 stock", "1 discard 8s")
    assert hand.ending == "stock_out"


# ---- the long-spread bonus


def test_long_spread_bonus_is_paid_back_once_to_each_loser() -> None:
    options: Options = {"long_spread_bonus": 0.5}
    hands = ["5h 6h 7h 8h 3c", "9c 9d 9s Ac Ad", "Kc Ks Qc Qd Js"]
    hand = deal(options, hands, stock="Jd 9h Qh 4c 7c 6d")
    play(hand, "0 stock", "0 spread 5h6h7h8h", "0 discard Jd", "1 stock", "1 spread 9c9d9h9s")
    play(hand, "1 discard Ad", "2 stock", "2 discard Js", "0 drop")
    # Seat 0 (3) is caught by seat 1 (1): 2, and seat 2 pays 1; seat 1 pays back 0.5.
    assert (hand.ending, hand.payments) == ("caught", [-1.5, 2.5, -1])


def test_a_spread_grown_by_hits_is_not_long() -> None:
    options: Options = {"long_spread_bonus": 0.5}
    hand = deal(options, ["5h 6h 7h 8h 3c", "Ac Ad As 9d 2c"], stock="Jd 9h 3d")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 hit 8h", "0 discard Jd", "1 stock", "1 spread AcAdAs")
    play(hand, "1 discard 9d", "0 stock", "0 discard 3d", "1 drop")
    assert (hand.ending, hand.payments) == ("caught", [2, -2])
    hand = deal(options, ["5h 6h 7h 8h Kc", "Ac Ad As 9d 2c"], stock="Jd 2h 3d")
    play(hand, "0 stock", "0 spread 5h6h7h8h", "0 discard Jd", "1 stock", "1 spread AcAdAs")
    play(hand, "1 discard 9d", "0 stock", "0 discard 3d", "1 drop")
    assert (hand.ending, hand.payments) == ("drop", [-0.5, 0.5])


def test_the_bonus_is_paid_by_the_winners_evenly_and_wilds_make_spreads_long() -> None:
    options: Options = {"long_spread_bonus": 1, "deck": {"jokers": 1}}
    hand = deal(options, ["5h 6h 7h Jk Kc", "Ac 2d 9c 8c 7c", "Ad 2c 9d 8d 7d"], stock="Jd 9h 3d")
    play(hand, "0 stock", "0 spread 4h[Jk]5h6h7h", "0 discard Kc", "1 stock", "1 discard 9h")
    hand.hands = [["Jd"], ["Ac"], ["Ad"]]
    play(hand, "2 stock", "2 discard 3d", "0 drop")
    assert (hand.ending, hand.payments) == ("caught", [-3, 1.5, 1.5])


# ---- slaps

SLAP: Options = {"slap": True}
SLAP_HANDS = ["5h 6h 7h 2c 8h", "9h 4h Kc Jd Js", "9d 3c 4d Qs Th"]
FIRST_TURN = ["0 stock", "0 spread 5h6h7h", "0 discard 8h"]


def slapping(*orders: list[int], options: Options | None = None, upcard: str = "6s") -> NaiveHand:
    """Three players; seat 0 has laid 5h6h7h and thrown 8h, which fits."""
    hand = deal({**SLAP, **(options or {})}, SLAP_HANDS, upcard, "Kd Ks Qc", slap_orders=list(orders))
    return play(hand, *FIRST_TURN)


def test_everybody_with_cards_is_asked_in_the_order_of_chance() -> None:
    hand = slapping([2, 0, 1])
    assert (hand.to_move, hand.whose_turn, hand.question) == (2, 0, "slap")
    assert hand.legal() == {"slap", "pass"}
    play(hand, "2 pass", "0 pass")
    assert hand.legal() == {"slap", "pass"}
    play(hand, "1 pass")
    assert (hand.to_move, hand.whose_turn, hand.pile) == (1, 1, ["6s", "8h"])
    assert hand.legal() == {"drop", "stock", "take"}


def test_the_first_to_slap_places_the_card_and_discards_one_that_may_be_slapped_in_turn() -> None:
    hand = slapping([1, 0, 2], [0, 2, 1], [1, 2, 0])
    play(hand, "1 slap")
    assert hand.spreads[0].text == "5h6h7h8h" and hand.pile == ["6s"]
    assert (hand.to_move, hand.question) == (1, "slap_discard")
    assert hand.legal() == {f"discard {card}" for card in ["9h", "4h", "Kc", "Jd", "Js"]}
    play(hand, "1 discard 9h")
    assert hand.to_move == 0
    play(hand, "0 slap")  # not the one who threw this card: a discard follows
    assert hand.legal() == {"discard 2c", "discard Kd"}
    play(hand, "0 discard Kd")
    # Play goes on with the player after the discarder of the turn.
    assert (hand.to_move, hand.whose_turn, hand.turns_completed) == (1, 1, 1)
    assert hand.pile == ["6s", "Kd"] and hand.spreads[0].text == "5h6h7h8h9h"


def test_the_discarder_who_slaps_throws_no_other_card() -> None:
    hand = play(slapping([0, 1, 2]), "0 slap")
    assert (hand.to_move, hand.pile, hand.hands[0]) == (1, ["6s"], ["2c", "Kd"])
    options: Options = {"deal": {"upcard": False}}
    hand = deal({**SLAP, **options}, SLAP_HANDS, None, "Kd Ks", slap_orders=[[0, 1, 2]])
    play(hand, *FIRST_TURN, "0 slap")
    assert hand.pile == [] and hand.legal() == {"drop", "stock"}


def test_a_slapper_who_slaps_his_own_discard_throws_no_other_card() -> None:
    hand = play(slapping([1, 0, 2], [1, 2, 0]), "1 slap", "1 discard 9h", "1 slap")
    assert (hand.to_move, hand.whose_turn, len(hand.hands[1])) == (1, 1, 4)


def test_a_discard_that_fits_nothing_asks_nobody() -> None:
    hand = deal(SLAP, SLAP_HANDS, "6s", "Kd Ks")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Kd")
    assert hand.whose_turn == 1


def test_slap_orders_that_run_out_or_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="ran out"):
        slapping()
    with pytest.raises(ValueError, match="orders of all seats"):
        slapping([0, 1, 1])


def test_a_slap_is_a_hit_for_waiting() -> None:
    waiting: Options = {"waiting": {"after_hit": 2, "after_own_hit": 1}}
    hand = play(slapping([1, 0, 2], options=waiting), "1 slap")
    assert hand.waits == [2, 0, 0]
    hand = play(slapping([0, 1, 2], options=waiting), "0 slap")
    assert hand.waits == [1, 0, 0]


def test_a_slap_counts_toward_no_limit_of_hits() -> None:
    one_hit: Options = {"spreads": {"hits_per_turn": 1}}
    hand = play(slapping([1, 0, 2], options=one_hit), "1 slap", "1 discard Kc", "1 stock")
    assert starting(hand, "hit") == {"9h", "4h"}


def test_a_slap_in_ones_own_turn_blocks_the_next_turn() -> None:
    blocks: Options = {"waiting": {"blocks_going_out": True}}
    hand = play(slapping([1, 0, 2], options=blocks), "1 slap", "1 discard Kc")
    hand.hands[0] = ["9h"]
    play(hand, "1 stock", "1 discard Ks", "2 stock", "2 discard Qc", "0 take")
    assert hand.legal() == {"discard 9h"}  # hitting with it would leave one card, and none after the discard


def test_a_slap_may_be_the_choice_between_targets() -> None:
    options: Options = {"slap": True, "deck": {"jokers": 1}}
    hands = ["5h 6h 7h 2c Jk", "9h 4h Kc Jd Js"]
    hand = deal(options, hands, "6s", "Kd Ks", slap_orders=[[1, 0]])
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Jk", "1 slap")
    assert hand.legal() == {"target 0 0 low", "target 0 0 high"}
    assert hand.pile == ["6s", "Jk"]
    play(hand, "1 target 0 0 high")
    assert hand.spreads[0].text == "5h6h7h8h[Jk]" and hand.question == "slap_discard"


def test_a_locked_spread_is_asked_about_but_only_its_owner_may_slap() -> None:
    hand = slapping([2, 1, 0], options={"spreads": {"lock_after": 1}})
    assert hand.legal() == {"pass"}
    play(hand, "2 pass", "1 pass")
    assert hand.legal() == {"slap", "pass"}
    play(hand, "0 slap")
    assert hand.spreads[0].text == "5h6h7h8h"


OUT_BY_SLAP = ["5h 6h 7h 9c", "Kc Kd Ks 8h"]
UP_TO_THE_SLAP = [
    "0 stock", "0 spread 5h6h7h", "0 discard Jd", "1 stock", "1 spread KcKdKs", "1 discard 3d",
    "0 stock", "0 discard 4h", "1 slap", "1 discard 8h",
]  # fmt: skip


def out_by_slap(going_out: Options, left: int | None = None) -> NaiveHand:
    """Seat 1 laid its kings a turn ago, slaps 4h and throws its last card."""
    options = {**SLAP, "going_out": going_out}
    hand = deal(options, OUT_BY_SLAP, "6s", "Jd 3d 4h", slap_orders=[[1, 0], [0, 1]])
    if left is not None:
        leave_in_stock(hand, 3 + left)
    return play(hand, *UP_TO_THE_SLAP)


def test_emptying_the_hand_by_a_slap_wins_as_out() -> None:
    hand = out_by_slap({})
    assert (hand.ending, hand.payments) == ("out", [-1, 1])
    # To the slapper his last turn is an earlier one; the slap itself is no hit of an earlier turn.
    assert out_by_slap({"no_earlier_spread": 3}).payments == [-1, 1]
    assert out_by_slap({"discard": 2, "after_hitting": 1}).payments == [-2, 2]


def test_emptying_the_hand_by_a_slap_under_the_stock_floor() -> None:
    hand = out_by_slap({"stock_floor": "players"}, left=2)
    # The game goes on, and 8h fits in its turn: only seat 0 holds cards.
    assert (hand.ending, hand.to_move, hand.whose_turn, hand.question) == (None, 0, 0, "slap")
    play(hand, "0 pass")
    assert (hand.to_move, hand.legal()) == (1, {"drop"})


def test_a_slap_is_a_hit_on_an_earlier_turn_from_the_next_turn_on() -> None:
    going_out: Options = {"going_out": {"discard": 2, "no_earlier_spread": 3, "after_hitting": 1}}
    hand = play(slapping([1, 0, 2], options=going_out), "1 slap", "1 discard Kc")
    hand.stock[0] = "Ks"
    hand.hands[1] = ["Kd", "Kh"]
    play(hand, "1 stock", "1 spread KdKhKs")
    assert (hand.ending, hand.payments) == ("tonk", [-1, 2, -1])


def test_stock_out_is_tested_after_the_slaps() -> None:
    hand = deal(SLAP, SLAP_HANDS, "6s", "Kd", slap_orders=[[1, 0, 2]])
    leave_in_stock(hand, 1)
    play(hand, *FIRST_TURN)
    assert (hand.ending, hand.question) == (None, "slap")
    play(hand, "1 slap", "1 discard Kc")
    assert hand.ending == "stock_out"


# ---- side bets


def bets(suit: float = 0, naturals: float = 0) -> Options:
    return {"side_bets": {"suit": suit, "naturals": naturals}}


def test_the_suit_bet_goes_to_the_highest_card_dealt_whatever_the_ending() -> None:
    hands = ["Ac 2c", "9s Kd", "Kc 3d"]
    hand = play(deal(bets(suit=1), hands, called_suit="c"), "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [1, -2, 1])  # 2, -1, -1 and -1, -1, 2
    void = {
        **bets(suit=1),
        "instant_wins": {"tiers": [{"at_most": 30, "pays": 2}], "tie": "void"},
    }
    hand = deal(void, hands, called_suit="d", deals_since_won={"suit": 3})
    assert (hand.ending, hand.payments) == ("void", [-3, 6, -3])
    hand = deal(bets(suit=1), hands, called_suit="d")
    hand.forfeit(1)
    assert hand.payments == [2 - 1, -4 + 2, 2 - 1]


def test_the_suit_bet_nobody_holds_and_ace_low_and_two_packs() -> None:
    hands = ["Ac 2c", "9s Kd"]
    assert play(deal(bets(suit=1), hands, called_suit="h"), "0 drop").payments == [1, -1]
    assert play(deal(bets(suit=1), hands, called_suit="c"), "0 drop").payments == [2, -2]
    assert deal(bets(suit=1), ["Ac 9s", "2c 9d"], called_suit="c").suit_bet_winner == 1
    two_packs: Options = {**bets(suit=1), "deck": {"packs": 2}}
    assert deal(two_packs, ["Kc 9s", "Kc 9d"], called_suit="c").suit_bet_winner == 0
    assert deal(two_packs, ["Kc 9s", "Kc 9d"], called_suit="c", dealer=0).suit_bet_winner == 1
    jokers: Options = {**bets(suit=1), "deck": {"jokers": 1}}
    assert deal(jokers, ["Jk 9s", "2c 9d"], called_suit="c").suit_bet_winner == 1
    with pytest.raises(ValueError, match="called_suit"):
        deal(bets(suit=1), hands)


def test_the_widow_is_not_part_of_the_suit_bet() -> None:
    hand = deal(bets(suit=1), ["Ac 2c", "9s 3c"], called_suit="c", widows="Kc Qc")
    assert hand.suit_bet_winner == 1


def test_the_naturals_bet_goes_to_the_first_set_laid_without_wilds() -> None:
    options: Options = {**bets(naturals=1), "deck": {"jokers": 1}}
    hands = ["Kc Kd Jk 2c 3d", "9c 9d 9s 7c 6d"]
    hand = deal(options, hands, stock="Jd Js Qd", deals_since_won={"naturals": 2})
    play(hand, "0 stock", "0 spread KcKdKh[Jk]", "0 discard Jd")
    assert hand.naturals_bet_winner is None
    play(hand, "1 stock", "1 spread 9c9d9s", "1 discard Js", "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [1 - 2, -1 + 2])
    # A run is no such spread; deuces that are themselves are natural though wild.
    options = {**bets(naturals=1), "deck": {"wild_ranks": "2"}}
    hand = deal(options, ["5h 6h 7h 9c Td", "2c 2d 2s 7c 6d"], stock="Jd Js Qd")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Jd")
    assert hand.naturals_bet_winner is None
    play(hand, "1 stock", "1 spread 2c2d2s")
    assert hand.naturals_bet_winner == 1


# ---- the multiplier, and the order of settling


def test_the_multiplier_leaves_side_bets_alone() -> None:
    options: Options = {**bets(suit=1), "long_spread_bonus": 0.5}
    hands = ["5h 6h 7h 8h Kc", "Ac 2c 3h 9h Jh", "Kd Ks Qc Qd Js"]
    hand = deal(options, hands, stock="9s Jc Th", called_suit="s", widows="Kh Ad Qh", multiplier=2)
    play(hand, "0 swap Kc", "0 stock", "0 spread 5h6h7h8h", "0 discard 9s", "1 keep", "1 stock")
    hand.hands[1] = ["Ac", "Jc"]
    play(hand, "1 discard Jc", "2 keep", "2 stock", "2 discard Th", "0 stock")
    hand.hands[0] = ["9c", "9d"]
    play(hand, "0 discard 9d", "1 drop")
    # The drop 1 each, the bonus 0.5 to seat 0, its fee 1 to seat 1: doubled; then seat 2's king of spades.
    assert hand.payments == [2 * (-1 + 0.5 - 1) - 1, 2 * (2 - 0.5 + 1) - 1, 2 * -1 + 2]


def test_the_multiplier_multiplies_push_up_points() -> None:
    hand = deal({"scoring": "push_ups"}, ["Ac 2c", "6c 4c"], multiplier=2)
    assert play(hand, "0 drop").payments == [0, -20]


# ---- refusals, and what is ignored


@pytest.mark.parametrize(
    "options",
    [
        {"deck": {"jokers": 5}},
        {"deck": {"ranks": "A345", "wild_ranks": "2"}},
        {"deck": {"wild_ranks": "234"}},
        {"spreads": {"lock_after": 3}, "stock_out": {"result": "must_drop"}},
        {"spreads": {"lock_after": 3}, "going_out": {"stock_floor": "players"}},
        {"drop": {"allowed": False}, "going_out": {"stock_floor": "players"}},
        {"scoring": "push_ups", "deal": {"widow": True}},
        {"scoring": "push_ups", "long_spread_bonus": 0.5},
        {"scoring": "push_ups", "side_bets": {"naturals": 1}},
        {"deal": {"hand_size": 25, "widow": True}},
    ],
)
def test_options_that_are_refused(options: Options) -> None:
    with pytest.raises(ValueError, match=r"deck|clash|no stock card"):
        NaiveHand(options, 2, 0, sorted_deck(options, 2), called_suit="c")


def test_match_options_are_ignored() -> None:
    assert complete({"match": {"hands": 10, "last_hands_double": 3}}) == complete({})


# ---- random cases reach every option


def test_random_options_reach_every_option() -> None:
    rng = random.Random(3)
    reached: Counter[str] = Counter()
    for _ in range(400):
        case = random_options(rng)
        options = complete(case.options)
        tiers = options["instant_wins"]["tiers"]
        facts = {
            "jokers": options["deck"]["jokers"],
            "dead jokers": options["deck"]["jokers"] and options["deck"]["joker_role"] == "dead",
            "a joker's value": options["deck"]["values"][JOKER],
            "wild ranks": options["deck"]["wild_ranks"],
            "two wild ranks": len(options["deck"]["wild_ranks"]) == 2,
            "two naturals": options["spreads"]["min_naturals"] == 2,
            "a lock": options["spreads"]["lock_after"],
            "a widow": options["deal"]["widow"],
            "a claim": any(tier.get("claim") == "first_turn" for tier in tiers),
            "a stock floor": options["going_out"]["stock_floor"],
            "a bonus": options["long_spread_bonus"],
            "slaps": options["slap"],
            "a bet on a suit": options["side_bets"]["suit"],
            "a bet on naturals": options["side_bets"]["naturals"],
            "push-ups": options["scoring"] == "push_ups",
        }
        reached.update(fact for fact, is_so in facts.items() if is_so)
    assert len(reached) == len(facts)
    assert min(reached.values()) >= 10, reached


def test_random_chance_depends_on_the_seed_alone() -> None:
    case = random_options(random.Random(5))
    assert random_chance(case, random.Random(1)) == random_chance(case, random.Random(1))


def test_random_slap_orders_never_run_out() -> None:
    rng = random.Random(8)
    slaps = 0
    while slaps < 20:
        case = random_options(rng)
        if not case.options["slap"]:
            continue
        chance = random_chance(case, rng)
        hand = NaiveHand(case.options, case.num_players, case.dealer, shuffled_deck(case, rng), **chance)
        while hand.to_move is not None:
            hand.apply(steered_move(hand.legal(), rng))
        slaps += 1
        assert all(sorted(order) == list(range(case.num_players)) for order in hand.slap_orders)
