"""Rules as records that kernels read: options become numbers, masks and lookup tables.

Kernels take an array `[R]` of `RULES_DTYPE`; each table names its row, so one batch may mix variants.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from tonk_env.cards import JOKER, JOKERS_MORE, NUM_RANKS, NUM_SUITS, NUM_TYPES, RANKS
from tonk_env.errors import TonkError
from tonk_env.limits import (
    ENGINE_VERSION,
    MAX_ACTIONS,
    MAX_HAND,
    MAX_LEGAL,
    MAX_SEATS,
    MAX_SPREADS,
    MAX_TABLE_SPREADS,
    MAX_TIERS,
    MAX_WILD_RANKS,
)
from tonk_env.rules.spec import MAX_VALUE, Rules, StockOut, load_rules

# Kinds of action, in the order of their ids. A kind that the rules have no use for takes no ids.
ACTION_KINDS = (
    "drop",
    "stock",
    "take",
    "spread",
    "hit",
    "discard",
    "target",
    "target_low",
    "target_high",
    "claim",
    "swap",
    "keep",
    "slap",
    "pass",
)
(
    DROP,
    STOCK,
    TAKE,
    SPREAD,
    HIT,
    DISCARD,
    TARGET,
    TARGET_LOW,
    TARGET_HIGH,
    CLAIM,
    SWAP,
    KEEP,
    SLAP,
    PASS,
) = range(len(ACTION_KINDS))
NUM_KINDS = len(ACTION_KINDS)

SET, RUN = 1, 2
ACE_LOW, ACE_LOW_OR_HIGH, ACE_WRAP = range(3)
INSTANT_VOID, INSTANT_NEAREST, INSTANT_ALL = range(3)
DROPPER_CAUGHT, DROPPER_SHARES, DROPPER_WINS = range(3)
TIMES_ONE, TIMES_OPPONENTS, TIMES_PLAYERS = range(3)
STOCK_LOWEST, STOCK_VOID, STOCK_MUST_DROP = range(3)
STOCK_TIE_VOID, STOCK_TIE_SHARE, STOCK_TIE_NEAREST = range(3)
SPREAD_FREELY, SPREAD_ALWAYS, SPREAD_EXCEPT_ACES = range(3)
BET_SUIT, BET_NATURALS = range(2)

MAX_COUNT = MAX_HAND * MAX_VALUE + 1
_MAX_RUN = NUM_RANKS + 2
NO_LIMIT = 2**30

RULES_DTYPE = np.dtype(
    [
        # the deck
        ("packs", np.int8, MAX_SEATS + 1),  # by number of players
        ("jokers", np.int8),
        ("suits", np.int8),
        ("num_types", np.int8),  # different cards in the deck
        ("types", np.int8, NUM_TYPES),  # those cards, ascending
        ("type_index", np.int16, NUM_TYPES),  # where each stands in `types`; -1: not in the deck
        ("values", np.int16, NUM_TYPES),
        ("position", np.int8, NUM_RANKS),  # place of each rank in a run; -1: not in the deck
        ("rank_at", np.int8, NUM_RANKS + 1),  # rank at each place; after the last the ace again
        ("num_ranks", np.int8),
        ("ace", np.int8),
        ("wilds", np.int64),  # types that are wild
        ("wild_bits", np.int64),  # the bits they take in a collection
        ("num_wilds", np.int8),
        ("wild_order", np.int8, 4 * MAX_WILD_RANKS + 1),  # those types, the first to fill a spread first
        # the deal
        ("hand_size", np.int8, MAX_SEATS + 1),  # by number of players
        ("upcard", np.int8),
        ("widow", np.int8),
        # spreads that can be laid from a hand, sets by rank first, then runs by suit
        ("num_spreads", np.int16),
        ("spread_cards", np.int64, (MAX_TABLE_SPREADS, 2)),
        ("spread_size", np.int8, MAX_TABLE_SPREADS),
        ("spread_kind", np.int8, MAX_TABLE_SPREADS),
        ("spread_row", np.int8, MAX_TABLE_SPREADS),  # rank of a set, suit of a run
        ("spread_start", np.int8, MAX_TABLE_SPREADS),  # first place of a run
        ("spread_fits", np.int64, MAX_TABLE_SPREADS),  # cards that hit it once laid, as themselves
        ("set_first", np.int16, NUM_RANKS + 1),  # sets of rank r: set_first[r] … set_first[r + 1] - 1
        ("run_first", np.int16, NUM_SUITS + 1),  # runs of suit s: likewise
        ("has_run", np.int8, 1 << NUM_RANKS),  # by the 13 bits of one suit
        ("run_fits", np.int64, (NUM_SUITS, NUM_RANKS + 1, _MAX_RUN)),  # by suit, start, size
        ("spreads_per_seat", np.int8),
        ("must_spread", np.int8),
        ("lock_after", np.int8),  # 0: none
        ("min_naturals", np.int8),
        ("hits_per_turn", np.int32),
        ("taken_must_meld", np.int8),
        # the action table
        ("num_actions", np.int16),
        ("kind_first", np.int16, NUM_KINDS + 1),
        ("action_kind", np.int8, MAX_ACTIONS),
        # instant wins
        ("num_tiers", np.int8),
        ("tier_counts", np.int8, (MAX_TIERS, MAX_COUNT)),  # 1: this count qualifies
        ("tier_ranks", np.int16, MAX_TIERS),  # ranks allowed by all_ranks; 0: no such condition
        ("tier_pays", np.float64, MAX_TIERS),
        ("tier_lowest_first", np.int8, MAX_TIERS),
        ("tier_claim", np.int8, MAX_TIERS),
        ("num_claims", np.int8),  # tiers that are claimed
        ("instant_tie", np.int8),
        # drop
        ("drop_allowed", np.int8),
        ("drop_max", np.int32),
        ("drop_pays", np.float64),
        ("drop_tie", np.int8),
        ("caught_lowest", np.float64),
        ("caught_lower", np.float64),
        ("caught_equal", np.float64),
        ("caught_higher", np.float64),
        ("caught_others", np.float64),
        ("caught_times", np.int8),
        ("caught_nearest", np.int8),
        # waiting
        ("wait_spread", np.int16),
        ("wait_hit", np.int16),
        ("wait_own_hit", np.int16),
        ("wait_cumulative", np.int8),
        ("wait_one_hit", np.int8),
        ("wait_blocks", np.int8),
        # going out, by kind of the move that emptied the hand (SPREAD, HIT, DISCARD)
        ("out_pays", np.float64, NUM_KINDS),
        ("out_two_spreads", np.float64),  # 0: none
        ("out_no_earlier", np.float64),  # 0: none
        ("out_after_hitting", np.float64),  # a cap
        ("stock_floor", np.int8),
        # the rest
        ("stock_result", np.int8),
        ("stock_tie", np.int8),
        ("long_bonus", np.float64),
        ("slap", np.int8),
        ("bet_antes", np.float64, 2),  # on the suit, on naturals
        ("push_ups", np.int8),
        ("discard_taken", np.int8),
        ("turn_limit", np.int32),
        ("forfeit", np.float64),
    ],
    align=True,
)


def _code(model: Any, field: str, value: str) -> int:
    """The place of a value in the option's declaration: what the constants above are numbered by."""
    return get_args(model.model_fields[field].annotation).index(value)


