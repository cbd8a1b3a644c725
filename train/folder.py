"""The folder of a run: what lies in it, written so that nobody ever sees half a file."""

from __future__ import annotations

import io
import json
import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from agents.neural.checkpoint import replace_file
from tonk_env.errors import TonkError

CONFIG, MANIFEST, LOG, TIMES = "config.toml", "manifest.json", "train.log", "times.jsonl"
LATEST, BEST, STATE, CHECKPOINTS, RESULT = "latest.zip", "best.zip", "state.pt", "checkpoints", "result.json"

_LIBRARIES = ("tonk", "torch", "numpy", "numba", "stable_baselines3", "sb3_contrib")


def new_folder(parent: Path, name: str) -> Path:
    """Makes `parent/name-<n>` with the smallest n that is free.

    Raises:
        TonkError: it cannot be written.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True)
        taken = 0
        while True:
            taken += 1
            try:
                (parent / f"{name}-{taken}").mkdir()
            except FileExistsError:
                continue
            (parent / f"{name}-{taken}" / CHECKPOINTS).mkdir()
            return parent / f"{name}-{taken}"
    except OSError as error:
        raise TonkError(f"{parent}: cannot write run folders there: {error.strerror or error}") from None


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    made = path.with_name(f".{path.name}.part")
    made.write_text(text, encoding="utf-8")
    replace_file(path, made)


def write_json(path: Path, data: Any) -> None:
    """Writes a JSON file whole or not at all."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Writes tensors and plain data whole or not at all."""
    made = path.with_name(f".{path.name}.part")
    torch.save(state, made)
    replace_file(path, made)


def read_state(path: Path) -> dict[str, Any]:
    """Reads what `write_state` wrote; nothing in the file is run.

    Raises:
        TonkError: it is not there, or damaged.
    """
    try:
        state: dict[str, Any] = torch.load(io.BytesIO(path.read_bytes()), weights_only=True)
    except FileNotFoundError:
        raise TonkError(f"{path.parent}: no checkpoint to resume from ({path.name} is missing)") from None
    except Exception as error:  # torch raises whatever a damaged file leads it to
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TonkError(f"{path}: damaged: {reason[:200]}") from None
    return state


def read_manifest(run: Path) -> dict[str, Any]:
    """Reads the manifest of a run.

    Raises:
        TonkError: the folder is not that of a run.
    """
    try:
        data: dict[str, Any] = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
        return data
    except (OSError, ValueError):
        raise TonkError(f"{run}: not the folder of a run: it has no readable {MANIFEST}") from None


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    found = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


def commit() -> str | None:
    """The commit of the source, with "+" where files differ from it; None outside a checkout."""
    here = Path(__file__).resolve().parent.parent
    if not (here / ".git").exists():
        return None
    try:
        git = ["git", "-C", str(here)]
        found = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True
        )
        dirty = subprocess.run(
            [*git, "status", "--porcelain"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def command() -> str:
    """The command line of this process."""
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
