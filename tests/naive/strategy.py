"""Random rules for the two engines to be compared under: valid options, number of players, dealer.

One recipe, written once over a `Pick` (choose one of these), serves Hypothesis and a plain seeded generator.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from hypothesis import strategies as st

from .options import ALL_RANKS, JOKER, SUITS, Options, complete, count, rank_of, sorted_deck
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


def random_chance(case: Case, rng: random.Random) -> dict[str, Any]:
    """What else is left to chance in a hand of this case, as keyword arguments of `NaiveHand`."""
    options = complete(case.options)
    seats = range(case.num_players)
    # Each turn asks about one discard at most, and each slap, which takes a card from a hand, about one more.
    num_orders = case.num_players * options["turn_limit"] + len(sorted_deck(options, case.num_players))
    slap_orders = [rng.sample(seats, len(seats)) for _ in range(num_orders)] if options["slap"] else None
    return {
        "slap_orders": slap_orders,
        "called_suit": rng.choice(SUITS[: options["deck"]["suits"]]),
        "deals_since_won": {"suit": rng.choice([1, 1, 2, 3]), "naturals": rng.choice([1, 1, 2, 5])},
        "multiplier": rng.choice([1, 1, 1, 2]),
    }


def steered_move(legal: set[str], rng: random.Random, drop: float = 0.02, meld: float = 0.5) -> str:
    """A move of `legal` that lets hands run and spreads be laid, which uniform play hardly ever does.

    Half of the claims are made and half of the widows swapped; seven slaps in ten are taken, and cards that
    could be hit are thrown often, so that there is something to slap.

    Args:
        legal: moves without the seat.
        rng: where chance comes from.
        drop: probability of a drop where it is not the only move.
        meld: probability of choosing among the spreads and hits only, where there are any.
    """
    moves = sorted(legal)
    for seldom in ("claim", "keep"):
        if seldom in moves and len(moves) > 1:
            if rng.random() < 0.5:
                return seldom
            moves.remove(seldom)
    if "slap" in moves:
        return "slap" if rng.random() < 0.7 else "pass"
    if "drop" in moves and len(moves) > 1:
        if rng.random() < drop:
            return "drop"
        moves.remove("drop")
    melds = [move for move in moves if move.split()[0] in ("spread", "hit")]
    if melds and rng.random() < meld:
        return rng.choice(melds)
    fitting = [move for move in moves if "discard" in move and move.replace("discard", "hit") in moves]
    if fitting and rng.random() < 0.5:
        return rng.choice(fitting)
    return rng.choice(moves)


def build_case(pick: Pick) -> Case:
    """The recipe: every option is left at its default about half the time (the first choices)."""
    num_players = pick([2, 2, 3, 3, 4, 5, 6])
    scoring = pick(["stakes", "stakes", "stakes", "stakes", "push_ups"])
    is_in_stakes = scoring == "stakes"
    options: Options = {
        "deal": {
            "upcard": pick([True, True, False]),
            "widow": pick([False, False, False, True]) if is_in_stakes else False,
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
        "long_spread_bonus": pick([0, 0, 0.5, 1]) if is_in_stakes else 0,
        "slap": pick([False, False, False, False, True]),
        "side_bets": {
            "suit": pick([0, 0, 1, 2]) if is_in_stakes else 0,
            "naturals": pick([0, 0, 1, 3]) if is_in_stakes else 0,
        },
        "scoring": scoring,
        "discard_taken": pick([False, False, True]),
        "turn_limit": pick([50, 50, 50, 50, 50, 10, 3, 2, 1]),
        "forfeit": pick([2, 1, 3]),
    }
    options["deck"] = _deck(pick, num_players)
    options["spreads"] = _spreads(pick, options)
    _settle_clashes(pick, options)
    options["deal"]["hand_size"] = _hand_size(pick, options, num_players)
    options["instant_wins"] = {
        "tiers": _tiers(pick, options, num_players),
        "tie": pick(["void", "nearest_left", "all_paid"]),
    }
    return Case(_without_none(options), num_players, pick(list(range(num_players))))


def _spreads(pick: Pick, options: Options) -> Options:
    has_wilds = bool(options["deck"].get("wild_ranks") or options["deck"]["jokers"])
    return {
        "ace": pick(["low", "low_or_high", "wrap"]),
        "must_spread": pick(["no", "no", "yes", "except_aces"]),
        "lock_after": pick([None, None, None, None, None, None, 1, 2, 3]),
        "min_naturals": pick([1, 1, 2]) if has_wilds else 1,
        "hits_per_turn": pick([None, None, 1, 2]),
        "taken_must_meld": pick([False, False, True]),
    }


def _settle_clashes(pick: Pick, options: Options) -> None:
    """Leaves the lock, or else forced drops; and with forced drops, voluntary ones too."""
    if options["spreads"]["lock_after"] is not None:
        if options["stock_out"]["result"] == "must_drop":
            options["stock_out"]["result"] = pick(["lowest_wins", "void"])
    else:
        options["going_out"]["stock_floor"] = pick([None, "players"])
        if options["stock_out"]["result"] == "must_drop" or options["going_out"]["stock_floor"] is not None:
            options["drop"].pop("allowed", None)


def _deck(pick: Pick, num_players: int) -> Options:
    """A deck of at least four cards a player.

    Full, forty cards, a toy of any ranks and suits, or crowded: few ranks twice over, where spreads abound
    and a card often fits two of them. Jokers in a third, wild ranks in a fifth.
    """
    shape = pick(["full", "full", "forty", "toy", "toy", "crowded", "crowded"])
    deck: Options = {
        "ranks": ALL_RANKS,
        "suits": 4,
        "packs": pick([1, "auto", 2]),
        "jokers": pick([0, 0, 0, 0, 0, 0, 1, 2, 4]),
        "joker_role": pick(["wild", "wild", "dead"]),
    }
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
    if deck["jokers"] and pick([False, True]):
        values = {**values, JOKER: pick([25, 15, 10, 2])}
    if values:
        deck["values"] = values
    num_wild_ranks = pick([0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    for _ in range(num_wild_ranks):
        wild_so_far = deck.get("wild_ranks", "")
        deck["wild_ranks"] = wild_so_far + pick([rank for rank in deck["ranks"] if rank not in wild_so_far])
    return deck


def _hand_size(pick: Pick, options: Options, num_players: int) -> int | dict[str, int]:
    """A hand that leaves a stock card, as a number or a table by players."""
    deal = options["deal"]
    cards = len(sorted_deck(options, num_players)) - int(deal["upcard"]) - num_players * int(deal["widow"])
    largest = min((cards - 1) // num_players, LARGEST_HAND)
    wanted = [5, 5, 4, 3, 7, 7, 6, 9, 2, 1, largest]
    if options["spreads"]["lock_after"] is not None:
        # Several spreads of one player need many cards.
        wanted = [7, 8, 9, 10, 11, 12, 13, largest]
    elif options["slap"]:
        # And so does a table that most discards fit.
        wanted = [7, 6, 8, 9, 10, 5, largest]
    elif options["going_out"]["stock_floor"] is not None:
        # The stock must be low while hands are about to be emptied.
        wanted = [5, 4, 3, 3, 7, largest, largest]
    sizes = [size for size in wanted if size <= largest] or [largest]
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
    for _ in range(pick([0, 0, 0, 0, 0, 1, 2, 3])):
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
        if "all_ranks" in kinds and JOKER in hand:
            continue  # hardly any hand would match, or none
        if "all_ranks" in kinds:
            held = {rank_of(card) for card in hand}
            tier["all_ranks"] = "".join(rank for rank in whole["deck"]["ranks"] if rank in held)
        tier["pays"] = pick([2, 1, 3])
        claim = pick([None, "none", "first_turn", "first_turn"])
        if claim is not None:
            tier["claim"] = claim
        if claim != "first_turn" and pick([False, True]):
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