def _set_masks(rank: int, suits: int, packs: int, largest: int) -> Iterable[tuple[int, int, int]]:
    """Yields (low word, high word, size) of the sets of a rank, smaller first."""
    for size in (3, 4):
        for copies in itertools.product(range(packs, -1, -1), repeat=suits):
            if sum(copies) == size <= largest:
                low = sum(1 << (suit * NUM_RANKS + rank) for suit, held in enumerate(copies) if held)
                high = sum(1 << (suit * NUM_RANKS + rank) for suit, held in enumerate(copies) if held > 1)
                yield low, high, size


class _Runs:
    """Runs of one deck: places 0 … R-1 are the ranks in order; place R is the ace again (`low_or_high`)."""

    def __init__(self, rules: Rules) -> None:
        self.order = [RANKS.index(rank) for rank in rules.deck.ranks]
        self.ace = rules.spreads.ace if "A" in rules.deck.ranks else "low"
        self.length = len(self.order)

    def exists(self, start: int, size: int) -> bool:
        if not (0 <= start < self.length and size <= self.length):
            return False
        if self.ace == "wrap":
            return size < self.length or start == 0
        return start + size <= self.length + (self.ace == "low_or_high")

    def mask(self, suit: int, start: int, size: int) -> int:
        places = (self.order[(start + step) % self.length] for step in range(size))
        return sum(1 << (suit * NUM_RANKS + rank) for rank in places)

    def fits(self, suit: int, start: int, size: int) -> int:
        longer = [
            (start, size + 1),
            ((start - 1) % self.length if self.ace == "wrap" else start - 1, size + 1),
        ]
        if self.ace == "wrap" and size + 1 == self.length:
            longer = [(0, self.length)]
        grown = 0
        for place, length in longer:
            if self.exists(place, length):
                grown |= self.mask(suit, place, length)
        return grown & ~self.mask(suit, start, size)


