"""One hand of Tonk as a Python object: what a person, a test or a search bot holds."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tonk_env.actions import action_table
from tonk_env.batch import deal_hand
from tonk_env.cards import CARD_TEXT, NUM_TYPES, card_id, mask_cards, parse_cards
from tonk_env.engine.deal import chance_outcomes, clear, deal, num_dealt, shuffle
from tonk_env.engine.ending import forfeit
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import CHANCE, ENDED, ENDINGS, OK, STATE_DTYPE
from tonk_env.engine.turn import apply, apply_chance
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_LEGAL, MAX_SEATS
from tonk_env.rules import LoweredRules, Rules, lower
from tonk_env.rules.lower import RUN
from tonk_env.view import VIEW_DTYPE, view

UNKNOWN = "??"
FORFEIT = "forfeit"
RulesLike = str | Rules | LoweredRules | Mapping[str, Any]


class Event(NamedTuple):
    """A move that was made.

    Attributes:
        seat: who made it.
        move: as text.
        drawn: the card that came of it from the stock, where one did.
    """

    seat: int
    move: str
    drawn: int | None = None


class Hand:
    """One hand.

    A hand is dealt when it is made: from a deck in a given order, from one that a seed shuffles, or card by
    card (`explicit`), when whoever holds the hand gives each card at a chance node. Equal decks, rules and
    moves give equal hands.

    Args:
        rules: a preset's name, the path of a file, a table of options, or rules.
        num_players: 2 to 6.
        dealer: a seat; by default the last, so that seat 0 has the first turn.
        seed: 0 to 2**63 - 1, shuffles the deck; by default a random one, kept in `seed`.
        deck: cards in dealing order, text or types: hands one card at a time from the dealer's left, upcard,
            stock. What is left out follows in ascending order.
        explicit: deal nothing; stop at chance nodes (`chance_outcomes`, `apply_chance`).

    Attributes:
        rules: the rules in force, as `LoweredRules`.
        num_players: seats.
        dealer: the dealer's seat.
        seed: what the deck was shuffled by, or None.
        preset: the name or path that the rules were given by, or None.

    Raises:
        TonkError: unknown rules, or a number of players, dealer, seed or deck that they do not allow.

    Example:
        >>> hand = Hand("pagat", deck="2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks")
        >>> hand.legal_moves()
        ['drop', 'stock', 'take']
        >>> for move in ("take", "spread KdKhKs", "discard 8h"):
        ...     hand.apply(move)
        >>> hand.to_move, hand.counts
        (1, [5, 31])
    """

    def __init__(
        self,
        rules: RulesLike = "pagat",
        num_players: int = 2,
        *,
        dealer: int | None = None,
        seed: int | None = None,
        deck: str | Iterable[str | int] | None = None,
        explicit: bool = False,
    ) -> None:
        self.rules = lower(rules)
        self.rules.rules.check_players(num_players)
        self.num_players = int(num_players)
        self.dealer = self.num_players - 1 if dealer is None else int(dealer)
        if not 0 <= self.dealer < self.num_players:
            raise TonkError(f"dealer = {dealer}: seats are 0 to {self.num_players - 1}")
        if (seed is not None) + (deck is not None) + explicit > 1:
            raise TonkError("seed, deck and explicit exclude each other")
        self.seed = None if deck is not None or explicit else _seed(seed)
        self.preset = rules if isinstance(rules, str) else None
        self._records = self.rules.record
        self._tables = np.zeros(1, STATE_DTYPE)
        self._events: list[Event] = []
        self._history: list[tuple[npt.NDArray[np.void], int, Event | None]] = []
        self._deal(deck, explicit)

    def _deal(self, deck: str | Iterable[str | int] | None, explicit: bool) -> None:
        tables, records = self._tables, self._records
        if self.seed is not None:
            deal_hand(tables, 0, records, 0, self.num_players, self.dealer, self.seed)
            return
        clear(tables, 0, 0, self.num_players, self.dealer)
        tables["explicit"] = explicit
        shuffle(tables, 0, records, 0)  # for the deck's size; the order is replaced
        order = _complete_deck(self.rules, self.num_players, () if deck is None else deck)
        tables["deck"][0, : len(order)] = order
        deal(tables, 0, records)

    # ---- where it stands

    @property
    def to_move(self) -> int | None:
        """The seat to move; None once the hand has ended, and where a card is due."""
        return None if self.ended or self.is_chance else int(self._tables["seat"][0])

    @property
    def is_chance(self) -> bool:
        """Whether a card is due (`explicit` only)."""
        return bool(self._tables["phase"][0] == CHANCE)

    @property
    def ended(self) -> bool:
        """Whether the hand is over."""
        return bool(self._tables["phase"][0] == ENDED)

    @property
    def ending(self) -> str | None:
        """How the hand ended (`drop`, `caught` …), or None while it goes on."""
        return ENDINGS[int(self._tables["ending"][0])] if self.ended else None

    @property
    def ending_seat(self) -> int | None:
        """Who went out, dropped, forfeited or won on the deal; None where nobody did."""
        seat = int(self._tables["ending_seat"][0])
        return seat if self.ended and seat >= 0 else None

    @property
    def payments(self) -> list[float] | None:
        """Stakes by seat, or None while the hand goes on."""
        if not self.ended:
            return None
        payments = np.zeros((1, MAX_SEATS))
        settle(self._tables, 0, self._records, payments, 0)
        return [float(amount) + 0.0 for amount in payments[0, : self.num_players]]  # no minus zero

    @property
    def counts(self) -> list[int]:
        """Points held, by seat."""
        counts: list[int] = self._tables["counts"][0, : self.num_players].tolist()
        return counts

    @property
    def hands(self) -> list[list[str]]:
        """Cards held, by seat, ascending."""
        return [_texts(self._tables["hands"][0, seat]) for seat in range(self.num_players)]

    @property
    def spreads(self) -> list[list[str]]:
        """Spreads on the table by seat, in laying order, written like ``KdKhKs``."""
        return [
            [self._spread_text(seat, place) for place in range(int(self._tables["num_spreads"][0, seat]))]
            for seat in range(self.num_players)
        ]

    def _spread_text(self, seat: int, place: int) -> str:
        table, row = self._tables[0], self._records[0]
        cards = mask_cards(table["spread_cards"][seat, place])
        if table["spread_kind"][seat, place] == RUN:
            start, length = int(table["spread_start"][seat, place]), int(row["num_ranks"])
            cards.sort(key=lambda card: (int(row["position"][card % 13]) - start) % length)
        return "".join(CARD_TEXT[card] for card in cards)

    @property
    def top(self) -> str | None:
        """The top discard, or None where there is no pile."""
        size = int(self._tables["pile_size"][0])
        return CARD_TEXT[self._tables["pile"][0, size - 1]] if size else None

    @property
    def stock_size(self) -> int:
        """Cards left in the stock."""
        return int(self._tables["deck_size"][0]) - int(self._tables["next_card"][0])

    @property
    def events(self) -> tuple[Event, ...]:
        """The moves made since the deal. Drawn cards are shown: not for a player's eyes, see `log`."""
        return tuple(self._events)

    @property
    def num_moves(self) -> int:
        """Moves made since the deal."""
        return len(self._events)

    # ---- moves

    def legal_actions(self) -> list[int]:
        """Returns the ids of the legal actions, ascending; none where nobody is to move."""
        actions = np.zeros(MAX_LEGAL, np.int16)
        found = legal_actions(self._tables, 0, self._records, actions)
        ids: list[int] = actions[:found].tolist()
        return ids

    def legal_moves(self) -> list[str]:
        """Returns the legal actions as text, in the order of `legal_actions`."""
        return [self.action_text(action) for action in self.legal_actions()]

    def action_text(self, action: int) -> str:
        """Returns an action of the seat to move as text."""
        return action_table(self.rules).text(action, int(self._tables["seat"][0]), self.num_players)

    def parse_move(self, text: str) -> int:
        """Returns the id of a move of the seat to move, legal or not.

        Raises:
            TonkError: it is not a move.
        """
        return action_table(self.rules).parse(text, int(self._tables["seat"][0]), self.num_players)

    def apply(self, move: int | str) -> None:
        """Makes a move of the seat to move.

        Args:
            move: an action id, or text such as ``discard 8h``.

        Raises:
            TonkError: it is not a move or not legal; the hand stays as it was.
        """
        seat = self.to_move
        if seat is None:
            why = "a card is due" if self.is_chance else f"the hand has ended ({self.ending})"
            raise TonkError(f"{self._named(move)}: {why}, no move is legal")
        try:
            action = self.parse_move(move) if isinstance(move, str) else int(move)
        except TonkError as error:
            raise TonkError(f"{error}; legal for seat {seat}: {', '.join(self.legal_moves())}") from None
        before = _copy(self._tables)
        if apply(self._tables, 0, self._records, action) != OK:
            raise TonkError(
                f"{self._named(move)} is not legal for seat {seat}; legal: {', '.join(self.legal_moves())}"
            )
        self._remember(before)
        text = action_table(self.rules).text(action, seat, self.num_players)
        self._events.append(Event(seat, text, self._drawn_since(before)))

    def _named(self, move: int | str) -> str:
        if isinstance(move, str):
            return repr(move)
        known = 0 <= move < self.rules.num_actions
        return f"action {move} ({self.action_text(move)})" if known else f"action {move}"

    def _drawn_since(self, before: npt.NDArray[np.void]) -> int | None:
        at = int(before["next_card"][0])
        return int(self._tables["deck"][0, at]) if self._tables["next_card"][0] > at else None

    def _remember(self, before: npt.NDArray[np.void]) -> None:
        self._history.append((before, len(self._events), self._events[-1] if self._events else None))

    def forfeit(self, seat: int) -> None:
        """Ends the hand at the expense of a seat, whoever is to move.

        Raises:
            TonkError: there is no such seat, the hand has ended, or it is not dealt yet.
        """
        self._check_seat(seat)
        if self.ended or not self._is_dealt():
            raise TonkError(f"{FORFEIT}: the hand {'has ended' if self.ended else 'is not dealt yet'}")
        self._remember(_copy(self._tables))
        forfeit(self._tables, 0, seat)
        self._events.append(Event(seat, FORFEIT))

    def undo(self) -> None:
        """Takes back the last move, or the last card given at a chance node.

        Raises:
            TonkError: there is nothing to take back.
        """
        if not self._history:
            raise TonkError("undo: no move has been made")
        self._tables, length, last = self._history.pop()
        del self._events[length:]
        if last is not None:
            self._events[-1] = last

    def clone(self) -> Hand:
        """Returns an independent copy; equal moves take both to equal ends."""
        twin = object.__new__(Hand)
        twin.__dict__.update(self.__dict__)
        twin._tables = _copy(self._tables)
        twin._events = self._events.copy()
        twin._history = self._history.copy()  # its entries are never changed
        return twin

    # ---- chance

    def chance_outcomes(self) -> list[tuple[str, float]]:
        """Returns the cards that may come next, each with its probability.

        Raises:
            TonkError: no card is due.
        """
        if not self.is_chance:
            raise TonkError("chance_outcomes: no card is due")
        left = np.zeros(NUM_TYPES, np.int64)
        total = chance_outcomes(self._tables, 0, left)
        return [(CARD_TEXT[card], int(left[card]) / total) for card in np.flatnonzero(left).tolist()]

    def apply_chance(self, card: str | int) -> None:
        """Gives the card that is due.

        Raises:
            TonkError: no card is due, or that one cannot come.
        """
        if not self.is_chance:
            raise TonkError(f"{card!r}: no card is due")
        given = _card(card)
        before = _copy(self._tables)
        if apply_chance(self._tables, 0, self._records, given) != OK:
            may = " ".join(text for text, _ in self.chance_outcomes())
            raise TonkError(f"{CARD_TEXT[given]} cannot come next; left are {may}")
        self._remember(before)
        if self._events:
            self._events[-1] = self._events[-1]._replace(drawn=given)

    def _num_dealt(self) -> int:
        return int(num_dealt(self._tables, 0, self._records))

    def _is_dealt(self) -> bool:
        return int(self._tables["next_card"][0]) >= self._num_dealt()

    # ---- what a seat knows

    def view(self, seat: int) -> Any:
        """Returns what a seat may know of the table: a record of VIEW_DTYPE."""
        self._check_seat(seat)
        views = np.zeros(1, VIEW_DTYPE)
        view(self._tables, 0, seat, views, 0)
        return views[0]

    def log(self, seat: int) -> list[str]:
        """Returns what a seat has seen since the deal, one line for each event.

        The lines are the seat and the dealer, the seat's own hand, the upcard, then every move as in a hand
        record. A card drawn from the stock is named to whoever drew it, and is ``??`` to everybody else.
        """
        self._check_seat(seat)
        hands, upcard, _ = self._deck()
        lines = [f"seat {seat} of {self.num_players}, dealer {self.dealer}"]
        lines.append(" ".join(("hand", *(CARD_TEXT[card] for card in sorted(hands[seat])))))
        if upcard is not None:
            lines.append(f"upcard {CARD_TEXT[upcard]}")
        for event in self._events:
            line = f"{event.seat} {event.move}"
            if event.move == "stock":
                shown = event.drawn is not None and event.seat == seat
                line += f" {CARD_TEXT[event.drawn] if shown and event.drawn is not None else UNKNOWN}"
            lines.append(line)
        if self.ended:
            lines.append(f"end {self.ending}")
        return lines

    def _check_seat(self, seat: int) -> None:
        if not 0 <= seat < self.num_players:
            raise TonkError(f"seat {seat}: seats are 0 to {self.num_players - 1}")

    def _deck(self) -> tuple[list[list[int]], int | None, list[int]]:
        """Returns hands as dealt, upcard and stock in drawing order, as far as they are dealt or fixed."""
        table, n = self._tables[0], self.num_players
        known = int(table["next_card"] if table["explicit"] else table["deck_size"])
        deck: list[int] = table["deck"][:known].tolist()
        dealt = self._num_dealt()
        upcards = int(self._records[0]["upcard"])
        hands: list[list[int]] = [[] for _ in range(n)]
        for at, card in enumerate(deck[: dealt - upcards]):
            hands[(self.dealer + 1 + at) % n].append(card)
        return hands, deck[dealt - 1] if upcards and known >= dealt else None, deck[dealt:]

    # ---- records

    def to_record(self) -> str:
        """Returns the hand as a hand record: TOML, from which `tonk_env.notation` makes an equal hand again.

        Raises:
            TonkError: the hand is not dealt yet.
        """
        from tonk_env.notation import format_record

        return format_record(self)

    def __repr__(self) -> str:
        state = f"ended by {self.ending}" if self.ended else f"seat {self.to_move} to move"
        if self.is_chance:
            state = "a card is due"
        return f"<Hand of {self.num_players} players, {self.num_moves} moves, {state}>"


