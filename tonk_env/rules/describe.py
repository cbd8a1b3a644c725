"""Rules in plain English: every option as a sentence that people can play by.

Each section yields paragraphs, for one number of players or for any; those that begin with ``- `` are a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tonk_env.cards import RANKS
from tonk_env.rules.describe_pay import gain, paid
from tonk_env.rules.describe_play import dealt_hand, dropping, spreads, turn
from tonk_env.rules.spec import CAUGHT_TABLES, Rules
from tonk_env.rules.words import (
    SUIT_NAMES,
    counted,
    listed,
    number,
    rank_names,
    rank_plurals,
    sentence,
    spans,
)

_INSTANT_TIE = {
    "void": "If the best dealt hand is held more than once, the hand is void: nobody pays, and the cards are "
    "thrown in.",
    "nearest_left": "If the best dealt hand is held more than once, the one nearest to the dealer's left "
    "wins.",
    "all_paid": "Every such hand is paid what its kind pays, by each player without one; if everybody has "
    "one, nobody pays.",
}
_INSTANT_TIE_POINTS = {
    **_INSTANT_TIE,
    "void": "If the best dealt hand is held more than once, the hand is void and nobody adds anything.",
    "all_paid": "Everybody with such a hand wins, and the others add what the best of them brings.",
}
_FIRST_DEALER = {
    "random": "The first dealer is chosen by chance.",
    "high_card": "The players cut for the first deal: the highest card deals. Aces are low, and equal cards "
    "cut again.",
    "low_card": "The players cut for the first deal: the lowest card deals. Aces are low, and equal cards "
    "cut again.",
}


# ---- What you need


def _need(rules: Rules, players: int | None) -> Iterator[str]:
    deck = rules.deck
    able = spans(rules.player_counts())
    if players is None:
        yield f"{able.capitalize()} players."
    else:
        yield f"{number(players).capitalize()} players; these rules can be played by {able}."
    size = len(deck.ranks) * deck.suits
    pack, two = f"one pack of {size} cards", f"two packs of {size} cards, shuffled together"
    packs = {1: pack, 2: two}
    if players is None and deck.packs == "auto":
        cards = f"{pack} for two to four players, and {two}, from five players on"
    else:
        cards = packs[rules.packs(players or 2)]
    whole = deck.ranks == RANKS
    ranks = "ace to king" if whole else listed(rank_names(deck.ranks))
    suits = f"the {listed(SUIT_NAMES[: deck.suits])}" if deck.suits < len(SUIT_NAMES) else "four suits"
    jokers = f"; and {counted(deck.jokers, 'joker')} in all" if deck.jokers else ""
    yield sentence(f"{cards}: {ranks} of {suits}{jokers}")
    if deck.has_wilds:
        yield sentence(f"{_wild_names(rules)} are wild: in a spread they may stand for other cards")
    if deck.jokers and deck.joker_role == "dead":
        yield (
            "Jokers are dead: they are held, drawn and discarded like other cards, but are never in a spread."
        )
    yield f"{_values(rules)} What your cards count together is your count, and a low count is good."
    if rules.scoring == "stakes":
        yield "Payments are made in stakes; agree beforehand what a stake is worth."
    else:
        yield (
            "The game is played for points, called push-ups: losers add up what they hold, nobody pays, and "
            "few points are good."
        )


def _wild_names(rules: Rules) -> str:
    deck = rules.deck
    jokers = ["jokers"] if deck.jokers and deck.joker_role == "wild" else []
    return listed([*rank_plurals(deck.wild_ranks), *jokers])


def _values(rules: Rules) -> str:
    deck = rules.deck
    names = dict(zip(deck.ranks, rank_names(deck.ranks), strict=True))
    own = [rank for rank in deck.ranks if deck.value(RANKS.index(rank)) == RANKS.index(rank) + 1]
    digits = [rank for rank in own if names[rank].isdigit()]
    by_value: dict[int, list[str]] = {}
    for rank in deck.ranks:
        if rank not in digits:
            by_value.setdefault(deck.value(RANKS.index(rank)), []).append(names[rank])
    if deck.jokers:
        by_value.setdefault(deck.joker_value, []).append("joker")
    parts = [
        f"{listed(cards)} {value}{' each' if len(cards) > 1 else ''}" for value, cards in by_value.items()
    ]
    if digits:
        numbers = [int(names[rank]) for rank in digits]
        gapless = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2
        text = f"{numbers[0]} to {numbers[-1]}" if gapless else listed(map(str, numbers))
        parts.insert(1 if "A" in deck.ranks and by_value else 0, f"{text} as numbered")
    return f"Cards count: {'; '.join(parts)}."


# ---- The deal


def _deal(rules: Rules, players: int | None) -> Iterator[str]:
    size = rules.deal.hand_size
    if players is None and isinstance(size, dict):
        sizes = listed(
            f"{counted(size[seats], 'card')} with {number(seats)}" for seats in rules.player_counts()
        )
        dealt = f"{sizes} players"
    else:
        dealt = counted(rules.hand_size(players or rules.player_counts()[0]), "card")
    if rules.side_bets.suit:
        yield "Before the deal a suit is called at random, for the bet described below."
    yield (
        "Everything goes clockwise. The dealer deals one card at a time, beginning with the player to the "
        f"left, until everybody has {dealt}."
    )
    if rules.deal.widow:
        yield "Then everybody gets one more card face down, the widow, at which nobody looks."
    if rules.deal.upcard:
        yield "The next card is turned face up and begins the discard pile. The rest is the stock, face down."
    else:
        yield (
            "The rest is the stock, face down. No card is turned up: the first player must draw from the "
            "stock, and the discard pile begins with the first discard."
        )
    yield from _instant_wins(rules)


def _instant_wins(rules: Rules) -> Iterator[str]:
    tiers = [tier for tier in rules.instant_wins.tiers if tier.claim == "none"]
    if not tiers:
        yield "No dealt hand wins at once."
        return
    tie = rules.instant_wins.tie
    all_paid = tie == "all_paid"
    ties = _INSTANT_TIE_POINTS if rules.scoring == "push_ups" else _INSTANT_TIE
    yield "Whoever is dealt such a hand shows it at once; it wins, and the hand is not played:"
    for tier in tiers:
        better = "; of several, the lower count is the better" if tier.lowest_first and not all_paid else ""
        yield sentence(f"- {dealt_hand(tier)}: {gain(rules, tier.pays)}{better}")
    if len(tiers) > 1 and not all_paid:
        yield "Where several are dealt, only the best kind counts, which is the one named first."
    if not all_paid and any(not tier.lowest_first for tier in tiers):
        other = ", where nothing else is said" if any(tier.lowest_first for tier in tiers) else ""
        yield f"Hands of one kind are equal{other}."
    yield ties[tie]
    if rules.deck.jokers and any(tier.all_ranks for tier in rules.instant_wins.tiers):
        yield "A joker is not one of the cards named."
    if rules.deal.widow:
        yield "The widow is not part of the dealt hand."


# ---- Match


def _match(rules: Rules, players: int | None) -> Iterator[str]:
    match = rules.match
    points = rules.scoring == "push_ups"
    reached = None
    if match.target is not None:
        reached = (
            f"a player has {match.target:g} points" if points else f"a player is {match.target:g} stakes up"
        )
    if match.hands is None:
        yield f"A match goes on until {reached}."
    else:
        ends = "" if reached is None else f", or fewer if {reached} before"
        yield f"A match is {counted(match.hands, 'hand')}{ends}."
    if match.last_hands_double:
        last = counted(match.last_hands_double, "hand")
        amounts = "points" if points else "payments"
        bets = ", though not the bets" if any(rules.side_bets.model_dump().values()) else ""
        yield f"In the last {last} all {amounts} are doubled{bets}: the big one."
    if isinstance(match.first_dealer, int):
        yield f"Seat {match.first_dealer} deals first; seats are numbered clockwise from 0."
    else:
        yield _FIRST_DEALER[match.first_dealer]
    best = "lowest" if points else "highest"
    several = "" if reached is None else ", also where several have got so far"
    yield (
        "The deal passes one seat to the left after every hand, also a void one. At the end the "
        f"{best} total wins{several}; equal totals share the win."
    )


# ---- The whole

Section = Callable[[Rules, "int | None"], Iterator[str]]
SECTIONS: dict[str, Section] = {
    "What you need": _need,
    "The deal": _deal,
    "A turn": turn,
    "Spreads and hits": spreads,
    "Dropping": dropping,
    "How a hand ends and what is paid": paid,
    "Match": _match,
}
"""The headings of a description, and what is written under each."""

NO_EFFECT = "Without effect here"


def describe(rules: Rules, num_players: int | None = None) -> str:
    """Returns the rules as text that people can play by: headings and paragraphs, with blank lines between.

    Args:
        rules: the options.
        num_players: writes the numbers for that many players; without it as they depend on the players.

    Raises:
        TonkError: the rules cannot be played by that many.
    """
    if num_players is not None:
        rules.check_players(num_players)
    blocks: list[str] = []
    for heading, section in SECTIONS.items():
        blocks += [heading, *section(rules, num_players)]
    idle = list(_without_effect(rules))
    if idle:
        blocks += [NO_EFFECT, *(f"- {line}" for line in idle)]
    return "\n\n".join(blocks).replace("\n\n- ", "\n- ") + "\n"


def _without_effect(rules: Rules) -> Iterator[str]:
    """Yields options that are set, but mean nothing beside the others."""
    standard = Rules()
    no_wait = not any((rules.waiting.after_spread, rules.waiting.after_hit, rules.waiting.after_own_hit))
    no_drop, push_ups = not rules.drop.allowed, rules.scoring == "push_ups"
    no_tier = not any(tier.claim == "none" for tier in rules.instant_wins.tiers)
    idle = (
        ("deck.joker_role", not rules.deck.jokers, "there are no jokers"),
        ("spreads.min_naturals", not rules.deck.has_wilds, "nothing is wild"),
        ("spreads.ace", "A" not in rules.deck.ranks, "there are no aces"),
        ("instant_wins.tie", no_tier, "no dealt hand wins at once"),
        ("drop.max_count", no_drop, "nobody may drop"),
        ("drop.pays", no_drop, "nobody may drop"),
        ("drop.tie_with_dropper", no_drop, "nobody may drop"),
        ("drop.caught", no_drop, "nobody may drop"),
        ("drop.pays", push_ups and not no_drop, "losers add their counts"),
        ("drop.caught", push_ups and not no_drop, "losers add their counts; only lowest_tie matters"),
        ("forfeit", push_ups, "losers add their counts"),
        ("waiting.after_spread", no_drop, "nobody may drop"),
        ("waiting.after_hit", no_drop, "nobody may drop"),
        ("waiting.after_own_hit", no_drop, "nobody may drop"),
        ("waiting.cumulative", no_drop or no_wait, "nobody waits"),
        ("waiting.one_hit_per_round", no_drop or not rules.waiting.after_hit, "hits by others add no wait"),
        ("stock_out.tie", rules.stock_out.result == "void", "nobody is paid when the stock runs out"),
        ("discard_taken", rules.spreads.taken_must_meld, "a card that is taken is laid at once"),
    )
    for option, is_idle, reason in idle:
        value = _value(rules, option)
        if is_idle and value != _value(standard, option):
            yield f"{option} = {_text(value)}: {reason}"
    in_deck = {*rules.deck.ranks, *(["Jk"] if rules.deck.jokers else [])}
    for rank, points in rules.deck.values.items():
        if rank not in in_deck:
            yield f"deck.values.{rank} = {points}: the deck has no such card"
    for index, tier in enumerate(rules.instant_wins.tiers):
        if tier.lowest_first and (tier.claim != "none" or rules.instant_wins.tie == "all_paid"):
            yield f"instant_wins.tiers[{index}].lowest_first = true: such hands are not compared"


def _value(rules: Rules, option: str) -> Any:
    value: Any = rules
    for name in option.split("."):
        value = getattr(value, name)
    return value


def _text(value: Any) -> str:
    names = [name for name, table in CAUGHT_TABLES.items() if table == value]
    if names:
        return names[0]
    if hasattr(value, "model_dump"):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.model_dump().items())
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
