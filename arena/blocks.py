"""Plays blocks between agents, and counts them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.bot import Bot
from agents.random import RandomAgent
from agents.registry import make
from arena.deals import agent_keys, check_seed, deck_keys, hands_of_block, nth_keys, seatings, start_seed
from arena.luck import Luck
from arena.play import Clock, Played, Standing, play_hands
from arena.statistics import UNIT
from arena.tally import Tally
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_BET_DEALS
from tonk_env.rules import LoweredRules

Progress = Callable[[int, int], None]
"""Is told the hands played so far, and how many there will be."""

HANDS_AT_ONCE = 2048
"""Hands played in one call: enough to keep Python's share small, few enough for little memory."""
MAX_CHUNK = 8192
"""Blocks counted at once, at most: the bound within which sums are exact."""


@dataclass(frozen=True)
class GroupHands:
    """Hands of one group: those of some blocks, one for each seating, of matches the same hand of each.

    Attributes:
        group: the agent numbers of its seats, in ascending order.
        first: number of the first block.
        seatings: hands of a block, which are side by side.
        number: of the hand in its match, from 0.
        seating: `[hands, players]` int64, agent numbers.
        played: the hands.
    """

    group: tuple[int, ...]
    first: int
    seatings: int
    number: int
    seating: npt.NDArray[np.int64]
    played: Played

    @functools.cached_property
    def units(self) -> npt.NDArray[np.int64]:
        """What was paid, `[blocks, seatings, players]`, in whole millionths of a stake."""
        paid = self.played.payments[:, : self.seating.shape[1]]
        return np.rint(paid * UNIT).astype(np.int64).reshape(-1, self.seatings, self.seating.shape[1])


Watcher = Callable[[GroupHands], None]
"""Is shown all hands as they are played, beside the tally that counts them."""


def check_size(rules: LoweredRules, players: int, deals: int, seed: int) -> None:
    """Checks the numbers of a tournament.

    Raises:
        TonkError: one is out of range.
    """
    rules.rules.check_players(players)
    if deals < 2:
        raise TonkError(f"deals = {deals}: at least 2 are needed, since one deal alone has no interval")
    check_seed(seed)


def as_agent(given: str | Agent) -> Agent:
    """Returns the agent that a spec names, or the agent given.

    Raises:
        TonkError: the spec is not one.
    """
    return make(given) if isinstance(given, str) else given


def make_agents(specs: Sequence[str | Agent]) -> list[Agent]:
    """Returns the agents that specs name; agents are kept as they are.

    Raises:
        TonkError: a spec is not one, fewer than two agents, or one that is there twice.
    """
    if len(specs) < 2:
        raise TonkError(f"agents: {len(specs)} given, and a tournament needs at least two")
    agents: list[Agent] = []
    first_spec: dict[str, str] = {}
    for given in specs:
        agent = as_agent(given)
        spec = given if isinstance(given, str) else agent.name
        if agent.name in first_spec:
            other = first_spec[agent.name]
            same = "" if spec == other else f" ({other} and {spec} are the same)"
            raise TonkError(f"agents: {agent.name} is there twice{same}; name each agent once")
        first_spec[agent.name] = spec
        agents.append(agent)
    return agents


def policy_of(agent: Agent) -> str:
    """Tells what an agent makes of its policy: `sampled`, `greedy` or `deterministic`.

    An agent may say so by an attribute `policy`; that of one that does not, and is none of ours, is
    `unstated`.
    """
    stated = getattr(agent, "policy", None)
    if stated is not None:
        return str(stated)
    if isinstance(agent, Bot):
        return "deterministic"
    greedy = getattr(agent, "greedy", False if isinstance(agent, RandomAgent) else None)
    return "unstated" if greedy is None else "greedy" if greedy else "sampled"


def match_hands(rules: LoweredRules) -> int:
    """Returns the hands of a match under these rules, where every match has as many; else 1.

    A match to a target ends sooner or later as the cards fall, so its hands are played one by one.
    """
    match = rules.rules.match
    return match.hands if match.hands is not None and match.target is None else 1