@dataclass(frozen=True, eq=False)  # equal rules are one object
class LoweredRules:
    """Rules ready for the engine.

    Attributes:
        rules: the options they were made of.
        record: `[1]` RULES_DTYPE, read-only.
        fingerprint: hash of everything that a hand's course or payment depends on.
        actions_fingerprint: hash of the action table.
    """

    rules: Rules
    record: npt.NDArray[np.void]
    fingerprint: str
    actions_fingerprint: str

    def __reduce__(self) -> Any:
        # A copy is this very object again: a copied record would be writable, for which Numba would compile
        # every kernel once more.
        return lower, (self.rules,)

    @property
    def num_actions(self) -> int:
        """Ids in the action table."""
        return int(self.record[0]["num_actions"])

    @property
    def max_legal(self) -> int:
        """Room that a list of legal actions needs: with wilds nearly every spread may be legal at once."""
        return max(MAX_LEGAL, self.num_actions) if self.rules.deck.has_wilds else MAX_LEGAL


def _fill_spreads(row: Any, rules: Rules, largest: int) -> None:
    packs = max(rules.packs(seats) for seats in rules.player_counts())
    in_deck = sum(1 << int(card) for card in row["types"][: row["num_types"]])
    spreads: list[tuple[int, int, int, int, int, int, int]] = []  # low, high, size, kind, row, start, fits
    for rank in range(NUM_RANKS):
        row["set_first"][rank] = len(spreads)
        if RANKS[rank] not in rules.deck.ranks:
            continue
        whole = sum(1 << (suit * NUM_RANKS + rank) for suit in range(NUM_SUITS)) & in_deck
        for low, high, size in _set_masks(rank, rules.deck.suits, packs, largest):
            left = whole & ~(low if packs == 1 else high)
            spreads.append((low, high, size, SET, rank, 0, left if size < 4 else 0))
    row["set_first"][NUM_RANKS] = len(spreads)
    runs = _Runs(rules)
    for suit in range(NUM_SUITS):
        row["run_first"][suit] = len(spreads)
        for start in range(NUM_RANKS + 1):
            for size in range(3, _MAX_RUN):
                if suit < rules.deck.suits and runs.exists(start, size):
                    row["run_fits"][suit, start, size] = runs.fits(suit, start, size)
                    # A run of every rank is one set of cards, whichever ace it is said to start from.
                    if size <= largest and not (start and size == runs.length):
                        fits = int(row["run_fits"][suit, start, size])
                        spreads.append((runs.mask(suit, start, size), 0, size, RUN, suit, start, fits))
    row["run_first"][NUM_SUITS] = len(spreads)
    row["num_spreads"] = len(spreads)
    for index, (low, high, size, kind, line, start, fits) in enumerate(spreads):
        row["spread_cards"][index] = low, high
        row["spread_size"][index] = size
        row["spread_kind"][index] = kind
        row["spread_row"][index] = line
        row["spread_start"][index] = start
        row["spread_fits"][index] = fits
    threes = {runs.mask(0, start, 3) for start in range(NUM_RANKS) if runs.exists(start, 3)}
    suit_bits = np.arange(1 << NUM_RANKS)
    for three in threes:
        row["has_run"] |= ((suit_bits & three) == three).astype(np.uint8)


