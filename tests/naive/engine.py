"""One hand of Tonk, played from RULES.md with lists, dicts and sets of card strings.

Clarity comes before speed: legality is worked out afresh at every question, by trying each move on copies
and asking whether the turn can still be completed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from . import settle
from .melds import Cards, Meld, Melds
from .options import SUITS, Options, complete, count, hand_size, refuse_clashes, sorted_deck

LONG_SPREAD = 4


@dataclass
class Spread:
    """A spread on the table.

    Attributes:
        owner: the seat that laid it.
        index: counts that seat's spreads from 0 in laying order.
        meld: what it stands for, and what lies there.
    """

    owner: int
    index: int
    meld: Meld

    @property
    def cards(self) -> Cards:
        """The cards it stands for: sets in suit order, runs from low to high."""
        return self.meld.cards

    @property
    def held(self) -> Cards:
        """The cards that lie there, in the same order."""
        return self.meld.held

    @property
    def fillers(self) -> dict[int, str]:
        """The wild at each place that one fills, places counted from 0."""
        return self.meld.fillers

    @property
    def text(self) -> str:
        """The cards as one word, each wild in brackets behind the card it stands for."""
        return self.meld.text


class Place(NamedTuple):
    """Where a card may be added to a spread on the table.

    Attributes:
        at: the spread, counted in laying order of the whole table.
        target: what is written behind `target`: seat, index and, for a wild on a run, the end.
        meld: the spread with the card added.
    """

    at: int
    target: str
    meld: Meld


class NaiveHand:
    """One hand, from the deal to the payments.

    Attributes:
        to_move: the seat asked, None when the hand has ended.
        whose_turn: the seat whose turn it is, or was when the hand ended; None if no turn was begun. Another
            seat than `to_move` while others are asked to slap.
        question: what is asked: `widow` (swap or keep), `draw` (the start of a turn proper), `play`,
            `target`, `slap` (slap or pass), `slap_target` and `slap_discard`.
        hands: cards by seat, each sorted as text. A card on its way to a `target` is still in the hand, or
            still on the pile if it is being slapped.
        widows: the face-down card beside each seat's hand, None once swapped in or where none is dealt.
        swapped: whether each seat took its widow.
        put_away: the card each seat gave for its widow, out of play.
        pile: the discard pile, its top last.
        stock: in drawing order, the next card first.
        spreads: in laying order.
        waits: turns each seat must still wait. Lowered as the turn begins, so a seat barred from dropping
            by its last turn of waiting already shows 0; `is_drop_barred` tells.
        ending: a word of HANDS.md once the hand has ended.
        payments: stakes by seat (push-ups: minus the points), all 0 until the end.
        suit_bet_winner: the seat dealt the highest card of the suit called, if that bet is on.
        naturals_bet_winner: the seat first to lay a set without wilds, once there is one.
    """

    def __init__(
        self,
        options: Options,
        num_players: int,
        dealer: int,
        deck: Cards,
        slap_orders: list[list[int]] | None = None,
        called_suit: str | None = None,
        deals_since_won: dict[str, int] | None = None,
        multiplier: float = 1,
    ) -> None:
        """Deals.

        Args:
            options: nested dict with the dotted option names of RULES section 2 as keys.
            num_players: two to six.
            dealer: a seat; the seat to its left is dealt the first card and has the first turn.
            deck: hands one card at a time from the dealer's left, then the widows in the same order if they
                are dealt, then the upcard if one is dealt, then the stock.
            slap_orders: an order of all seats for each time players are asked to slap.
            called_suit: the suit of the side bet on a suit.
            deals_since_won: by side bet, the deals since it was last won, this one included; 1 if left out.
            multiplier: what payments are multiplied by, side bets excepted.

        Raises:
            ValueError: an option, a deck or other facts of chance that the rules refuse.
        """
        self.options = complete(options)
        refuse_clashes(self.options)
        if not 2 <= num_players <= 6 or not 0 <= dealer < num_players:
            raise ValueError(f"num_players {num_players} (two to six) or dealer {dealer} (a seat) is wrong")
        self.num_players = num_players
        self.dealer = dealer
        self.melds = Melds(self.options, num_players)
        if sorted(deck) != sorted(sorted_deck(options, num_players)):
            raise ValueError("the deck does not hold the cards of these rules")
        self.slap_orders = [list(order) for order in slap_orders or []]
        if any(sorted(order) != list(range(num_players)) for order in self.slap_orders):
            raise ValueError("slap_orders holds something else than orders of all seats")
        if self.options["side_bets"]["suit"] and (called_suit or "none") not in SUITS:
            raise ValueError(f"called_suit is {called_suit!r}; the side bet on a suit needs one of {SUITS}")
        self.called_suit = called_suit
        self.deals_since_won = {"suit": 1, "naturals": 1} | (deals_since_won or {})
        self.multiplier = multiplier

        self.to_move: int | None = None
        self.whose_turn: int | None = None
        self.question = ""
        self.pile: Cards = []
        self.stock: Cards = list(deck)
        self.spreads: list[Spread] = []
        self.ending: str | None = None
        self.payments = [0.0] * num_players
        self.hands: list[Cards] = [[] for _ in range(num_players)]
        self.widows: list[str | None] = [None] * num_players
        self.swapped = [False] * num_players
        self.put_away: list[str | None] = [None] * num_players
        self.suit_bet_winner: int | None = None
        self.naturals_bet_winner: int | None = None

        # Memory by seat that outlasts a turn.
        self.waits = [0] * num_players
        self.turns_begun = [0] * num_players
        self.turns_of_spreads: list[list[int]] = [[] for _ in range(num_players)]
        self.turns_of_hits: list[list[int]] = [[] for _ in range(num_players)]
        self.turns_after_slaps: list[list[int]] = [[] for _ in range(num_players)]
        self.has_laid_long_spread = [False] * num_players
        self.was_hit_this_round = [False] * num_players
        self.is_blocked_next_turn = [False] * num_players
        self.turns_completed = 0

        # Memory of the turn in progress.
        self.taken: str | None = None
        self.pending_hit: str | None = None
        self.is_drop_barred = False
        self.is_drop_forced = False
        self.is_blocked = False

        # Memory of the discard that players are asked to slap.
        self.thrown_by: int | None = None
        self.still_to_ask: list[int] = []

        self._deal()

    def _seats_from_the_left(self) -> list[int]:
        return [(self.dealer + steps) % self.num_players for steps in range(1, self.num_players + 1)]

    def _deal(self) -> None:
        deal = self.options["deal"]
        cards_out = self.num_players * (hand_size(self.options, self.num_players) + int(deal["widow"]))
        if cards_out + int(deal["upcard"]) >= len(self.stock):
            raise ValueError("the deal leaves no stock card")
        for _ in range(hand_size(self.options, self.num_players)):
            for seat in self._seats_from_the_left():
                self.hands[seat].append(self.stock.pop(0))
        if deal["widow"]:
            for seat in self._seats_from_the_left():
                self.widows[seat] = self.stock.pop(0)
        if deal["upcard"]:
            self.pile.append(self.stock.pop(0))
        for hand in self.hands:
            hand.sort()
        if self.options["side_bets"]["suit"]:
            assert self.called_suit is not None
            self.suit_bet_winner = settle.suit_bet_winner(
                self.hands, self.called_suit, self.dealer, self.options
            )
        outcome = settle.settle_deal(self.hands, self.dealer, self.options)
        if outcome is not None:
            self._end(outcome)
        else:
            self._start_turn((self.dealer + 1) % self.num_players)

    @property
    def counts(self) -> list[int]:
        """Points held by each seat."""
        return [count(hand, self.options) for hand in self.hands]

    # ---- what is legal

    def legal(self) -> set[str]:
        """The moves of the seat asked, as in HANDS.md without the seat; empty when the hand has ended."""
        seat = self.to_move
        if seat is None:
            return set()
        if self.question == "widow":
            return {f"swap {card}" for card in self.hands[seat]} | {"keep"} | self._claims(seat)
        if self.question == "draw":
            return self._opening_moves(seat)
        if self.question == "play":
            return self._playing_moves(seat)
        if self.question == "target":
            assert self.pending_hit is not None
            position = self._position(seat, self.hands[seat], self.taken)
            return {f"target {place.target}" for place in position.legal_places(self.pending_hit)}
        if self.question == "slap":
            return {"slap", "pass"} if self._slap_places(seat) else {"pass"}
        if self.question == "slap_target":
            return {f"target {place.target}" for place in self._slap_places(seat)}
        assert self.question == "slap_discard"
        return {f"discard {card}" for card in self.hands[seat]}

    def _opening_moves(self, seat: int) -> set[str]:
        # With a widow the claim was offered beside the swap, and has lapsed.
        moves = set() if self.options["deal"]["widow"] else self._claims(seat)
        if self.is_drop_forced:
            return moves | {"drop"}
        moves.add("stock")
        if self._may_drop(seat):
            moves.add("drop")
        if self.pile and self._may_take(seat):
            moves.add("take")
        return moves

    def _claims(self, seat: int) -> set[str]:
        """CLAIM at the start of the player's first turn, while no spread is on the table."""
        if self.turns_begun[seat] > 1 or self.spreads:
            return set()
        return {"claim"} if settle.tier_to_claim(self.hands[seat], self.options) else set()

    def _may_drop(self, seat: int) -> bool:
        drop = self.options["drop"]
        is_low_enough = drop["max_count"] is None or self.counts[seat] <= drop["max_count"]
        is_anybody_locked = bool(locked_seats(self.spreads, self.options))
        return bool(drop["allowed"]) and not self.is_drop_barred and is_low_enough and not is_anybody_locked

    def _may_take(self, seat: int) -> bool:
        if not self.options["spreads"]["taken_must_meld"]:
            return True
        position = self._position(seat, [*self.hands[seat], self.pile[-1]], self.pile[-1])
        return bool(position.legal_spreads() or position.legal_hits())

    def _playing_moves(self, seat: int) -> set[str]:
        position = self._position(seat, self.hands[seat], self.taken)
        moves = {f"spread {meld.text}" for meld in position.legal_spreads()}
        moves |= {f"hit {card}" for card in position.legal_hits()}
        moves |= {f"discard {card}" for card in position.legal_discards()}
        return moves

    def _slap_places(self, seat: int) -> list[Place]:
        """Places the top discard may be slapped onto by `seat`."""
        return open_places(self.pile[-1], seat, self.spreads, self.melds)

    def _position(self, seat: int, hand: Cards, taken: str | None) -> Position:
        """The turn in progress, with this hand and this taken card."""
        return Position(
            melds=self.melds,
            seat=seat,
            may_go_out=not self.is_blocked,
            hand=list(hand),
            taken=taken,
            table=[replace(spread) for spread in self.spreads],
            hits_made=self.turns_of_hits[seat].count(self.turns_begun[seat]),
        )

    # ---- playing a move

    def apply(self, move: str) -> None:
        """Plays a move of the seat asked.

        Raises:
            ValueError: the move is illegal, and nothing has changed; or `slap_orders` ran out.
        """
        legal = self.legal()
        if move not in legal:
            raise ValueError(f"illegal move {move!r}; legal: {', '.join(sorted(legal)) or 'none'}")
        self.play(move)

    def play(self, move: str) -> None:
        """Plays a move that is known to be legal.

        Raises:
            ValueError: `slap_orders` ran out.
        """
        assert self.to_move is not None
        seat = self.to_move
        word, _, rest = move.partition(" ")
        if word == "drop":
            self._end(settle.settle_drop(self.counts, seat, self.dealer, self.options))
        elif word == "claim":
            tier = settle.tier_to_claim(self.hands[seat], self.options)
            assert tier is not None
            self._end(settle.won_by(seat, tier["pays"], "claim", self.num_players))
        elif word == "swap":
            self._swap(seat, rest)
        elif word == "keep":
            self.question = "draw"
        elif word == "stock":
            self._draw(seat, self.stock.pop(0))
        elif word == "take":
            self.taken = self.pile.pop()
            self._draw(seat, self.taken)
        elif word == "spread":
            position = self._position(seat, self.hands[seat], self.taken)
            self._spread(seat, next(meld for meld in position.legal_spreads() if meld.text == rest))
        elif word == "hit":
            self._hit(seat, rest)
        elif word == "target":
            self._target(seat, rest)
        elif word == "slap":
            self._slap(seat)
        elif word == "pass":
            self._ask_next_to_slap()
        else:
            self._discard(seat, rest)

    def forfeit(self, seat: int) -> None:
        """Ends the hand because `seat` failed to move, moved illegally or was withdrawn."""
        if self.ending is not None:
            raise ValueError("the hand has ended")
        self._end(settle.settle_forfeit(self.counts, seat, self.options))

    def _swap(self, seat: int, card: str) -> None:
        widow = self.widows[seat]
        assert widow is not None
        self.hands[seat].remove(card)
        self.hands[seat].append(widow)
        self.hands[seat].sort()
        self.put_away[seat] = card
        self.widows[seat] = None
        self.swapped[seat] = True
        self.question = "draw"

    def _draw(self, seat: int, card: str) -> None:
        self.hands[seat].append(card)
        self.hands[seat].sort()
        self.question = "play"

    def _leaves_hand(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        if card == self.taken:
            # Of two equal cards the taken one is played first: its twin may still be discarded.
            self.taken = None

    def _spread(self, seat: int, meld: Meld) -> None:
        for card in meld.held:
            self._leaves_hand(seat, card)
        index = sum(spread.owner == seat for spread in self.spreads)
        self.spreads.append(Spread(seat, index, meld))
        self.turns_of_spreads[seat].append(self.turns_begun[seat])
        if len(meld.cards) >= LONG_SPREAD:
            self.has_laid_long_spread[seat] = True
        if self.naturals_bet_winner is None and meld.is_set and not meld.fillers:
            self.naturals_bet_winner = seat
        self._add_wait(seat, self.options["waiting"]["after_spread"])
        self._may_be_out(seat, "spread")

    def _hit(self, seat: int, card: str) -> None:
        places = self._position(seat, self.hands[seat], self.taken).open_places(card)
        if len(places) > 1:
            self.pending_hit = card
            self.question = "target"
        else:
            self._hit_on(seat, card, places[0])

    def _target(self, seat: int, target: str) -> None:
        if self.question == "slap_target":
            self._slap_on(seat, next(place for place in self._slap_places(seat) if place.target == target))
            return
        assert self.pending_hit is not None
        card, self.pending_hit = self.pending_hit, None
        self.question = "play"
        places = self._position(seat, self.hands[seat], self.taken).legal_places(card)
        self._hit_on(seat, card, next(place for place in places if place.target == target))

    def _hit_on(self, seat: int, card: str, place: Place) -> None:
        self._leaves_hand(seat, card)
        self.turns_of_hits[seat].append(self.turns_begun[seat])
        self._grow(seat, place)
        self._may_be_out(seat, "hit")

    def _grow(self, seat: int, place: Place) -> None:
        """Adds a card of `seat`, hit or slapped, to a spread."""
        spread = self.spreads[place.at]
        spread.meld = place.meld
        if spread.owner == seat:
            self._add_wait(seat, self.options["waiting"]["after_own_hit"])
        else:
            self._is_hit_by_another(spread.owner)

    def _is_hit_by_another(self, owner: int) -> None:
        waiting = self.options["waiting"]
        if not (waiting["one_hit_per_round"] and self.was_hit_this_round[owner]):
            self._add_wait(owner, waiting["after_hit"])
        self.was_hit_this_round[owner] = True
        if waiting["blocks_going_out"]:
            self.is_blocked_next_turn[owner] = True

    def _add_wait(self, seat: int, turns: int) -> None:
        if self.options["waiting"]["cumulative"]:
            self.waits[seat] += turns
        else:
            self.waits[seat] = max(self.waits[seat], turns)

    def _discard(self, seat: int, card: str) -> None:
        # Not `_leaves_hand`: what is discarded is the twin whenever the taken card may not be.
        self.hands[seat].remove(card)
        self.pile.append(card)
        if not self.hands[seat] and not self._goes_on_without_cards():
            self._go_out(seat, "discard")
        else:
            self._offer_to_slap(seat, card)

    # ---- slaps

    def _offer_to_slap(self, discarder: int, card: str) -> None:
        """Asks everybody with cards, if the discard fits a spread; the turn ends when that is over."""
        fits = any(self.melds.hits_on(spread.meld, card) for spread in self.spreads)
        if not self.options["slap"] or not fits or not any(self.hands):
            self._end_turn()
            return
        if not self.slap_orders:
            raise ValueError("slap_orders ran out")
        self.thrown_by = discarder
        self.still_to_ask = [seat for seat in self.slap_orders.pop(0) if self.hands[seat]]
        self._ask_next_to_slap()

    def _ask_next_to_slap(self) -> None:
        if self.still_to_ask:
            self.to_move = self.still_to_ask.pop(0)
            self.question = "slap"
        else:
            self._end_turn()

    def _slap(self, seat: int) -> None:
        places = self._slap_places(seat)
        if len(places) > 1:
            self.question = "slap_target"
        else:
            self._slap_on(seat, places[0])

    def _slap_on(self, seat: int, place: Place) -> None:
        self.pile.pop()
        # Not in `turns_of_hits`: a hit of no turn, and of an earlier one from the slapper's next turn on.
        self.turns_after_slaps[seat].append(self.turns_begun[seat] + 1)
        self._grow(seat, place)
        self.still_to_ask = []
        if seat == self.thrown_by:
            self._end_turn()
        else:
            self.question = "slap_discard"

    # ---- turns

    def _start_turn(self, seat: int, is_drop_forced: bool = False) -> None:
        self.to_move = self.whose_turn = seat
        self.taken = None
        self.thrown_by = None
        self.turns_begun[seat] += 1
        self.was_hit_this_round[seat] = False
        self.is_blocked = self.is_blocked_next_turn[seat]
        self.is_blocked_next_turn[seat] = False
        self.is_drop_forced = is_drop_forced or not self.hands[seat]
        self.is_drop_barred = self.waits[seat] > 0
        if self.is_drop_barred:
            self.waits[seat] -= 1
        has_choice_of_widow = self.widows[seat] is not None and self.hands[seat]
        is_asked_to_swap = has_choice_of_widow and self.turns_begun[seat] == 1
        self.question = "widow" if is_asked_to_swap else "draw"

    def _end_turn(self) -> None:
        assert self.whose_turn is not None
        self.turns_completed += 1
        next_seat = (self.whose_turn + 1) % self.num_players
        is_last_turn = self.turns_completed == self.num_players * self.options["turn_limit"]
        if not self.stock and self.options["stock_out"]["result"] == "must_drop":
            self._start_turn(next_seat, is_drop_forced=True)
        elif not self.stock:
            self._end_undecided("stock_out")
        elif is_last_turn:
            self._end_undecided("turn_limit")
        else:
            self._start_turn(next_seat)

    # ---- the end

    def _end_undecided(self, ending: str) -> None:
        """Nobody went out and nobody dropped: the lowest count wins, unless a player is locked."""
        if locked_seats(self.spreads, self.options):
            self._end(settle.nothing_moves(ending, self.num_players))
        else:
            self._end(settle.settle_stock_out(self.counts, self.dealer, ending, self.options))

    def _may_be_out(self, seat: int, by: str) -> None:
        """After a spread or a hit: the hand or the turn ends if no card is left; else the turn goes on."""
        if self.hands[seat]:
            self.question = "play"
        elif self._goes_on_without_cards():
            self._end_turn()
        else:
            self._go_out(seat, by)

    def _goes_on_without_cards(self) -> bool:
        """Under `stock_floor` going out is too late once there are no more stock cards than players."""
        return self.options["going_out"]["stock_floor"] == "players" and len(self.stock) <= self.num_players

    def _go_out(self, seat: int, by: str) -> None:
        multiple = self._going_out_multiple(seat, by)
        ending = "out" if by == "discard" else "tonk"
        self._end(settle.won_by(seat, multiple, ending, self.num_players))

    def _going_out_multiple(self, seat: int, by: str) -> float:
        going_out = self.options["going_out"]
        this_turn = self.turns_begun[seat]
        # To a slapper between two turns the last one is an earlier turn.
        earlier_turns = range(1, this_turn if seat == self.whose_turn else this_turn + 1)
        spreads_this_turn = self.turns_of_spreads[seat].count(this_turn)
        has_spread_earlier = any(turn in earlier_turns for turn in self.turns_of_spreads[seat])
        has_hit_earlier = any(turn in earlier_turns for turn in self.turns_of_hits[seat])
        has_slapped_earlier = any(turn <= this_turn for turn in self.turns_after_slaps[seat])

        candidates = [going_out[by]]
        by_two_spreads = by == "spread" and spreads_this_turn == 2 and not self.turns_of_hits[seat]
        if going_out["first_turn_two_spreads"] is not None and this_turn == 1 and by_two_spreads:
            candidates.append(going_out["first_turn_two_spreads"])
        if going_out["no_earlier_spread"] is not None and not has_spread_earlier:
            candidates.append(going_out["no_earlier_spread"])
        multiple: float = max(candidates)
        if going_out["after_hitting"] is not None and (has_hit_earlier or has_slapped_earlier):
            multiple = min(multiple, going_out["after_hitting"])
        return multiple

    def _end(self, outcome: settle.Outcome) -> None:
        self.to_move = None
        self.pending_hit = None
        self.question = ""
        self.ending = outcome.ending
        everybody = range(self.num_players)
        extras = settle.Extras(
            long_spreads={seat for seat in everybody if self.has_laid_long_spread[seat]},
            swaps={seat for seat in everybody if self.swapped[seat]},
            side_bets_won=self._side_bets_won(),
            multiplier=self.multiplier,
        )
        self.payments = settle.final_payments(outcome, self.counts, extras, self.options)

    def _side_bets_won(self) -> list[tuple[int, float]]:
        """Winner and stakes from each other player of each side bet won."""
        winners = {"suit": self.suit_bet_winner, "naturals": self.naturals_bet_winner}
        return [
            (winner, self.options["side_bets"][bet] * self.deals_since_won[bet])
            for bet, winner in winners.items()
            if winner is not None
        ]


def locked_seats(table: list[Spread], options: Options) -> set[int]:
    """The players with `lock_after` spreads or more; nobody where there is no such rule."""
    lock_after = options["spreads"]["lock_after"]
    owners = [spread.owner for spread in table]
    return {owner for owner in owners if lock_after is not None and owners.count(owner) >= lock_after}


def open_places(card: str, seat: int, table: list[Spread], melds: Melds) -> list[Place]:
    """Places of the table `card` fits, without the spreads of other players that are locked."""
    closed = locked_seats(table, melds.options) - {seat}
    places = []
    for at, spread in enumerate(table):
        if spread.owner not in closed:
            for end, grown in melds.hits_on(spread.meld, card).items():
                places.append(Place(at, f"{spread.owner} {spread.index} {end}".rstrip(), grown))
    return places


@dataclass
class Position:
    """A seat in the middle of its turn, as it is or as it would be after a move: what legality is about.

    Attributes:
        melds: the sets and runs of the options played.
        seat: whose turn it is.
        may_go_out: whether the hand may be emptied in this turn.
        hand: the cards held.
        taken: the card taken from the pile this turn, if it is still held.
        table: the spreads, in laying order.
        hits_made: hits by this seat in this turn.
    """

    melds: Melds
    seat: int
    may_go_out: bool
    hand: Cards
    taken: str | None
    table: list[Spread]
    hits_made: int

    @property
    def options(self) -> Options:
        """Complete."""
        return self.melds.options

    def _without(self, cards: Cards) -> Position:
        """The same position with `cards` gone from the hand (the taken card first, of equal ones)."""
        hand = list(self.hand)
        for card in cards:
            hand.remove(card)
        taken = None if self.taken in cards else self.taken
        return replace(self, hand=hand, taken=taken, table=list(self.table))

    def after_spread(self, meld: Meld) -> Position:
        """This position once `meld` is laid."""
        after = self._without(meld.held)
        index = sum(spread.owner == self.seat for spread in self.table)
        after.table.append(Spread(self.seat, index, meld))
        return after

    def after_hit(self, card: str, place: Place) -> Position:
        """This position once `card` is added to a spread."""
        after = self._without([card])
        after.table[place.at] = replace(self.table[place.at], meld=place.meld)
        after.hits_made += 1
        return after

    # ---- can the turn still be completed?

    def can_be_completed(self) -> bool:
        """RULES section 1: what must hold after a spread or a hit for it to be legal."""
        if not self.hand:
            return self.may_go_out
        if self.cards_not_taken() and (self.may_go_out or len(self.hand) > 1):
            return True
        holds_only_taken_card = self.hand == [self.taken]
        return holds_only_taken_card and self.may_go_out and bool(self.open_places(self.hand[0]))

    def cards_not_taken(self) -> Cards:
        """The cards that `discard_taken` lets the seat throw."""
        cards = list(self.hand)
        if self.taken is not None and not self.options["discard_taken"]:
            cards.remove(self.taken)
        return cards

    def open_places(self, card: str) -> list[Place]:
        """Places of the table the card fits and may be hit on, whatever is left in hand afterwards."""
        limit = self.options["spreads"]["hits_per_turn"]
        if limit is not None and self.hits_made >= limit:
            return []
        return open_places(card, self.seat, self.table, self.melds)

    # ---- moves

    def legal_spreads(self) -> list[Meld]:
        """Spreads that may be laid now."""
        return [
            meld
            for meld in self.melds.spreads_in(self.hand)
            if self._honours_taken(meld.held) and self.after_spread(meld).can_be_completed()
        ]

    def legal_places(self, card: str) -> list[Place]:
        """Places of the table `card` may be hit on now."""
        if not self._honours_taken([card]):
            return []
        return [place for place in self.open_places(card) if self.after_hit(card, place).can_be_completed()]

    def legal_hits(self) -> set[str]:
        """Cards that may be hit somewhere now."""
        return {card for card in self.hand if self.legal_places(card)}

    def legal_discards(self) -> set[str]:
        """Cards that may be discarded now."""
        if self._must_meld_taken() or self._must_spread():
            return set()
        if len(self.hand) == 1 and not self.may_go_out:
            return set()
        return set(self.cards_not_taken())

    def _must_meld_taken(self) -> bool:
        """Under `taken_must_meld` the card taken is still waiting to be used."""
        return bool(self.options["spreads"]["taken_must_meld"]) and self.taken is not None

    def _honours_taken(self, cards: Cards) -> bool:
        """The first spread or hit of the turn must include the card taken."""
        return not self._must_meld_taken() or self.taken in cards

    def _must_spread(self) -> bool:
        """Under `must_spread` the hand still holds a spread that could legally be laid."""
        must_spread = self.options["spreads"]["must_spread"]
        if must_spread == "no":
            return False
        spreads = self.legal_spreads()
        if must_spread == "except_aces":
            spreads = [meld for meld in spreads if {card[0] for card in meld.cards} != {"A"}]
        return bool(spreads)
