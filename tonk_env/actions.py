"""Action ids, their universal keys, and moves as text.

Every action has a key that means the same under all rules: its kind and the cards it speaks of. The action
table of some rules numbers the keys that those rules have a use for. As text a move is written as in hand
records: ``drop``, ``spread KdKhKs``, ``target 1 0``. Which wilds stand for cards of a spread depends on the
hand it is laid from: given that, they are written too, ``spread 5h6h7h[Jk]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tonk_env.cards import CARD_TEXT, NUM_RANKS, cards_text, mask_cards, parse_cards
from tonk_env.errors import TonkError
from tonk_env.rules.lower import (
    ACTION_KINDS,
    CLAIM,
    DISCARD,
    HIT,
    RUN,
    SPREAD,
    SWAP,
    TARGET,
    TARGET_HIGH,
    TARGET_LOW,
    LoweredRules,
)

_FORMS = {
    "spread": "spread CARDS",
    "hit": "hit CARD",
    "discard": "discard CARD",
    "swap": "swap CARD",
    "target": "target SEAT INDEX",
    "target_low": "target SEAT INDEX low",
    "target_high": "target SEAT INDEX high",
}
_ENDS = {"": "target", "low": "target_low", "high": "target_high"}
_FILLER = re.compile(r"\[(\w+)\]")


class Key(NamedTuple):
    """What an action is, whatever the rules.

    Attributes:
        kind: one of ``ACTION_KINDS``.
        what: the card types of a spread (ascending, a twin twice), hit or discard. Of a target: the seat that
            owns the spread, counted from the seat to move, and the place of the spread among that seat's, in
            laying order.
    """

    kind: str
    what: tuple[int, ...] = ()


@dataclass(frozen=True)
class ActionTable:
    """The actions of some rules, by id.

    Attributes:
        keys: the key of each id.
        texts: the move of each id as text. Of a target only the word, since its seat depends on who moves.
        ids: the id of each key.
        forms: how the moves that these rules know are written.
        wild_order: types that are wild, the first to fill a spread first.
    """

    keys: tuple[Key, ...]
    texts: tuple[str, ...]
    ids: Mapping[Key, int] = field(repr=False)
    forms: tuple[str, ...] = field(repr=False)
    wild_order: tuple[int, ...] = field(repr=False)
    _by_text: Mapping[str, int] = field(repr=False)

    def text(self, action: int, seat: int, num_players: int, hand: Sequence[int] | None = None) -> str:
        """Returns the move of an id as text.

        Args:
            action: an id.
            seat: who moves; only targets depend on it.
            num_players: seats at the table.
            hand: the cards of who moves, as two words: with it, the wilds of a spread are named.
        """
        kind, what = self.keys[action]
        if kind in _ENDS.values():
            steps, place = what
            end = kind.removeprefix("target").replace("_", " ")
            return f"target {(seat + steps) % num_players} {place}{end}"
        if kind == "spread" and hand is not None and self.wild_order:
            return f"spread {''.join(self._filled(self.texts[action], mask_cards(hand)))}"
        return self.texts[action]

    def _filled(self, text: str, hand: list[int]) -> Iterable[str]:
        """Yields the cards of a spread as text, each that a hand lacks with the wild that stands for it."""
        named = parse_cards(text.removeprefix("spread "))
        left, lacking = hand.copy(), []
        for place, card in enumerate(named):
            if card in left:
                left.remove(card)
            else:
                lacking.append(place)
        fillers = (card for wild in self.wild_order for card in left if card == wild)
        by_place = dict(zip(lacking, fillers, strict=False))
        for place, card in enumerate(named):
            filler = f"[{CARD_TEXT[by_place[place]]}]" if place in by_place else ""
            yield CARD_TEXT[card] + filler

    def parse(self, text: str, seat: int, num_players: int) -> int:
        """Returns the id of a move written as text; the cards of a spread may come in any order.

        The wilds that a spread is written with are not looked at: which they are follows from the hand.

        Args:
            text: the move.
            seat: who moves; only targets depend on it.
            num_players: seats at the table.

        Raises:
            TonkError: it is no move, or none that these rules know.
        """
        action = self._by_text.get(text)
        if action is not None:
            return action
        kind, _, rest = text.strip().partition(" ")
        if kind not in ACTION_KINDS or kind in ("target_low", "target_high"):
            raise TonkError(f"{text!r} is not a move: moves are {', '.join(self.forms)}")
        if kind == "target":
            key = _target(text, rest, seat, num_players)
        else:
            key = Key(kind, tuple(sorted(parse_cards(_FILLER.sub("", rest)))))
        action = self.ids.get(key)
        if action is None:
            raise TonkError(f"{text!r}: these rules have no such move ({_FORMS.get(key.kind, key.kind)})")
        return action


def _target(text: str, rest: str, seat: int, num_players: int) -> Key:
    words = rest.split()
    end = words.pop() if len(words) == 3 else ""
    if len(words) != 2 or end not in _ENDS or not all(word.isascii() and word.isdigit() for word in words):
        raise TonkError(
            f"{text!r} is not a target: write target SEAT INDEX, with two numbers from 0, "
            "then low or high for a wild's end of a run"
        )
    owner, place = map(int, words)
    if owner >= num_players:
        raise TonkError(f"{text!r}: seat {owner} is not one of 0 to {num_players - 1}")
    return Key(_ENDS[end], ((owner - seat) % num_players, place))


def fillers(text: str) -> list[str]:
    """Returns the wilds named in a spread's text, sorted."""
    return sorted(_FILLER.findall(text))


