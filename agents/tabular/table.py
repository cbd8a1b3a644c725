"""Tables on disk: NumPy arrays and a manifest, in one `.npz` file.

Nothing in a file is run when it is read: arrays are plain numbers, the manifest is JSON.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from tonk_env.errors import TonkError

FORMAT = "tonk-table/1"
MANIFEST = "manifest"
_MOST_BYTES = 1 << 30

Arrays = Mapping[str, npt.NDArray[Any]]


class Manifest(BaseModel):
    """What a table says of itself.

    Attributes:
        format: version of this file.
        kind: what its keys are, and so how it is played by: see `agents.tabular`.
        name: the run that made it.
        method: by which it was found.
        rules: name or path of the rules it was found for.
        rules_options: every option of those rules.
        rules_fingerprint: of those rules.
        actions_fingerprint: of the action table.
        players: seats at the table.
        iterations: how many it took.
        seed: of the run.
        details: what else its kind needs or has to tell.
        versions: of the libraries, by name.
        commit: of the source, where known.
    """

    model_config = ConfigDict(frozen=True)

    format: str = FORMAT
    kind: str
    name: str
    method: str
    rules: str
    rules_options: dict[str, Any] = {}
    rules_fingerprint: str
    actions_fingerprint: str
    players: int
    iterations: int
    seed: int
    details: dict[str, Any] = {}
    versions: dict[str, str] = {}
    commit: str | None = None


def write_table(stream: IO[bytes], manifest: Manifest, arrays: Arrays) -> None:
    """Writes a table; equal ones are equal to the byte."""
    text = np.frombuffer(manifest.model_dump_json(indent=2).encode(), np.uint8)
    members: dict[str, Any] = {MANIFEST: text, **arrays}
    np.savez_compressed(stream, **members)


def read_table(path: Path) -> tuple[Manifest, dict[str, npt.NDArray[Any]]]:
    """Reads a table.

    Raises:
        TonkError: the file is not there, damaged, or not a table of this version.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _MOST_BYTES:
            raise TonkError(f"{path}: holds {size} bytes, at most {_MOST_BYTES} are read")
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: np.array(archive[name]) for name in archive.files}
    except OSError as error:
        raise TonkError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, TonkError):
            raise
        raise TonkError(f"{path}: not a table of Tonk, or damaged: {_one_line(error)}") from None
    return _manifest(arrays.pop(MANIFEST, None), path), arrays


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _manifest(text: npt.NDArray[Any] | None, path: Path) -> Manifest:
    try:
        if text is None or text.dtype != np.uint8:
            raise ValueError
        data = json.loads(text.tobytes())
        version = data["format"]
    except (ValueError, KeyError, TypeError):
        raise TonkError(f"{path}: not a table of Tonk: it holds no manifest") from None
    if version != FORMAT:
        raise TonkError(f"{path}: written in format {version!r}; this version of Tonk reads {FORMAT!r}")
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise TonkError(f"{path}: manifest: {where}: {first['msg']}") from None


def take_array(
    arrays: Arrays, name: str, dtype: npt.DTypeLike, path: Path, length: int | None = None
) -> npt.NDArray[Any]:
    """Returns an array of a table.

    Raises:
        TonkError: it is missing, or of another type, shape or length.
    """
    found = arrays.get(name)
    if found is None:
        raise TonkError(f"{path}: damaged: it holds no array {name}")
    if found.dtype != dtype or found.ndim != 1 or (length is not None and len(found) != length):
        raise TonkError(f"{path}: damaged: its array {name} is {found.dtype} of shape {found.shape}")
    return np.ascontiguousarray(found)
