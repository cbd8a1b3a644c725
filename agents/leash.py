"""Programs on a leash: each in a session of its own, and nothing that it started outlives it."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

MARK = "TONK_BOT"
"""Environment variable by which what a program started is known, wherever it has moved to."""

_PROC = Path("/proc")
_SWEEPS, _BETWEEN_SWEEPS = 200, 0.005  # a second at most, for processes that are slow to die
_TO_DIE = 5.0
# Should this process be killed, its end of the pipe closes, and the guard ends the program's group.
_GUARD = 'read -r _; kill -s KILL -- "-$1"'


class Leash:
    """A program that runs, with its three streams as pipes, until `end`, or until nobody holds the leash.

    Args:
        argv: the program and its arguments.

    Attributes:
        process: the program.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        token = secrets.token_hex(16)
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            # A group that can be killed at once, and no terminal that it could write to behind our back.
            start_new_session=True,
            env={**os.environ, MARK: token},
        )
        self._token = token
        guard = _start_guard(self.process.pid)
        self._end = weakref.finalize(self, _end_all, self.process, guard, token, os.getpid())

    def has_exited(self) -> bool:
        """Tells whether the program has ended. It is not reaped, so that its group keeps its number."""
        return self.process.returncode is not None or self.status() is not None

    def status(self) -> str | None:
        """Returns how the program ended, as the end of a sentence; None while it runs."""
        try:
            found = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "ended"  # and was reaped by somebody else
        if found is None:
            return None
        how = "ended with status" if found.si_code == os.CLD_EXITED else "was ended by signal"
        return f"{how} {found.si_status}"

    def wait(self, seconds: float) -> bool:
        """Waits until the program has ended, or so long; returns whether it has."""
        deadline, pause = time.monotonic() + seconds, 0.0005
        while not self.has_exited():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.02)
        return True

    def num_left(self) -> int:
        """Counts the processes that the program started and that still run."""
        return sum(pid != self.process.pid for pid in marked(f"{MARK}={self._token}".encode()))

    def end(self) -> None:
        """Kills the program and all that it started, and closes its pipes; nothing where that is done."""
        self._end()


def _start_guard(group: int) -> subprocess.Popen[bytes] | None:
    nothing = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "sh", str(group)],
            stdin=subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
        )
    except OSError:
        return None  # no shell: then only a death by SIGKILL of this process leaves something behind


def _end_all(
    process: subprocess.Popen[bytes], guard: subprocess.Popen[bytes] | None, token: str, owner: int
) -> None:
    if os.getpid() != owner:
        return  # a fork of whoever started it, which has nothing to end
    if guard is not None:
        guard.kill()
        guard.wait()
        if guard.stdin is not None:
            guard.stdin.close()
    # Before it is reaped: until then nobody else's group can have its number.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    _sweep(f"{MARK}={token}".encode())
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_TO_DIE)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _sweep(mark: bytes) -> None:
    """Kills the processes that carry a mark: those that a program moved out of its group."""
    for _ in range(_SWEEPS):
        found = marked(mark)
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_BETWEEN_SWEEPS)


def marked(mark: bytes) -> list[int]:
    """Returns the processes that have an entry `mark` in the environment they were started with (Linux)."""
    found = []
    for entry in os.listdir(_PROC) if _PROC.is_dir() else ():
        if not entry.isdigit():
            continue
        try:
            environment = (_PROC / entry / "environ").read_bytes()
        except OSError:
            continue  # another user's, or gone
        if mark in environment.split(b"\0"):
            found.append(int(entry))
    return found
