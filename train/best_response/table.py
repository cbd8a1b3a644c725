"""The agent that is to be answered, at its table: what a response earns of it, and what looking may cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from arena.deals import agent_keys, deck_keys, hands_of_block, seatings
from arena.play import play_hands
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules

Earnings = npt.NDArray[np.float64]
"""`[deals]`, stakes per hand of the response on each deck, over all seats."""

CHOOSING, TRAINING, CLIMBING, FINAL = range(4)
"""What decks are for; those of different purposes never meet."""


class Budget:
    """How long to look for a response: minutes, decisions, or both, whichever are used up first.

    Decisions are those of all seats, in hands played to find or to choose a response. A budget of them alone
    gives equal results for equal seeds.

    Args:
        minutes: of the clock, from now on; None: any.
        decisions: None: any.

    Attributes:
        spent: decisions so far.

    Raises:
        TonkError: neither is given, or one is not positive.
    """

    def __init__(self, minutes: float | None = None, decisions: int | None = None) -> None:
        if minutes is None and decisions is None:
            raise TonkError("minutes: a budget of minutes or of decisions is needed")
        if minutes is not None and not 0 < minutes < float("inf"):
            raise TonkError(f"minutes = {minutes}: a number above 0 is needed")
        if decisions is not None and decisions < 1:
            raise TonkError(f"decisions = {decisions}: at least 1 is needed")
        self.minutes, self.decisions = minutes, decisions
        self.spent = 0
        self._began = time.monotonic()

    @property
    def used(self) -> float:
        """How much of it is used up, from 0 to 1."""
        clock = (time.monotonic() - self._began) / (60 * self.minutes) if self.minutes else 0.0
        return min(1.0, max(clock, self.spent / self.decisions if self.decisions else 0.0))


@dataclass(frozen=True)
class Response:
    """An answer to the agent.

    Attributes:
        agent: who plays it.
        source: where it comes from, in words.
        suffix: of the file that keeps it.
        data: that file.
    """

    agent: Agent
    source: str
    suffix: str
    data: bytes


def stream_seed(seed: int, *purpose: int) -> int:
    """Returns the arena's seed for a purpose: far from the seeds that people choose."""
    return int(np.random.default_rng([seed, *purpose]).integers(2**40, 2**41))


@dataclass(frozen=True)
class Table:
    """One responder's seat, and the agent in all others.

    Attributes:
        agent: who is to be answered.
        rules_name: the preset's name, or the path of its file.
        rules: the rules.
        players: seats.
        seed: of all decks and lots.
        deals: decks that a response is judged by at the end.
        budget: what may be spent before that.
    """

    agent: Agent
    rules_name: str
    rules: LoweredRules
    players: int
    seed: int
    deals: int
    budget: Budget

    @property
    def choosing_deals(self) -> int:
        """Decks that responses are compared on."""
        return max(2, self.deals // 4)

    def earnings(self, response: Agent, *purpose: int) -> Earnings:
        """Plays a response on the decks of a purpose, each once from every seat, and spends the decisions.

        Raises:
            TonkError: somebody does not play these rules, or the agent is a program that broke down.
        """
        deals, seed = self.choosing_deals, stream_seed(self.seed, *purpose)
        group = (0, *[1] * (self.players - 1))
        hands = hands_of_block(group)
        seating = np.ascontiguousarray(seatings(group, seed, 0, deals)).reshape(-1, self.players)
        decks, lots = (np.repeat(keys(seed, 0, deals), hands) for keys in (deck_keys, agent_keys))
        dealers = np.full(len(seating), self.players - 1)
        both = [response, self.agent]
        for agent in both:
            agent.start(self.rules, self.players, seed)
        played = play_hands(both, seating, self.rules, decks, lots, dealers)
        payments = played.payments[:, : self.players]
        for number, agent in enumerate(both):
            agent.end(payments[seating == number])
        check_sound(self.agent)
        self.budget.spent += int(played.tables["moves"].sum())
        earned: Earnings = payments[seating == 0].reshape(deals, hands).mean(axis=1)
        return earned


def check_sound(agent: Agent) -> None:
    """Makes sure that a program has not been withdrawn for what it did wrong.

    Raises:
        TonkError: it has, so all that is measured is how it forfeits.
    """
    if getattr(agent, "is_out", False):
        raise TonkError(f"agent {agent.name} forfeits its hands: {getattr(agent, 'last_trouble', '')}")
