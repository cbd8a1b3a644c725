"""Tournaments: every group of agents plays the same decks under every seating."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from agents.base import Agent
from agents.bot import Bot
from agents.random import RandomAgent
from agents.registry import make
from arena.deals import agent_keys, check_seed, deck_keys, hands_of_block, seatings, start_seed
from arena.play import play_hands
from arena.results import Results, collect
from arena.statistics import Tally
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules, lower

Progress = Callable[[int, int], None]
"""Is told the hands played so far, and how many there will be."""

HANDS_AT_ONCE = 2048
"""Hands played in one call: enough to keep Python's share small, few enough for little memory."""
MAX_BATCH = 8192
"""Blocks counted at once, at most: the bound within which sums are exact."""


def make_groups(num_agents: int, players: int) -> list[tuple[int, ...]]:
    """Returns who meets whom: agent numbers, ascending in each group.

    All combinations of as many agents as there are seats. Where there are fewer agents than seats, agents
    hold several seats: all combinations with at least two different agents in them.
    """
    if num_agents >= players:
        return list(itertools.combinations(range(num_agents), players))
    every = itertools.combinations_with_replacement(range(num_agents), players)
    return [group for group in every if len(set(group)) > 1]


def play_groups(
    agents: Sequence[Agent],
    groups: Sequence[tuple[int, ...]],
    rules: LoweredRules,
    players: int,
    deals: int,
    seed: int,
    progress: Progress | None = None,
    batch_blocks: int | None = None,
) -> Tally:
    """Starts agents and plays blocks 0 to `deals` - 1 between them.

    Args:
        agents: the agents; how many there are and who else plays changes nothing for a group.
        groups: agent numbers, ascending in each.
        rules: the rules.
        players: seats at a table.
        deals: blocks that each group plays.
        seed: of decks, orders and lots.
        progress: called now and then.
        batch_blocks: blocks played at once; a matter of speed and memory alone.

    Raises:
        TonkError: an agent does not play these rules, or made an illegal move.
    """
    for agent in agents:
        agent.start(rules, players, start_seed(seed, agent.name))
    each_block = hands_of_block(groups[0])
    tally = Tally(groups, len(agents), each_block)
    total, done = deals * each_block * len(groups), 0
    for first, blocks in _batches(deals, batch_blocks or HANDS_AT_ONCE // each_block):
        decks = np.repeat(deck_keys(seed, first, blocks), each_block)
        lots = np.repeat(agent_keys(seed, first, blocks), each_block)
        # The last seat deals, so seat 0 moves first; the seatings give every agent every seat.
        dealers = np.full(len(decks), players - 1, np.int64)
        tally.open_batch(blocks)
        for group in groups:
            seating = np.ascontiguousarray(seatings(group, seed, first, blocks)).reshape(-1, players)
            played = play_hands(agents, seating, rules, decks, lots, dealers)
            tally.add(group, seating, played.payments, played.tables)
            for member in sorted(set(group)):
                agents[member].end(played.payments[:, :players][seating == member])
            done += len(decks)
            if progress is not None:
                progress(done, total)
        tally.close_batch()
    return tally


def _batches(deals: int, blocks: int) -> Iterator[tuple[int, int]]:
    """Yields (first block, blocks) that make up all deals."""
    size = max(1, min(blocks, MAX_BATCH))
    for first in range(0, deals, size):
        yield first, min(size, deals - first)


def check_size(rules: LoweredRules, players: int, deals: int, seed: int) -> None:
    """Checks the numbers of a tournament.

    Raises:
        TonkError: one is out of range.
    """
    rules.rules.check_players(players)
    if deals < 2:
        raise TonkError(f"deals = {deals}: at least 2 are needed, since one deal alone has no interval")
    check_seed(seed)


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


def as_agent(given: str | Agent) -> Agent:
    """Returns the agent that a spec names, or the agent given.

    Raises:
        TonkError: the spec is not one.
    """
    return make(given) if isinstance(given, str) else given


def run_tournament(
    agents: Sequence[str | Agent],
    rules: str = "pagat",
    players: int = 2,
    deals: int = 20000,
    seed: int = 0,
    progress: Progress | None = None,
    batch_blocks: int | None = None,
) -> Results:
    """Plays a tournament: all groups of agents, on the same decks, each under every seating.

    Args:
        agents: spec strings, or agents themselves; at least two different ones. Where they are fewer than the
            seats, they meet in all mixtures of at least two.
        rules: a preset's name, or the path of its file.
        players: seats at a table.
        deals: decks; a group plays each under every permutation of its seats up to three seats, and from four
            on under every rotation of an order drawn for each deck.
        seed: of decks, orders and lots, 0 or more. Equal seeds give equal results, to the byte.
        progress: called with the hands played so far and the hands in all.
        batch_blocks: decks played at once; results do not depend on it.

    Raises:
        TonkError: an unknown agent or one that is there twice, a number out of range, rules that are not
            valid or are not played by that many.
    """
    lowered = lower(rules)
    check_size(lowered, players, deals, seed)
    playing = make_agents(agents)
    groups = make_groups(len(playing), players)
    tally = play_groups(playing, groups, lowered, players, deals, seed, progress, batch_blocks)
    return collect(
        tally,
        [agent.name for agent in playing],
        [policy_of(agent) for agent in playing],
        rules,
        lowered,
        players,
        seed,
        hands=deals * hands_of_block(groups[0]) * len(groups),
    )


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
