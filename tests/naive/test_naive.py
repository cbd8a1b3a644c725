"""The naive engine against hand-worked cases of RULES.md, and against its own invariants in random play."""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .engine import NaiveHand, Position, Spread, locked_seats
from .helpers import deal, play, starting, texts, whole
from .melds import Melds
from .options import Options, complete, is_wild, sorted_deck
from .settle import CAUGHT_TABLES, settle_catch, settle_drop, settle_stock_out
from .strategy import Case, cases, random_chance, random_options, shuffled_deck, steered_move

TWO_CARDS_OF_COUNT = {  # by seat, so that hands of the same count differ
    3: ["Ac 2c", "Ad 2d", "Ah 2h", "As 2s"],
    5: ["Ac 4c", "Ad 4d", "Ah 4h", "As 4s"],
    6: ["2c 4c", "2d 4d", "2h 4h", "2s 4s"],
    7: ["3c 4c", "3d 4d", "3h 4h", "3s 4s"],
    8: ["3c 5c", "3d 5d", "3h 5h", "3s 5s"],
    9: ["4c 5c", "6d 3d", "7h 2h", "8s As"],
    12: ["Tc 2c", "Td 2d", "Th 2h", "Ts 2s"],
    20: ["Tc Kc", "Td Kd", "Th Kh", "Ts Ks"],
}


def dropped(counts: list[int], **drop: Any) -> NaiveHand:
    """Seat 0 drops at once against these counts, four seats, two cards each."""
    hands = [TWO_CARDS_OF_COUNT[points][seat] for seat, points in enumerate(counts)]
    hand = deal({"drop": drop}, hands)
    assert hand.counts == counts
    return play(hand, "0 drop")


# ---- drops and catches: every table of section 2, worked by hand

WORKED_CATCHES = {
    #  (9; 5, 5, 12)       (8; 6, 8, 20)       (9; 3, 7, 9, 12)
    "pagat": ([-4, 3, 3, -2], [-4, 4, 1, -1], [-6, 5, 1, 1, -1]),
    "low_takes_all": ([-4, 3, 3, -2], [-2, 4, -1, -1], [-2, 5, -1, -1, -1]),
    "pay_for_everyone": ([-6, 3, 3, 0], [-3, 3, 0, 0], [-4, 4, 0, 0, 0]),
    "single_plus_low": ([-4, 3, 3, -2], [-3, 4, 0, -1], [-4, 5, 0, 0, -1]),
    "double_to_all": ([-6, 2, 2, 2], [-6, 2, 2, 2], [-8, 2, 2, 2, 2]),
    "five_to_low": ([-5, 5, 0, 0], [-5, 5, 0, 0], [-5, 5, 0, 0, 0]),
    "double_only": ([-4, 2, 2, 0], [-4, 2, 2, 0], [-6, 2, 2, 2, 0]),
    "bump": ([-8, 4, 4, 0], [-8, 4, 4, 0], [-12, 4, 4, 4, 0]),
    "chicago": ([-4, 2, 2, 0], [-2, 2, 0, 0], [-2, 2, 0, 0, 0]),
    "washington": ([-16, 8, 8, 0], [-8, 8, 0, 0], [-10, 10, 0, 0, 0]),
    "lower_only": ([-4, 2, 2, 0], [-2, 2, 0, 0], [-4, 2, 2, 0, 0]),
    "tonk_com": ([-4, 3, 3, -2], [-2, 4, -1, -1], [-3, 5, 0, -1, -1]),
    "wikipedia": ([-4, 3, 3, -2], [-4, 4, 1, -1], [-5, 5, 0, 1, -1]),
}


def test_thirteen_caught_tables_are_worked() -> None:
    assert set(WORKED_CATCHES) == set(CAUGHT_TABLES)
    assert len(CAUGHT_TABLES) == 13


@pytest.mark.parametrize("name", sorted(WORKED_CATCHES))
def test_caught_table(name: str) -> None:
    two_lowest, lowest_and_equal, every_role = WORKED_CATCHES[name]
    assert dropped([9, 5, 5, 12], caught=name).payments == two_lowest
    assert dropped([8, 6, 8, 20], caught=name).payments == lowest_and_equal
    outcome = settle_drop([9, 3, 7, 9, 12], 0, 4, whole(drop={"caught": name}))
    assert (outcome.ending, outcome.payments) == ("caught", every_role)


def test_caught_by_a_tie_the_tied_are_lowest() -> None:
    hand = dropped([8, 8, 8, 20])
    assert (hand.ending, hand.payments) == ("caught", [-4, 3, 3, -2])


@pytest.mark.parametrize(
    ("name", "payments"),
    [("pagat", [-6, 2, 2, 2]), ("washington", [-24, 8, 8, 8]), ("five_to_low", [-5, 5, 0, 0])],
)
def test_three_way_tie_on_a_catch(name: str, payments: list[int]) -> None:
    assert dropped([9, 5, 5, 5], caught=name).payments == payments
    assert dropped([8, 8, 8, 8], caught=name).payments == payments


def test_lowest_tie_passed_over_count_as_lower_or_equal_and_pay_others_to_lowest() -> None:
    table = {
        "lowest": 5,
        "lower": 1,
        "equal": 3,
        "higher": 0,
        "others_to_lowest": 1,
        "lowest_times": "one",
        "lowest_tie": "nearest_left",
    }
    # 5, then 1 and 1 to the tied players passed over, who pay 1 each to the nearest.
    assert dropped([9, 5, 5, 5], caught=table).payments == [-7, 7, 0, 0]
    # 5, then 3 and 3: they equal the dropper.
    assert dropped([8, 8, 8, 8], caught=table).payments == [-11, 7, 2, 2]


def test_lowest_tie_nearest_left_is_of_the_dealer_not_of_the_dropper() -> None:
    # Dealer 3, so seats come in the order 0, 1, 2, 3; the dropper is seat 1.
    outcome = settle_drop([5, 9, 5, 12], 1, 3, whole(drop={"caught": "five_to_low"}))
    assert outcome.payments == [5, -5, 0, 0]
    outcome = settle_drop([5, 9, 5, 12], 1, 1, whole(drop={"caught": "five_to_low"}))
    assert outcome.payments == [0, -5, 5, 0]


def test_explicit_table_higher_and_times() -> None:
    table = {"lowest": 1, "lower": 2, "equal": 3, "higher": 4, "others_to_lowest": 5} | {
        "lowest_times": "players",
        "lowest_tie": "each",
    }
    # 1 x 5 to the lowest, 2, 3, 4 to the others, who pay 5 each to the lowest.
    assert settle_catch([9, 3, 7, 9, 12], 0, 4, table).payments == [-14, 20, -3, -2, -1]


def test_drop_strictly_lowest_is_paid_by_each() -> None:
    hand = dropped([5, 8, 8, 20])
    assert (hand.ending, hand.payments) == ("drop", [3, -1, -1, -1])
    assert dropped([5, 8, 8, 20], pays=3).payments == [9, -3, -3, -3]


def test_tie_with_dropper_share() -> None:
    hand = dropped([8, 8, 8, 20], tie_with_dropper="share")
    assert (hand.ending, hand.payments) == ("drop", [1, 1, 1, -3])
    hand = dropped([8, 8, 20, 20], tie_with_dropper="share", pays=2)
    assert hand.payments == [4, 4, -4, -4]
    assert dropped([8, 8, 8, 8], tie_with_dropper="share").payments == [0, 0, 0, 0]


