"""Random rules for the two engines to be compared under: valid options, number of players, dealer.

One recipe, written once over a `Pick` (choose one of these), serves Hypothesis and a plain seeded generator.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from hypothesis import strategies as st

from .options import ALL_RANKS, Options, complete, count, sorted_deck
from .settle import CAUGHT_TABLES, tier_fits

Choice = TypeVar("Choice")

LARGEST_HAND = 13
FORTY_CARD_RANKS = "A234567JQK"


class Case(NamedTuple):
    """Rules to play a hand under."""

    options: Options
    num_players: int
    dealer: int


class Pick(Protocol):
    """Chooses one of several values."""

    def __call__(self, choices: Sequence[Choice], /) -> Choice:
        """One of `choices`, which is not empty."""


def random_options(rng: random.Random) -> Case:
    """A random valid case, the same for the same state of `rng` on any machine."""
    return build_case(rng.choice)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Hypothesis strategy of valid cases; shrinks towards the defaults and two players."""

    def pick(choices: Sequence[Choice], /) -> Choice:
        return draw(st.sampled_from(choices))

    return build_case(pick)


def shuffled_deck(case: Case, rng: random.Random) -> list[str]:
    """The case's deck in a random order."""
    deck = sorted_deck(case.options, case.num_players)
    rng.shuffle(deck)
    return deck


def steered_move(legal: set[str], rng: random.Random, drop: float = 0.02, meld: float = 0.5) -> str:
    """A move of `legal` that lets hands run and spreads be laid, which uniform play hardly ever does.

    Args:
        legal: moves without the seat.
        rng: where chance comes from.
        drop: probability of a drop where it is not the only move.
        meld: probability of choosing among the spreads and hits only, where there are any.
    """
    moves = sorted(legal)
    if "drop" in moves and len(moves) > 1:
        if rng.random() < drop:
            return "drop"
        moves.remove("drop")
    melds = [move for move in moves if move.split()[0] in ("spread", "hit")]
    if melds and rng.random() < meld:
        moves = melds
    return rng.choice(moves)


def build_case(pick: Pick) -> Case:
    """The recipe: every option is left at its default about half the time (the first choices)."""
    num_players = pick([2, 2, 3, 3, 4, 5, 6])
    options: Options = {
        "deck": _deck(pick, num_players),
        "deal": {"upcard": pick([True, True, False])},
        "spreads": {
            "ace": pick(["low", "low_or_high", "wrap"]),
            "must_spread": pick(["no", "no", "yes", "except_aces"]),
            "hits_per_turn": pick([None, None, 1, 2]),
            "taken_must_meld": pick([False, False, True]),
        },
        "drop": _drop(pick),
        "waiting": {
            "after_spread": pick([0, 0, 1, 2, 3]),
            "after_hit": pick([0, 0, 1, 2, 3]),
            "after_own_hit": pick([0, 0, 1, 2, 3]),
            "cumulative": pick([True, False]),
            "one_hit_per_round": pick([False, True]),
            "blocks_going_out": pick([False, True]),
        },
        "going_out": {
            "discard": pick([1, 1, 2, 3]),
            "spread": pick([2, 1, 3]),
            "hit": pick([2, 1, 3]),
            "first_turn_two_spreads": pick([None, None, 2, 4]),
            "no_earlier_spread": pick([None, None, 2, 3]),
            "after_hitting": pick([None, None, 1, 2]),
        },
        "stock_out": {
            "result": pick(["lowest_wins", "void", "must_drop"]),
            "tie": pick(["void", "share", "nearest_left"]),
        },
        "scoring": pick(["stakes", "stakes", "stakes", "push_ups"]),
        "discard_taken": pick([False, False, True]),
        "turn_limit": pick([50, 50, 50, 50, 50, 10, 3, 2, 1]),
        "forfeit": pick([2, 1, 3]),
    }
    if options["stock_out"]["result"] == "must_drop":
        options["drop"].pop("allowed", None)
    options["deal"]["hand_size"] = _hand_size(pick, options, num_players)
    options["instant_wins"] = {
        "tiers": _tiers(pick, options, num_players),
        "tie": pick(["void", "nearest_left", "all_paid"]),
    }
    return Case(_without_none(options), num_players, pick(list(range(num_players))))


