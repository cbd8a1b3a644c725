"""A run's strength against fixed agents as curves in TensorBoard, from tournaments of its checkpoints.

The event files are written by TensorBoard's own writer, which needs neither torch nor TensorFlow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonk_env.errors import TonkError

Results = Mapping[str, Any]
"""As in `results.json`."""

_CHECKPOINT = re.compile(
    r"(?:(?P<run>.*)/)?(?:[^/]*step_)?(?P<step>\d+)\.(?:zip|npz)(?P<option>:\w+)?", re.DOTALL
)
_NAMED = "a checkpoint named …/N.zip or …/step_N.zip, or so with npz"


@dataclass(frozen=True)
class Point:
    """One value of one curve.

    Attributes:
        run: the folder that the checkpoint lies in, with its option if it has one; runs are kept apart.
        tag: what is measured.
        step: of the checkpoint, in decisions learned from.
        value: in stakes per hand, or a place in the ranking.
    """

    run: str
    tag: str
    step: int
    value: float


def curves(results: Results | Sequence[tuple[int, Results]], agent: str | None = None) -> list[Point]:
    """Returns the curves of checkpoints: `arena/stake_vs_<agent>` and the interval, rank and stakes.

    Args:
        results: of one tournament, whose checkpoints are named `…/N.zip`, as training does, or
            `…/step_N.zip`, and are measured against all other agents; or (step, results) of several, with
            one agent that is measured in each.
        agent: who is measured where there are several tournaments; None: the one that is a checkpoint.

    Returns:
        Points in the order of tournaments, agents and opponents.

    Raises:
        TonkError: no agent to measure is there, or in one of several tournaments more than one.
    """
    if isinstance(results, Mapping):
        found = [
            point for name, run, step in _checkpoints(results) for point in _of(results, name, run, step)
        ]
        if not found:
            raise TonkError(f"no agent is {_NAMED}, so there are no curves to write")
        return found
    return [point for step, each in results for point in _of(each, *_measured(each, agent, step), step)]


def write_curves(
    folder: str | Path, results: Results | Sequence[tuple[int, Results]], agent: str | None = None
) -> int:
    """Writes the curves into a folder for `tensorboard --logdir`; several runs get a folder each in it.

    Args:
        folder: made if need be.
        results: as for `curves`.
        agent: as for `curves`.

    Returns:
        How many values were written.

    Raises:
        TonkError: as `curves`, or the folder cannot be written.
    """
    points = curves(results, agent)
    runs = list(dict.fromkeys(point.run for point in points))
    try:
        for run, name in zip(runs, _folders(runs), strict=True):
            _write(Path(folder) / name, [point for point in points if point.run == run])
    except OSError as error:
        raise TonkError(f"{folder}: cannot be written: {error.strerror or error}") from None
    return len(points)


def _write(folder: Path, points: Sequence[Point]) -> None:
    # Imported here: it takes a while, and only curves need it.
    from tensorboard.summary import Writer

    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(str(folder))
    try:
        for point in sorted(points, key=lambda each: (each.tag, each.step)):
            writer.add_scalar(point.tag, point.value, point.step)
    finally:
        writer.close()


def _folders(runs: Sequence[str]) -> list[str]:
    """Names of folders for runs, none outside the folder they are in; one run alone needs none."""
    if len(runs) == 1:
        return [""]
    cleaned = [re.sub(r"[^\w.=-]+", "_", run).strip("._") or "run" for run in runs]
    return [name if cleaned.count(name) == 1 else f"{name}_{at}" for at, name in enumerate(cleaned, 1)]


def _checkpoints(results: Results) -> list[tuple[str, str, int]]:
    """Name, run and step of all agents that are checkpoints."""
    found = []
    for entry in results["agents"]:
        match = _CHECKPOINT.fullmatch(entry["agent"])
        if match:
            run = (match["run"] or "").removesuffix("/checkpoints") + (match["option"] or "")
            found.append((str(entry["agent"]), run, int(match["step"])))
    return found


def _measured(results: Results, agent: str | None, step: int) -> tuple[str, str]:
    """Name and run of the agent that a tournament measures."""
    if agent is not None:
        if all(entry["agent"] != agent for entry in results["agents"]):
            raise TonkError(f"step {step}: {agent} did not take part")
        return agent, ""
    found = _checkpoints(results)
    if len(found) != 1:
        raise TonkError(f"step {step}: {len(found)} agents are {_NAMED}; one is needed")
    return found[0][0], found[0][1]


def _of(results: Results, name: str, run: str, step: int) -> list[Point]:
    """The points of one agent in one tournament; other checkpoints are no anchors."""
    places = {str(entry["agent"]): place for place, entry in enumerate(results["agents"], 1)}
    own = results["agents"][places[name] - 1]
    found = [
        Point(run, "arena/rank", step, places[name]),
    ]
    if own["stakes_per_hand"] is not None:
        found.append(Point(run, "arena/stakes_per_hand", step, own["stakes_per_hand"]))
    checkpoints = {other for other, _, _ in _checkpoints(results)}
    for pair in results["pairs"]:
        if name not in (pair["a"], pair["b"]):
            continue
        other, sign = (pair["b"], 1) if pair["a"] == name else (pair["a"], -1)
        if other not in checkpoints and pair["ci95"] is not None:
            low, high = pair["ci95"]
            found.append(Point(run, f"arena/stake_vs_{other}", step, sign * pair["stakes_per_hand"]))
            found.append(Point(run, f"arena/ci_half_{other}", step, (high - low) / 2))
    return found
