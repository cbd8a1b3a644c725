"""Who meets whom: groups of agents, each of which plays every deck."""

from __future__ import annotations

import itertools
from typing import Literal, get_args

Schedule = Literal["round_robin", "all_pairs", "field", "host"]
SCHEDULES: tuple[str, ...] = get_args(Schedule)

Group = tuple[int, ...]


def make_groups(schedule: str, num_agents: int, players: int, entrants: int = 1) -> list[Group]:
    """Returns the groups of a schedule, each the agent numbers of its seats in ascending order.

    - `round_robin`: all combinations of as many agents as there are seats. Where there are fewer agents than
      seats, agents hold several seats: all combinations with at least two different agents in them.
    - `all_pairs`: every two agents share tables without a third, in all mixtures.
    - `field`: each entrant against each agent of the field, which holds all other seats. A gauntlet.
    - `host`: the other way round: each agent of the field alone at tables of each entrant.

    With two seats, `round_robin` and `all_pairs` are one, and so are `field` and `host`.

    Args:
        schedule: one of `SCHEDULES`.
        num_agents: how many agents there are.
        players: seats at a table.
        entrants: the first so many agents are entrants, the rest the field. Of no meaning to the schedules
            without a field.
    """
    agents = range(num_agents)
    if schedule == "round_robin":
        if num_agents >= players:
            return list(itertools.combinations(agents, players))
        every = itertools.combinations_with_replacement(agents, players)
        return [group for group in every if len(set(group)) > 1]
    if schedule == "all_pairs":
        return [
            (a,) * seats + (b,) * (players - seats)
            for a, b in itertools.combinations(agents, 2)
            for seats in range(players - 1, 0, -1)
        ]
    alone = 1 if schedule == "field" else players - 1
    against = itertools.product(agents[:entrants], agents[entrants:])
    return [(a,) * alone + (b,) * (players - alone) for a, b in against]
