"""The options of RULES section 2 as nested plain dicts: their defaults, and the deck they name."""

from __future__ import annotations

import copy
from typing import Any

Options = dict[str, Any]

SUITS = "cdhs"
ALL_RANKS = "A23456789TJQK"
COURT_VALUE = 10
JOKER = "Jk"
MOST_JOKERS = 4
MOST_WILD_RANKS = 2

# What each option is when the caller leaves it out. Two differ from the preset `pagat`, which names them
# itself: no instant wins.
DEFAULTS: Options = {
    "deck": {
        "ranks": ALL_RANKS,
        "suits": 4,
        "packs": 1,
        "jokers": 0,
        "joker_role": "wild",
        "wild_ranks": "",
        "values": {rank: min(place + 1, COURT_VALUE) for place, rank in enumerate(ALL_RANKS)} | {JOKER: 0},
    },
    "deal": {"hand_size": 5, "upcard": True, "widow": False},
    "spreads": {
        "ace": "low",
        "must_spread": "no",
        "lock_after": None,
        "min_naturals": 1,
        "hits_per_turn": None,
        "taken_must_meld": False,
    },
    "instant_wins": {"tiers": [], "tie": "void"},
    "drop": {
        "allowed": True,
        "max_count": None,
        "pays": 1,
        "tie_with_dropper": "caught",
        "caught": "pagat",
    },
    "waiting": {
        "after_spread": 0,
        "after_hit": 0,
        "after_own_hit": 0,
        "cumulative": True,
        "one_hit_per_round": False,
        "blocks_going_out": False,
    },
    "going_out": {
        "discard": 1,
        "spread": 2,
        "hit": 2,
        "first_turn_two_spreads": None,
        "no_earlier_spread": None,
        "after_hitting": None,
        "stock_floor": None,
    },
    "stock_out": {"result": "lowest_wins", "tie": "void"},
    "long_spread_bonus": 0,
    "slap": False,
    "side_bets": {"suit": 0, "naturals": 0},
    "scoring": "stakes",
    "discard_taken": False,
    "turn_limit": 50,
    "forfeit": 2,
}

# Says how hands follow one another; a single hand does not depend on it.
IGNORED = {"match"}


class CompleteOptions(dict[str, Any]):
    """Options with every one of them in."""


def complete(options: Options) -> Options:
    """Fills in every option left out; options that are complete are returned as they are.

    Args:
        options: nested dict with the dotted option names as keys; `None` and `"none"` both mean *none*.

    Returns:
        A dict with the keys of `DEFAULTS`, not to be changed.

    Raises:
        ValueError: an unknown option.
    """
    if isinstance(options, CompleteOptions):
        return options
    complete_options = CompleteOptions(copy.deepcopy(DEFAULTS))
    _merge(options, complete_options, "")
    return complete_options


# What *none* is for options whose values are lists or texts.
EMPTY: Options = {"instant_wins.tiers": [], "deck.wild_ranks": ""}


def _merge(given: Any, into: Options, path: str) -> None:
    for key, value in given.items():
        name = path + key
        if name in IGNORED:
            continue
        value = None if value == "none" else value
        if key not in into:
            raise ValueError(f"unknown option {name}")
        if isinstance(into[key], dict):
            _merge(value, into[key], name + ".")
        else:
            into[key] = copy.deepcopy(EMPTY.get(name) if value is None else value)


def refuse_clashes(options: Options) -> None:
    """Raises ValueError for options no hand may be played under; `options` must be complete."""
    deck, out = options["deck"], options["going_out"]
    has_forced_drops = options["stock_out"]["result"] == "must_drop" or out["stock_floor"] is not None
    if not 0 <= deck["jokers"] <= MOST_JOKERS:
        raise ValueError(f"deck.jokers is {deck['jokers']}; allowed: 0 to {MOST_JOKERS}")
    if len(deck["wild_ranks"]) > MOST_WILD_RANKS or not set(deck["wild_ranks"]) <= set(deck["ranks"]):
        raise ValueError(f"deck.wild_ranks is {deck['wild_ranks']!r}; allowed: two ranks of the deck at most")
    if has_forced_drops and not options["drop"]["allowed"]:
        raise ValueError("drop.allowed = false clashes with must_drop and with stock_floor")
    if has_forced_drops and options["spreads"]["lock_after"] is not None:
        raise ValueError("spreads.lock_after clashes with must_drop and with stock_floor")
    bets = options["side_bets"]
    pays_more = bets["suit"] or bets["naturals"] or options["deal"]["widow"] or options["long_spread_bonus"]
    if options["scoring"] == "push_ups" and pays_more:
        raise ValueError("scoring = push_ups clashes with side bets, widow and long_spread_bonus")


def hand_size(options: Options, num_players: int) -> int:
    """Cards dealt to each of `num_players`; `deal.hand_size` is a number or a table by players."""
    size = complete(options)["deal"]["hand_size"]
    if isinstance(size, dict):
        by_players = {int(players): cards for players, cards in size.items()}
        if num_players not in by_players:
            raise ValueError(f"deal.hand_size has no entry for {num_players} players")
        size = by_players[num_players]
    return int(size)


def num_packs(options: Options, num_players: int) -> int:
    """Packs shuffled together: `auto` means two from five players on."""
    packs = complete(options)["deck"]["packs"]
    if packs == "auto":
        return 2 if num_players >= 5 else 1
    return int(packs)


def sorted_deck(options: Options, num_players: int) -> list[str]:
    """Every card of the deck these options name, in a fixed order, equal cards side by side, jokers last."""
    deck = complete(options)["deck"]
    packs = num_packs(options, num_players)
    cards = [rank + suit for rank in deck["ranks"] for suit in SUITS[: deck["suits"]] for _ in range(packs)]
    return cards + [JOKER] * int(deck["jokers"])


def rank_of(card: str) -> str:
    """The rank, which for a joker is `Jk`: its letter J is not a jack's."""
    return JOKER if card == JOKER else card[0]


def is_wild(card: str, options: Options) -> bool:
    """Whether the card is wild by its kind, whatever it is used for; `options` must be complete."""
    deck = options["deck"]
    if card == JOKER:
        return bool(deck["joker_role"] == "wild")
    return card[0] in deck["wild_ranks"]


def count(cards: list[str], options: Options) -> int:
    """Points held in `cards`; `options` must be complete."""
    values = options["deck"]["values"]
    return sum(int(values[rank_of(card)]) for card in cards)
