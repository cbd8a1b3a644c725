"""Stacked deals and played moves, for hand-worked tests of the naive engine."""

from __future__ import annotations

from typing import Any

from .engine import NaiveHand
from .melds import Melds
from .options import Options, complete, sorted_deck


def deal(
    options: Options,
    hands: list[str],
    upcard: str | None = None,
    stock: str = "",
    dealer: int | None = None,
    widows: str = "",
    **chance: Any,
) -> NaiveHand:
    """Deals these hands and widows (by seat), upcard and first stock cards; the rest of the deck follows."""
    num_players = len(hands)
    dealer = num_players - 1 if dealer is None else dealer
    by_seat = [hand.split() for hand in hands]
    given = {"hand_size": len(by_seat[0]), "widow": bool(widows), **options.get("deal", {})}
    options = {**options, "deal": given}
    order = [
        by_seat[(dealer + steps) % num_players][place]
        for place in range(len(by_seat[0]))
        for steps in range(1, num_players + 1)
    ]
    if widows:
        order += [widows.split()[(dealer + steps) % num_players] for steps in range(1, num_players + 1)]
    rest = sorted_deck(options, num_players)
    for card in order + stock.split() + ([upcard] if upcard else []):
        rest.remove(card)
    if upcard is None and complete(options)["deal"]["upcard"]:
        order.append(rest.pop())
    elif upcard:
        order.append(upcard)
    return NaiveHand(options, num_players, dealer, order + stock.split() + rest, **chance)


def play(hand: NaiveHand, *moves: str) -> NaiveHand:
    """Plays moves written with their seat, as in a hand record."""
    for move in moves:
        seat, _, rest = move.partition(" ")
        assert hand.to_move == int(seat), move
        hand.apply(rest)
    return hand


def starting(hand: NaiveHand, word: str) -> set[str]:
    """What follows `word` in the legal moves."""
    return {move.partition(" ")[2] for move in hand.legal() if move.split()[0] == word}


def whole(**options: Any) -> Options:
    """These options with every other at its default."""
    return complete(options)


def texts(cards: str, **options: Any) -> set[str]:
    """The spreads that can be made from these cards."""
    return {meld.text for meld in Melds(whole(**options)).spreads_in(cards.split())}
