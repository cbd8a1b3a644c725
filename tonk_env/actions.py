"""Action ids, their universal keys, and moves as text.

Every action has a key that means the same under all rules: its kind and the cards it speaks of. The action
table of some rules numbers the keys that those rules have a use for. As text a move is written as in hand
records: ``drop``, ``spread KdKhKs``, ``target 1 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tonk_env.cards import CARD_TEXT, NUM_RANKS, cards_text, mask_cards, parse_cards
from tonk_env.errors import TonkError
from tonk_env.rules.lower import ACTION_KINDS, DISCARD, HIT, RUN, SPREAD, TARGET, LoweredRules

MOVE_FORMS = ("drop", "stock", "take", "spread CARDS", "hit CARD", "discard CARD", "target SEAT INDEX")
"""How moves are written."""


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
    """

    keys: tuple[Key, ...]
    texts: tuple[str, ...]
    ids: Mapping[Key, int] = field(repr=False)
    _by_text: Mapping[str, int] = field(repr=False)
    _first_target: int = field(repr=False)

    def text(self, action: int, seat: int, num_players: int) -> str:
        """Returns the move of an id as text.

        Args:
            action: an id.
            seat: who moves; only targets depend on it.
            num_players: seats at the table.
        """
        if action < self._first_target:
            return self.texts[action]
        steps, place = self.keys[action].what
        return f"target {(seat + steps) % num_players} {place}"

    def parse(self, text: str, seat: int, num_players: int) -> int:
        """Returns the id of a move written as text; the cards of a spread may come in any order.

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
        if kind not in ACTION_KINDS:
            raise TonkError(f"{text!r} is not a move: moves are {', '.join(MOVE_FORMS)}")
        what: tuple[int, ...]
        if kind == "target":
            what = _target(text, rest, seat, num_players)
        else:
            what = tuple(sorted(parse_cards(rest)))
        action = self.ids.get(Key(kind, what))
        if action is None:
            form = next(form for form in MOVE_FORMS if form.startswith(kind))
            raise TonkError(f"{text!r}: these rules have no such move ({form})")
        return action


def _target(text: str, rest: str, seat: int, num_players: int) -> tuple[int, int]:
    words = rest.split()
    if len(words) != 2 or not all(word.isascii() and word.isdigit() for word in words):
        raise TonkError(f"{text!r} is not a target: write target SEAT INDEX, with two numbers from 0")
    owner, place = map(int, words)
    if owner >= num_players:
        raise TonkError(f"{text!r}: seat {owner} is not one of 0 to {num_players - 1}")
    return (owner - seat) % num_players, place


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
    for kind, word in enumerate(ACTION_KINDS):
        number = int(row["kind_first"][kind + 1]) - int(row["kind_first"][kind])
        if kind == SPREAD:
            for key, cards in _spreads(row):
                keys.append(key)
                texts.append(f"{word} {cards}")
        elif kind in (HIT, DISCARD):
            keys += [Key(word, (card,)) for card in types]
            texts += [f"{word} {CARD_TEXT[card]}" for card in types]
        elif kind == TARGET:
            keys += [Key(word, divmod(index, int(row["spreads_per_seat"]))) for index in range(number)]
            texts += [word] * number
        elif number:
            keys.append(Key(word))
            texts.append(word)
    first_target = int(row["kind_first"][TARGET])
    return ActionTable(
        keys=tuple(keys),
        texts=tuple(texts),
        ids={key: action for action, key in enumerate(keys)},
        _by_text={text: action for action, text in enumerate(texts[:first_target])},
        _first_target=first_target,
    )


_tables: dict[str, ActionTable] = {}


def action_table(rules: LoweredRules) -> ActionTable:
    """Returns the action table of some rules; made once for each that differs."""
    table = _tables.get(rules.actions_fingerprint)
    if table is None:
        table = _tables[rules.actions_fingerprint] = _make_table(rules)
    return table
