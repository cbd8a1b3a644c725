"""The options of RULES section 2 as nested plain dicts: their defaults, and the deck they name."""

from __future__ import annotations

import copy
from typing import Any

Options = dict[str, Any]

SUITS = "cdhs"
ALL_RANKS = "A23456789TJQK"
COURT_VALUE = 10

# What each option is when the caller leaves it out. Two differ from the preset `pagat`, which names them
# itself: no instant wins.
DEFAULTS: Options = {
    "deck": {
        "ranks": ALL_RANKS,
        "suits": 4,
        "packs": 1,
        "values": {rank: min(place + 1, COURT_VALUE) for place, rank in enumerate(ALL_RANKS)} | {"Jk": 0},
    },
    "deal": {"hand_size": 5, "upcard": True},
    "spreads": {"ace": "low", "must_spread": "no", "hits_per_turn": None, "taken_must_meld": False},
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
    },
    "stock_out": {"result": "lowest_wins", "tie": "void"},
    "scoring": "stakes",
    "discard_taken": False,
    "turn_limit": 50,
    "forfeit": 2,
}

# Options this engine does not play yet, with the one value it can honour: anything else is refused rather
# than silently played as if it were not there.
NOT_PLAYED: Options = {
    "deck": {"jokers": 0, "joker_role": "wild", "wild_ranks": None},
    "deal": {"widow": False},
    "spreads": {"lock_after": None, "min_naturals": 1},
    "going_out": {"stock_floor": None},
    "long_spread_bonus": 0,
    "slap": False,
    "side_bets": {"suit": 0, "naturals": 0},
}

# Says how hands follow one another; a single hand does not depend on it.
IGNORED = {"match"}


def complete(options: Options) -> Options:
    """Fills in every option left out.

    Args:
        options: nested dict with the dotted option names as keys; `None` and `"none"` both mean *none*.

    Returns:
        A fresh dict with the keys of `DEFAULTS`.

    Raises:
        ValueError: an unknown option, or one this engine does not play yet.
    """
    complete_options = copy.deepcopy(DEFAULTS)
    _merge(options, complete_options, NOT_PLAYED, "")
    return complete_options


def _merge(given: Any, into: Options, not_played: Options, path: str) -> None:
    for key, value in given.items():
        name = path + key
        if name in IGNORED:
            continue
        value = None if value == "none" else value
        if key in into and isinstance(into[key], dict):
            _merge(value, into[key], not_played.get(key, {}), name + ".")
        elif key in into:
            into[key] = copy.deepcopy([] if name == "instant_wins.tiers" and value is None else value)
        elif key in not_played and isinstance(not_played[key], dict):
            _merge(value, {}, not_played[key], name + ".")
        elif key in not_played:
            if value != not_played[key]:
                raise ValueError(f"option {name} = {value!r} is not played by this engine")
        else:
            raise ValueError(f"unknown option {name}")


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
    """Every card of the deck these options name, in a fixed order, equal cards side by side."""
    deck = complete(options)["deck"]
    packs = num_packs(options, num_players)
    return [rank + suit for rank in deck["ranks"] for suit in SUITS[: deck["suits"]] for _ in range(packs)]


def count(cards: list[str], options: Options) -> int:
    """Points held in `cards`; `options` must be complete."""
    values = options["deck"]["values"]
    return sum(int(values[card[0]]) for card in cards)
