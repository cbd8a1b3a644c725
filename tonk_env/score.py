"""The points keeper: payments of a hand that was played elsewhere, from its ending and the counts.

It fills in a table's facts and asks the engine's cashier (`tonk_env.engine.settle`), so it never differs from
play.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tonk_env.cards import RANKS
from tonk_env.engine.deal import clear
from tonk_env.engine.ending import drop_ending, end_hand
from tonk_env.engine.settle import settle
from tonk_env.engine.state import (
    CAUGHT,
    CLAIMED,
    DROPPED,
    ENDINGS,
    FORFEITED,
    INSTANT_WIN,
    NOBODY,
    OUT,
    STATE_DTYPE,
    TONK,
)
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_SEATS
from tonk_env.match import BETS
from tonk_env.rules import LoweredRules, Rules, lower
from tonk_env.rules.lower import DISCARD, HIT, INSTANT_ALL, MAX_COUNT, SPREAD
from tonk_env.rules.spec import Tier

_NEED_A_SEAT = (INSTANT_WIN, CLAIMED, TONK, OUT, DROPPED, CAUGHT, FORFEITED)
_TAKE_A_MULTIPLE = (INSTANT_WIN, CLAIMED, TONK, OUT)


@dataclass(frozen=True)
class Beside:
    """What else moves stakes under some rules, beside the ending and the counts.

    Attributes:
        swapped: seats that swapped for their widow.
        long_laid: seats that laid four cards or more at once.
        locked: somebody's spreads were locked when the stock ran out.
        bet_winners: who won a side bet (``suit``, ``naturals``).
        deals_since_won: how many deals a side bet has stood with this one; 1 where it is not named.
        multiplier: of all payments but the side bets'.
    """

    swapped: Sequence[int] = ()
    long_laid: Sequence[int] = ()
    locked: bool = False
    bet_winners: Mapping[str, int] = field(default_factory=dict)
    deals_since_won: Mapping[str, int] = field(default_factory=dict)
    multiplier: float = 1.0


@dataclass(frozen=True)
class Score:
    """What a hand pays.

    Attributes:
        ending: one of ``ENDINGS``; of a drop, what the counts make of it.
        payments: stakes by seat (push-ups: minus the points).
    """

    ending: str
    payments: tuple[float, ...]


def score(
    rules: str | Rules | LoweredRules,
    ending: str,
    counts: Sequence[int],
    *,
    by: int | None = None,
    dealer: int | None = None,
    multiple: float | None = None,
    beside: Beside | None = None,
) -> Score:
    """Pays a hand.

    Args:
        rules: as `tonk_env.rules.lower` takes them.
        ending: one of ``ENDINGS``. `drop` and `caught` both mean that `by` dropped: the counts tell them
            apart.
        counts: points held, by seat, when the hand ended.
        by: who won on the deal, claimed, went out, dropped or forfeited.
        dealer: a seat, by default the last; only ties paid to the nearest on the dealer's left depend on it.
        multiple: stakes that a win pays, where the counts cannot tell.
        beside: what else moves stakes.

    Raises:
        TonkError: an argument is missing, out of range or at odds with the others.
    """
    lowered = lower(rules)
    if ending not in ENDINGS[1:]:
        raise TonkError(f"ending = {ending!r}: one of {', '.join(ENDINGS[1:])}")
    if len(counts) not in lowered.rules.player_counts():
        allowed = ", ".join(map(str, lowered.rules.player_counts()))
        raise TonkError(f"counts: {len(counts)} seats; these rules are played by {allowed}")
    for seat, count in enumerate(counts):
        if not 0 <= count < MAX_COUNT:
            raise TonkError(f"counts: {count} of seat {seat} is not within 0 to {MAX_COUNT - 1}")
    code = ENDINGS.index(ending)
    dealer = len(counts) - 1 if dealer is None else dealer
    _check_seat("dealer", dealer, len(counts))
    if code in _NEED_A_SEAT:
        if by is not None:
            _check_seat("by", by, len(counts))
        elif code != INSTANT_WIN or lowered.record[0]["instant_tie"] != INSTANT_ALL:
            raise TonkError(f"by: ending {ending} needs a seat, 0 to {len(counts) - 1}")
    elif by is not None:
        raise TonkError(f"by = {by}: ending {ending} is nobody's doing")
    if multiple is not None and (code not in _TAKE_A_MULTIPLE or not 0 <= multiple <= 100):
        takers = ", ".join(ENDINGS[each] for each in _TAKE_A_MULTIPLE)
        raise TonkError(f"multiple = {multiple:g}: a number from 0 to 100, for {takers} only")

    table = np.zeros(1, STATE_DTYPE)
    clear(table, 0, 0, len(counts), dealer)
    table["counts"][0, : len(counts)] = counts
    if code in (DROPPED, CAUGHT):
        _check_drop(lowered, counts, int(by or 0))
        code = int(drop_ending(table, 0, lowered.record, int(by or 0)))
    elif code in (TONK, OUT):
        _check_empty(counts, int(by or 0))
        table["multiple"] = _out_pays(lowered, code) if multiple is None else multiple
    elif code == CLAIMED:
        table["multiple"] = _claim_pays(lowered, counts, int(by or 0)) if multiple is None else multiple
    elif code == INSTANT_WIN:
        by = _win_on_the_deal(table[0], lowered, counts, by, dealer, multiple)
    if beside is not None:
        _fill_in(table[0], lowered, beside, len(counts))
    end_hand(table, 0, code, NOBODY if by is None else by)
    payments = np.zeros((1, MAX_SEATS))
    settle(table, 0, lowered.record, payments, 0)
    return Score(ENDINGS[code], tuple((payments[0, : len(counts)] + 0.0).tolist()))


def _check_seat(name: str, seat: int, num_players: int) -> None:
    if not 0 <= seat < num_players:
        raise TonkError(f"{name} = {seat}: seats are 0 to {num_players - 1} (one for each count)")


def _check_drop(rules: LoweredRules, counts: Sequence[int], dropper: int) -> None:
    drop = rules.rules.drop
    forced = rules.rules.stock_out.result == "must_drop" or rules.rules.going_out.stock_floor != "none"
    if not drop.allowed:
        raise TonkError("ending: these rules allow no drop")
    if drop.max_count is not None and counts[dropper] > drop.max_count and not forced:
        raise TonkError(
            f"counts: seat {dropper} may not drop with {counts[dropper]}, only up to {drop.max_count}"
        )


def _check_empty(counts: Sequence[int], winner: int) -> None:
    if counts[winner]:
        raise TonkError(f"counts: seat {winner} went out, so its count is 0, not {counts[winner]}")


def _out_pays(rules: LoweredRules, code: int) -> float:
    pays = rules.record[0]["out_pays"]
    if code == TONK and pays[SPREAD] != pays[HIT]:
        raise TonkError(f"multiple: a spread pays {pays[SPREAD]:g} and a hit {pays[HIT]:g}; say which")
    return float(pays[DISCARD if code == OUT else SPREAD])


def _fill_in(table: Any, rules: LoweredRules, beside: Beside, num_players: int) -> None:
    """Fills in the facts that stand beside an ending."""
    options = rules.rules
    has_use = {
        "swapped": options.deal.widow,
        "long_laid": options.long_spread_bonus > 0,
        "locked": options.spreads.lock_after is not None,
    }
    for name, is_used in has_use.items():
        if getattr(beside, name) and not is_used:
            raise TonkError(f"{name}: these rules have no use for it")
    for name in ("swapped", "long_laid"):
        for seat in getattr(beside, name):
            _check_seat(name, seat, num_players)
            table[name] |= 1 << seat
    table["locked"] = beside.locked
    antes = dict(zip(BETS, (options.side_bets.suit, options.side_bets.naturals), strict=True))
    for bet in {**beside.bet_winners, **beside.deals_since_won}:
        if not antes.get(bet):
            raise TonkError(f"{bet}: these rules have no such side bet")
    for bet, seat in beside.bet_winners.items():
        _check_seat(f"{bet} winner", seat, num_players)
        table[f"{bet}_winner"] = seat
    for bet, deals in beside.deals_since_won.items():
        if deals < 1:
            raise TonkError(f"{bet} deals = {deals}: 1 or more")
        table["bet_deals"][BETS.index(bet)] = deals
    if not 0 < beside.multiplier <= 100:
        raise TonkError(f"multiplier = {beside.multiplier:g}: a number above 0, to 100")
    table["multiplier"] = beside.multiplier


# ---- instant wins


def _claim_pays(rules: LoweredRules, counts: Sequence[int], winner: int) -> float:
    tier = _tier_of(rules, counts[winner], rules.rules.hand_size(len(counts)), True, claimed=True)
    if tier < 0:
        raise TonkError(
            f"counts: {counts[winner]} of seat {winner} wins nothing if claimed under these rules "
            f"({_winning(rules, claimed=True)}); multiple overrides"
        )
    return rules.rules.instant_wins.tiers[tier].pays


def _win_on_the_deal(
    table: Any,
    rules: LoweredRules,
    counts: Sequence[int],
    by: int | None,
    dealer: int,
    multiple: float | None,
) -> int | None:
    """Fills in tiers and multiple; returns who is paid, None where every qualifying hand is.

    A given multiple is taken as the last word. Without one the counts must bear the win out, as far as counts
    can: that another hand holds nothing but certain ranks is not known.
    """
    if multiple is not None:
        if by is None:
            raise TonkError(f"multiple = {multiple:g}: by must say who is paid it")
        table["multiple"] = multiple
        return by
    sizes = rules.rules.hand_size(len(counts))
    tiers = [_tier_of(rules, count, sizes, seat == by) for seat, count in enumerate(counts)]
    who = [seat for seat, tier in enumerate(tiers) if tier >= 0] if by is None else [by]
    if not who or min(tiers[seat] for seat in who) < 0:
        said = f"{counts[who[0]]} of seat {who[0]} wins nothing" if who else "no hand wins"
        raise TonkError(
            f"counts: {said} on the deal under these rules ({_winning(rules)}); multiple overrides"
        )
    best = min(tier for tier in tiers if tier >= 0)
    table["multiple"] = rules.rules.instant_wins.tiers[best].pays
    if rules.record[0]["instant_tie"] == INSTANT_ALL:
        table["tiers"][: len(tiers)] = tiers
        return None
    _check_best(rules, counts, tiers, who[0], dealer)
    return who[0]


def _tier_of(
    rules: LoweredRules, count: int, hand_size: int, may_be_ranks: bool, claimed: bool = False
) -> int:
    """Returns the first tier that a count meets, or -1; one of certain ranks only where those may be held."""
    for index, tier in enumerate(rules.rules.instant_wins.tiers):
        if (tier.claim != "none") != claimed:
            continue
        if rules.record[0]["tier_counts"][index, count]:
            return index
        if (
            may_be_ranks
            and tier.all_ranks is not None
            and count in _counts_of(rules, tier.all_ranks, hand_size)
        ):
            return index
    return -1


def _counts_of(rules: LoweredRules, ranks: str, hand_size: int) -> set[int]:
    """The counts of hands that hold nothing but some ranks."""
    deck, counts = rules.rules.deck, {0}
    values = {deck.value(RANKS.index(rank)) for rank in ranks if rank in deck.ranks}
    for _ in range(hand_size):
        counts = {count + value for count in counts for value in values}
    return counts


def _winning(rules: LoweredRules, claimed: bool = False) -> str:
    """What wins on the deal, or if claimed, in words."""

    def words(tier: Tier) -> str:
        parts = [str(count) for count in tier.counts]
        parts += [] if tier.at_most is None else [f"at most {tier.at_most}"]
        return " or ".join(parts + ([] if tier.all_ranks is None else [f"only {tier.all_ranks}"]))

    tiers = (tier for tier in rules.rules.instant_wins.tiers if (tier.claim != "none") == claimed)
    return "; ".join(map(words, tiers)) or "none does"


def _check_best(
    rules: LoweredRules, counts: Sequence[int], tiers: Sequence[int], winner: int, dealer: int
) -> None:
    def rank(seat: int) -> tuple[int, int]:
        lowest_first = rules.rules.instant_wins.tiers[tiers[seat]].lowest_first
        return tiers[seat], counts[seat] if lowest_first else 0

    order = [(dealer + step) % len(counts) for step in range(1, len(counts) + 1)]
    for seat in (seat for seat in order if tiers[seat] >= 0 and seat != winner):
        if rank(seat) < rank(winner):
            raise TonkError(f"by = {winner}: seat {seat} with {counts[seat]} holds the better hand")
        if rank(seat) == rank(winner):
            if rules.rules.instant_wins.tie == "void":
                raise TonkError(f"by = {winner}: seat {seat} with {counts[seat]} ties, so the hand is void")
            if order.index(seat) < order.index(winner):
                raise TonkError(f"by = {winner}: seat {seat} ties and is nearer to the dealer's left")