def _fill_wilds(row: Any, rules: Rules) -> None:
    ranks = [RANKS.index(rank) for rank in rules.deck.wild_ranks]
    wilds = [suit * NUM_RANKS + rank for suit in range(rules.deck.suits) for rank in ranks]
    if rules.deck.jokers and rules.deck.joker_role == "wild":
        wilds.append(JOKER)
        row["wild_bits"] = 1 << JOKERS_MORE
    wilds.sort(key=lambda card: (-int(row["values"][card]), card))
    row["num_wilds"] = len(wilds)
    row["wild_order"][: len(wilds)] = wilds
    row["wilds"] = sum(1 << card for card in wilds)
    row["wild_bits"] |= row["wilds"]


def _fill_actions(row: Any, rules: Rules) -> None:
    types = int(row["num_types"])
    targets = MAX_SEATS * int(row["spreads_per_seat"])
    sizes = {
        DROP: 1,
        STOCK: 1,
        TAKE: 1,
        SPREAD: int(row["num_spreads"]),
        HIT: types,
        DISCARD: types,
        TARGET: targets,
        TARGET_LOW: targets * rules.deck.has_wilds,
        TARGET_HIGH: targets * rules.deck.has_wilds,
        CLAIM: int(row["num_claims"] > 0),
        SWAP: types * rules.deal.widow,
        KEEP: rules.deal.widow,
        SLAP: rules.slap,
        PASS: rules.slap,
    }
    firsts = np.cumsum([0, *(sizes[kind] for kind in range(NUM_KINDS))])
    row["kind_first"] = firsts
    row["num_actions"] = firsts[-1]
    row["action_kind"][: firsts[-1]] = np.repeat(np.arange(NUM_KINDS), np.diff(firsts))


