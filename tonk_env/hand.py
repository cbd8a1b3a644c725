"""One hand of Tonk as a Python object: what a person, a test or a search bot holds."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tonk_env.actions import action_table, fillers
from tonk_env.cards import CARD_TEXT, JOKER, NUM_TYPES, SUITS, card_id, mask_cards, parse_cards
from tonk_env.engine.deal import chance_outcomes, clear, deal, num_dealt, shuffle
from tonk_env.engine.ending import forfeit
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import CHANCE, ENDED, ENDINGS, OK, STATE_DTYPE
from tonk_env.engine.turn import apply, apply_chance, reorder_slaps
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_ACTIONS, MAX_BET_DEALS, MAX_SEATS
from tonk_env.match import BETS, bet_winners
from tonk_env.rules import LoweredRules, Rules, lower
from tonk_env.table_text import move_text, spread_text
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
        called_suit: the suit of that side bet, `c`, `d`, `h` or `s`; by default fixed by the seed.
        slap_orders: the orders in which seats are asked to slap, one for each time; by default fixed by the
            seed.
        deals_since_won: of each side bet (``suit``, ``naturals``), how many deals it has stood with this one.
        multiplier: of all payments but the side bets'.

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
        called_suit: str | None = None,
        slap_orders: Sequence[Sequence[int]] | None = None,
        deals_since_won: Mapping[str, int] | None = None,
        multiplier: float = 1.0,
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
        self._asked: list[list[int]] = []
        self._slap_orders = None if slap_orders is None else [self._order(order) for order in slap_orders]
        tables = self._tables
        clear(tables, 0, 0, self.num_players, self.dealer)
        shuffle(tables, 0, self._records, self.seed or 0)
        if self.seed is None:
            order = _complete_deck(self.rules, self.num_players, () if deck is None else deck)
            tables["deck"][0, : len(order)] = order
        if called_suit is not None:
            tables["called_suit"] = self._suit(called_suit)
        for bet, deals in (deals_since_won or {}).items():
            if bet not in BETS or not isinstance(deals, int) or not 1 <= deals <= MAX_BET_DEALS:
                allowed = f"{' or '.join(BETS)}, 1 or more, to {MAX_BET_DEALS}"
                raise TonkError(f"deals_since_won: {bet} = {deals}: {allowed}")
            tables["bet_deals"][0, BETS.index(bet)] = deals
        if not 0 < multiplier <= 100:
            raise TonkError(f"multiplier = {multiplier}: a number above 0, to 100")
        tables["multiplier"] = multiplier
        tables["explicit"] = explicit
        self._check_explicit(explicit)
        deal(tables, 0, self._records)

    def _order(self, order: Sequence[int]) -> list[int]:
        if len(order) != self.num_players or set(order) != set(range(self.num_players)):
            raise TonkError(f"slap_orders: {list(order)} does not name each of {self.num_players} seats once")
        return list(order)

    def _suit(self, suit: str) -> int:
        allowed = SUITS[: self.rules.rules.deck.suits]
        if len(suit) != 1 or suit not in allowed:
            raise TonkError(f"called_suit = {suit!r}: one of {', '.join(allowed)}")
        return allowed.index(suit)

    def _check_explicit(self, explicit: bool) -> None:
        """Refuses rules by which more than cards comes by chance, where chance is to stop the game."""
        rules = self.rules.rules
        for option, is_on in (("slap", rules.slap), ("side_bets.suit", rules.side_bets.suit)):
            if explicit and is_on:
                raise TonkError(
                    f"explicit: only cards can be given at chance nodes, but {option} is in force"
                )

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
        return spread_text(self._tables[0], self._records[0], seat, place)

    @property
    def turn_seat(self) -> int:
        """Whose turn it is, or was when the hand ended; while slaps are asked, not who is to move."""
        return int(self._tables["turn_seat"][0])

    @property
    def widows(self) -> list[str | None]:
        """The face-down card of each seat, or None where there is none, or none any more."""
        cards = self._tables["widows"][0, : self.num_players].tolist()
        return [CARD_TEXT[card] if card >= 0 else None for card in cards]

    @property
    def called_suit(self) -> str | None:
        """The suit that was called for the side bet, or None."""
        suit = int(self._tables["called_suit"][0])
        return SUITS[suit] if suit >= 0 else None

    @property
    def deals_since_won(self) -> dict[str, int]:
        """Of each side bet, how many deals it has stood with this one."""
        return dict(zip(BETS, self._tables["bet_deals"][0].tolist(), strict=True))

    @property
    def slap_orders(self) -> list[list[int]]:
        """The orders in which seats were asked to slap, one for each time."""
        return [order.copy() for order in self._asked[: int(self._tables["num_asks"][0])]]

    @property
    def bet_winners(self) -> dict[str, int | None]:
        """Who has won each side bet so far, or None; of no meaning where the rules have no such bet."""
        return bet_winners(self._tables[0])

    @property
    def multiplier(self) -> float:
        """What all payments but the side bets' are multiplied by."""
        return float(self._tables["multiplier"][0])

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
        actions = np.zeros(MAX_ACTIONS, np.int16)
        found = legal_actions(self._tables, 0, self._records, actions)
        ids: list[int] = actions[:found].tolist()
        return ids

    def legal_moves(self) -> list[str]:
        """Returns the legal actions as text, in the order of `legal_actions`."""
        return [self.action_text(action) for action in self.legal_actions()]

    def action_text(self, action: int) -> str:
        """Returns an action of the seat to move as text."""
        return move_text(self._tables[0], self.rules, action)

    def parse_move(self, text: str) -> int:
        """Returns the id of a move of the seat to move, legal or not.

        Raises:
            TonkError: it is not a move, or names wilds that would not be used.
        """
        action = action_table(self.rules).parse(text, int(self._tables["seat"][0]), self.num_players)
        named = fillers(text)
        if named and named != fillers(self.action_text(action)):
            raise TonkError(f"{text!r}: from this hand it would be {self.action_text(action)!r}")
        return action

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
        text = move_text(before[0], self.rules, action)
        if self._tables["num_asks"][0] > before["num_asks"][0]:
            self._note_order(before, text)
        self._remember(before)
        self._events.append(Event(seat, text, self._drawn_since(before)))

    def _note_order(self, before: npt.NDArray[np.void], text: str) -> None:
        """Notes in which order is asked about a discard, or sets the order given for it."""
        number = int(before["num_asks"][0])
        order = self._tables["ask_order"][0, : self.num_players].tolist()
        if self._slap_orders is not None:
            if number >= len(self._slap_orders):
                self._tables = before
                raise TonkError(f"{text!r}: slap_orders has no order {number + 1}, by which to ask about it")
            order = self._slap_orders[number]
            reorder_slaps(self._tables, 0, self._records, np.array(order, np.int8))
        self._asked[number:] = [order]

    def _named(self, move: int | str) -> str:
        if isinstance(move, str):
            return repr(move)
        known = 0 <= move < self.rules.num_actions
        return f"action {move} ({self.action_text(move)})" if known else f"action {move}"

    def _drawn_since(self, before: npt.NDArray[np.void]) -> int | None:
        if self._tables["swapped"][0] != before["swapped"][0]:
            return int(before["widows"][0, int(before["seat"][0])])
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
        twin._asked = self._asked.copy()
        twin._history = self._history.copy()  # its entries are never changed
        return twin

    def __deepcopy__(self, memo: Any) -> Hand:
        return self.clone()

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
        record. A card drawn from the stock, one put away and the widow that comes for it are named to whoever
        has them, and are ``??`` to everybody else.
        """
        self._check_seat(seat)
        hands, _, upcard, _ = self._deck()
        lines = [f"seat {seat} of {self.num_players}, dealer {self.dealer}"]
        lines.append(" ".join(("hand", *(CARD_TEXT[card] for card in sorted(hands[seat])))))
        if upcard is not None:
            lines.append(f"upcard {CARD_TEXT[upcard]}")
        bets = self.rules.rules.side_bets
        if bets.suit or bets.naturals:
            stands = ", ".join(f"{bet} {deals}" for bet, deals in self.deals_since_won.items())
            lines.append(f"called {self.called_suit or 'nothing'}; deals {stands}")
        if self.multiplier != 1:
            lines.append(f"multiplier {self.multiplier:g}")
        for event in self._events:
            move, drawn = event.move, CARD_TEXT[event.drawn] if event.drawn is not None else UNKNOWN
            if event.seat != seat:
                move, drawn = "swap ??" if move.startswith("swap") else move, UNKNOWN
            has_drawn = move == "stock" or move.startswith("swap")
            lines.append(f"{event.seat} {move} {drawn}" if has_drawn else f"{event.seat} {move}")
        if self.ended:
            lines.append(f"end {self.ending}")
        return lines

    def _check_seat(self, seat: int) -> None:
        if not 0 <= seat < self.num_players:
            raise TonkError(f"seat {seat}: seats are 0 to {self.num_players - 1}")

    def _deck(self) -> tuple[list[list[int]], list[int], int | None, list[int]]:
        """Returns hands as dealt, widows by seat, upcard and stock in drawing order, as far as known."""
        table, n = self._tables[0], self.num_players
        known = int(table["next_card"] if table["explicit"] else table["deck_size"])
        deck: list[int] = table["deck"][:known].tolist()
        dealt = self._num_dealt()
        upcards = int(self._records[0]["upcard"])
        hands: list[list[int]] = [[] for _ in range(n)]
        for at, card in enumerate(deck[: dealt - upcards]):
            hands[(self.dealer + 1 + at) % n].append(card)
        size = self.rules.rules.hand_size(n)
        widows = [card for hand in hands for card in hand[size:]]
        hands = [hand[:size] for hand in hands]
        return hands, widows, deck[dealt - 1] if upcards and known >= dealt else None, deck[dealt:]

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
    jokers = [JOKER] * int(row["jokers"])
    return sorted([card for card in types if card != JOKER] * int(row["packs"][num_players]) + jokers)


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
