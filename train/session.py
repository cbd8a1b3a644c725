"""What all kinds of runs share while they go on: the log, progress on the screen, Ctrl-C."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import torch
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from train import folder


class Stopped(Exception):
    """Ctrl-C was pressed, and the run stopped at a checkpoint."""


class Journal:
    """Writes lines to the screen and to train.log; the log has how far the run was, and times.jsonl has when.

    Args:
        path: of the run.
        unit: what tells how far a run is, such as `decisions`.
        console: the screen.
    """

    def __init__(self, path: Path, unit: str, console: Console) -> None:
        self.unit, self.console, self.times = unit, console, path / folder.TIMES
        self.file = (path / folder.LOG).open("a", encoding="utf-8")

    def log(self, now: int, message: str) -> None:
        """Writes a line at `now`, in units."""
        self.console.print(f"{now:>12,}  {message}", highlight=False, soft_wrap=True)
        self.file.write(f"{now:>12}  {message}\n")
        self.file.flush()
        line = {self.unit: now, "time": round(time.time(), 3), "what": message}
        with self.times.open("a", encoding="utf-8") as times:
            times.write(json.dumps(line) + "\n")

    def note_versions(self, now: int, before: dict[str, str]) -> None:
        """Writes a line for each library that is not the one that a run was begun with."""
        for library, found in folder.versions().items():
            if found != before.get(library):
                self.log(now, f"note: begun with {library} {before.get(library)}, now {found}")

    def close(self) -> None:
        """Closes the log."""
        self.file.close()


def make_progress(console: Console) -> Progress:
    """Returns a display of progress, shown on terminals only."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[note]}"),
        console=console, disable=not console.is_terminal, speed_estimate_period=120,
    )  # fmt: skip


@contextmanager
def ctrl_c(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C stops after the update in progress; the second at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pressed(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        stop()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of torch: on a small machine two spin against each other, and runs would not repeat."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
