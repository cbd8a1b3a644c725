"""One hand of Tonk, played from RULES.md with lists, dicts and sets of card strings.

Clarity comes before speed: legality is worked out afresh at every question, by trying each move on copies
and asking whether the turn can still be completed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import settle
from .melds import Melds
from .options import Options, complete, count, hand_size, sorted_deck

Cards = list[str]


@dataclass
class Spread:
    """A spread on the table.

    Attributes:
        owner: the seat that laid it.
        index: counts that seat's spreads from 0 in laying order.
        cards: sets in suit order, runs from low to high.
    """

    owner: int
    index: int
    cards: Cards

    @property
    def text(self) -> str:
        """The cards as one word."""
        return "".join(self.cards)


class NaiveHand:
    """One hand, from the deal to the payments.

    Attributes:
        to_move: the seat asked, None when the hand has ended.
        hands: cards by seat, each sorted as text. A card on its way to a `target` is still in the hand.
        pile: the discard pile, its top last.
        stock: in drawing order, the next card first.
        spreads: in laying order.
        waits: turns each seat must still wait. Lowered as the turn begins, so a seat barred from dropping
            by its last turn of waiting already shows 0; `is_drop_barred` tells.
        ending: a word of HANDS.md once the hand has ended.
        payments: stakes by seat (push-ups: minus the points), all 0 until the end.
    """

    def __init__(self, options: Options, num_players: int, dealer: int, deck: Cards) -> None:
        """Deals.

        Args:
            options: nested dict with the dotted option names of RULES section 2 as keys.
            num_players: two to six.
            dealer: a seat; the seat to its left is dealt the first card and has the first turn.
            deck: hands one card at a time from the dealer's left, then the upcard if one is dealt, then
                the stock.

        Raises:
            ValueError: an option or a deck the rules refuse.
        """
        self.options = complete(options)
        if not 2 <= num_players <= 6 or not 0 <= dealer < num_players:
            raise ValueError(f"num_players {num_players} (two to six) or dealer {dealer} (a seat) is wrong")
        self.num_players = num_players
        self.dealer = dealer
        self.melds = Melds(self.options)
        if self.options["stock_out"]["result"] == "must_drop" and not self.options["drop"]["allowed"]:
            raise ValueError("stock_out.result = must_drop clashes with drop.allowed = false")
        if sorted(deck) != sorted(sorted_deck(options, num_players)):
            raise ValueError("the deck does not hold the cards of these rules")

        self.to_move: int | None = None
        self.pile: Cards = []
        self.stock: Cards = list(deck)
        self.spreads: list[Spread] = []
        self.ending: str | None = None
        self.payments = [0.0] * num_players
        self.hands: list[Cards] = [[] for _ in range(num_players)]

        # Memory by seat that outlasts a turn.
        self.waits = [0] * num_players
        self.turns_begun = [0] * num_players
        self.turns_of_spreads: list[list[int]] = [[] for _ in range(num_players)]
        self.turns_of_hits: list[list[int]] = [[] for _ in range(num_players)]
        self.was_hit_this_round = [False] * num_players
        self.may_not_go_out = [False] * num_players
        self.turns_completed = 0

        # Memory of the turn in progress.
        self.has_drawn = False
        self.taken: str | None = None
        self.pending_hit: str | None = None
        self.is_drop_barred = False
        self.is_drop_forced = False

        self._deal()

    def _deal(self) -> None:
        for _ in range(hand_size(self.options, self.num_players)):
            for steps in range(1, self.num_players + 1):
                if not self.stock:
                    raise ValueError("the deal leaves no stock card")
                self.hands[(self.dealer + steps) % self.num_players].append(self.stock.pop(0))
        if self.options["deal"]["upcard"] and self.stock:
            self.pile.append(self.stock.pop(0))
        if not self.stock:
            raise ValueError("the deal leaves no stock card")
        for hand in self.hands:
            hand.sort()
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
        if self.to_move is None:
            return set()
        if self.pending_hit is not None:
            return {f"target {s.owner} {s.index}" for s in self._targets(self.pending_hit)}
        if not self.has_drawn:
            return self._opening_moves(self.to_move)
        return self._playing_moves(self.to_move)

    def _opening_moves(self, seat: int) -> set[str]:
        if self.is_drop_forced:
            return {"drop"}
        moves = {"stock"}
        if self._may_drop(seat):
            moves.add("drop")
        if self.pile and self._may_take(seat):
            moves.add("take")
        return moves

    def _may_drop(self, seat: int) -> bool:
        drop = self.options["drop"]
        is_low_enough = drop["max_count"] is None or self.counts[seat] <= drop["max_count"]
        return bool(drop["allowed"]) and not self.is_drop_barred and is_low_enough

    def _may_take(self, seat: int) -> bool:
        if not self.options["spreads"]["taken_must_meld"]:
            return True
        position = self._position(seat, [*self.hands[seat], self.pile[-1]], self.pile[-1])
        return bool(position.legal_spreads() or position.legal_hits())

    def _playing_moves(self, seat: int) -> set[str]:
        position = self._position(seat, self.hands[seat], self.taken)
        moves = {f"spread {''.join(cards)}" for cards in position.legal_spreads()}
        moves |= {f"hit {card}" for card in position.legal_hits()}
        moves |= {f"discard {card}" for card in position.legal_discards()}
        return moves

    def _targets(self, card: str) -> list[Spread]:
        assert self.to_move is not None
        position = self._position(self.to_move, self.hands[self.to_move], self.taken)
        return [self.spreads[place] for place in position.legal_places(card)]

    def _position(self, seat: int, hand: Cards, taken: str | None) -> Position:
        """The turn in progress, with this hand and this taken card."""
        return Position(
            options=self.options,
            melds=self.melds,
            may_go_out=not self.may_not_go_out[seat],
            hand=list(hand),
            taken=taken,
            table=[list(spread.cards) for spread in self.spreads],
            hits_made=self.turns_of_hits[seat].count(self.turns_begun[seat]),
        )

    # ---- playing a move

    def apply(self, move: str) -> None:
        """Plays a move of the seat asked.

        Raises:
            ValueError: the move is illegal; nothing has changed.
        """
        legal = self.legal()
        if move not in legal:
            raise ValueError(f"illegal move {move!r}; legal: {', '.join(sorted(legal)) or 'none'}")
        assert self.to_move is not None
        seat = self.to_move
        word, _, rest = move.partition(" ")
        if word == "drop":
            self._end(settle.settle_drop(self.counts, seat, self.dealer, self.options))
        elif word == "stock":
            self._draw(seat, self.stock.pop(0))
        elif word == "take":
            self.taken = self.pile.pop()
            self._draw(seat, self.taken)
        elif word == "spread":
            self._spread(seat, [rest[start : start + 2] for start in range(0, len(rest), 2)])
        elif word == "hit":
            self._hit(seat, rest)
        elif word == "target":
            owner, index = (int(number) for number in rest.split())
            assert self.pending_hit is not None
            target = next(s for s in self.spreads if (s.owner, s.index) == (owner, index))
            card, self.pending_hit = self.pending_hit, None
            self._hit_on(seat, card, target)
        else:
            self._discard(seat, rest)

    def forfeit(self, seat: int) -> None:
        """Ends the hand because `seat` failed to move, moved illegally or was withdrawn."""
        if self.ending is not None:
            raise ValueError("the hand has ended")
        self._end(settle.settle_forfeit(self.counts, seat, self.options))

    def _draw(self, seat: int, card: str) -> None:
        self.hands[seat].append(card)
        self.hands[seat].sort()
        self.has_drawn = True

    def _leaves_hand(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        if card == self.taken:
            # Of two equal cards the taken one is played first: its twin may still be discarded.
            self.taken = None

    def _spread(self, seat: int, cards: Cards) -> None:
        for card in cards:
            self._leaves_hand(seat, card)
        index = sum(spread.owner == seat for spread in self.spreads)
        self.spreads.append(Spread(seat, index, cards))
        self.turns_of_spreads[seat].append(self.turns_begun[seat])
        self._add_wait(seat, self.options["waiting"]["after_spread"])
        if not self.hands[seat]:
            self._go_out(seat, "spread")

    def _hit(self, seat: int, card: str) -> None:
        fitting = [s for s in self.spreads if self.melds.arrange([*s.cards, card])]
        if len(fitting) > 1:
            self.pending_hit = card
        else:
            self._hit_on(seat, card, fitting[0])

    def _hit_on(self, seat: int, card: str, target: Spread) -> None:
        grown = self.melds.arrange([*target.cards, card])
        assert grown is not None
        self._leaves_hand(seat, card)
        target.cards = grown
        self.turns_of_hits[seat].append(self.turns_begun[seat])
        if target.owner == seat:
            self._add_wait(seat, self.options["waiting"]["after_own_hit"])
        else:
            self._is_hit_by_another(target.owner)
        if not self.hands[seat]:
            self._go_out(seat, "hit")

    def _is_hit_by_another(self, owner: int) -> None:
        waiting = self.options["waiting"]
        if not (waiting["one_hit_per_round"] and self.was_hit_this_round[owner]):
            self._add_wait(owner, waiting["after_hit"])
        self.was_hit_this_round[owner] = True
        if waiting["blocks_going_out"]:
            self.may_not_go_out[owner] = True

    def _add_wait(self, seat: int, turns: int) -> None:
        if self.options["waiting"]["cumulative"]:
            self.waits[seat] += turns
        else:
            self.waits[seat] = max(self.waits[seat], turns)

    def _discard(self, seat: int, card: str) -> None:
        # Not `_leaves_hand`: what is discarded is the twin whenever the taken card may not be.
        self.hands[seat].remove(card)
        self.pile.append(card)
        if not self.hands[seat]:
            self._go_out(seat, "discard")
        else:
            self._end_turn(seat)

    # ---- turns

    def _start_turn(self, seat: int, is_drop_forced: bool = False) -> None:
        self.to_move = seat
        self.has_drawn = False
        self.taken = None
        self.turns_begun[seat] += 1
        self.was_hit_this_round[seat] = False
        self.is_drop_forced = is_drop_forced
        self.is_drop_barred = self.waits[seat] > 0
        if self.is_drop_barred:
            self.waits[seat] -= 1

    def _end_turn(self, seat: int) -> None:
        self.turns_completed += 1
        self.may_not_go_out[seat] = False
        next_seat = (seat + 1) % self.num_players
        is_last_turn = self.turns_completed == self.num_players * self.options["turn_limit"]
        if not self.stock and self.options["stock_out"]["result"] == "must_drop":
            self._start_turn(next_seat, is_drop_forced=True)
        elif not self.stock:
            self._end(settle.settle_stock_out(self.counts, self.dealer, "stock_out", self.options))
        elif is_last_turn:
            self._end(settle.settle_stock_out(self.counts, self.dealer, "turn_limit", self.options))
        else:
            self._start_turn(next_seat)

    # ---- the end

    def _go_out(self, seat: int, by: str) -> None:
        multiple = self._going_out_multiple(seat, by)
        ending = "out" if by == "discard" else "tonk"
        self._end(settle.won_by(seat, multiple, ending, self.num_players))

    def _going_out_multiple(self, seat: int, by: str) -> float:
        going_out = self.options["going_out"]
        this_turn = self.turns_begun[seat]
        spreads_this_turn = self.turns_of_spreads[seat].count(this_turn)
        has_spread_earlier = any(turn < this_turn for turn in self.turns_of_spreads[seat])
        has_hit_earlier = any(turn < this_turn for turn in self.turns_of_hits[seat])

        candidates = [going_out[by]]
        by_two_spreads = by == "spread" and spreads_this_turn == 2 and not self.turns_of_hits[seat]
        if going_out["first_turn_two_spreads"] is not None and this_turn == 1 and by_two_spreads:
            candidates.append(going_out["first_turn_two_spreads"])
        if going_out["no_earlier_spread"] is not None and not has_spread_earlier:
            candidates.append(going_out["no_earlier_spread"])
        multiple: float = max(candidates)
        if going_out["after_hitting"] is not None and has_hit_earlier:
            multiple = min(multiple, going_out["after_hitting"])
        return multiple

    def _end(self, outcome: settle.Outcome) -> None:
        self.to_move = None
        self.pending_hit = None
        self.ending = outcome.ending
        self.payments = settle.final_payments(outcome, self.counts, self.options)


@dataclass
class Position:
    """A seat in the middle of its turn, as it is or as it would be after a move: what legality is about.

    Attributes:
        options: complete.
        melds: the sets and runs these options allow.
        may_go_out: whether the hand may be emptied in this turn.
        hand: the cards held.
        taken: the card taken from the pile this turn, if it is still held.
        table: the cards of each spread, in laying order.
        hits_made: hits by this seat in this turn.
    """

    options: Options
    melds: Melds
    may_go_out: bool
    hand: Cards
    taken: str | None
    table: list[Cards]
    hits_made: int

    def _without(self, cards: Cards) -> Position:
        """The same position with `cards` gone from the hand (the taken card first, of equal ones)."""
        hand = list(self.hand)
        for card in cards:
            hand.remove(card)
        taken = None if self.taken in cards else self.taken
        return replace(self, hand=hand, taken=taken, table=list(self.table))

    def after_spread(self, cards: Cards) -> Position:
        """This position once `cards` are laid."""
        after = self._without(cards)
        after.table.append(cards)
        return after

    def after_hit(self, card: str, place: int) -> Position:
        """This position once `card` is added to the spread at `place` of the table."""
        after = self._without([card])
        grown = self.melds.arrange([*self.table[place], card])
        assert grown is not None
        after.table[place] = grown
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

    def open_places(self, card: str) -> list[int]:
        """Places of the table the card fits and may be hit on, whatever is left in hand afterwards."""
        limit = self.options["spreads"]["hits_per_turn"]
        if limit is not None and self.hits_made >= limit:
            return []
        return [place for place, cards in enumerate(self.table) if self.melds.arrange([*cards, card])]

    # ---- moves

    def legal_spreads(self) -> list[Cards]:
        """Spreads that may be laid now."""
        return [
            cards
            for cards in self.melds.spreads_in(self.hand)
            if self._honours_taken(cards) and self.after_spread(cards).can_be_completed()
        ]

    def legal_places(self, card: str) -> list[int]:
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
            spreads = [cards for cards in spreads if {card[0] for card in cards} != {"A"}]
        return bool(spreads)