def _deck(pick: Pick, num_players: int) -> Options:
    """A deck of at least four cards a player.

    Full, forty cards, a toy of any ranks and suits, or crowded: few ranks twice over, where spreads abound
    and a card often fits two of them.
    """
    shape = pick(["full", "full", "forty", "toy", "toy", "crowded", "crowded"])
    deck: Options = {"ranks": ALL_RANKS, "suits": 4, "packs": pick([1, "auto", 2])}
    if shape == "forty":
        deck["ranks"] = FORTY_CARD_RANKS
    if shape in ("toy", "crowded"):
        num_ranks = pick([4, 5, 6, 8, 10] if shape == "toy" else [5, 6, 7])
        left_out = [pick([False, True]) for _ in ALL_RANKS]
        kept = [rank for rank, is_out in zip(ALL_RANKS, left_out, strict=True) if not is_out]
        deck["ranks"] = "".join(kept[:num_ranks]) if len(kept) >= 4 else ALL_RANKS[:num_ranks]
        deck["suits"] = pick([4, 3, 2, 1] if shape == "toy" else [4, 3])
    if shape == "crowded":
        deck["packs"] = 2
    while len(sorted_deck({"deck": deck}, num_players)) < 4 * num_players + 2:
        # Too small for these seats: grow what is least odd first.
        if deck["packs"] == 1:
            deck["packs"] = 2
        elif deck["suits"] < 4:
            deck["suits"] += 1
        else:
            deck["ranks"] = ALL_RANKS
    values = pick([{}, {}, {"J": 11, "Q": 12, "K": 13}, {"A": 11}, {"A": 0, "2": 15, "7": 3, "K": 1}])
    if values:
        deck["values"] = values
    return deck


def _hand_size(pick: Pick, options: Options, num_players: int) -> int | dict[str, int]:
    """A hand that leaves a stock card, as a number or a table by players."""
    cards = len(sorted_deck(options, num_players)) - int(options["deal"]["upcard"])
    largest = min((cards - 1) // num_players, LARGEST_HAND)
    sizes = [size for size in [5, 5, 4, 3, 7, 7, 6, 9, 2, 1, largest] if size <= largest]
    size = pick(sizes)
    return {str(num_players): size} if pick([False, True]) else size


def _drop(pick: Pick) -> Options:
    return {
        "allowed": pick([True, True, True, True, False]),
        "max_count": pick([None, None, 5, 10, 20]),
        "pays": pick([1, 1, 2, 3]),
        "tie_with_dropper": pick(["caught", "share", "dropper_wins"]),
        "caught": _caught(pick),
    }


def _caught(pick: Pick) -> Any:
    named = pick(["pagat", *CAUGHT_TABLES, None, None, None, None])
    if named is not None:
        return named
    return {
        "lowest": pick([2, 1, 3, 5]),
        "lower": pick([0, 1, 2, 4]),
        "equal": pick([0, 1, 2, 3]),
        "higher": pick([0, 1, 2]),
        "others_to_lowest": pick([0, 1, 2]),
        "lowest_times": pick(["one", "opponents", "players"]),
        "lowest_tie": pick(["each", "nearest_left"]),
    }


def _tiers(pick: Pick, options: Options, num_players: int) -> list[Options]:
    """Tiers that some hand can hold: each is made from sample hands that no better tier fits."""
    whole = complete(options)
    deck = sorted_deck(options, num_players)
    hand_size = options["deal"]["hand_size"]
    size = hand_size if isinstance(hand_size, int) else next(iter(hand_size.values()))

    def sample_hand() -> list[str]:
        rest = list(deck)
        hand = []
        for _ in range(size):
            hand.append(rest.pop(pick(range(len(rest)))))
        return hand

    tiers: list[Options] = []
    for _ in range(pick([0, 0, 0, 0, 0, 0, 1, 2, 3])):
        hands = [sample_hand() for _ in range(3)]
        hand = min(hands, key=lambda cards: count(cards, whole))
        if any(tier_fits(tier, hand, whole) for tier in tiers):
            continue
        tier: Options = {}
        kinds = pick([["counts"], ["at_most"], ["all_ranks"], ["counts", "at_most", "all_ranks"]])
        if "counts" in kinds:
            tier["counts"] = sorted({count(cards, whole) for cards in hands})
        if "at_most" in kinds:
            tier["at_most"] = count(hand, whole)
        if "all_ranks" in kinds:
            held = {card[0] for card in hand}
            tier["all_ranks"] = "".join(rank for rank in whole["deck"]["ranks"] if rank in held)
        tier["pays"] = pick([2, 1, 3])
        if pick([False, True]):
            tier["lowest_first"] = True
        tiers.append(tier)
    return tiers


def _without_none(options: Options) -> Options:
    """The options with every *none* left out: its default, and not a value of TOML."""
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in options.items()
        if value is not None
    }
