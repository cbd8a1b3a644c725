"""Agents that are tables: what solvers find. A table's manifest says its kind, and so how it plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.tabular import abstracted, solution
from agents.tabular.table import read_table
from tonk_env.errors import TonkError

KINDS: Mapping[str, Callable[..., Agent]] = {
    solution.KIND: solution.Solution,
    abstracted.KIND: abstracted.Abstracted,
}
"""Makes an agent of `(manifest, arrays, path, greedy)`, by the table's kind."""


def load_agent(path: str | Path, greedy: bool = False) -> Any:
    """Reads a table as an agent.

    Args:
        path: of a `.npz` file.
        greedy: take the likeliest action, instead of drawing one.

    Raises:
        TonkError: the file is not there, damaged, or of a kind that this version does not know.
    """
    manifest, arrays = read_table(Path(path))
    if manifest.kind not in KINDS:
        raise TonkError(f"{path}: a table of kind {manifest.kind!r}; there are {', '.join(KINDS)}")
    return KINDS[manifest.kind](manifest, arrays, Path(path), greedy)