def test_tie_with_dropper_dropper_wins() -> None:
    hand = dropped([8, 8, 8, 20], tie_with_dropper="dropper_wins")
    assert (hand.ending, hand.payments) == ("drop", [3, -1, -1, -1])


@pytest.mark.parametrize("ruling", ["share", "dropper_wins"])
def test_tie_rulings_apply_only_when_nobody_is_strictly_below(ruling: str) -> None:
    hand = dropped([8, 6, 8, 20], tie_with_dropper=ruling)
    assert (hand.ending, hand.payments) == ("caught", [-4, 4, 1, -1])


def test_drop_allowed_and_max_count() -> None:
    hands = ["Tc 2c", "9s 9d"]
    assert deal({}, hands).legal() == {"drop", "stock", "take"}
    assert deal({"drop": {"allowed": False}}, hands).legal() == {"stock", "take"}
    assert deal({"drop": {"max_count": 11}}, hands).legal() == {"stock", "take"}
    assert deal({"drop": {"max_count": 12}}, hands).legal() == {"drop", "stock", "take"}


# ---- the deal and instant wins


def test_deal_one_card_at_a_time_from_the_dealers_left_then_upcard_then_stock() -> None:
    deck = sorted_deck({}, 3)
    hand = NaiveHand({"deal": {"hand_size": 2}}, 3, 0, deck)
    assert hand.hands[1] == sorted([deck[0], deck[3]])
    assert hand.hands[2] == sorted([deck[1], deck[4]])
    assert hand.hands[0] == sorted([deck[2], deck[5]])
    assert (hand.pile, hand.stock, hand.to_move) == ([deck[6]], deck[7:], 1)


def test_no_upcard_first_player_must_draw_from_the_stock() -> None:
    hand = deal({"deal": {"upcard": False}}, ["Tc 2c", "9s 9d"], stock="Kd 3c")
    assert hand.legal() == {"drop", "stock"}
    play(hand, "0 stock", "0 discard Kd")
    assert "take" in hand.legal()


def test_hand_size_by_players_and_packs_auto() -> None:
    options: Options = {"deal": {"hand_size": {"2": 7, "5": 6}}, "deck": {"packs": "auto"}}
    for players, cards, size in [(2, 7, 52), (5, 6, 104)]:
        deck = sorted_deck(options, players)
        assert len(deck) == size
        assert [len(cards_of) for cards_of in NaiveHand(options, players, 0, deck).hands] == [cards] * players
    with pytest.raises(ValueError, match="no entry for 3"):
        NaiveHand(options, 3, 0, sorted_deck(options, 3))


def test_refused_decks() -> None:
    with pytest.raises(ValueError, match="no stock card"):
        options: Options = {"deal": {"hand_size": 13}}
        NaiveHand(options, 4, 0, sorted_deck(options, 4))
    with pytest.raises(ValueError, match="does not hold"):
        NaiveHand({}, 2, 0, [*sorted_deck({}, 2)[:-1], "Ac"])
    with pytest.raises(ValueError, match=r"unknown option drop\.alowed"):
        NaiveHand({"drop": {"alowed": True}}, 2, 0, sorted_deck({}, 2))
    with pytest.raises(ValueError, match="does not hold"):
        NaiveHand({"deck": {"jokers": 2}}, 2, 0, sorted_deck({}, 2))


FIFTY = ["Tc Jc Qc Kc Kh", "Td Jd Qd Kd Ks"]
FORTY_NINE = ["9c Th Jh Qh Ts", "9d Js Qs Th Jh"]
ELEVEN = "Ac Ad 2c 2d 5c"
NINE = "Ah As 2h 2s 3c"
PLAIN = "3d 3h 6c 7d 8d"


def tiers(*tiers: Options, tie: str = "void") -> Options:
    return {"instant_wins": {"tiers": list(tiers), "tie": tie}}


def test_instant_win_of_49_or_50() -> None:
    options = tiers({"counts": [49, 50], "pays": 2})
    hand = deal(options, [PLAIN, FORTY_NINE[0], ELEVEN])
    assert (hand.ending, hand.payments, hand.to_move) == ("instant_win", [-2, 4, -2], None)
    assert hand.legal() == set()
    assert deal(options, [PLAIN, ELEVEN, NINE]).ending is None


def test_instant_win_tie_void_and_nearest_left_and_all_paid() -> None:
    one_tier = {"counts": [49, 50], "pays": 2}
    hands = [FIFTY[0], PLAIN, FORTY_NINE[1]]
    hand = deal(tiers(one_tier), hands)
    assert (hand.ending, hand.payments) == ("void", [0, 0, 0])
    # Nearest left of dealer 0 is seat 1, then 2, and the dealer last.
    assert deal(tiers(one_tier, tie="nearest_left"), hands, dealer=0).payments == [-2, -2, 4]
    assert deal(tiers(one_tier, tie="nearest_left"), hands, dealer=2).payments == [4, -2, -2]
    assert deal(tiers(one_tier, tie="all_paid"), hands).payments == [2, -4, 2]


def test_instant_wins_of_different_tiers_pay_the_best_only() -> None:
    better, worse = {"counts": [50], "pays": 3}, {"counts": [49], "pays": 2}
    hands = [FORTY_NINE[1], FIFTY[0], PLAIN]
    assert deal(tiers(better, worse), hands).payments == [-3, 6, -3]
    assert deal(tiers(worse, better), hands).payments == [4, -2, -2]


def test_all_paid_pays_every_tier_its_own_from_those_who_do_not_qualify() -> None:
    better, worse = {"counts": [50], "pays": 3}, {"counts": [49], "pays": 2}
    hands = [FORTY_NINE[1], FIFTY[0], PLAIN]
    assert deal(tiers(better, worse, tie="all_paid"), hands).payments == [2, 3, -5]
    everybody = deal(tiers(better, worse, tie="all_paid"), hands[:2])
    assert (everybody.ending, everybody.payments) == ("instant_win", [0, 0])


def test_lowest_first() -> None:
    hands = [ELEVEN, NINE, PLAIN]
    low = {"at_most": 13, "pays": 2}
    assert deal(tiers(low), hands).ending == "void"
    assert deal(tiers({**low, "lowest_first": True}), hands).payments == [-2, 4, -2]


def test_a_player_holds_the_first_tier_that_fits_and_several_conditions_mean_or() -> None:
    courts = {"all_ranks": "TJQK", "pays": 4}
    fifty = {"counts": [50], "at_most": 11, "pays": 1}
    assert deal(tiers(courts, fifty), [FIFTY[0], PLAIN]).payments == [4, -4]
    assert deal(tiers(fifty, courts), [FIFTY[0], PLAIN]).payments == [1, -1]
    assert deal(tiers(courts, fifty), [PLAIN, ELEVEN]).payments == [-1, 1]


def test_counts_use_deck_values() -> None:
    face_values = {"deck": {"values": {"J": 11, "Q": 12, "K": 13}}}
    hand = deal(face_values, [FIFTY[0], PLAIN])
    assert hand.counts == [10 + 11 + 12 + 13 + 13, 27]


# ---- what is a spread


def test_sets_and_runs() -> None:
    assert texts("5h 6h 7h 8h 9s") == {"5h6h7h", "6h7h8h", "5h6h7h8h"}
    assert texts("Ks Kc Kh Kd") == {"KcKdKh", "KcKdKs", "KcKhKs", "KdKhKs", "KcKdKhKs"}
    assert texts("5h 6h 7d 8h") == set()


