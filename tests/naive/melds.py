"""What is a spread: sets and runs of card strings, in the order they are written, and where wilds stand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

from .options import JOKER, SUITS, Options, count, is_wild, num_packs

SHORTEST_SPREAD = 3
LONGEST_SET = 4

Cards = list[str]


@dataclass(frozen=True)
class Meld:
    """A set (in suit order) or a run (from low to high), and what its places are filled with.

    Attributes:
        places: for each place the card it stands for and the card that lies there. The two differ where a
            wild stands for another card; otherwise the card is natural.
    """

    places: tuple[tuple[str, str], ...]

    @property
    def cards(self) -> Cards:
        """The cards it stands for."""
        return [named for named, _ in self.places]

    @property
    def held(self) -> Cards:
        """The cards that lie there."""
        return [held for _, held in self.places]

    @property
    def fillers(self) -> dict[int, str]:
        """The wild at each place that one fills, places counted from 0."""
        return {place: held for place, (named, held) in enumerate(self.places) if named != held}

    @property
    def is_set(self) -> bool:
        """A set, not a run."""
        return len({card[0] for card in self.cards}) == 1

    @property
    def text(self) -> str:
        """The cards as one word, each wild in brackets behind the card it stands for."""
        return "".join(named if named == held else f"{named}[{held}]" for named, held in self.places)


class Melds:
    """The sets and runs that one set of options allows.

    Attributes:
        runs: for each set of ranks that makes a run, the ranks from low to high.
        run_orders: every sequence of ranks that is a run, as a word; one more than `runs` has where a run
            of all ranks may be read from more than one end.
        all_named: every spread that could be laid without wilds.
    """

    def __init__(self, options: Options, num_players: int = 2) -> None:
        """Lists the runs and the spreads; `options` must be complete."""
        self.options = options
        self.packs = num_packs(options, num_players)
        self.suits = SUITS[: options["deck"]["suits"]]
        orders = run_orders(list(options["deck"]["ranks"]), options["spreads"]["ace"])
        self.run_orders = {"".join(ranks) for ranks in orders}
        self.runs: dict[frozenset[str], list[str]] = {}
        for ranks in orders:
            # A run of all ranks has two ends that touch when the ace goes both ways: the same cards,
            # written from the ace, which comes first here.
            self.runs.setdefault(frozenset(ranks), ranks)
        self.all_named = self._all_named()

    def _all_named(self) -> list[Cards]:
        named = [[rank + suit for rank in run] for run in self.runs.values() for suit in self.suits]
        for rank in self.options["deck"]["ranks"]:
            of_rank = [rank + suit for suit in self.suits]
            for size in range(SHORTEST_SPREAD, LONGEST_SET + 1):
                for chosen in combinations_with_replacement(of_rank, size):
                    if self.arrange(list(chosen)):
                        named.append(list(chosen))
        return named

    def arrange(self, cards: Cards) -> Cards | None:
        """The named cards as they lie on the table, or None if together they are no spread."""
        if len(cards) < SHORTEST_SPREAD or JOKER in cards:
            return None
        ranks = [card[0] for card in cards]
        suits = {card[1] for card in cards}
        if len(set(ranks)) == 1:
            by_suit = sorted(cards, key=lambda card: SUITS.index(card[1]))
            has_too_many_copies = any(cards.count(card) > self.packs for card in cards)
            return None if len(cards) > LONGEST_SET or has_too_many_copies else by_suit
        is_one_suit_no_rank_twice = len(suits) == 1 and len(set(ranks)) == len(ranks)
        if is_one_suit_no_rank_twice and frozenset(ranks) in self.runs:
            return [rank + cards[0][1] for rank in self.runs[frozenset(ranks)]]
        return None

    # ---- spreads to lay

    def spreads_in(self, hand: Cards) -> list[Meld]:
        """Every different spread that can be made from the cards of `hand`."""
        kinds_held = set(hand)
        num_wilds = sum(is_wild(card, self.options) for card in hand)
        found = []
        for named in self.all_named:
            if len(set(named) - kinds_held) <= num_wilds:
                meld = self.fill(named, hand)
                if meld is not None:
                    found.append(meld)
        return sorted(found, key=lambda meld: meld.text)

    def fill(self, named: Cards, hand: Cards) -> Meld | None:
        """The named spread as `hand` lays it, or None if it cannot.

        A named card that is held is natural, of twins the one named first; the others are filled by wilds.
        """
        rest = list(hand)
        naturals, missing = [], []
        for card in named:
            if card in rest:
                rest.remove(card)
                naturals.append(card)
            else:
                missing.append(card)
        wilds = sorted((card for card in rest if is_wild(card, self.options)), key=self._filling_order)
        if missing and len(naturals) < self.options["spreads"]["min_naturals"]:
            return None
        if len(missing) > len(wilds) or not self._may_be_filled(naturals, missing):
            return None
        fillers = iter(wilds)
        places = []
        for card in named:
            if card in naturals:
                naturals.remove(card)
                places.append((card, card))
            else:
                places.append((card, next(fillers)))
        return Meld(tuple(places))

    def _filling_order(self, card: str) -> tuple[float, int, int]:
        """Which wild fills first: the highest value, then suits c d h s, jokers last; then the lower rank."""
        if card == JOKER:
            return (-count([card], self.options), len(SUITS), 0)
        rank = self.options["deck"]["ranks"].index(card[0])
        return (-count([card], self.options), SUITS.index(card[1]), rank)

    def _may_be_filled(self, naturals: Cards, missing: Cards) -> bool:
        """In a set each wild stands for the first card lacking; in a run wilds stand anywhere."""
        if len({card[0] for card in naturals + missing}) > 1:
            return True
        grown = list(naturals)
        for _ in missing:
            lacking = self.first_lacking(grown)
            if lacking is None:
                return False
            grown.append(lacking)
        return sorted(grown) == sorted(naturals + missing)

    def first_lacking(self, cards: Cards) -> str | None:
        """The card a wild stands for that joins these cards of a rank, if there is one.

        The first suit they lack; with every suit there, the first with fewer copies than there are packs.
        """
        of_rank = [cards[0][0] + suit for suit in self.suits]
        lacking = [card for card in of_rank if card not in cards]
        lacking += [card for card in of_rank if cards.count(card) < self.packs]
        return lacking[0] if lacking else None

    # ---- places for a hit

    def hits_on(self, meld: Meld, card: str) -> dict[str, Meld]:
        """What the spread would be with this card added, by the end it is added to.

        The ends are `low` and `high` for a wild on a run, and "" for everything else.
        """
        if not is_wild(card, self.options):
            return self._grown("", meld, card, card)
        if meld.is_set:
            as_itself = self._grown("", meld, card, card)
            lacking = self.first_lacking(meld.cards)
            if as_itself or lacking is None:
                return as_itself
            return self._grown("", meld, lacking, card)
        low, high = self._ends(meld)
        grown: dict[str, Meld] = {}
        if low is not None:
            grown |= self._grown("low", meld, low, card)
        if high is not None and high != low:
            grown |= self._grown("high", meld, high, card)
        return grown

    def _ends(self, run: Meld) -> tuple[str | None, str | None]:
        """The cards that would extend a run at its low and at its high end."""
        ranks, suit = "".join(card[0] for card in run.cards), run.cards[0][1]
        deck_ranks = self.options["deck"]["ranks"]
        low = [rank + suit for rank in deck_ranks if rank + ranks in self.run_orders]
        high = [rank + suit for rank in deck_ranks if ranks + rank in self.run_orders]
        return (low[0] if low else None, high[0] if high else None)

    def _grown(self, end: str, meld: Meld, named: str, held: str) -> dict[str, Meld]:
        order = self.arrange([*meld.cards, named])
        if order is None:
            return {}
        places = [*meld.places, (named, held)]
        # Of equal cards in a set those that are natural lie first.
        places.sort(key=lambda place: (order.index(place[0]), place[0] != place[1]))
        return {end: Meld(tuple(places))}


def run_orders(ranks: list[str], ace: str) -> list[list[str]]:
    """Every sequence of three ranks or more that is a run.

    Args:
        ranks: the deck's ranks in run order.
        ace: `low` (below the second rank only), `low_or_high` (also above the last) or `wrap` (the last
            rank neighbours the ace, a run is any arc).
    """
    if "A" not in ranks or ace == "low":
        line = ranks
    elif ace == "low_or_high":
        line = [*ranks, "A"]
    elif ace == "wrap":
        line = ranks + ranks
    else:
        raise ValueError(f"spreads.ace is {ace!r}; allowed: low, low_or_high, wrap")
    orders = []
    for start in range(len(line)):
        for end in range(start + SHORTEST_SPREAD, len(line) + 1):
            order = line[start:end]
            if len(set(order)) == len(order):
                orders.append(order)
    return orders