@functools.cache
def _lower(options: str) -> LoweredRules:
    rules = Rules.model_validate_json(options)
    record = np.zeros(1, RULES_DTYPE)
    row = record[0]
    cards = sorted(
        suit * NUM_RANKS + RANKS.index(rank) for suit in range(rules.deck.suits) for rank in rules.deck.ranks
    )
    if rules.deck.jokers:
        cards.append(JOKER)
    row["jokers"] = rules.deck.jokers
    row["suits"] = rules.deck.suits
    row["num_types"] = len(cards)
    row["types"][: len(cards)] = cards
    row["type_index"] = -1
    row["type_index"][cards] = np.arange(len(cards))
    row["values"][: NUM_RANKS * NUM_SUITS] = [rules.deck.value(rank) for rank in range(NUM_RANKS)] * NUM_SUITS
    row["values"][JOKER] = rules.deck.joker_value
    _fill_wilds(row, rules)
    row["position"] = [rules.deck.ranks.find(rank) for rank in RANKS]
    row["rank_at"][: len(rules.deck.ranks)] = [RANKS.index(rank) for rank in rules.deck.ranks]
    row["num_ranks"] = len(rules.deck.ranks)
    row["ace"] = _code(type(rules.spreads), "ace", _Runs(rules).ace)
    row["upcard"] = rules.deal.upcard
    row["widow"] = rules.deal.widow
    for seats in rules.player_counts():
        row["packs"][seats] = rules.packs(seats)
        row["hand_size"][seats] = rules.hand_size(seats)
    largest = int(row["hand_size"].max()) + 1
    row["spreads_per_seat"] = min(MAX_SPREADS, max(1, largest // 3))
    _fill_spreads(row, rules, largest)
    row["must_spread"] = _code(type(rules.spreads), "must_spread", rules.spreads.must_spread)
    row["lock_after"] = rules.spreads.lock_after or 0
    row["min_naturals"] = rules.spreads.min_naturals
    row["hits_per_turn"] = NO_LIMIT if rules.spreads.hits_per_turn is None else rules.spreads.hits_per_turn
    row["taken_must_meld"] = rules.spreads.taken_must_meld

    wins = rules.instant_wins
    row["num_tiers"] = len(wins.tiers)
    row["instant_tie"] = _code(type(wins), "tie", wins.tie)
    for index, tier in enumerate(wins.tiers):
        counts = [count for count in tier.counts if 0 <= count < MAX_COUNT]
        row["tier_counts"][index][counts] = 1
        if tier.at_most is not None:
            row["tier_counts"][index][: tier.at_most + 1] = 1
        row["tier_ranks"][index] = sum(1 << RANKS.index(rank) for rank in tier.all_ranks or "")
        row["tier_pays"][index] = tier.pays
        row["tier_lowest_first"][index] = tier.lowest_first
        row["tier_claim"][index] = tier.claim != "none"
    row["num_claims"] = row["tier_claim"].sum()
    _fill_actions(row, rules)

    drop, caught = rules.drop, rules.drop.caught
    row["drop_allowed"] = drop.allowed
    row["drop_max"] = NO_LIMIT if drop.max_count is None else drop.max_count
    row["drop_pays"] = drop.pays
    row["drop_tie"] = _code(type(drop), "tie_with_dropper", drop.tie_with_dropper)
    row["caught_lowest"] = caught.lowest
    row["caught_lower"] = caught.lower
    row["caught_equal"] = caught.equal
    row["caught_higher"] = caught.higher
    row["caught_others"] = caught.others_to_lowest
    row["caught_times"] = _code(type(caught), "lowest_times", caught.lowest_times)
    row["caught_nearest"] = _code(type(caught), "lowest_tie", caught.lowest_tie)

    waiting = rules.waiting
    row["wait_spread"] = waiting.after_spread
    row["wait_hit"] = waiting.after_hit
    row["wait_own_hit"] = waiting.after_own_hit
    row["wait_cumulative"] = waiting.cumulative
    row["wait_one_hit"] = waiting.one_hit_per_round
    row["wait_blocks"] = waiting.blocks_going_out

    out = rules.going_out
    row["out_pays"][[SPREAD, HIT, DISCARD]] = out.spread, out.hit, out.discard
    row["out_two_spreads"] = out.first_turn_two_spreads or 0.0
    row["out_no_earlier"] = out.no_earlier_spread or 0.0
    row["out_after_hitting"] = NO_LIMIT if out.after_hitting is None else out.after_hitting
    row["stock_floor"] = out.stock_floor != "none"

    row["stock_result"] = _code(StockOut, "result", rules.stock_out.result)
    row["stock_tie"] = _code(StockOut, "tie", rules.stock_out.tie)
    row["long_bonus"] = rules.long_spread_bonus
    row["slap"] = rules.slap
    row["bet_antes"] = rules.side_bets.suit, rules.side_bets.naturals
    row["push_ups"] = rules.scoring == "push_ups"
    row["discard_taken"] = rules.discard_taken
    row["turn_limit"] = rules.turn_limit
    row["forfeit"] = rules.forfeit
    record.flags.writeable = False

    # Kinds without ids are left out, so that a kind added later does not change the tables of older rules.
    kinds = [
        f"{kind} {size}" for kind, size in zip(ACTION_KINDS, np.diff(row["kind_first"]), strict=True) if size
    ]
    table = (row["types"].tobytes(), row["spread_cards"][: int(row["num_spreads"])].tobytes())
    return LoweredRules(
        rules=rules,
        record=record,
        # Of options at their defaults nothing is said, so that one added later changes no older fingerprint.
        fingerprint=_hash(
            f"{ENGINE_VERSION} {rules.model_dump_json(exclude={'match'}, exclude_defaults=True)}".encode()
        ),
        actions_fingerprint=_hash(" ".join(kinds).encode(), *table),
    )


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:16]


def lower(rules: str | Rules | LoweredRules | Any) -> LoweredRules:
    """Returns rules ready for the engine; the same rules give the same object.

    Args:
        rules: what `load_rules` takes, or lowered rules.
    """
    return rules if isinstance(rules, LoweredRules) else _lower(load_rules(rules).model_dump_json())


def stack(lowered: Sequence[LoweredRules]) -> npt.NDArray[np.void]:
    """Returns the read-only records `[R]` RULES_DTYPE of several rules.

    Raises:
        TonkError: there are none.
    """
    if not lowered:
        raise TonkError("rules: at least one set of rules is needed")
    records = np.concatenate([each.record for each in lowered])
    records.flags.writeable = False
    return records
