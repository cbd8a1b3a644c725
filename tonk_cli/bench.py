"""`tonk bench`: how fast this machine is, beside peers where they are installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_cli.common import JsonOption, note_compiling, print_json, stdout
from tonk_env.errors import TonkError

if TYPE_CHECKING:
    from tonk_cli.speed import Speed

UNITS = {
    "engine": "decisions",
    "engine_observed": "decisions",
    "rule_bots": "hands",
    "aec": "steps",
    "training": "decisions",
}
"""What there is to measure, and in which units."""
SECONDS = 3.0
_PEERS = Path(__file__).resolve().parents[1] / "benchmarks" / "peers.py"
_NO_PEER = "no other library does this at a comparable game"
_INSTALL = {
    "engine": "pip install 'tonk[openspiel]'",
    "engine_observed": "pip install 'tonk[openspiel]'",
    "aec": "pip install pygame-ce",
}


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help=f"What to measure: {', '.join(UNITS)} (default: all)."),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time for each figure; a rollout of training may take longer.")
    ] = SECONDS,
    as_json: JsonOption = False,
) -> None:
    """Measure speed on one core of this machine, beside peers where they are installed."""
    chosen = list(dict.fromkeys(names or UNITS))
    for name in chosen:
        if name not in UNITS:
            raise TonkError(f"bench {name}: there is no such benchmark; there are {', '.join(UNITS)}")
    if not 0 < seconds <= 3600:
        raise TonkError(f"--seconds {seconds:g}: more than 0 and up to 3600")
    note_compiling()
    results = measure(chosen, seconds)
    if as_json:
        print_json({"results": [result.to_dict() for result in results]})
    else:
        _print(results)


@dataclass(frozen=True)
class Result:
    """One benchmark: ours, and a peer's or why there is none."""

    name: str
    ours: Speed
    peer: Speed | None
    note: str | None
    conditions: str

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` gives of it; facts follow the keys that every result has."""
        peer = self.peer
        return {
            "name": self.name,
            "per_second": self.ours.per_second,
            "unit": UNITS[self.name],
            "peer": None if peer is None else peer.what,
            "peer_per_second": None if peer is None else peer.per_second,
            "ratio": None if peer is None else self.ours.per_second / peer.per_second,
            "note": self.note,
            "what": self.ours.what,
            "conditions": self.conditions,
            **self.ours.facts,
            **({} if peer is None else {f"peer_{fact}": value for fact, value in peer.facts.items()}),
        }

    def to_text(self) -> str:
        """What was measured, and the facts, as a sentence."""
        facts = {**self.ours.facts}
        if self.peer is not None:
            facts |= {f"peer's {fact}": value for fact, value in self.peer.facts.items()}
        told = "; ".join(f"{fact.replace('_', ' ')} {_text(value)}" for fact, value in facts.items())
        return f"{self.name}: {self.ours.what}. {told}."


def measure(names: Sequence[str], seconds: float) -> list[Result]:
    """Measures ours and its peer, one after the other, for each of `names`."""
    # Read by the libraries that would use more threads: one core is measured, in the process's own time.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    from tonk_cli.doctor import cpu
    from tonk_cli.speed import MEASURES, REPETITIONS, TRAINING_REPETITIONS
    from tonk_env._jit import is_compiled

    results = []
    for name in names:
        _say(f"measuring {name} ...")
        ours = MEASURES[name](seconds)
        _say(f"measuring a peer of {name} ...")
        peer, note = _measure_peer(name, seconds)
        repetitions = TRAINING_REPETITIONS if name == "training" else REPETITIONS
        conditions = f"{cpu()[0]}, one thread, process time, best of {repetitions} repetitions"
        if not is_compiled():
            conditions += ", kernels not compiled (NUMBA_DISABLE_JIT)"
        results.append(Result(name, ours, peer, note, conditions))
    _say("")
    return results


def _measure_peer(name: str, seconds: float) -> tuple[Speed | None, str | None]:
    """Returns the peer's speed, or None and why there is none."""
    if not _PEERS.is_file():
        return None, "peers are measured in a checkout of the repository only"
    # By its place: a stranger's package of the same name is not taken for ours.
    spec = spec_from_file_location("benchmarks.peers", _PEERS)
    assert spec is not None and spec.loader is not None
    peers = module_from_spec(spec)
    spec.loader.exec_module(peers)
    if name not in peers.PEERS:
        return None, _NO_PEER
    try:
        peer: Speed = peers.PEERS[name](seconds)
    except ModuleNotFoundError as error:
        hint = f": {_INSTALL[name]}" if name in _INSTALL else ""
        return None, f"not measured, {error.name} is not installed{hint}"
    return peer, None


def _say(message: str) -> None:
    """Shows what goes on, on one line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{message}", end="", file=sys.stderr, flush=True)


def _print(results: Sequence[Result]) -> None:
    from rich.table import Table

    table = Table()
    for heading in ("", "per second", "unit", "peer", "peer's", "ratio"):
        is_number = heading in ("per second", "peer's", "ratio")
        table.add_column(heading, justify="right" if is_number else "left")
    for result in results:
        peer = [result.note or "", "", ""]
        if result.peer is not None:
            ratio = result.ours.per_second / result.peer.per_second
            peer = [result.peer.what, f"{result.peer.per_second:,.0f}", f"{ratio:.1f}×"]
        table.add_row(result.name, f"{result.ours.per_second:,.0f}", UNITS[result.name], *peer)
    console = stdout()
    console.print(table)
    for result in results:
        console.print(result.to_text(), soft_wrap=True)
    # Of training there are fewer repetitions, as it says.
    for conditions in dict.fromkeys(result.conditions for result in results):
        console.print(f"Measured on {conditions}.", soft_wrap=True)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {share:.0%}" for name, share in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,.0f}" if isinstance(value, float) and value > 1000 else f"{value}"