def _spreads(row: Any) -> Iterable[tuple[Key, str]]:
    """Yields key and text of each row of the table of spreads."""
    order = sorted(
        (rank for rank in range(NUM_RANKS) if row["position"][rank] >= 0), key=row["position"].__getitem__
    )
    for index in range(int(row["num_spreads"])):
        cards = mask_cards(row["spread_cards"][index])
        written = cards  # a set: by suit, which is how types ascend
        if row["spread_kind"][index] == RUN:
            suit, start = int(row["spread_row"][index]), int(row["spread_start"][index])
            written = [suit * NUM_RANKS + order[(start + step) % len(order)] for step in range(len(cards))]
        yield Key("spread", tuple(cards)), cards_text(written, "")


def _make_table(rules: LoweredRules) -> ActionTable:
    row = rules.record[0]
    types = row["types"][: row["num_types"]].tolist()
    keys: list[Key] = []
    texts: list[str] = []
    each = int(row["spreads_per_seat"])
    for kind, word in enumerate(ACTION_KINDS):
        number = int(row["kind_first"][kind + 1]) - int(row["kind_first"][kind])
        if kind == SPREAD:
            for key, cards in _spreads(row):
                keys.append(key)
                texts.append(f"{word} {cards}")
        elif kind in (HIT, DISCARD, SWAP) and number:
            keys += [Key(word, (card,)) for card in types]
            texts += [f"{word} {CARD_TEXT[card]}" for card in types]
        elif kind in (TARGET, TARGET_LOW, TARGET_HIGH):
            keys += [Key(word, divmod(index, each)) for index in range(number)]
            texts += [word] * number
        elif number:
            keys.append(Key(word))
            texts.append(word)
    targets = range(int(row["kind_first"][TARGET]), int(row["kind_first"][CLAIM]))
    return ActionTable(
        keys=tuple(keys),
        texts=tuple(texts),
        ids={key: action for action, key in enumerate(keys)},
        forms=tuple(_FORMS.get(kind, kind) for kind in dict.fromkeys(key.kind for key in keys)),
        wild_order=tuple(row["wild_order"][: row["num_wilds"]].tolist()),
        _by_text={text: action for action, text in enumerate(texts) if action not in targets},
    )


_tables: dict[tuple[str, bytes], ActionTable] = {}


def action_table(rules: LoweredRules) -> ActionTable:
    """Returns the action table of some rules; made once for each that differs."""
    # The wilds are no part of what the ids mean, but of how spreads are written.
    key = rules.actions_fingerprint, rules.record[0]["wild_order"].tobytes()
    table = _tables.get(key)
    if table is None:
        table = _tables[key] = _make_table(rules)
    return table
