"""Tournaments: every group of agents plays the same decks under every seating."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.base import Agent
from arena.blocks import Progress, check_size
from arena.config import make_config
from arena.results import Results
from arena.run import run
from tonk_env.rules import lower


def run_tournament(
    agents: Sequence[str | Agent],
    rules: str = "pagat",
    players: int = 2,
    deals: int = 20000,
    seed: int = 0,
    progress: Progress | None = None,
    batch_blocks: int | None = None,
    *,
    field: Sequence[str | Agent] = (),
    schedule: str = "round_robin",
    until: float | None = None,
    min_deals: int = 2000,
    batch: int | None = None,
    luck: int = 0,
    workers: int = 1,
    out: str | Path | None = None,
    hands: bool = False,
) -> Results:
    """Plays a tournament: groups of agents, on the same decks, each under every seating.

    Args:
        agents: spec strings, or agents themselves; at least two different ones, those of the field included.
        rules: a preset's name, or the path of its file.
        players: seats at a table.
        deals: decks; a group plays each under every permutation of its seats up to three seats, and from four
            on under every rotation of an order drawn for each deck. Under rules of a match of several hands,
            a deal is a whole match for each seating.
        seed: of decks, orders and lots, 0 or more. Equal seeds give equal results, to the byte.
        progress: called with the hands played so far and the hands in all.
        batch_blocks: decks played at once; results do not depend on it.
        field: agents that those of `agents` are measured against, where the schedule has a field; none: all
            of `agents` but the first.
        schedule: who meets whom; see `arena.schedule.make_groups`.
        until: plays only until every half-width, of agents and of pairs, is below this.
        min_deals: decks that are played at least, where `until` is given.
        batch: decks in a batch, between which results are kept, `until` is decided and agents are started
            anew; None: a twentieth of the deals, 50 to 1,000.
        luck: rollouts of the bot `expert` after each card drawn, by which luck is taken out of payments; 0:
            it is not.
        workers: processes. Results do not depend on it.
        out: a folder for the results, in which an interrupted tournament goes on where it was.
        hands: whether a row for each hand is written there too; needs pyarrow.

    Raises:
        TonkError: an unknown agent or one that is there twice, a number out of range, rules that are not
            valid or are not played by that many, or a folder that cannot be used.
    """
    check_size(lower(rules), players, deals, seed)
    given = [*agents, *field]
    config = make_config(
        {
            "agents": [_name(each) for each in agents],
            "field": [_name(each) for each in field],
            "rules": rules,
            "players": players,
            "deals": deals,
            "seed": seed,
            "schedule": schedule,
            "until": until,
            "min_deals": min_deals,
            "batch": batch,
            "luck": luck,
            "workers": workers,
            "out": None if out is None else str(out),
            "hands": hands,
        }
    )
    return run(config, given, progress, batch_blocks)


def _name(given: str | Agent) -> str:
    return given if isinstance(given, str) else given.name