def _copy(tables: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Copies tables byte by byte: field by field, the padding between fields would be left to chance."""
    return tables.view(np.uint8).copy().view(STATE_DTYPE)


def _seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(63)
    if not 0 <= seed < 2**63:
        raise TonkError(f"seed = {seed}: 0 to 2**63 - 1 is allowed")
    return int(seed)


def _card(card: str | int) -> int:
    if isinstance(card, str):
        return card_id(card)
    if not 0 <= card < NUM_TYPES:
        raise TonkError(f"{card} is not a card type: 0 to {NUM_TYPES - 1}")
    return int(card)


def _texts(words: Sequence[int]) -> list[str]:
    return [CARD_TEXT[card] for card in mask_cards(words)]


def full_deck(rules: LoweredRules, num_players: int) -> list[int]:
    """Returns the cards of a deck, ascending; one of two packs holds each card twice."""
    row = rules.record[0]
    types: list[int] = row["types"][: row["num_types"]].tolist()
    return sorted(types * int(row["packs"][num_players]))


def _complete_deck(rules: LoweredRules, num_players: int, first: str | Iterable[str | int]) -> list[int]:
    """Returns a deck that begins with some cards; the others follow in ascending order.

    Raises:
        TonkError: a card that the deck does not hold, or not so often.
    """
    cards = parse_cards(first) if isinstance(first, str) else [_card(card) for card in first]
    rest = full_deck(rules, num_players)
    for card in cards:
        if card not in rest:
            held = full_deck(rules, num_players).count(card)
            raise TonkError(
                f"deck: {CARD_TEXT[card]} is named {cards.count(card)} times, but the deck holds {held}"
                if held
                else f"deck: {CARD_TEXT[card]} is not in the deck of these rules"
            )
        rest.remove(card)
    return cards + rest
