"""The points keeper, and through it every payment table of docs/RULES.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tonk_env.errors import TonkError
from tonk_env.notation import read_record
from tonk_env.rules import load_rules
from tonk_env.rules.spec import CAUGHT_TABLES
from tonk_env.score import Beside, score

pytestmark = pytest.mark.uncompiled

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.toml"))

# Dropper first; each row worked out by hand from its line of the caught table.
LOWER_EQUAL_HIGHER = (8, 6, 8, 20)
ALL_ROLES = (9, 5, 7, 9, 12)  # lowest, lower, equal, higher
TWO_LOWEST = (9, 5, 5, 12)
EQUALS = (8, 8, 8, 20)
CAUGHT: dict[str, dict[tuple[int, ...], list[float]]] = {
    "pagat": {
        LOWER_EQUAL_HIGHER: [-4, 4, 1, -1],
        ALL_ROLES: [-6, 5, 1, 1, -1],
        TWO_LOWEST: [-4, 3, 3, -2],
        EQUALS: [-4, 3, 3, -2],
    },
    "low_takes_all": {
        LOWER_EQUAL_HIGHER: [-2, 4, -1, -1],
        ALL_ROLES: [-2, 5, -1, -1, -1],
        TWO_LOWEST: [-4, 3, 3, -2],
        EQUALS: [-4, 3, 3, -2],
    },
    "pay_for_everyone": {
        LOWER_EQUAL_HIGHER: [-3, 3, 0, 0],
        ALL_ROLES: [-4, 4, 0, 0, 0],
        TWO_LOWEST: [-6, 3, 3, 0],
        EQUALS: [-6, 3, 3, 0],
    },
    "single_plus_low": {
        LOWER_EQUAL_HIGHER: [-3, 4, 0, -1],
        ALL_ROLES: [-4, 5, 0, 0, -1],
        TWO_LOWEST: [-4, 3, 3, -2],
        EQUALS: [-4, 3, 3, -2],
    },
    "double_to_all": {
        LOWER_EQUAL_HIGHER: [-6, 2, 2, 2],
        ALL_ROLES: [-8, 2, 2, 2, 2],
        TWO_LOWEST: [-6, 2, 2, 2],
        EQUALS: [-6, 2, 2, 2],
    },
    "five_to_low": {
        LOWER_EQUAL_HIGHER: [-5, 5, 0, 0],
        ALL_ROLES: [-5, 5, 0, 0, 0],
        TWO_LOWEST: [-5, 5, 0, 0],
        EQUALS: [-5, 5, 0, 0],
    },
    "double_only": {
        LOWER_EQUAL_HIGHER: [-4, 2, 2, 0],
        ALL_ROLES: [-6, 2, 2, 2, 0],
        TWO_LOWEST: [-4, 2, 2, 0],
        EQUALS: [-4, 2, 2, 0],
    },
    "bump": {
        LOWER_EQUAL_HIGHER: [-8, 4, 4, 0],
        ALL_ROLES: [-12, 4, 4, 4, 0],
        TWO_LOWEST: [-8, 4, 4, 0],
        EQUALS: [-8, 4, 4, 0],
    },
    "chicago": {
        LOWER_EQUAL_HIGHER: [-2, 2, 0, 0],
        ALL_ROLES: [-2, 2, 0, 0, 0],
        TWO_LOWEST: [-4, 2, 2, 0],
        EQUALS: [-4, 2, 2, 0],
    },
    "washington": {
        LOWER_EQUAL_HIGHER: [-8, 8, 0, 0],
        ALL_ROLES: [-10, 10, 0, 0, 0],
        TWO_LOWEST: [-16, 8, 8, 0],
        EQUALS: [-16, 8, 8, 0],
    },
    "lower_only": {
        LOWER_EQUAL_HIGHER: [-2, 2, 0, 0],
        ALL_ROLES: [-4, 2, 2, 0, 0],
        TWO_LOWEST: [-4, 2, 2, 0],
        EQUALS: [-4, 2, 2, 0],  # under `caught`; these rules' own dropper wins ties
    },
    "tonk_com": {
        LOWER_EQUAL_HIGHER: [-2, 4, -1, -1],
        ALL_ROLES: [-3, 5, 0, -1, -1],
        TWO_LOWEST: [-4, 3, 3, -2],
        EQUALS: [-4, 3, 3, -2],  # under `caught`; these rules' own ties share
    },
    "wikipedia": {
        LOWER_EQUAL_HIGHER: [-4, 4, 1, -1],
        ALL_ROLES: [-5, 5, 0, 1, -1],
        TWO_LOWEST: [-4, 3, 3, -2],
        EQUALS: [-4, 3, 3, -2],
    },
}


def own(section: str, **options: Any) -> Any:
    return load_rules({"base": "pagat", section: options})


def paid(rules: Any, ending: str, counts: tuple[int, ...], **facts: Any) -> list[float]:
    return list(score(rules, ending, counts, **facts).payments)


def test_every_named_table_is_worked() -> None:
    assert set(CAUGHT) == set(CAUGHT_TABLES)


@pytest.mark.parametrize("counts", [LOWER_EQUAL_HIGHER, ALL_ROLES, TWO_LOWEST, EQUALS], ids=str)
@pytest.mark.parametrize("table", CAUGHT)
def test_caught_tables(table: str, counts: tuple[int, ...]) -> None:
    rules = own("drop", caught=table)
    for word in ("caught", "drop"):  # the counts decide, either word will do
        found = score(rules, word, counts, by=0)
        assert (found.ending, list(found.payments)) == ("caught", CAUGHT[table][counts])


def test_caught_whoever_drops() -> None:
    assert paid("pagat", "caught", (20, 6, 8, 8), by=2) == [-1, 4, -4, 1]


def test_lowest_tie_nearest_left() -> None:
    rules = own("drop", caught="five_to_low")
    assert paid(rules, "caught", TWO_LOWEST, by=0, dealer=1) == [-5, 0, 5, 0]
    # The tied player passed over counts as lower, and pays the lowest like the others.
    rules = own("drop", caught={"lowest": 2, "lower": 1, "lowest_tie": "nearest_left"})
    assert paid(rules, "caught", TWO_LOWEST, by=0) == [-3, 4, 0, -1]


def test_drop_won() -> None:
    assert paid("pagat", "drop", (5, 6, 8), by=0) == [2, -1, -1]
    assert score("pagat", "caught", (5, 6, 8), by=0).ending == "drop"
    assert paid(own("drop", pays=2.5), "drop", (5, 6, 8), by=0) == [5, -2.5, -2.5]


def test_drop_ties() -> None:
    share, wins = own("drop", tie_with_dropper="share"), own("drop", tie_with_dropper="dropper_wins")
    assert paid(share, "drop", (8, 8, 8, 20), by=0) == [1, 1, 1, -3]
    assert paid(wins, "drop", (8, 8, 8, 20), by=0) == [3, -1, -1, -1]
    assert paid(share, "drop", (8, 8), by=0) == [0, 0]
    # Both apply only when nobody is strictly below the dropper.
    for rules in (share, wins):
        assert paid(rules, "drop", LOWER_EQUAL_HIGHER, by=0) == [-4, 4, 1, -1]


def test_going_out() -> None:
    assert paid("pagat", "tonk", (12, 0, 30), by=1) == [-2, 4, -2]
    assert paid("pagat", "out", (12, 0, 30), by=1) == [-1, 2, -1]
    assert paid("pagat", "tonk", (12, 0, 30), by=1, multiple=4) == [-4, 8, -4]
    rules = own("going_out", spread=2, hit=1)
    assert paid(rules, "tonk", (0, 9), by=0, multiple=1) == [1, -1]
    with pytest.raises(TonkError, match="multiple: a spread pays 2 and a hit 1; say which"):
        score(rules, "tonk", (0, 9), by=0)


def test_instant_wins_by_count() -> None:
    assert paid("pagat", "instant_win", (50, 30, 22), by=0) == [4, -2, -2]
    assert paid("pagat", "instant_win", (30, 49), by=1) == [-2, 2]
    assert paid("newark", "instant_win", (11, 9, 49), by=2, multiple=3) == [-3, -3, 6]
    assert paid("newark", "instant_win", (11, 49, 30), by=1) == [-2, 4, -2]  # 49 is the better tier
    assert paid("newark", "instant_win", (11, 9, 30), by=1) == [-2, 4, -2]  # within it the lower is
    assert paid("newark", "instant_win", (30, 50, 50), by=1) == [-2, 4, -2]
    assert paid("scarne", "instant_win", (70, 30), by=0) == [2, -2]  # nothing but tens and pictures
    assert paid("washington_state", "instant_win", (50, 30, 13, 40)) == [4, -4, 4, -4]
    assert paid("washington_state", "instant_win", (50, 30, 13, 40), by=2) == [4, -4, 4, -4]
    assert paid("washington_state", "instant_win", (50, 13)) == [0, 0]
    assert paid("pagat", "void", (50, 49)) == [0, 0]


def test_push_ups_when_every_winning_hand_is_paid() -> None:
    rules = load_rules({"base": "washington_state", "scoring": "push_ups"})
    assert paid(rules, "instant_win", (50, 30, 13, 40)) == [0, -60, 0, -80]


def test_claim_pays_what_is_said() -> None:
    assert paid("pagat", "claim", (49, 20, 30), by=0, multiple=1) == [2, -1, -1]


def test_stock_out() -> None:
    assert paid("pagat", "stock_out", (5, 6, 9)) == [2, -1, -1]
    assert paid("pagat", "turn_limit", (5, 6, 9)) == [2, -1, -1]
    assert paid("pagat", "stock_out", (5, 5, 9)) == [0, 0, 0]
    assert paid(own("stock_out", tie="share"), "stock_out", (5, 5, 9)) == [1, 1, -2]
    assert paid(own("stock_out", tie="nearest_left"), "stock_out", (5, 5, 9)) == [2, -1, -1]
    assert paid(own("stock_out", tie="nearest_left"), "stock_out", (5, 5, 9), dealer=0) == [-1, 2, -1]
    assert paid(own("stock_out", result="void"), "stock_out", (5, 6, 9)) == [0, 0, 0]
    assert paid(own("stock_out", result="must_drop"), "turn_limit", (5, 6, 9)) == [2, -1, -1]


def test_forfeit() -> None:
    assert paid("pagat", "forfeit", (5, 6, 9), by=2) == [2, 2, -4]
    assert paid("push_ups", "forfeit", (5, 6, 9), by=2) == [0, 0, -9]


def test_push_ups() -> None:
    assert paid("push_ups", "drop", (5, 6, 9), by=0) == [0, -6, -9]
    assert paid("push_ups", "caught", LOWER_EQUAL_HIGHER, by=0) == [-8, 0, -8, -20]
    assert paid("push_ups", "caught", TWO_LOWEST, by=0) == [-9, 0, 0, -12]
    assert paid("push_ups", "tonk", (0, 6, 9), by=0) == [0, -12, -18]
    assert paid("push_ups", "out", (0, 6, 9), by=0) == [0, -6, -9]
    assert paid("push_ups", "instant_win", (50, 6, 9), by=0) == [0, -12, -18]
    assert paid("push_ups", "stock_out", (5, 6, 9)) == [0, -6, -9]
    assert paid("push_ups", "stock_out", (5, 5, 9)) == [0, 0, 0]
    assert paid("push_ups", "void", (50, 49)) == [0, 0]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_keeper_agrees_with_the_engine(path: Path) -> None:
    hand = read_record(path).hand
    if hand.payments is None or hand.ending is None:
        pytest.skip("the record stops before the end")
    multiple = None
    if hand.ending in ("tonk", "out") and hand.rules.rules.scoring == "stakes":
        assert hand.ending_seat is not None
        multiple = hand.payments[hand.ending_seat] / (hand.num_players - 1)
    table, options = hand._tables[0], hand.rules.rules
    seats = range(hand.num_players)
    bets = [
        bet
        for bet, ante in (("suit", options.side_bets.suit), ("naturals", options.side_bets.naturals))
        if ante
    ]
    beside = Beside(
        swapped=[seat for seat in seats if table["swapped"] >> seat & 1],
        long_laid=[seat for seat in seats if table["long_laid"] >> seat & 1 and options.long_spread_bonus],
        locked=bool(table["locked"]),
        bet_winners={bet: seat for bet in bets if (seat := hand.bet_winners[bet]) is not None},
        deals_since_won={bet: hand.deals_since_won[bet] for bet in bets},
        multiplier=hand.multiplier,
    )
    if multiple is not None and (beside.bet_winners or beside.swapped or beside.long_laid):
        multiple = float(table["multiple"])
    found = score(
        hand.rules,
        hand.ending,
        hand.counts,
        by=hand.ending_seat,
        dealer=hand.dealer,
        multiple=multiple,
        beside=beside,
    )
    assert (found.ending, list(found.payments)) == (hand.ending, hand.payments)


@pytest.mark.parametrize(
    ("rules", "beside", "says"),
    [
        ("pagat", Beside(swapped=[0]), "swapped: these rules have no use for it"),
        ("pagat", Beside(locked=True), "locked: these rules have no use for it"),
        ("widow", Beside(swapped=[2]), "swapped = 2: seats are 0 to 1"),
        ("pagat", Beside(bet_winners={"suit": 0}), "suit: these rules have no such side bet"),
        ("side_bets", Beside(deals_since_won={"suit": 0}), "suit deals = 0: 1 or more"),
        ("pagat", Beside(multiplier=0), "multiplier = 0: a number above 0, to 100"),
    ],
)
def test_facts_beside_that_cannot_be(rules: str, beside: Beside, says: str) -> None:
    with pytest.raises(TonkError) as refused:
        score(rules, "stock_out", (1, 2), beside=beside)
    assert str(refused.value).startswith(says)


@pytest.mark.parametrize(
    ("rules", "ending", "counts", "facts", "says"),
    [
        ("whist", "drop", (1, 2), {"by": 0}, "no rules preset 'whist'"),
        ("pagat", "won", (1, 2), {}, "ending = 'won': one of instant_win, claim, tonk"),
        ("pagat", "none", (1, 2), {}, "ending = 'none': one of instant_win"),
        ("pagat", "drop", (1,), {"by": 0}, "counts: 1 seats; these rules are played by 2, 3, 4, 5, 6"),
        ("toy_hits", "drop", (1, 2, 3), {"by": 0}, "counts: 3 seats; these rules are played by 2"),
        ("pagat", "drop", (1, -2), {"by": 0}, "counts: -2 of seat 1 is not within 0 to"),
        ("pagat", "drop", (1, 2), {}, "by: ending drop needs a seat, 0 to 1"),
        ("pagat", "drop", (1, 2), {"by": 2}, "by = 2: seats are 0 to 1"),
        ("pagat", "drop", (1, 2), {"by": 0, "dealer": -1}, "dealer = -1: seats are 0 to 1"),
        (
            "pagat",
            "drop",
            (1, 2),
            {"by": 0, "multiple": 2},
            "multiple = 2: a number from 0 to 100, for instant_win",
        ),
        ("pagat", "tonk", (0, 2), {"by": 0, "multiple": -1}, "multiple = -1: a number from 0 to 100"),
        ("pagat", "stock_out", (1, 2), {"by": 0}, "by = 0: ending stock_out is nobody's doing"),
        ("pagat", "tonk", (1, 2), {"by": 0}, "counts: seat 0 went out, so its count is 0, not 1"),
        (
            "pagat",
            "claim",
            (49, 2),
            {"by": 0},
            "counts: 49 of seat 0 wins nothing if claimed under these rules (none does); multiple",
        ),
        ("pagat", "instant_win", (48, 2), {"by": 0}, "counts: 48 of seat 0 wins nothing on the deal"),
        ("pagat", "instant_win", (48, 2), {}, "by: ending instant_win needs a seat"),
        (
            "washington_state",
            "instant_win",
            (50, 9),
            {"multiple": 2},
            "multiple = 2: by must say who is paid it",
        ),
        ("pagat", "instant_win", (50, 49), {"by": 0}, "by = 0: seat 1 with 49 ties, so the hand is void"),
        ("newark", "instant_win", (49, 50), {"by": 0}, "by = 0: seat 1 with 50 holds the better hand"),
        (
            "newark",
            "instant_win",
            (50, 50),
            {"by": 1},
            "by = 1: seat 0 ties and is nearer to the dealer's left",
        ),
        ("scarne", "instant_win", (69, 50), {"by": 0}, "counts: 69 of seat 0 wins nothing on the deal"),
        (
            "washington_state",
            "instant_win",
            (30, 40),
            {},
            "counts: no hand wins on the deal under these rules",
        ),
        ("face_values", "instant_win", (50, 40), {"by": 0}, "counts: 50 of seat 0 wins nothing on the deal"),
    ],
)
def test_facts_that_cannot_be(
    rules: str, ending: str, counts: tuple[int, ...], facts: dict[str, Any], says: str
) -> None:
    with pytest.raises(TonkError) as refused:
        score(rules, ending, counts, **facts)
    assert str(refused.value).startswith(says)


def test_drops_that_the_rules_forbid() -> None:
    with pytest.raises(TonkError, match="ending: these rules allow no drop"):
        score(own("drop", allowed=False), "drop", (1, 2), by=0)
    limited = {"base": "pagat", "drop": {"max_count": 10}}
    with pytest.raises(TonkError, match="counts: seat 0 may not drop with 11, only up to 10"):
        score(load_rules(limited), "drop", (11, 20), by=0)
    # A forced drop ignores the limit.
    forced = load_rules({**limited, "stock_out": {"result": "must_drop"}})
    assert paid(forced, "drop", (11, 20), by=0) == [1, -1]