def test_two_packs_make_sets_of_twins_of_four_cards_and_runs_without_twins() -> None:
    two_packs: Options = {"deck": {"packs": 2}}
    assert texts("Kd Kc Kc", **two_packs) == {"KcKcKd"}
    assert texts("Kc Kc Kd Kd Kh", **two_packs) == {
        "KcKcKd", "KcKcKh", "KcKdKd", "KdKdKh", "KcKdKh",
        "KcKcKdKd", "KcKcKdKh", "KcKdKdKh",
    }  # fmt: skip
    assert texts("5h 5h 6h 7h", **two_packs) == {"5h6h7h"}


def test_ace_low() -> None:
    assert texts("Ac 2c 3c Qc Kc") == {"Ac2c3c"}


def test_ace_low_or_high() -> None:
    assert texts("Ac 2c 3c Qc Kc", spreads={"ace": "low_or_high"}) == {"Ac2c3c", "QcKcAc"}
    assert texts("Ac 2c Kc", spreads={"ace": "low_or_high"}) == set()
    toy = {"deck": {"ranks": "A234"}, "spreads": {"ace": "low_or_high"}}
    assert texts("Ac 2c 3c 4c", **toy) == {"Ac2c3c", "2c3c4c", "3c4cAc", "Ac2c3c4c"}


def test_ace_wrap() -> None:
    wrap = {"ace": "wrap"}
    assert texts("Ac 2c Kc", spreads=wrap) == {"KcAc2c"}
    assert texts("Ac 2c 3c Qc Kc", spreads=wrap) == {
        "Ac2c3c", "KcAc2c", "QcKcAc", "KcAc2c3c", "QcKcAc2c", "QcKcAc2c3c",
    }  # fmt: skip
    assert texts("7c 8c 9c", deck={"ranks": "789T"}, spreads=wrap) == {"7c8c9c"}
    assert texts("7c 9c Tc", deck={"ranks": "789T"}, spreads=wrap) == set()  # no ace, no way round


def test_seven_next_to_jack() -> None:
    assert texts("6d 7d Jd Qd", deck={"ranks": "A234567JQK"}) == {"6d7dJd", "7dJdQd", "6d7dJdQd"}


def test_a_run_of_all_ranks_is_written_from_the_ace_and_closed() -> None:
    for ace in ["low", "low_or_high", "wrap"]:
        melds = Melds(whole(deck={"ranks": "A2345"}, spreads={"ace": ace}))
        assert melds.arrange(["3c", "4c", "5c", "2c", "Ac"]) == ["Ac", "2c", "3c", "4c", "5c"]
    melds = Melds(whole(deck={"ranks": "A2345", "packs": 2}, spreads={"ace": "wrap"}))
    assert melds.arrange(["Ac", "2c", "3c", "4c", "5c", "Ac"]) is None


# ---- turns, hits, dead ends


