"""What is a spread: sets and runs of card strings, in the order they are written."""

from __future__ import annotations

from itertools import combinations

from .options import SUITS, Options

SHORTEST_SPREAD = 3
LONGEST_SET = 4


class Melds:
    """The sets and runs that one set of options allows.

    Attributes:
        runs: for each set of ranks that makes a run, the ranks from low to high.
    """

    def __init__(self, options: Options) -> None:
        """Lists the runs; `options` must be complete."""
        self.runs: dict[frozenset[str], list[str]] = {}
        for ranks in run_orders(list(options["deck"]["ranks"]), options["spreads"]["ace"]):
            # A run of all ranks has two ends that touch when the ace goes both ways: the same cards,
            # written from the ace, which comes first here.
            self.runs.setdefault(frozenset(ranks), ranks)

    def arrange(self, cards: list[str]) -> list[str] | None:
        """The cards as they lie on the table, or None if together they are no spread."""
        if len(cards) < SHORTEST_SPREAD:
            return None
        ranks = [card[0] for card in cards]
        suits = {card[1] for card in cards}
        if len(set(ranks)) == 1:
            by_suit = sorted(cards, key=lambda card: SUITS.index(card[1]))
            return by_suit if len(cards) <= LONGEST_SET else None
        is_one_suit_no_rank_twice = len(suits) == 1 and len(set(ranks)) == len(ranks)
        if is_one_suit_no_rank_twice and frozenset(ranks) in self.runs:
            return [rank + cards[0][1] for rank in self.runs[frozenset(ranks)]]
        return None

    def spreads_in(self, hand: list[str]) -> list[list[str]]:
        """Every different spread that can be made from the cards of `hand`, arranged."""
        found: dict[str, list[str]] = {}
        for rank in {card[0] for card in hand}:
            of_rank = [card for card in hand if card[0] == rank]
            for size in range(SHORTEST_SPREAD, LONGEST_SET + 1):
                for chosen in combinations(of_rank, size):
                    arranged = self.arrange(list(chosen))
                    if arranged:
                        found["".join(arranged)] = arranged
        for suit in {card[1] for card in hand}:
            ranks_of_suit = {card[0] for card in hand if card[1] == suit}
            for ranks in self.runs.values():
                if ranks_of_suit.issuperset(ranks):
                    run = [rank + suit for rank in ranks]
                    found["".join(run)] = run
        return [found[text] for text in sorted(found)]


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
