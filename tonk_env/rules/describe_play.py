"""Turns, spreads and drops in plain English: sections of `tonk_env.rules.describe`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tonk_env.cards import RANKS
from tonk_env.rules.describe_pay import drop_is_forced, gain
from tonk_env.rules.spec import Rules, Tier
from tonk_env.rules.words import SUIT_NAMES, counted, listed, rank_names, rank_plurals, sentence

_ACE = {
    "low": "The ace is low: it comes before the {second} and never after the {last}.",
    "low_or_high": "The ace is low or high: it comes before the {second} or after the {last}, but a run does "
    "not go on around it.",
    "wrap": "Runs may go around the corner: the ace stands between the {last} and the {second}.",
}
_MUST_SPREAD = {
    "no": "Spreads may be held in the hand as long as you like.",
    "yes": "A spread may not be held back: you may not discard while your hand holds a spread that you could "
    "lay. You may still drop at the start of a turn while holding one.",
    "except_aces": "A spread may not be held back, unless it is a set of aces: you may not discard while "
    "your hand holds another spread that you could lay. You may still drop at the start of a turn while "
    "holding one.",
}
_DISCARD_TAKEN = {
    False: "A card taken from the discard pile may not be discarded in the same turn; another card like it "
    "may.",
    True: "A card taken from the discard pile may be discarded again in the same turn.",
}
_CUMULATIVE = {
    True: "Waits add up.",
    False: "Waits do not add up: the longer one counts, of what is left and what is new.",
}
_TIE_WITH_DROPPER = {
    "caught": "An equal count catches you as well as a lower one.",
    "share": "If nobody is lower but others are equal, you are not caught, and all the lowest share the win.",
    "dropper_wins": "If nobody is lower you win, also against equal counts.",
}


def dealt_hand(tier: Tier) -> str:
    """Returns what dealt hands are of a tier."""
    parts = []
    if tier.counts:
        parts.append(f"a hand that counts exactly {listed(map(str, sorted(tier.counts)), 'or')}")
    if tier.at_most is not None:
        parts.append(f"a hand that counts at most {tier.at_most}")
    if tier.all_ranks:
        parts.append(f"a hand of nothing but {listed(rank_plurals(tier.all_ranks))}")
    return listed(parts, "or")


def turn(rules: Rules, players: int | None) -> Iterator[str]:
    """Yields the paragraphs on what is done in a turn."""
    yield "The player to the dealer's left begins."
    if rules.deal.widow:
        yield (
            "On your own first turn, before anything else, you may swap: one card of your hand goes out of "
            "play, face down, and your widow, unseen until then, comes in. This costs a stake, see below. "
            "You may also keep your hand; later it is too late."
        )
    yield from _claims(rules)
    draw = "the top card of the stock or the top card of the discard pile"
    if rules.drop.allowed:
        yield (
            f"At the start of your turn you either drop, which ends the hand (see Dropping), or draw {draw}."
        )
    else:
        yield f"At the start of your turn you draw {draw}."
    if rules.spreads.taken_must_meld:
        yield (
            "You may take a discard only if you can use it at once: the first spread or hit of that turn "
            "must include it, and before that you may not discard."
        )
    limit = rules.spreads.hits_per_turn
    hits = " and number" if limit is None else f", but with no more than {counted(limit, 'hit')}"
    yield f"Then you may lay spreads and make hits, in any order{hits}."
    yield _MUST_SPREAD[rules.spreads.must_spread]
    yield (
        "If cards are left in your hand you end your turn by discarding one of them, face up. Only the top "
        "card of the discard pile may be looked at."
    )
    if not rules.spreads.taken_must_meld:
        yield _DISCARD_TAKEN[rules.discard_taken]
    yield (
        "A spread or hit is allowed only if you can still complete the turn: your hand is then empty, and "
        "may be, or holds a card that you may discard, or only the card you took, which can still be hit."
    )
    if rules.slap:
        yield from _slaps(rules)


def _claims(rules: Rules) -> Iterator[str]:
    claims = [tier for tier in rules.instant_wins.tiers if tier.claim != "none"]
    if not claims:
        return
    before = "you swap or keep, drop or draw" if rules.deal.widow else "you drop or draw"
    yield (
        f"At the very start of your own first turn, before {before}, and only while no spread is on the "
        "table, you may claim a win for some dealt hands, which ends the hand. Unclaimed it lapses. Where "
        "several fit, the first counts:"
    )
    for tier in claims:
        yield sentence(f"- {dealt_hand(tier)}: {gain(rules, tier.pays)}")


def _slaps(rules: Rules) -> Iterator[str]:
    limit = "" if rules.spreads.hits_per_turn is None else " It does not use up a hit of a turn."
    yield (
        "A discard that fits a spread on the table, and does not end the hand, may be slapped before the "
        "turn ends, by anybody who holds cards, the discarder included. The fastest lays it on a spread it "
        f"fits, as a hit of their own.{limit} Where nobody can be the fastest, chance draws the order in "
        "which the players are asked."
    )
    yield (
        "Unless it was the discarder, whoever slapped then discards one card of their own, which may be "
        "slapped in turn; the hand is won with it if it was the last. If the discarder slaps, nothing more "
        "is discarded, and the card beneath is the top of the pile; if there is none, the next player must "
        "draw from the stock. Play goes on with the player after the one whose turn it was."
    )


def spreads(rules: Rules, players: int | None) -> Iterator[str]:
    """Yields the paragraphs on what can be laid and hit."""
    deck, options = rules.deck, rules.spreads
    packs = rules.packs(players) if players else max(map(rules.packs, rules.player_counts()))
    copies = deck.suits * packs
    if copies < 3:
        yield f"A spread is a run; there are no sets, with only {counted(copies, 'card')} of each rank."
    else:
        twins = " With two packs it may hold two equal cards." if packs > 1 else ""
        size = "three" if copies == 3 else "three or four"
        yield f"A spread is a set or a run. A set is {size} cards of one rank.{twins}"
    missing = [
        f"the {before} is next to the {after}"
        for (before, after), (low, high) in zip(
            _neighbours(rank_names(deck.ranks)), _neighbours(deck.ranks), strict=True
        )
        if RANKS.index(high) - RANKS.index(low) > 1
    ]
    gaps = f", so {listed(missing)}" if missing else ""
    yield (
        "A run is three or more cards of one suit in a row, never one rank twice. The order is "
        f"{', '.join(rank_names(deck.ranks))}{gaps}."
    )
    if "A" in deck.ranks and len(deck.ranks) > 1:
        names = rank_names(deck.ranks)
        yield _ACE[options.ace].format(second=names[1], last=names[-1])
    yield (
        "A hit adds one card to a spread on the table, your own or another player's, also one laid in the "
        "same turn. A set never grows beyond four cards, and two runs that a card would join stay two."
    )
    if options.lock_after is not None:
        yield (
            f"A player with {counted(options.lock_after, 'spread')} is locked: nobody else may hit those "
            f"spreads{' or slap onto them' if rules.slap else ''}, only the player."
        )
    if deck.has_wilds:
        yield from _wilds(rules, packs)


def _neighbours(items: Any) -> list[tuple[Any, Any]]:
    return list(itertools.pairwise(items))


def _wilds(rules: Rules, packs: int) -> Iterator[str]:
    order = listed(SUIT_NAMES[: rules.deck.suits])
    yield (
        "When you lay a spread, say which cards it is made of. Those that you do not hold are filled by "
        "wild cards: of the wild cards left in your hand the one that counts most comes first, among equals "
        f"by suit ({order}), jokers last. A spread needs at least "
        f"{counted(rules.spreads.min_naturals, 'natural card')}."
    )
    twins = ", or, once it has them all, for the first that it may have once more" if packs > 1 else ""
    yield (
        f"In a set a wild card stands for the first suit that the set lacks, in the order {order}{twins}. "
        "In a run it stands for any card, also one that lies elsewhere. It stands for that card as long as "
        "it lies on the table, and is never exchanged."
    )
    yield (
        "A wild card may hit any set of fewer than four cards that lacks one, and a run at either end, where "
        "it can grow. It may also be discarded."
    )
    if rules.deck.wild_ranks:
        plural = listed(rank_plurals(rules.deck.wild_ranks))
        yield sentence(f"{plural} used as themselves are natural")


def dropping(rules: Rules, players: int | None) -> Iterator[str]:
    """Yields the paragraphs on who may drop, and when."""
    drop, waiting = rules.drop, rules.waiting
    if not drop.allowed:
        yield "Nobody may drop."
    else:
        limit = "whatever you hold" if drop.max_count is None else f"with a count of at most {drop.max_count}"
        yield (
            f"You may drop at the start of your turn, before drawing, {limit}: you show your hand, claiming "
            "the lowest count, and everybody shows theirs."
        )
        yield (
            "You win if every other count is higher than yours. If anybody's is lower you are caught. "
            f"{_TIE_WITH_DROPPER[drop.tie_with_dropper]}"
        )
        yield from _waits(rules)
        if rules.spreads.lock_after is not None:
            yield "As soon as any player is locked (see Spreads and hits), nobody may drop any more."
    if waiting.blocks_going_out:
        yield (
            "A player who is hit by another may not go out on the next turn: no move of that turn may empty "
            "the hand, and a spread or hit must leave two cards."
        )
    if drop_is_forced(rules):
        yield "A drop that these rules force takes no notice of waits, nor of a highest count allowed."


def _waits(rules: Rules) -> Iterator[str]:
    waiting = rules.waiting
    causes = {
        "for each spread you lay": waiting.after_spread,
        "for each hit by another player on your spreads": waiting.after_hit,
        "for each hit of yours on a spread of your own": waiting.after_own_hit,
    }
    waits = [f"{counted(turns, 'turn')} {cause}" for cause, turns in causes.items() if turns]
    if not waits:
        yield "Laying spreads and being hit do not keep anybody from dropping."
        return
    slap = " A slap is a hit by whoever slapped." if rules.slap else ""
    yield (
        f"You must wait {listed(waits)}. At the start of a turn with a wait left you may not drop, and the "
        f"wait becomes one turn shorter. {_CUMULATIVE[waiting.cumulative]}{slap}"
    )
    if waiting.after_hit and waiting.one_hit_per_round:
        yield "Between the starts of two turns of yours only the first hit by another player makes you wait."