def test_the_record_of_the_format() -> None:
    hand = deal({}, ["2c 3c 8h Kd Kh", "9s 9h 7d 5c Ac"], "Ks", "4d")
    play(hand, "0 take", "0 spread KdKhKs", "0 discard 8h", "1 stock", "1 discard 9h", "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [1, -1])


def test_a_taken_card_may_not_be_discarded() -> None:
    hands = ["2c 9d", "9s 9h"]
    assert starting(play(deal({}, hands, "Ks"), "0 take"), "discard") == {"2c", "9d"}
    assert starting(play(deal({"discard_taken": True}, hands, "Ks"), "0 take"), "discard") == {
        "2c", "9d", "Ks",
    }  # fmt: skip
    assert starting(play(deal({}, hands, "Ks", "Kd"), "0 stock"), "discard") == {"2c", "9d", "Kd"}


def test_the_twin_of_the_taken_card_may_be_discarded() -> None:
    hand = play(deal({"deck": {"packs": 2}}, ["2c Kc", "9s 9h"], "Kc"), "0 take")
    assert hand.hands[0] == ["2c", "Kc", "Kc"]
    play(hand, "0 discard Kc")
    assert (hand.hands[0], hand.pile) == (["2c", "Kc"], ["Kc"])
    # A spread of one of the twins plays the taken one: the other may be thrown.
    hand = play(deal({"deck": {"packs": 2}}, ["Kd Kh Kc", "9s 9h 4c"], "Kc"), "0 take")
    assert starting(hand, "spread") == {"KcKdKh", "KcKcKd", "KcKcKh", "KcKcKdKh"}
    play(hand, "0 spread KcKdKh", "0 discard Kc")
    assert (hand.ending, hand.payments) == ("out", [1, -1])


def test_hand_emptied_by_spread_hit_or_discard() -> None:
    hand = play(deal({}, ["5h 6h", "9s 9h"], "7h"), "0 take", "0 spread 5h6h7h")
    assert (hand.ending, hand.payments) == ("tonk", [2, -2])
    hand = play(deal({}, ["5h 6h 7h", "9s 9h Kc"], "8h"), "0 take", "0 spread 5h6h7h", "0 hit 8h")
    assert (hand.ending, hand.payments) == ("tonk", [2, -2])
    hand = play(deal({}, ["5h 6h 7h", "9s 9h Kc"], stock="8s"), "0 stock", "0 spread 5h6h7h", "0 discard 8s")
    assert (hand.ending, hand.payments) == ("out", [1, -1])


def test_going_out_multiples() -> None:
    going_out = {"going_out": {"discard": 3, "spread": 4, "hit": 5}}
    hand = play(deal(going_out, ["5h 6h", "9s 9h"], "7h"), "0 take", "0 spread 5h6h7h")
    assert hand.payments == [4, -4]
    hand = play(deal(going_out, ["5h 6h 7h", "9s 9h Kc"], "8h"), "0 take", "0 spread 5h6h7h", "0 hit 8h")
    assert hand.payments == [5, -5]
    hand = deal(going_out, ["5h 6h 7h", "9s 9h Kc"], stock="8s")
    assert play(hand, "0 stock", "0 spread 5h6h7h", "0 discard 8s").payments == [3, -3]


def test_dead_end_spread_that_leaves_only_the_taken_card() -> None:
    hand = play(deal({}, ["5h 6h 7h", "9s 9h Kc"], "Ks"), "0 take")
    assert hand.legal() == {"discard 5h", "discard 6h", "discard 7h"}
    # The taken card can be hit on the very spread: no dead end.
    hand = play(deal({}, ["5h 6h 7h", "9s 9h Kc"], "4h"), "0 take")
    assert starting(hand, "spread") == {"5h6h7h", "4h5h6h", "4h5h6h7h"}
    # With a stock card there is no dead end either, nor where a taken card may be thrown.
    hand = play(deal({}, ["5h 6h 7h", "9s 9h Kc"], stock="Ks"), "0 stock")
    assert starting(hand, "spread") == {"5h6h7h"}
    hand = play(deal({"discard_taken": True}, ["5h 6h 7h", "9s 9h Kc"], "Ks"), "0 take")
    assert starting(hand, "spread") == {"5h6h7h"}


def test_dead_end_hit_that_leaves_only_the_taken_card() -> None:
    options: Options = {}
    hand = deal(options, ["5h 6h 7h 2c 3d", "8h Ac Ad Ah As"], stock="Kd")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Kd")
    play(hand, "1 take", "1 spread AcAdAhAs")
    # 8h fits, but Kd would be left: taken, and with nothing it can hit.
    assert hand.legal() == {"discard 8h"}


def test_dead_end_under_hits_per_turn() -> None:
    hands = ["5h 6h 7h 2c 9h", "8h Ac Ad Ah As"]
    moves = ["0 stock", "0 spread 5h6h7h", "0 discard 9h", "1 take", "1 spread AcAdAhAs"]
    assert play(deal({}, hands, stock="Kd"), *moves).legal() == {"discard 8h", "hit 8h"}
    # 8h and then the taken 9h would be two hits.
    one_hit = {"spreads": {"hits_per_turn": 1}}
    assert play(deal(one_hit, hands, stock="Kd"), *moves).legal() == {"discard 8h"}
    two_hits = {"spreads": {"hits_per_turn": 2}}
    assert play(deal(two_hits, hands, stock="Kd"), *moves).legal() == {"discard 8h", "hit 8h"}


def test_run_extended_at_both_ends() -> None:
    hand = deal({}, ["6h 7h 8h 2c 3d", "5h 9h 4h Th Kc"], stock="Kd Qs")
    play(hand, "0 stock", "0 spread 6h7h8h", "0 discard Kd", "1 stock")
    assert starting(hand, "hit") == {"5h", "9h"}
    play(hand, "1 hit 9h", "1 hit Th", "1 hit 5h", "1 hit 4h")
    assert hand.spreads[0].text == "4h5h6h7h8h9hTh"
    assert hand.hands[1] == ["Kc", "Qs"]


def test_card_fitting_a_set_and_a_run_asks_for_its_target() -> None:
    hand = deal({}, ["8c 8d 8s 5h 6h 7h 2c", "8h 9h 2d 3d Kc Jc 4d"], stock="Kd Qs")
    play(hand, "0 stock", "0 spread 8c8d8s", "0 spread 5h6h7h", "0 discard Kd", "1 stock")
    assert starting(hand, "hit") == {"8h"}
    play(hand, "1 hit 8h")
    assert hand.to_move == 1
    assert hand.legal() == {"target 0 0", "target 0 1"}
    on_set = play(copy.deepcopy(hand), "1 target 0 0")
    assert [spread.text for spread in on_set.spreads] == ["8c8d8h8s", "5h6h7h"]
    assert starting(on_set, "hit") == set()
    on_run = play(hand, "1 target 0 1")
    assert [spread.text for spread in on_run.spreads] == ["8c8d8s", "5h6h7h8h"]
    assert starting(on_run, "hit") == {"9h"}


def test_targets_that_are_dead_ends_are_not_offered() -> None:
    hand = deal({}, ["8c 8d 8s 5h 6h 7h 9h", "8h Ac Ad Ah 2c 2d 2h"], stock="Kc")
    play(hand, "0 stock", "0 spread 8c8d8s", "0 spread 5h6h7h", "0 discard 9h")
    play(hand, "1 take", "1 spread AcAdAh", "1 spread 2c2d2h")
    assert hand.legal() == {"hit 8h", "discard 8h"}
    # On the set, the taken 9h would be left with nothing it fits.
    play(hand, "1 hit 8h")
    assert hand.legal() == {"target 0 1"}
    play(hand, "1 target 0 1", "1 hit 9h")
    assert (hand.ending, hand.payments) == ("tonk", [-2, 2])


def test_a_set_stays_at_four_cards_and_runs_stay_apart() -> None:
    options = {"deck": {"packs": 2}}
    hand = deal(options, ["Kc Kc Kd Kh 5h 6h 7h 2c", "9h Th Jh Ks 3c 4d 6d 8h"], stock="Qs 7d")
    play(hand, "0 stock", "0 spread KcKcKdKh", "0 spread 5h6h7h", "0 discard Qs")
    play(hand, "1 stock", "1 spread 9hThJh")
    assert starting(hand, "hit") == {"8h"}
    play(hand, "1 hit 8h")
    # 8h joins the two runs: it goes to one, and they stay two spreads of their owners.
    assert hand.legal() == {"target 0 1", "target 1 0"}
    play(hand, "1 target 0 1")
    assert [(s.owner, s.index, s.text) for s in hand.spreads] == [
        (0, 0, "KcKcKdKh"),
        (0, 1, "5h6h7h8h"),
        (1, 0, "9hThJh"),
    ]


def test_illegal_moves_change_nothing() -> None:
    hand = deal({}, ["2c 3c 8h Kd Kh", "9s 9h 7d 5c Ac"], "Ks", "4d")
    before = copy.deepcopy(vars(hand))
    for move in ["discard 2c", "spread KdKhKs", "hit 2c", "claim", "", "target 0 0"]:
        with pytest.raises(ValueError, match="illegal move"):
            hand.apply(move)
    before.pop("melds")
    assert all(vars(hand)[name] == value for name, value in before.items())


# ---- going out: what replaces and what caps the base multiple

TWO_SPREADS = ["5h 6h 7h Kc Kd", "9s 9h 2c 3d 8c"]


def test_first_turn_two_spreads() -> None:
    options: Options = {"going_out": {"first_turn_two_spreads": 4}}
    hand = play(deal(options, TWO_SPREADS, "Ks"), "0 take", "0 spread 5h6h7h", "0 spread KcKdKs")
    assert (hand.ending, hand.payments) == ("tonk", [4, -4])
    # Laid by a hit, or with a hit between, or finished by a discard: the base multiple.
    hand = deal(options, ["5h 6h 7h Kc Kd Ks", "9s 9h 2c 3d 8c Ac"], "8h")
    play(hand, "0 take", "0 spread 5h6h7h", "0 spread KcKdKs", "0 hit 8h")
    assert hand.payments == [2, -2]
    hand = deal(options, ["5h 6h 7h Kc Kd Ks", "9s 9h 2c 3d 8c Ac"], "8h")
    play(hand, "0 take", "0 spread 5h6h7h", "0 hit 8h", "0 spread KcKdKs")
    assert hand.payments == [2, -2]
    hand = deal(options, ["5h 6h 7h Kc Kd Ks", "9s 9h 2c 3d 8c Ac"], stock="8s")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 spread KcKdKs", "0 discard 8s")
    assert (hand.ending, hand.payments) == ("out", [1, -1])
    # It never lowers the base.
    options = {"going_out": {"first_turn_two_spreads": 2, "spread": 3}}
    hand = play(deal(options, TWO_SPREADS, "Ks"), "0 take", "0 spread 5h6h7h", "0 spread KcKdKs")
    assert hand.payments == [3, -3]


def test_first_turn_two_spreads_is_of_the_players_own_first_turn() -> None:
    options: Options = {"going_out": {"first_turn_two_spreads": 4}}
    hand = deal(options, TWO_SPREADS[::-1], "2d", "Qs 2s")
    play(hand, "0 stock", "0 discard Qs", "1 stock", "1 discard 2s", "0 take")
    play(hand, "0 discard 3d", "1 stock")
    hand = deal(options, TWO_SPREADS[::-1], "2d", "Ks")
    play(hand, "0 stock", "0 discard Ks", "1 take", "1 spread KcKdKs", "1 spread 5h6h7h")
    assert hand.payments == [-4, 4]
    hand = deal(options, TWO_SPREADS, "2d", "Qs Ks")
    play(hand, "0 stock", "0 discard Qs", "1 stock", "1 discard Ks")
    play(hand, "0 take", "0 spread KcKdKs", "0 spread 5h6h7h")
    assert hand.payments == [2, -2]


def test_no_earlier_spread() -> None:
    options: Options = {"going_out": {"no_earlier_spread": 3}}
    hand = play(deal(options, TWO_SPREADS, "Ks"), "0 take", "0 spread 5h6h7h", "0 spread KcKdKs")
    assert hand.payments == [3, -3]
    hand = deal(options, ["5h 6h 7h", "9s 9h Kc"], stock="8s")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard 8s")
    assert (hand.ending, hand.payments) == ("out", [3, -3])
    # A spread of an earlier turn spoils it.
    hand = deal(options, ["5h 6h 7h Kc", "9s 9h 2c 8h"], stock="8s 4d")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Kc", "1 stock", "1 discard 8h")
    play(hand, "0 take", "0 hit 8h", "0 discard 8s")
    assert (hand.ending, hand.payments) == ("out", [1, -1])


def test_after_hitting_caps_what_the_others_replaced() -> None:
    # Seat 1 hits on its first turn and goes out on its second, never having laid a spread before.
    hands = ["5h 6h 7h 2c 3d", "8h 4h Kc Kd Ks"]
    moves = ["0 stock", "0 spread 5h6h7h", "0 discard Jd", "1 stock", "1 hit 8h", "1 hit 4h"]
    moves += ["1 discard Qs", "0 stock", "0 discard Jh", "1 stock", "1 spread KcKdKs", "1 discard 9s"]
    stock = "Jd Qs Jh 9s"
    assert play(deal({}, hands, stock=stock), *moves).payments == [-1, 1]
    run_out: Options = {"going_out": {"no_earlier_spread": 4}}
    assert play(deal(run_out, hands, stock=stock), *moves).payments == [-4, 4]
    capped: Options = {"going_out": {"no_earlier_spread": 4, "after_hitting": 1}}
    assert play(deal(capped, hands, stock=stock), *moves).payments == [-1, 1]
    # A cap above what is paid changes nothing; a hit of the same turn is not an earlier turn.
    loose: Options = {"going_out": {"after_hitting": 3}}
    assert play(deal(loose, hands, stock=stock), *moves).payments == [-1, 1]
    hand = deal({"going_out": {"after_hitting": 1}}, ["5h 6h 7h", "9s 9h Kc"], "8h")
    assert play(hand, "0 take", "0 spread 5h6h7h", "0 hit 8h").payments == [2, -2]


# ---- waiting


def test_after_spread_forbids_that_many_drops() -> None:
    options: Options = {"waiting": {"after_spread": 2}}
    hand = deal(options, ["5h 6h 7h 2c 3d", "Ac Kh 9s Js Kc"], stock="Jd Qs Jh 9c 9d Qc")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Jd")
    assert hand.waits == [2, 0]
    play(hand, "1 stock", "1 discard Qs")
    assert hand.legal() == {"stock", "take"}
    assert hand.waits == [1, 0]
    play(hand, "0 stock", "0 discard Jh", "1 stock", "1 discard 9c")
    assert hand.legal() == {"stock", "take"}
    assert hand.waits == [0, 0]
    play(hand, "0 stock", "0 discard 9d", "1 stock", "1 discard Qc")
    assert "drop" in hand.legal()


def waits_after_hits(**waiting: Any) -> list[int]:
    """Seat 0 lays one spread and hits it twice, then seat 1 hits it twice."""
    hand = deal({"waiting": waiting}, ["5h 6h 7h 4h 8h 2c", "9h 3h Kc Jd Js 2d"], stock="Jc Qs")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 hit 4h", "0 hit 8h", "0 discard Jc")
    play(hand, "1 stock", "1 hit 9h", "1 hit 3h", "1 discard Qs")
    assert hand.to_move == 0
    return hand.waits


def test_waiting_adds_each_spread_and_each_hit_separately() -> None:
    # Each figure is one less than the sum: seat 0's next turn has begun.
    assert waits_after_hits(after_spread=3) == [2, 0]
    assert waits_after_hits(after_own_hit=2) == [3, 0]
    assert waits_after_hits(after_hit=3) == [5, 0]
    assert waits_after_hits(after_spread=3, after_hit=1, after_own_hit=1) == [6, 0]
    assert waits_after_hits(after_hit=3, one_hit_per_round=True) == [2, 0]


def test_waiting_not_cumulative_takes_the_larger() -> None:
    assert waits_after_hits(after_spread=3, after_hit=1, after_own_hit=1, cumulative=False) == [2, 0]
    assert waits_after_hits(after_spread=1, after_hit=2, after_own_hit=4, cumulative=False) == [3, 0]


def test_one_hit_per_round_counts_hits_of_all_others_between_two_turns_of_the_player() -> None:
    options: Options = {"waiting": {"after_hit": 1, "one_hit_per_round": True}}
    hands = ["5h 6h 7h 2c 3d Kd", "8h Th Kc Jd Js 2d", "9h Qd Ks As Ad 2s"]
    hand = deal(options, hands, stock="Jc Qs Qc 9s")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard Jc")
    play(hand, "1 stock", "1 hit 8h", "1 discard Qs")
    assert hand.waits == [1, 0, 0]
    play(hand, "2 stock", "2 hit 9h", "2 discard Qc")
    assert hand.waits == [0, 0, 0]  # still one, and lowered as seat 0's turn begins
    assert "drop" not in hand.legal()
    play(hand, "0 stock", "0 discard 9s", "1 stock", "1 hit Th")
    assert hand.waits == [1, 0, 0]  # a new round


BLOCKED = ["5c 5d 5h 6c 6d 6h 2c", "5s 9d Kd Jh Js 8d 3s"]
BLOCKED_STOCK = "Kc Qs 6s 2d Qh Td"


@pytest.mark.parametrize("after_hit", [0, 1])
def test_blocks_going_out(after_hit: int) -> None:
    moves = ["0 stock", "0 spread 5c5d5h", "0 discard Kc", "1 stock", "1 hit 5s", "1 discard Qs", "0 stock"]
    free = play(deal({"waiting": {"after_hit": after_hit}}, BLOCKED, stock=BLOCKED_STOCK), *moves)
    assert "6c6d6h6s" in starting(free, "spread")
    options: Options = {"waiting": {"after_hit": after_hit, "blocks_going_out": True}}
    hand = play(deal(options, BLOCKED, stock=BLOCKED_STOCK), *moves)
    # Four sixes would leave one card; three leave two, one of which stays.
    assert starting(hand, "spread") == {"6c6d6h", "6c6d6s", "6c6h6s", "6d6h6s"}
    play(hand, "0 spread 6c6d6h")
    assert hand.legal() == {"discard 2c", "discard 6s"}  # 6s would leave one card by a hit
    play(hand, "0 discard 2c", "1 stock", "1 discard 2d", "0 stock")
    assert hand.hands[0] == ["6s", "Qh"]
    play(hand, "0 hit 6s", "0 discard Qh")  # the flag fell
    assert hand.ending == "out"


def test_own_hits_do_not_block_going_out() -> None:
    options: Options = {"waiting": {"blocks_going_out": True}}
    hand = deal(options, ["5h 6h 7h 8h 2c", "Ac Kh 9s Js Kc"], stock="Jd Qs 2d")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 hit 8h", "0 discard Jd", "1 stock", "1 discard Qs")
    assert hand.legal() == {"drop", "stock", "take"}
    play(hand, "0 stock", "0 discard 2d", "1 stock")


# ---- the stock and the turn limit

TOY: Options = {"deck": {"ranks": "A2345", "suits": 1}, "deal": {"upcard": False}}


def stock_out(counts: list[int], **stock: Any) -> tuple[str, list[float]]:
    outcome = settle_stock_out(counts, len(counts) - 1, "stock_out", whole(stock_out=stock))
    return outcome.ending, outcome.payments


def test_stock_out_lowest_is_paid_by_each_and_ties() -> None:
    assert stock_out([5, 8, 9]) == ("stock_out", [2, -1, -1])
    assert stock_out([5, 5, 9]) == ("stock_out", [0, 0, 0])
    assert stock_out([5, 5, 9], tie="share") == ("stock_out", [1, 1, -2])
    assert stock_out([5, 5, 9], tie="nearest_left") == ("stock_out", [2, -1, -1])
    assert stock_out([9, 5, 5], tie="nearest_left") == ("stock_out", [-1, 2, -1])
    assert stock_out([5, 5, 5], tie="share") == ("stock_out", [0, 0, 0])
    assert stock_out([5, 8, 9], result="void") == ("stock_out", [0, 0, 0])


def test_stock_out_after_the_turn_is_completed() -> None:
    hand = deal(TOY, ["4c 2c", "Ac 5c"], stock="3c")
    play(hand, "0 stock")
    assert hand.stock == []
    play(hand, "0 discard 4c")
    assert (hand.ending, hand.payments) == ("stock_out", [1, -1])


def test_going_out_on_the_last_stock_card_is_not_stock_out() -> None:
    hand = play(deal(TOY, ["2c 3c", "Ac 5c"], stock="4c"), "0 stock", "0 spread 2c3c4c")
    assert hand.ending == "tonk"


def test_must_drop_forces_the_next_player_whatever_waiting_and_max_count() -> None:
    options: Options = {
        **TOY,
        "deck": {"ranks": "A23456", "suits": 1},
        "stock_out": {"result": "must_drop"},
        "drop": {"max_count": 0},
        "waiting": {"after_hit": 5, "after_spread": 5},
    }
    hand = deal(options, ["Ac 2c", "6c 4c"], stock="3c 5c")
    play(hand, "0 stock", "0 discard 3c", "1 stock")
    assert hand.stock == []
    play(hand, "1 discard 6c")
    assert hand.legal() == {"drop"}
    play(hand, "0 drop")
    assert (hand.ending, hand.payments) == ("drop", [1, -1])
    # The player forced may be caught, and by an equal count too.
    hand = deal(options, ["5c 6c", "Ac 2c"], stock="3c 4c")
    play(hand, "0 stock", "0 discard 3c", "1 stock", "1 discard 4c", "0 drop")
    assert (hand.ending, hand.payments) == ("caught", [-2, 2])
    # Waiting does not excuse him.
    hand = deal({**options, "deck": {"ranks": "A23456", "suits": 1}}, ["2c 3c", "5c Ac"], stock="6c 4c")
    play(hand, "0 stock", "0 discard 6c")
    hand.waits[0] = 3
    play(hand, "1 stock", "1 discard 5c")
    assert hand.legal() == {"drop"}
    with pytest.raises(ValueError, match="must_drop"):
        deal({**options, "drop": {"allowed": False}}, ["Ac 2c", "6c 4c"])


def test_turn_limit() -> None:
    options: Options = {"turn_limit": 1}
    moves = ["0 stock", "0 discard Kd", "1 stock", "1 discard Ks"]
    hand = play(deal(options, ["Ac 2c", "6c 4c"], stock="Kd Ks"), *moves)
    assert (hand.ending, hand.payments) == ("turn_limit", [1, -1])
    # Paid as `stock_out`: its tie rule and its `void` apply, `must_drop` counts as `lowest_wins`.
    for result, payments in [("void", [0, 0]), ("must_drop", [1, -1])]:
        hand = deal({**options, "stock_out": {"result": result}}, ["Ac 2c", "6c 4c"], stock="Kd Ks")
        assert (play(hand, *moves).ending, hand.payments) == ("turn_limit", payments)
    hand = deal({**options, "stock_out": {"tie": "nearest_left"}}, ["Ac 2c", "Ad 2d"], stock="Kd Ks")
    assert play(hand, *moves).payments == [1, -1]


def test_stock_out_is_tested_before_the_turn_limit() -> None:
    options: Options = {**TOY, "deck": {"ranks": "A23456", "suits": 1}, "turn_limit": 1}
    moves = ["0 stock", "0 discard 3c", "1 stock", "1 discard 6c"]
    hand = play(deal(options, ["Ac 2c", "6c 4c"], stock="3c 5c"), *moves)
    assert hand.ending == "stock_out"
    must_drop = {**options, "stock_out": {"result": "must_drop"}}
    hand = play(deal(must_drop, ["Ac 2c", "6c 4c"], stock="3c 5c"), *moves)
    assert hand.legal() == {"drop"}


def test_forfeit() -> None:
    hand = deal({}, ["Ac 2c", "6c 4c", "Kd Ks"])
    hand.forfeit(1)
    assert (hand.ending, hand.payments, hand.legal()) == ("forfeit", [2, -4, 2], set())
    hand = deal({"forfeit": 5}, ["Ac 2c", "6c 4c", "Kd Ks"])
    hand.forfeit(0)
    assert hand.payments == [-10, 5, 5]
    hand = deal({"scoring": "push_ups"}, ["Ac 2c", "6c 4c", "Kd Ks"])
    hand.forfeit(1)
    assert hand.payments == [0, -10, 0]


# ---- push-ups


def test_push_ups() -> None:
    push: Options = {"scoring": "push_ups"}
    hand = play(deal(push, ["5h 6h", "9s 9h", "Kc Qc"], "7h"), "0 take", "0 spread 5h6h7h")
    assert hand.payments == [0, -36, -40]  # a spread pays double
    hand = play(deal({**push, "drop": {"pays": 3}}, ["Ac 2c", "6c 4c", "Kd Ks"]), "0 drop")
    assert hand.payments == [0, -10, -20]  # a drop counts once
    hand = play(deal(push, ["Ac 8c", "Ad 4d", "2h 3h", "Kd 2s"]), "0 drop")
    assert (hand.ending, hand.payments) == ("caught", [-9, 0, 0, -12])
    one_low: Options = {**push, "drop": {"caught": "five_to_low"}}
    hand = play(deal(one_low, ["Ac 8c", "Ad 4d", "2h 3h", "Kd 2s"]), "0 drop")
    assert hand.payments == [-9, 0, -5, -12]  # a tied player passed over is a loser
    shared: Options = {**push, "drop": {"tie_with_dropper": "share"}}
    hand = play(deal(shared, ["Ac 4c", "2h 3h", "Kd 2s"]), "0 drop")
    assert hand.payments == [0, 0, -12]


def test_push_ups_instant_win_and_void() -> None:
    one_tier = {"counts": [49, 50], "pays": 2}
    options = {**tiers(one_tier), "scoring": "push_ups"}
    assert deal(options, [FIFTY[0], PLAIN, ELEVEN]).payments == [0, -54, -22]
    assert deal(options, [FIFTY[0], PLAIN, FORTY_NINE[1]]).payments == [0, 0, 0]


# ---- must_spread, hits_per_turn, taken_must_meld


def test_must_spread_forbids_discards_while_a_spread_could_be_laid() -> None:
    options: Options = {"spreads": {"must_spread": "yes"}}
    hand = deal(options, ["5h 6h 7h 2c 3d", "Ac Ad Ah Js Kc"], stock="Jd Qs")
    assert "drop" in hand.legal()
    play(hand, "0 stock")
    assert hand.legal() == {"spread 5h6h7h"}
    play(hand, "0 spread 5h6h7h")
    assert hand.legal() == {"discard 2c", "discard 3d", "discard Jd"}
    play(hand, "0 discard Jd", "1 stock")
    assert hand.legal() == {"spread AcAdAh"}


def test_must_spread_except_aces() -> None:
    options: Options = {"spreads": {"must_spread": "except_aces"}}
    hand = play(deal(options, ["Ac Ad Ah 2c 3d", "5h 6h 7h Js Kc"], stock="Jd Qs"), "0 stock")
    assert starting(hand, "spread") == {"AcAdAh"}
    assert starting(hand, "discard") == {"Ac", "Ad", "Ah", "2c", "3d", "Jd"}
    # A run with an ace is no set of aces.
    hand = play(deal(options, ["Ac 2c 3c 9d Td", "5h 6h 7h Js Kc"], stock="Qd Qs"), "0 stock")
    assert hand.legal() == {"spread Ac2c3c"}


def test_must_spread_speaks_of_spreads_that_could_legally_be_laid() -> None:
    # The run would leave only the taken king: it may not be laid, so it does not forbid the discard.
    options: Options = {"spreads": {"must_spread": "yes"}}
    hand = play(deal(options, ["5h 6h 7h", "9s 9h Kc"], "Ks"), "0 take")
    assert hand.legal() == {"discard 5h", "discard 6h", "discard 7h"}


def test_hits_per_turn() -> None:
    options: Options = {"spreads": {"hits_per_turn": 1}}
    hand = deal(options, ["6h 7h 8h 2c 3d", "5h 9h 4h Th Kc"], stock="Kd Qs 2d Qd")
    play(hand, "0 stock", "0 spread 6h7h8h", "0 discard Kd", "1 stock", "1 hit 5h")
    assert starting(hand, "hit") == set()
    play(hand, "1 discard Qs", "0 stock", "0 discard 2d", "1 stock")
    assert starting(hand, "hit") == {"4h", "9h"}


def test_taken_must_meld() -> None:
    options: Options = {"spreads": {"taken_must_meld": True}}
    assert "take" not in deal(options, ["5h 6h 2c", "9s 9h Kc"], "Ks").legal()
    # The run could be laid, but not the king: it may not be taken.
    assert "take" not in deal(options, ["5h 6h 7h", "9s 9h Kc"], "Ks").legal()
    hand = deal(options, ["5h 6h 8c 8d 8s 2c", "9s 9h Kc 3d 4d Jd"], "7h")
    assert "take" in hand.legal()
    play(hand, "0 take")
    assert hand.legal() == {"spread 5h6h7h"}
    play(hand, "0 spread 5h6h7h")
    assert hand.legal() == {"spread 8c8d8s", "discard 2c", "discard 8c", "discard 8d", "discard 8s"}


def test_taken_must_meld_by_a_hit() -> None:
    options: Options = {"spreads": {"taken_must_meld": True}}
    hand = deal(options, ["5h 6h 7h 2c 8h", "9h 9s Kc 3d 4d"], stock="Jd")
    play(hand, "0 stock", "0 spread 5h6h7h", "0 discard 8h")
    assert "take" in hand.legal()
    play(hand, "1 take")
    assert hand.legal() == {"hit 8h"}
    play(hand, "1 hit 8h")
    assert starting(hand, "hit") == {"9h"}
    assert starting(hand, "discard") == {"9h", "9s", "Kc", "3d", "4d"}


# ---- random play

ENDINGS = {
    "instant_win", "claim", "tonk", "out", "drop", "caught", "stock_out", "turn_limit", "void", "forfeit",
}  # fmt: skip
WORDS = {
    "drop", "claim", "stock", "take", "spread", "hit", "discard", "target", "swap", "keep", "slap", "pass",
}  # fmt: skip


def check_table(hand: NaiveHand, deck: list[str]) -> None:
    """What holds after every move."""
    on_table = [card for spread in hand.spreads for card in spread.held]
    held = [card for cards in hand.hands for card in cards]
    beside = [card for card in hand.widows + hand.put_away if card is not None]
    assert sorted(held + on_table + hand.pile + hand.stock + beside) == sorted(deck)
    assert all(cards == sorted(cards) for cards in hand.hands)
    for spread in hand.spreads:
        assert hand.melds.arrange(spread.cards) == spread.cards
        assert all(is_wild(card, hand.options) for card in spread.fillers.values())
    for seat in range(hand.num_players):
        laid = [spread.index for spread in hand.spreads if spread.owner == seat]
        assert laid == list(range(len(laid)))
        assert hand.swapped[seat] == (hand.put_away[seat] is not None)
    assert all(wait >= 0 for wait in hand.waits)
    if hand.ending is None:
        assert hand.legal()
        assert hand.whose_turn is not None
        assert hand.whose_turn == hand.to_move or hand.question.startswith("slap")
        assert not any(hand.payments)
    else:
        assert hand.to_move is None
        assert hand.legal() == set()
        if hand.options["scoring"] == "stakes":
            assert sum(hand.payments) == pytest.approx(0)
        else:
            assert all(payment <= 0 for payment in hand.payments)


def play_out(case: Case, rng: random.Random) -> tuple[NaiveHand, Counter[str]]:
    """Plays one hand, checking after every move; a few hands are forfeited."""
    deck = shuffled_deck(case, rng)
    hand = NaiveHand(case.options, case.num_players, case.dealer, deck, **random_chance(case, rng))
    reached: Counter[str] = Counter()
    check_table(hand, deck)
    while hand.to_move is not None:
        if rng.random() < 0.002:
            hand.forfeit(hand.to_move)
        else:
            move = steered_move(hand.legal(), rng)
            reached.update(what_happens(hand, move))
            hand.apply(move)
        check_table(hand, deck)
    return hand, reached


def what_happens(hand: NaiveHand, move: str) -> set[str]:
    """Things worth reaching in random play that are about to happen, the move's first word among them."""
    assert hand.to_move is not None
    word, _, rest = move.partition(" ")
    facts = {
        "spread with a wild": word == "spread" and "[" in rest,
        "wild hit": word == "hit" and is_wild(rest, hand.options),
        "target at an end": word == "target" and rest.endswith(("low", "high")),
        "somebody is locked": bool(locked_seats(hand.spreads, hand.options)),
        "drop without cards": word == "drop" and not hand.hands[hand.to_move],
        "forced drop": hand.is_drop_forced,
        "slap discard": hand.question == "slap_discard",
        "slap of one's own discard": word == "slap" and hand.to_move == hand.thrown_by,
        "slap of a slapper's discard": word == "slap" and hand.thrown_by != hand.whose_turn,
        "nothing to gain from a slap": hand.question == "slap" and hand.legal() == {"pass"},
    }
    return {word} | {fact for fact, is_so in facts.items() if is_so}


FACTS = {
    "spread with a wild", "wild hit", "target at an end", "somebody is locked", "drop without cards",
    "forced drop", "slap discard", "slap of one's own discard", "slap of a slapper's discard",
    "nothing to gain from a slap",
}  # fmt: skip


def test_random_play_keeps_every_invariant_and_reaches_every_ending() -> None:
    rng = random.Random(20_261_129)
    endings: Counter[str] = Counter()
    reached: Counter[str] = Counter()
    for _ in range(600):
        hand, happened = play_out(random_options(rng), rng)
        assert hand.ending is not None
        endings[hand.ending] += 1
        reached += happened
    assert set(endings) == ENDINGS
    assert min(endings.values()) >= 5, endings
    assert set(reached) == WORDS | FACTS
    assert min(reached.values()) >= 2, reached


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(), seed=st.integers(0, 2**32 - 1))
def test_random_play_by_hypothesis(case: Case, seed: int) -> None:
    play_out(case, random.Random(seed))


