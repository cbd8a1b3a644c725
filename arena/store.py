"""The folder of a tournament: batches as they are played, appended to a file that survives being killed.

`blocks.jsonl` holds one line of JSON for each batch, in the order in which they were finished, after a first
line that says what fixes the result. A line counts once it is whole; what a killed run leaves of the next
one is cut off.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from tonk_env.errors import TonkError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

BLOCKS_FORMAT = "tonk-blocks/1"
BLOCKS, RESULTS, TIMING = "blocks.jsonl", "results.json", "timing.json"

_LOCKED_BYTE = 2**31 - 2


class Store:
    """Keeps batches in a folder; a context manager that closes the file.

    The folder is this store's alone until then, or until its process has ended, in whatever way.

    Args:
        folder: made if need be.
        header: what fixes the result, as plain data.

    Raises:
        TonkError: the folder holds another tournament, is another store's or cannot be written.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self.path = folder / BLOCKS
        first_line = _line({"format": BLOCKS_FORMAT, **header})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._stream = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise self._cannot(error) from None
        try:
            if not lock(self._stream):
                raise TonkError(f"{folder}: another arena is at work there; wait, or give another folder")
            self._lines = self._open(first_line)
        except OSError as error:
            self.close()
            raise self._cannot(error) from None
        except TonkError:
            self.close()
            raise

    def _cannot(self, error: OSError) -> TonkError:
        return TonkError(f"{self.path}: cannot be written: {error.strerror or error}")

    def _open(self, first_line: bytes) -> list[bytes]:
        """Checks the header, or writes it; cuts off a torn line; returns the lines of batches."""
        self._stream.seek(0)
        data = self._stream.read()
        if first_line.startswith(data):  # a new file, or one that was killed while its header was written
            self._stream.truncate(0)
            self._write(first_line)
            _sync_folder(self.path.parent)
            return []
        lines = data.split(b"\n")
        if lines[0] != first_line[:-1]:
            raise TonkError(f"{self.path}: {_difference(lines[0], first_line)}; give another folder")
        whole = len(data) - len(lines[-1])
        if whole < len(data):
            self._stream.truncate(whole)
        return lines[1:-1]

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        while view:
            view = view[self._stream.write(view) :]
        os.fsync(self._stream.fileno())

    def batches(self, is_batch: Callable[[Any], bool]) -> list[dict[str, Any]]:
        """Returns the batches of earlier runs for which `is_batch` holds; others are to be played again."""
        found = []
        for line in self._lines:
            try:
                batch = json.loads(line)
            except ValueError:
                continue  # damaged: not by us
            if is_batch(batch):
                found.append(batch)
        self._lines = []
        return found

    def append(self, batch: dict[str, Any]) -> None:
        """Writes a batch, and returns once it is on the disk.

        Raises:
            TonkError: it cannot be written; the batches before it are kept.
        """
        try:
            self._write(_line(batch))
        except OSError as error:
            raise self._cannot(error) from None

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_header(folder: Path) -> dict[str, Any]:
    """Returns what fixes the result of the tournament in a folder.

    Raises:
        TonkError: there is none.
    """
    path = folder / BLOCKS
    try:
        with open(path, "rb") as stream:
            header = json.loads(stream.readline())
    except (OSError, ValueError):
        raise TonkError(f"{folder}: no tournament to resume: it has no readable {BLOCKS}") from None
    if not isinstance(header, dict) or header.get("format") != BLOCKS_FORMAT:
        raise TonkError(f"{path}: not a tournament of this version")
    return header


def write_whole(target: Path, text: str) -> None:
    """Writes a file whole or not at all; its folder is made if need be.

    Raises:
        TonkError: it cannot be written.
    """
    with open_whole(target) as stream:
        stream.write(text.encode())


@contextlib.contextmanager
def open_whole(target: Path) -> Iterator[BinaryIO]:
    """Opens a file that is there, whole, once the block ends without error; its folder is made if need be.

    Raises:
        TonkError: it cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with open(descriptor, "wb") as stream:
                # A draft is private to its writer; the file that takes its place is as open as any other.
                os.chmod(draft, 0o644)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, target)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise TonkError(f"{target}: cannot be written: {error.strerror or error}") from None


def lock(stream: FileIO) -> bool:
    """Makes an open file this process's own until it is closed; returns False where it is another's.

    The system lets go of the file when the process ends, even if it is killed. Where files cannot be locked,
    as on some network drives, this asks for nothing.
    """
    try:
        if sys.platform == "win32":
            stream.seek(_LOCKED_BYTE)  # beyond all data: others may read those
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _sync_folder(folder: Path) -> None:
    """Makes a new file's name last, where folders can be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _difference(found: bytes, expected: bytes) -> str:
    """Says in what a header differs from the one expected."""
    try:
        theirs, ours = json.loads(found), json.loads(expected)
        is_ours = theirs["format"] == BLOCKS_FORMAT
    except (ValueError, KeyError, TypeError):
        is_ours = False
    if not is_ours:
        return "not a tournament of this version"
    for name, mine in _flat(ours).items():
        other = _flat(theirs).get(name)
        if other != mine:
            return f"holds another tournament ({name} = {_short(other)} there, {_short(mine)} here)"
    return "holds another tournament"


def _flat(header: dict[str, Any]) -> dict[str, Any]:
    return {**header.get("config", {}), **{key: each for key, each in header.items() if key != "config"}}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
