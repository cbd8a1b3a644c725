"""Checkpoints: a stable-baselines3 zip with a JSON manifest inside; solvers write only what is read to play.

To play, only two members are read: `tonk.json`, as JSON, and `policy.pth`, as tensors and nothing else. The
member `data`, which stable-baselines3 unpickles, is never opened here, so a zip from a stranger can at worst
play badly.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.neural.network import Weights
from tonk_env.errors import TonkError
from tonk_env.limits import CHECKPOINT_FORMAT

MANIFEST, WEIGHTS = "tonk.json", "policy.pth"
_MOST_BYTES = {MANIFEST: 1 << 20, WEIGHTS: 1 << 30}


class Manifest(BaseModel):
    """What a checkpoint says of itself.

    Attributes:
        format: version of this file.
        name: the run that made it.
        rules: name or path of the rules it was trained on.
        rules_options: every option of those rules.
        rules_fingerprint: of those rules.
        players: seats at the table.
        actions_fingerprint: of the action table; another table cannot be played.
        observation_fingerprint: of the observation's planes; others cannot be read.
        decisions: how many it was trained on.
        seed: of the run.
        precision: of the matrix products in training.
        average_decay: of the average of weights that plays; 0: the last weights play.
        versions: of the libraries, by name.
        commit: of the source, where known.
    """

    model_config = ConfigDict(frozen=True)

    format: str = CHECKPOINT_FORMAT
    name: str
    rules: str
    rules_options: dict[str, Any] = {}
    rules_fingerprint: str
    players: int
    actions_fingerprint: str
    observation_fingerprint: str
    decisions: int
    seed: int
    precision: str
    average_decay: float = 0.0
    versions: dict[str, str] = {}
    commit: str | None = None


def add_manifest(file: Path | BinaryIO, manifest: Manifest) -> None:
    """Puts the manifest into a zip that stable-baselines3 wrote."""
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, manifest.model_dump_json(indent=2))


def write_checkpoint(stream: BinaryIO, manifest: Manifest, state: Mapping[str, torch.Tensor]) -> None:
    """Writes a checkpoint of the two members that play needs; equal weights give equal bytes.

    Args:
        stream: where to.
        manifest: what it says of itself.
        state: the weights by name, as `Weights.of_state` reads them.
    """
    weights = io.BytesIO()
    torch.save(dict(state), weights)
    members = {MANIFEST: manifest.model_dump_json(indent=2).encode(), WEIGHTS: weights.getvalue()}
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def replace_file(path: Path, made: Path) -> None:
    """Moves a finished file into place at once, so that nobody ever sees half of it."""
    with made.open("rb+") as stream:
        os.fsync(stream.fileno())
    os.replace(made, path)


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise TonkError(f"{path}: not a Tonk checkpoint: it holds no {name}") from None
    if info.file_size > _MOST_BYTES[name]:
        raise TonkError(f"{path}: {name} has {info.file_size} bytes, at most {_MOST_BYTES[name]} are read")
    return archive.read(info)


def read_checkpoint(path: Path) -> tuple[Manifest, Weights]:
    """Reads a checkpoint without running anything that is in it.

    Raises:
        TonkError: the file is not there, damaged, or not a checkpoint of this version.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            text, weights = _member(archive, MANIFEST, path), _member(archive, WEIGHTS, path)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise TonkError(f"{path}: not a checkpoint, or damaged: {error}") from None
    except OSError as error:
        raise TonkError(f"{path}: cannot be read: {error.strerror or error}") from None
    return _manifest(text, path), _weights(weights, path)


def _manifest(text: bytes, path: Path) -> Manifest:
    try:
        data = json.loads(text)
        version = data["format"]
    except (ValueError, KeyError, TypeError):
        raise TonkError(f"{path}: not a Tonk checkpoint: {MANIFEST} is not a manifest") from None
    if version != CHECKPOINT_FORMAT:
        raise TonkError(
            f"{path}: written in format {version!r}; this version of Tonk reads {CHECKPOINT_FORMAT!r}"
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise TonkError(f"{path}: {MANIFEST}: {where}: {first['msg']}") from None


def _weights(data: bytes, path: Path) -> Weights:
    try:
        state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        weights = Weights.of_state(state)
    except KeyError as error:
        raise TonkError(f"{path}: {WEIGHTS} is of another network: no {error}") from None
    except Exception as error:  # torch raises whatever a damaged file leads it to
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TonkError(f"{path}: {WEIGHTS} holds no weights of this network: {reason[:200]}") from None
    if not weights.is_finite():
        raise TonkError(f"{path}: {WEIGHTS} holds numbers that are not finite")
    return weights