def test_random_options_depend_on_the_seed_alone() -> None:
    assert random_options(random.Random(5)) == random_options(random.Random(5))
    assert random_options(random.Random(5)) != random_options(random.Random(6))


# ---- the completion rule against a plain search of the whole turn


class WholeTurn:
    """Answers by brute force whether a turn can be finished, whatever the wording of the rule."""

    def __init__(self, here: Position) -> None:
        self.seat = here.seat
        self.options = here.options
        self.layer = here.melds
        self.is_blocked = not here.may_go_out

    def melds(self, hand: list[str], taken: str | None, table: list[Spread], hits: int) -> dict[str, Any]:
        """Every spread and hit onto a place, legal or not as to what is left: text -> position after it."""
        must_meld = self.options["spreads"]["taken_must_meld"] and taken is not None
        limit = self.options["spreads"]["hits_per_turn"]
        lock_after = self.options["spreads"]["lock_after"]
        num_spreads = Counter(spread.owner for spread in table)
        after: dict[str, Any] = {}
        for meld in self.layer.spreads_in(hand):
            if not (must_meld and taken not in meld.held):
                rest = list((Counter(hand) - Counter(meld.held)).elements())
                still = None if taken in meld.held else taken
                laid = Spread(self.seat, num_spreads[self.seat], meld)
                after["spread " + meld.text] = (rest, still, [*table, laid], hits)
        for card in set(hand):
            if (limit is not None and hits >= limit) or (must_meld and card != taken):
                continue
            for at, spread in enumerate(table):
                is_locked = lock_after is not None and num_spreads[spread.owner] >= lock_after
                if is_locked and spread.owner != self.seat:
                    continue
                for end, grown in self.layer.hits_on(spread.meld, card).items():
                    rest = list((Counter(hand) - Counter([card])).elements())
                    still = None if card == taken else taken
                    new_table = [*table[:at], Spread(spread.owner, spread.index, grown), *table[at + 1 :]]
                    after[f"hit {card} {at} {end}"] = (rest, still, new_table, hits + 1)
        return after

    def finishable_melds(self, *position: Any) -> set[str]:
        return {text for text, after in self.melds(*position).items() if self.can_finish(*after)}

    def discards(self, *position: Any) -> set[str]:
        hand, taken = position[0], position[1]
        rule = self.options["spreads"]["must_spread"]
        spreads = {text for text in self.finishable_melds(*position) if text.startswith("spread")}
        if rule == "except_aces":
            spreads = {text for text in spreads if set(re.sub(r"\[..\]", "", text)[7::2]) != {"A"}}
        if (rule != "no" and spreads) or (self.is_blocked and len(hand) == 1):
            return set()
        if self.options["spreads"]["taken_must_meld"] and taken is not None:
            return set()
        thrown = Counter(hand)
        if taken is not None and not self.options["discard_taken"]:
            thrown -= Counter([taken])
        return set(thrown)

    def can_finish(self, *position: Any) -> bool:
        if not position[0]:
            return not self.is_blocked
        return bool(self.discards(*position)) or bool(self.finishable_melds(*position))


