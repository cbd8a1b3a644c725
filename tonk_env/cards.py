"""Card ids and their text.

A card *type* is a number: ``suit * 13 + rank`` for the 52 ordinary cards, ``JOKER`` (52) for every joker.
Suits go ``c d h s``, ranks ``A 2 … 9 T J Q K``. Two equal cards of two packs are one type held twice.

A collection of cards is two words: bit c of the first is set where it holds type c, of the second where it
holds it twice. Of up to four jokers the third and fourth stand one bit further, at ``JOKERS_MORE``.
"""

from __future__ import annotations

from collections.abc import Iterable

from tonk_env.errors import TonkError

RANKS = "A23456789TJQK"
SUITS = "cdhs"
NUM_RANKS = len(RANKS)
NUM_SUITS = len(SUITS)
JOKER = NUM_RANKS * NUM_SUITS
NUM_TYPES = JOKER + 1
JOKERS_MORE = JOKER + 1

CARD_TEXT: tuple[str, ...] = (*(rank + suit for suit in SUITS for rank in RANKS), "Jk")
_CARD_IDS = {text: card for card, text in enumerate(CARD_TEXT)}


def card_id(text: str) -> int:
    """Returns the type of a card written like ``Ts`` or ``Jk``.

    Raises:
        TonkError: `text` is not a card.
    """
    try:
        return _CARD_IDS[text]
    except KeyError:
        raise TonkError(f"{text!r} is not a card: a rank of {RANKS}, then a suit of {SUITS}, or Jk") from None


def parse_cards(text: str) -> list[int]:
    """Returns the types of cards written with or without blanks between them (``5h6h 7h``)."""
    packed = "".join(text.split())
    return [card_id(packed[at : at + 2]) for at in range(0, len(packed), 2)]


def cards_text(cards: Iterable[int], separator: str = " ") -> str:
    """Returns the text of card types, in the order given."""
    return separator.join(CARD_TEXT[card] for card in cards)


def mask_cards(words: Iterable[int]) -> list[int]:
    """Returns the sorted types in a collection."""
    low, high = (int(word) for word in words)
    cards: list[int] = []
    while low:
        bit = low & -low
        low ^= bit
        card = min(bit.bit_length() - 1, JOKER)
        cards += [card, card] if high & bit else [card]
    return cards
