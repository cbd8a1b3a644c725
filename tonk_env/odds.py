"""How often a drop on the deal is caught.

The question is that of the first player's first turn, when everybody still holds the cards dealt. Dealt hands
that win at once are not set aside: the odds are of the counts alone, as in published tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env._jit import below, jit, mix
from tonk_env.cards import CARD_TEXT
from tonk_env.errors import TonkError
from tonk_env.hand import full_deck
from tonk_env.limits import MAX_SEATS
from tonk_env.rules import LoweredRules, Rules, lower
from tonk_env.rules.lower import DROPPER_CAUGHT, MAX_COUNT

MAX_DEALS = 10**9
SUMS = 5
HANDS, CATCHES, HANDS_SQUARED, HANDS_BY_CATCHES, CATCHES_SQUARED = range(SUMS)


@dataclass(frozen=True)
class Odds:
    """How often a drop on the deal is caught.

    Attributes:
        count: the dropper's.
        opponents: how many.
        caught: the share of deals in which at least one of them is lower (or equal, where that is caught).
        stderr: its standard error; 0 where it is exact.
        hands: how many dealt hands had this count (each hand of a deal takes its turn as the dropper's);
            where it is exact, how many hands the opponent can hold.
    """

    count: int
    opponents: int
    caught: float
    stderr: float
    hands: int


@jit
def count_catches(
    values: Any,
    hand_size: int,
    opponents: Any,
    deals: int,
    key: int,
    is_equal_caught: bool,
    counts: Any,
    flags: Any,
    sums: Any,
) -> None:
    """Deals hands and counts how often each of them would be caught by those to its left.

    Args:
        values: `[D]` int64, the points of each card of the deck; its order changes.
        hand_size: cards in a hand.
        opponents: `[K]` int64, ascending: numbers of opponents; all are read off the same deals.
        deals: how many.
        key: equal keys give equal deals.
        is_equal_caught: whether an equal count catches, or only a lower one.
        counts: `[MAX_SEATS]` int64, scratch.
        flags: `[K, MAX_SEATS]` int64, scratch.
        sums: `[K, SUMS, MAX_COUNT]` int64, increased, by count: over all deals the sums of n, x, n², n·x and
            x², where n hands of a deal have the count and x of them are caught.
    """
    size = values.shape[0]
    hands = int(opponents[-1]) + 1
    for number in range(deals):
        stream = mix(key, number)
        at = 0
        for hand in range(hands):
            count = 0
            for _ in range(hand_size):
                other = at + below(mix(stream, at), size - at)
                value = values[other]
                values[other] = values[at]
                values[at] = value
                count += value
                at += 1
            counts[hand] = count
        for hand in range(hands):
            lowest, told = MAX_COUNT, 0
            for step in range(1, hands):
                lowest = min(lowest, counts[(hand + step) % hands])
                if step == opponents[told]:
                    catches = lowest < counts[hand] or (is_equal_caught and lowest == counts[hand])
                    flags[told, hand] = 1 if catches else 0
                    told += 1
        for told in range(opponents.shape[0]):
            for hand in range(hands):
                count, alike, alike_caught = counts[hand], 0, 0
                for other in range(hands):
                    if counts[other] == count:
                        alike += 1
                        alike_caught += flags[told, other]
                # Every hand adds its group's size, so a group of n adds n of it: n².
                sums[told, HANDS, count] += 1
                sums[told, CATCHES, count] += flags[told, hand]
                sums[told, HANDS_SQUARED, count] += alike
                sums[told, HANDS_BY_CATCHES, count] += flags[told, hand] * alike
                sums[told, CATCHES_SQUARED, count] += flags[told, hand] * alike_caught


def _deck_values(rules: LoweredRules, num_players: int) -> npt.NDArray[np.int64]:
    values = rules.record[0]["values"]
    return np.array([values[card] for card in full_deck(rules, num_players)], np.int64)


def _catches_ties(rules: LoweredRules) -> bool:
    return bool(rules.record[0]["drop_tie"] == DROPPER_CAUGHT)


def drop_odds(
    rules: str | Rules | LoweredRules,
    opponents: Sequence[int] = (1, 2, 3),
    deals: int = 1_000_000,
    seed: int = 0,
) -> list[Odds]:
    """Simulates deals; returns the odds for every count that came up, by number of opponents, then count.

    Args:
        rules: as `tonk_env.rules.lower` takes them.
        opponents: numbers of opponents, each 1 to 5. Those that are dealt hands of one size from one deck are
            read off the same deals.
        deals: how many, 1 to 10**9.
        seed: 0 or more.

    Raises:
        TonkError: an argument is out of range, or the rules are not played by that many.
    """
    lowered = lower(rules)
    if not opponents or not all(1 <= number < MAX_SEATS for number in opponents):
        raise TonkError(f"opponents = {','.join(map(str, opponents))}: numbers from 1 to {MAX_SEATS - 1}")
    if not 1 <= deals <= MAX_DEALS:
        raise TonkError(f"deals = {deals}: a number from 1 to {MAX_DEALS}")
    if not 0 <= seed < 2**63:
        raise TonkError(f"seed = {seed}: 0 to 2**63 - 1 is allowed")
    alike: dict[tuple[int, int], list[int]] = {}
    for number in sorted(set(opponents)):
        lowered.rules.check_players(number + 1)
        dealt_alike = (lowered.rules.hand_size(number + 1), lowered.rules.packs(number + 1))
        alike.setdefault(dealt_alike, []).append(number)
    odds: list[Odds] = []
    for (hand_size, _), numbers in alike.items():
        sums = np.zeros((len(numbers), SUMS, MAX_COUNT), np.int64)
        count_catches(
            _deck_values(lowered, numbers[-1] + 1),
            hand_size,
            np.array(numbers, np.int64),
            deals,
            seed,
            _catches_ties(lowered),
            np.zeros(MAX_SEATS, np.int64),
            np.zeros((len(numbers), MAX_SEATS), np.int64),
            sums,
        )
        for row, number in enumerate(numbers):
            for count in np.flatnonzero(sums[row, HANDS]).tolist():
                odds.append(_estimate(count, number, *sums[row, :, count].tolist()))
    return sorted(odds, key=lambda each: (each.opponents, each.count))


def _estimate(count: int, opponents: int, n: int, x: int, nn: int, nx: int, xx: int) -> Odds:
    """Returns the share x / n as a ratio estimate, its error over deals, whose hands are not independent."""
    share = x / n
    stderr = math.sqrt(max(0.0, xx - 2 * share * nx + share * share * nn)) / n
    if x in (0, n):
        # Never seen is not never: the error is taken at a share pulled towards a half by one hand each way.
        pulled = (x + 1) / (n + 2)
        stderr = math.sqrt(pulled * (1 - pulled) / n)
    return Odds(count, opponents, share, stderr, n)


def exact_odds(rules: str | Rules | LoweredRules, hand: Sequence[int], upcard: int | None = None) -> Odds:
    """Returns the exact odds of one hand against one opponent, whose cards may be any others.

    Args:
        rules: as `tonk_env.rules.lower` takes them.
        hand: card types, as many as are dealt to each of two players.
        upcard: a card that lies face up, or None.

    Raises:
        TonkError: the wrong number of cards, or one that the deck does not hold (so often).
    """
    lowered = lower(rules)
    lowered.rules.check_players(2)
    size = lowered.rules.hand_size(2)
    if len(hand) != size:
        raise TonkError(f"hand: {len(hand)} cards, but these rules deal {size}")
    left = full_deck(lowered, 2)
    for name, card in (*(("hand", card) for card in hand), *([] if upcard is None else [("upcard", upcard)])):
        if card not in left:
            raise TonkError(
                f"{name}: the deck of these rules has no {CARD_TEXT[card]}, or none beside those named"
            )
        left.remove(card)
    values = lowered.record[0]["values"]
    count = sum(int(values[card]) for card in hand)
    ways = subsets_by_count([int(values[card]) for card in left], size)
    catching = sum(number for points, number in ways.items() if points < count + _catches_ties(lowered))
    return Odds(count, 1, catching / sum(ways.values()), 0.0, sum(ways.values()))


def subsets_by_count(values: Sequence[int], size: int) -> dict[int, int]:
    """Counts the subsets of `size` cards by the points they add up to.

    Args:
        values: points of each card.
        size: cards in a subset.
    """
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for value in values:
        for held in range(size, 0, -1):
            for points, number in ways[held - 1].items():
                ways[held][points + value] = ways[held].get(points + value, 0) + number
    return ways[size]