def random_position(case: Case, rng: random.Random) -> Position:
    """A small hand in mid-turn before a table of a few spreads: dead ends are common here, rare in play."""
    melds = Melds(complete(case.options), case.num_players)
    deck = shuffled_deck(case, rng)
    table: list[Spread] = []
    for _ in range(rng.choice([0, 1, 2, 3])):
        spreads = melds.spreads_in(deck[:16])
        if spreads:
            owner = rng.choice([0, 0, 1])
            index = sum(spread.owner == owner for spread in table)
            table.append(Spread(owner, index, rng.choice(spreads)))
            for card in table[-1].held:
                deck.remove(card)
    spreads = [meld for meld in melds.spreads_in(deck[:16]) if len(meld.cards) <= 5]
    hand = rng.choice(spreads).held if spreads and rng.random() < 0.5 else []
    for card in hand:
        deck.remove(card)
    hand += [deck.pop() for _ in range(min(rng.choice([1, 1, 2]), len(deck)))]
    fitting = {card for card in deck if any(melds.hits_on(spread.meld, card) for spread in table)}
    hand += rng.sample(sorted(fitting), min(len(fitting), rng.choice([0, 1])))
    return Position(
        melds=melds,
        seat=0,
        may_go_out=rng.random() < 0.7,
        hand=hand,
        taken=rng.choice(hand) if hand and rng.random() < 0.7 else None,
        table=table,
        hits_made=rng.choice([0, 0, 1]),
    )