def play_blocks(
    agents: Sequence[Agent],
    groups: Sequence[tuple[int, ...]],
    rules: LoweredRules,
    players: int,
    seed: int,
    first: int,
    blocks: int,
    tally: Tally,
    clock: Clock | None = None,
    progress: Callable[[int], None] | None = None,
    at_once: int | None = None,
    adjusted: Tally | None = None,
    rollouts: int = 0,
    watchers: Sequence[Watcher] = (),
) -> None:
    """Starts agents, plays blocks between them and ends their session.

    Args:
        agents: the agents; how many there are and who else plays changes nothing for a group.
        groups: agent numbers, ascending in each.
        rules: the rules; under those of a match of several hands a block's deals are whole matches.
        players: seats at a table.
        seed: of decks, orders and lots.
        first: number of the first block.
        blocks: how many.
        tally: what they are counted in.
        clock: what the time for decisions is booked in.
        progress: told the hands played since it was last called.
        at_once: blocks played at once; a matter of speed and memory alone.
        adjusted: what payments without luck are counted in; None: nothing is adjusted.
        rollouts: by which luck is measured, see `arena.luck.Luck`.
        watchers: shown the hands of each group.

    Raises:
        TonkError: an agent does not play these rules, or made an illegal move.
    """
    tallies = [tally] if adjusted is None else [tally, adjusted]
    drawing = [number for number, agent in enumerate(agents) if policy_of(agent) == "sampled"]
    luck = None if adjusted is None else Luck(rules, players, rollouts, agents, drawing)
    playing = sorted({member for group in groups for member in group})
    for member in playing:
        agents[member].start(rules, players, start_seed(seed, agents[member].name, first))
    paid: dict[int, list[npt.NDArray[np.float64]]] = {member: [] for member in playing}
    each_block, hands = hands_of_block(groups[0]), match_hands(rules)
    for start, count in _chunks(first, blocks, at_once or HANDS_AT_ONCE // each_block):
        decks = np.repeat(deck_keys(seed, start, count), each_block)
        lots = np.repeat(agent_keys(seed, start, count), each_block)
        for each in tallies:
            each.open_batch(count)
        for group in groups:
            seating = np.ascontiguousarray(seatings(group, seed, start, count)).reshape(-1, players)
            match = play_match(agents, seating, rules, decks, lots, hands, clock, luck)
            for number, played in enumerate(match):
                tally.add(group, seating, played.payments, played.tables)
                if adjusted is not None:
                    adjusted.add(group, seating, played.adjusted, played.tables)
                shown = GroupHands(group, start, each_block, number, seating, played)
                for watch in watchers:
                    watch(shown)
                for member in sorted(set(group)):
                    paid[member].append(played.payments[:, :players][seating == member])
                if progress is not None:
                    progress(len(decks))
        for each in tallies:
            each.close_batch()
    for member in playing:
        agents[member].end(np.concatenate(paid[member]))


def play_match(
    agents: Sequence[Agent],
    seating: npt.NDArray[np.int64],
    rules: LoweredRules,
    decks: npt.NDArray[np.int64],
    lots: npt.NDArray[np.int64],
    hands: int,
    clock: Clock | None = None,
    luck: Luck | None = None,
) -> Iterator[Played]:
    """Plays a match of so many hands at every table, between agents that were started; yields hand by hand.

    The hands of a match are those of `tonk_env.match.Match`: the dealer moves left, side bets that nobody
    wins stand another deal, and the last ones may pay double. The decks are the same in every seating.
    """
    tables, players = seating.shape
    # The last seat deals first, so seat 0 moves first; the seatings give every agent every seat.
    dealers = np.full(tables, players - 1, np.int64)
    if hands == 1:
        yield play_hands(agents, seating, rules, decks, lots, dealers, clock=clock, luck=luck)
        return
    standing = Standing(np.ones((tables, 2), np.int64), 1.0)
    doubled = rules.rules.match.last_hands_double
    for number in range(hands):
        standing.multiplier = 2.0 if number >= hands - doubled else 1.0
        keys = nth_keys(decks, number), nth_keys(lots, number)
        played = play_hands(agents, seating, rules, *keys, dealers, standing, clock, luck)
        yield played
        won = np.stack([played.tables["suit_winner"], played.tables["naturals_winner"]], 1) >= 0
        standing.deals = np.where(won, 1, np.minimum(standing.deals + 1, MAX_BET_DEALS))
        dealers = (dealers + 1) % players


def _chunks(first: int, blocks: int, size: int) -> Iterator[tuple[int, int]]:
    """Yields (first block, blocks) that make up all blocks."""
    size = max(1, min(size, MAX_CHUNK))
    for start in range(first, first + blocks, size):
        yield start, min(size, first + blocks - start)


def play_groups(
    agents: Sequence[Agent],
    groups: Sequence[tuple[int, ...]],
    rules: LoweredRules,
    players: int,
    deals: int,
    seed: int,
) -> Tally:
    """Plays blocks 0 to `deals` - 1 between agents, in one go, and returns what was counted.

    Raises:
        TonkError: an agent does not play these rules, or made an illegal move.
    """
    tally = Tally(groups, len(agents), hands_of_block(groups[0]), match_hands(rules))
    play_blocks(agents, groups, rules, players, seed, 0, deals, tally)
    return tally
