"""Small games for solvers: Kuhn poker written by hand, and Tonk with six cards."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tonk_env.rules import LoweredRules, lower

PASS, BET = 0, 1


def tiny_rules(**options: object) -> LoweredRules:
    """Tonk with A, 2 and 3 of two suits, two cards each and one turn each."""
    return lower({
        "base": "pagat", "turn_limit": 1, "deck": {"ranks": "A23", "suits": 2}, "deal": {"hand_size": 2},
        "instant_wins": {"tiers": []}, **options,
    })  # fmt: skip


@dataclass(frozen=True)
class Kuhn:
    """A state of Kuhn poker, with the methods of OpenSpiel's states."""

    cards: tuple[int, ...] = ()
    history: tuple[int, ...] = ()

    def is_chance_node(self) -> bool:
        return not self.cards

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(at, 1 / 6) for at in range(6)]

    def is_terminal(self) -> bool:
        return self.history in {(PASS, PASS), (BET, PASS), (BET, BET), (PASS, BET, PASS), (PASS, BET, BET)}

    def current_player(self) -> int:
        return len(self.history) % 2

    def legal_actions(self) -> list[int]:
        return [PASS, BET]

    def child(self, action: int) -> Kuhn:
        if not self.cards:
            return Kuhn(list(itertools.permutations(range(3), 2))[action])
        return Kuhn(self.cards, (*self.history, action))

    def information_state_string(self, player: int) -> str:
        return f"{self.cards[player]}{self.history}"

    def returns(self) -> list[float]:
        stakes = 2.0 if self.history.count(BET) == 2 else 1.0
        if self.history[-1] == PASS and BET in self.history:
            winner = self.history.index(BET) % 2  # the other one folded
        else:
            winner = int(self.cards[1] > self.cards[0])
        return [stakes, -stakes] if winner == 0 else [-stakes, stakes]


@dataclass(frozen=True)
class Forgets:
    """One player moves twice, and has then forgotten its first move."""

    history: tuple[int, ...] = ()

    def is_chance_node(self) -> bool:
        return False

    def is_terminal(self) -> bool:
        return len(self.history) == 2

    def current_player(self) -> int:
        return 0

    def legal_actions(self) -> list[int]:
        return [PASS, BET]

    def child(self, action: int) -> Forgets:
        return Forgets((*self.history, action))

    def information_state_string(self, player: int) -> str:
        return str(len(self.history))

    def returns(self) -> list[float]:
        return [float(sum(self.history))]