def test_legal_moves_are_those_after_which_the_turn_can_be_completed() -> None:
    rng = random.Random(7)
    dead_ends = 0
    for _ in range(800):
        here = random_position(random_options(rng), rng)
        turn = WholeTurn(here)
        position = (here.hand, here.taken, here.table, here.hits_made)
        after = {text: turn.can_finish(*left) for text, left in turn.melds(*position).items()}
        hits = {
            f"hit {card} {place.at} {place.target[4:]}"
            for card in here.hand
            for place in here.legal_places(card)
        }
        spreads = {"spread " + meld.text for meld in here.legal_spreads()}
        assert hits | spreads == {text for text, can_finish in after.items() if can_finish}
        assert here.legal_hits() == {text.split()[1] for text in hits}
        assert here.legal_discards() == turn.discards(*position)
        dead_ends += not all(after.values())
    assert dead_ends >= 60, dead_ends


# ---- figures: RULES section 3, toys for exact solving


def test_toy_2s4r_tree_has_the_figures_of_the_rules() -> None:
    options: Options = {"deck": {"ranks": "A234", "suits": 2}, "turn_limit": 1}
    deck = sorted_deck(options, 2)
    decisions = terminals = stock_draws = 0
    information_sets = set()
    for first in combinations(deck, 3):
        rest = [card for card in deck if card not in first]
        for second in combinations(rest, 3):
            for upcard, last in permutations([card for card in rest if card not in second]):
                root = deal(options, [" ".join(first), " ".join(second)], upcard, last)
                known: list[tuple[Any, ...]] = [(first, upcard), (second, upcard)]
                unfinished = [(root, known)]
                while unfinished:
                    hand, known = unfinished.pop()
                    seat = hand.to_move
                    if seat is None:
                        terminals += 1
                        continue
                    decisions += 1
                    information_sets.add((seat, known[seat]))
                    for move in hand.legal():
                        shared = {id(part): part for part in (hand.melds, hand.options)}
                        after = copy.deepcopy(hand, shared)
                        after.apply(move)
                        stock_draws += move == "stock"
                        seen = [(*known[0], move), (*known[1], move)]
                        if move == "stock":
                            seen[seat] += (last,)
                        unfinished.append((after, seen))
    assert len(information_sets) == 8_880
    assert decisions + terminals + stock_draws == 55_712
