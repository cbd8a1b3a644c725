"""Runs a tournament: batch by batch, in one process or several, kept as it goes, until it is done.

Everything that a batch is follows from its number, and batches are taken in by number, whatever order they
were finished in. So results do not depend on how many processes played them, nor on how often the run was
interrupted.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tonk_env
from agents.base import Agent
from arena import decisive, placements
from arena.blocks import Progress, Watcher, check_size, make_agents, match_hands, play_blocks, policy_of
from arena.config import ArenaConfig
from arena.course import Course
from arena.deals import hands_of_block
from arena.decisive import Swings
from arena.hands import HandRows, HandTable
from arena.placements import Placements
from arena.play import Clock
from arena.results import Results, Setting
from arena.schedule import make_groups
from arena.store import RESULTS, TIMING, Store, write_whole
from arena.tally import Tally
from arena.workers import play_aside, play_here
from tonk_env.errors import TonkError
from tonk_env.limits import ENGINE_VERSION
from tonk_env.resources import find_checkpoint
from tonk_env.rules import LoweredRules, lower

TIMING_FORMAT = "tonk-timing/1"


class BatchPlayer:
    """Plays the batches of a tournament.

    Args:
        config: the tournament.
        agents: those of the config, in place of its specs.
        at_once: blocks played at once; a matter of speed and memory alone.

    Attributes:
        agents: the agents.
        groups: who meets whom.
        may_leave: agents that may be withdrawn: those that have an attribute `is_out`.
        header: what fixes the result, as far as it can be told: not the code of a class or a program.
        table: where rows of hands are written, if they are.

    Raises:
        TonkError: the config cannot be played.
    """

    def __init__(
        self, config: ArenaConfig, agents: Sequence[str | Agent] | None = None, at_once: int | None = None
    ) -> None:
        self.config, self._at_once = config, at_once
        self.rules = lower(config.rules)
        check_size(self.rules, config.players, config.deals, config.seed)
        has_field = config.schedule in ("field", "host")
        if has_field and not config.entrants:
            raise TonkError(
                f"agents: none given, and schedule = {config.schedule!r} measures one or more against a field"
            )
        self.agents = make_agents(config.everyone if agents is None else agents)
        self.groups = make_groups(
            config.schedule, len(self.agents), config.players, len(config.entrants) if has_field else 1
        )
        self.may_leave = [number for number, agent in enumerate(self.agents) if hasattr(agent, "is_out")]
        self.header = _header(config, self.rules)
        self.table = None
        if config.hands:
            if config.out is None:
                raise TonkError("hands: say which folder they are written into, by out")
            names = [agent.name for agent in self.agents]
            self.table = HandTable(Path(config.out), self.header, names, config.players)

    def new_tally(self) -> Tally:
        """Returns a tally of this tournament, with nothing in it."""
        each_block = hands_of_block(self.groups[0])
        return Tally(self.groups, len(self.agents), each_block, match_hands(self.rules), self.may_leave)

    def blocks_of(self, batch: int) -> tuple[int, int]:
        """Returns a batch's first block and how many it has."""
        first = batch * self.config.batch_blocks
        return first, min(self.config.batch_blocks, self.config.deals - first)

    @property
    def num_batches(self) -> int:
        """Batches that make up all deals."""
        return -(-self.config.deals // self.config.batch_blocks)

    @property
    def block_hands(self) -> int:
        """Hands of a block, of all groups together."""
        return hands_of_block(self.groups[0]) * match_hands(self.rules) * len(self.groups)

    def play(self, number: int, left: frozenset[int]) -> dict[str, Any]:
        """Plays a batch; see `arena.workers.Player`.

        Returns:
            Its summary as plain data: what its tally exports, agents that are out, and times.
        """
        groups = [group for group in self.groups if not left & set(group)]
        first, blocks = self.blocks_of(number)
        tally, clock, begun = self.new_tally(), Clock(), time.perf_counter()
        placed, swings, rows = Placements(first, blocks), Swings(), HandRows(self.groups)
        watchers: list[Watcher] = [placed, swings]
        if self.table is not None:
            watchers.append(rows)
        config = self.config
        adjusted = self.new_tally() if config.luck else None
        play_blocks(
            self.agents,
            groups,
            self.rules,
            config.players,
            config.seed,
            first,
            blocks,
            tally,
            clock,
            at_once=self._at_once,
            adjusted=adjusted,
            rollouts=config.luck,
            watchers=watchers,
        )
        if self.table is not None:
            self.table.write(number, rows.sorted())
        return {
            "batch": number,
            **tally.export(),
            **({} if adjusted is None else {"adjusted": adjusted.export()}),
            "placements": placed.export(self.groups),
            "swings": swings.export(self.groups),
            "out": [agent for agent in self.may_leave if getattr(self.agents[agent], "is_out", False)],
            "times": {
                "seconds": time.perf_counter() - begun,
                "compiled": clock.compiled,
                "agents": [clock.agents.get(agent, [0, 0.0]) for agent in range(len(self.agents))],
            },
        }

    def is_batch(self, summary: Any, empty: Tally) -> bool:
        """Tells whether data is the summary of a batch of this tournament; `empty` is a tally of it."""
        if not isinstance(summary, dict) or type(summary.get("batch")) is not int:
            return False
        number = summary["batch"]
        return (
            0 <= number < self.num_batches
            and empty.fits(summary)
            and (not self.config.luck or empty.fits(summary.get("adjusted")))
            and summary["blocks"] == self.blocks_of(number)[1]
            and placements.fits(summary.get("placements"), self.groups, *self.blocks_of(number))
            and decisive.fits(summary.get("swings"), self.groups)
            and isinstance(summary.get("out"), list)
            and isinstance(summary.get("times"), dict)
            and (self.table is None or self.table.has(number))
        )

    def close(self) -> None:
        """Ends what agents have running: calls `stop` of those that have one."""
        for agent in self.agents:
            stop = getattr(agent, "stop", None)
            if callable(stop):
                stop()


def run(
    config: ArenaConfig,
    agents: Sequence[str | Agent] | None = None,
    progress: Progress | None = None,
    at_once: int | None = None,
) -> Results:
    """Plays a tournament, or what is left of it where `config.out` holds a part of it.

    Args:
        config: the tournament. Where it names a folder, results are written there too, and batches as they
            are finished.
        agents: agents to play in place of the specs of `config.everyone`, in that order; some may be agents
            themselves, which play in this process alone.
        progress: called with the hands played so far and the hands that there will be at most.
        at_once: blocks played at once; a matter of speed and memory alone.

    Raises:
        TonkError: the config cannot be played, its folder holds another tournament or cannot be written, or
            an agent made an illegal move.
        KeyboardInterrupt: as it came; what is done is kept in the folder.
    """
    with contextlib.ExitStack() as stack:
        player = BatchPlayer(config, agents, at_once)
        stack.callback(player.close)
        if config.workers > 1 and agents is not None and not all(isinstance(each, str) for each in agents):
            raise TonkError(f"workers = {config.workers}: agents that are objects play in one process")
        course = Course(
            player.new_tally,
            player.num_batches,
            config.deals,
            [getattr(agent, "max_forfeits", None) for agent in player.agents],
            config.until,
            config.min_deals,
            bool(config.luck),
        )
        folder = None if config.out is None else Path(config.out)
        store = None
        if folder is not None:
            store = stack.enter_context(Store(folder, player.header))
            empty = player.new_tally()
            for summary in store.batches(lambda data: player.is_batch(data, empty)):
                course.add(summary)

        def tell() -> None:
            if progress is not None and course.blocks:
                progress(course.blocks * player.block_hands, config.deals * player.block_hands)

        tell()
        for summary in _batches(player, course, stack):
            if store is not None:
                store.append(summary)
            course.add(summary)
            tell()
            if course.is_over:
                break
        results = course.results(_setting(player))
        if folder is not None:
            if player.table is not None:
                player.table.join(course.counted)
            write_whole(folder / TIMING, _timing(player, course))
            results.write(folder)
    return results


def _batches(player: BatchPlayer, course: Course, stack: contextlib.ExitStack) -> Iterator[dict[str, Any]]:
    missing, left = course.missing(), lambda: course.left
    workers = min(player.config.workers, course.num_missing)
    if workers <= 1:
        return play_here(player, missing, left)
    make = functools.partial(BatchPlayer, player.config)
    played = play_aside(make, missing, left, workers)
    stack.callback(played.close)
    return played


def _setting(player: BatchPlayer) -> Setting:
    config = player.config
    return Setting(
        rules=config.rules,
        lowered=player.rules,
        names=[agent.name for agent in player.agents],
        groups=player.groups,
        policies=[policy_of(agent) for agent in player.agents],
        players=config.players,
        match_hands=match_hands(player.rules),
        seed=config.seed,
        schedule=config.schedule,
        until=config.until,
        luck=config.luck,
    )


def _header(config: ArenaConfig, rules: LoweredRules) -> dict[str, Any]:
    files = {}
    for spec in config.everyone:
        path = spec.removesuffix(":greedy")
        with contextlib.suppress(TonkError, OSError):
            files[spec] = hashlib.sha256(find_checkpoint(path).read_bytes()).hexdigest()
    return {
        "config": config.fixing(),
        "rules_fingerprint": rules.fingerprint,
        "checkpoints": files,
        "tonk": tonk_env.__version__,
        "engine": ENGINE_VERSION,
    }


def _timing(player: BatchPlayer, course: Course) -> str:
    """How long decisions took, as JSON: kept apart, so that results repeat to the byte."""
    times = course.times
    seconds = sum(each["seconds"] for each in times)
    hands = course.blocks * player.block_hands

    def row(decisions: int, taken: float) -> dict[str, Any]:
        each = 1e6 * taken / decisions if decisions else None
        return {"decisions": decisions, "seconds": taken, "microseconds_per_decision": each}

    compiled = [sum(column) for column in zip(*(each["compiled"] for each in times), strict=True)]
    agents = []
    for number, agent in enumerate(player.agents):
        asked = [sum(column) for column in zip(*(each["agents"][number] for each in times), strict=True)]
        agents.append({"agent": agent.name, **row(*asked)})
    data = {
        "format": TIMING_FORMAT,
        "results": RESULTS,
        "hands": hands,
        "seconds": seconds,
        "hands_per_second": hands / seconds if seconds else None,
        "compiled": row(*compiled),
        "agents": agents,
    }
    return json.dumps(data, indent=2, allow_nan=False) + "\n"
