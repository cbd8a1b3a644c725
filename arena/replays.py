"""Decisive hands played again, move by move, to be read.

A hand is a function of the tournament's seed and the block's number, so it need not be kept: whoever plays
the same cards with the same random keys plays the same hand. Whether it was the same is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import FORFEIT, Agent, Follower, Views
from agents.process import ProcessAgent
from arena.blocks import match_hands, play_match
from arena.config import ArenaConfig
from arena.deals import agent_keys, deck_keys, seatings, start_seed
from arena.decisive import Decisive, checksum
from arena.run import BatchPlayer
from arena.statistics import UNIT
from arena.workers import one_thread
from tonk_env.errors import TonkError
from tonk_env.hand import Hand
from tonk_env.match import BETS
from tonk_env.rules import LoweredRules


@dataclass(frozen=True)
class Replay:
    """A hand to be read.

    Attributes:
        block: the deal.
        number: of the hand in its match.
        seat: whose stakes swing.
        stakes: what that seat was paid.
        agents: by seat.
        hand: the hand, as it ended; None where it cannot be shown.
        reason: why it cannot.
    """

    block: int
    number: int
    seat: int
    stakes: float
    agents: tuple[str, ...]
    hand: Hand | None
    reason: str = ""


class Recorder:
    """An agent that plays as another does, and notes what it does.

    Args:
        agent: the other.
        moves: where to: seats and action ids, or `FORFEIT`.
    """

    def __init__(self, agent: Agent, moves: list[tuple[int, int]]) -> None:
        self.name, self._agent, self._moves = agent.name, agent, moves

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session; see `agents.base.Agent`."""
        self._agent.start(rules, num_players, seed)

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Chooses a move for each view."""
        actions = self._agent.act(views, legal, num_legal, keys)
        self._moves.extend(zip(views["seat"].tolist(), np.asarray(actions).tolist(), strict=False))
        return actions

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Ends the session."""
        self._agent.end(payments)

    def follow(self, hands: npt.NDArray[np.int64]) -> None:
        """Tells the other which hand each view is of, if it wants to know; see `agents.base.Follower`."""
        if isinstance(self._agent, Follower):
            self._agent.follow(hands)

    def end_hand(self, hand: int, ending: str, by: int, payments: Sequence[float]) -> None:
        """Tells the other how a hand ended, if it wants to know."""
        if isinstance(self._agent, Follower):
            self._agent.end_hand(hand, ending, by, payments)


def play_again(config: ArenaConfig, found: Sequence[Decisive]) -> list[Replay]:
    """Plays decisive hands again: of each deal the one that paid its seat most, then the one that paid least.

    Programs are not asked again, for nobody knows what they go by. Of an agent that decides otherwise this
    time, no hand is shown either.

    Args:
        config: the tournament.
        found: its decisive deals.

    Raises:
        TonkError: the agents cannot be made.
    """
    if not found:
        return []
    player = BatchPlayer(config.model_copy(update={"hands": False}))
    try:
        with one_thread():
            return [replay for each in found for replay in _both(player, each)]
    finally:
        player.close()


def _both(player: BatchPlayer, found: Decisive) -> Iterator[Replay]:
    swing = found.swing
    every = seatings(found.group, player.config.seed, swing.block, 1)[0]
    for stakes, which, check in (
        (swing.best, swing.best_seating, swing.best_check),
        (swing.worst, swing.worst_seating, swing.worst_check),
    ):
        hand, reason = None, ""
        try:
            hand = _play(player, found, np.ascontiguousarray(every[which : which + 1]), check)
        except TonkError as error:
            reason = str(error)
        names = tuple(player.agents[member].name for member in every[which])
        yield Replay(swing.block, swing.number, swing.seat, stakes / UNIT, names, hand, reason)


def _play(player: BatchPlayer, found: Decisive, seating: npt.NDArray[np.int64], check: int) -> Hand:
    """Plays one hand again.

    Raises:
        TonkError: it cannot be, or it was another this time.
    """
    config, rules, swing = player.config, player.rules, found.swing
    members = [player.agents[member] for member in sorted(set(found.group))]
    programs = [agent.name for agent in members if isinstance(agent, ProcessAgent)]
    if programs:
        raise TonkError(f"{programs[0]} is a program, which may decide otherwise when it is asked again")
    moves: list[tuple[int, int]] = []
    recorders = [Recorder(agent, moves) for agent in player.agents]
    first, _ = player.blocks_of(swing.block // config.batch_blocks)
    for agent in members:
        agent.start(rules, config.players, start_seed(config.seed, agent.name, first))
    decks, lots = deck_keys(config.seed, swing.block, 1), agent_keys(config.seed, swing.block, 1)
    match = play_match(recorders, seating, rules, decks, lots, match_hands(rules))
    for _ in range(swing.number):
        next(match)
        moves.clear()
    played = next(match)
    for agent in members:
        agent.end(np.zeros(0))
    if checksum(played.tables, 0) != check:
        raise TonkError("played again, it was another hand: an agent decides by more than what it is shown")
    return _hand(config.rules, played.tables[0], int(played.decks[0]), moves)


def _hand(rules: str, table: Any, key: int, moves: Sequence[tuple[int, int]]) -> Hand:
    """Returns a hand that was dealt by a key, with these moves made."""
    hand = Hand(
        rules,
        int(table["num_players"]),
        dealer=int(table["dealer"]),
        seed=key,
        deals_since_won=dict(zip(BETS, table["bet_deals"].tolist(), strict=True)),
        multiplier=float(table["multiplier"]),
    )
    for seat, action in moves:
        if action == FORFEIT:
            hand.forfeit(seat)
        else:
            hand.apply(action)
    return hand
