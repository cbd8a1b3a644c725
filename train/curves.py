"""TensorBoard events of a run that may have been killed and taken up again."""

from __future__ import annotations

import struct
import time
from pathlib import Path

from stable_baselines3.common.logger import TensorBoardOutputFormat
from tensorboard.compat.proto.event_pb2 import Event
from torch.utils.tensorboard import SummaryWriter

from agents.neural.checkpoint import replace_file

_HEADER, _FOOTER = 12, 4
"""Bytes around a record: before it its length (8) and the length's checksum (4), after it its own."""


class Curves(TensorBoardOutputFormat):
    """Writes events from some decision on; what earlier sessions wrote beyond it is taken back.

    They are cut from the files, and a TensorBoard that is looking on is told to forget them.
    """

    def __init__(self, run: Path, decisions: int):
        files = sorted(run.glob("events.out.tfevents.*"))
        for path in files:
            cut_events(path, decisions)
        # Files are read in the order of their names, which tell the second they were begun in.
        newest = max((int(path.name.split(".")[3]) for path in files), default=0)
        patience = time.monotonic() + 2
        while time.time() < newest + 1 and time.monotonic() < patience:
            time.sleep(0.02)
        self.writer = SummaryWriter(str(run), purge_step=decisions + 1 if decisions else None)
        self._is_closed = False


def cut_events(path: Path, last: int) -> None:
    """Removes the events after step `last` from a file, and a record that a kill cut short."""
    data, kept, at = path.read_bytes(), bytearray(), 0
    while at + _HEADER <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        end = at + _HEADER + length + _FOOTER
        if end > len(data):
            break
        if Event.FromString(data[at + _HEADER : end - _FOOTER]).step <= last:
            kept += data[at:end]
        at = end
    if len(kept) < len(data):
        made = path.with_name(f".{path.name}.part")
        made.write_bytes(kept)
        replace_file(path, made)
