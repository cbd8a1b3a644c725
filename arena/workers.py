"""Batches played side by side in processes of their own.

Each process makes its own agents from their spec strings. A batch is a function of its number alone, so it
makes no difference which process plays it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from tonk_env.errors import TonkError

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PATIENCE = 5.0
"""Seconds in which a process that is to end may end what its agents have running."""
AHEAD = 2
"""Batches a process is given at a time, so that it need not wait for the next."""


class Player(Protocol):
    """What plays batches."""

    def play(self, number: int, left: frozenset[int]) -> dict[str, Any]:
        """Plays a batch, without the agents that have left."""

    def close(self) -> None:
        """Ends what agents have running."""


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Makes torch compute in one thread, where it is there, and as before afterwards."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(before)


def play_here(
    player: Player, numbers: Iterable[int], left: Callable[[], frozenset[int]]
) -> Iterator[dict[str, Any]]:
    """Plays batches in this process; yields their summaries."""
    with one_thread():
        for number in numbers:
            yield player.play(number, left())


def play_aside(
    make: Callable[[], Player], numbers: Iterable[int], left: Callable[[], frozenset[int]], workers: int
) -> Generator[dict[str, Any], None, None]:
    """Plays batches in so many processes; yields their summaries as they are finished.

    Whoever stops iterating closes this generator, and with it the processes.

    Args:
        make: makes a player, in each process; it can be pickled.
        numbers: of the batches.
        left: tells which agents have left by now.
        workers: how many processes.

    Raises:
        TonkError: one of the processes does, or has died.
    """
    # Spawned, not forked: a copy of a process whose libraries have threads may hang.
    context = multiprocessing.get_context("spawn")
    pending = iter(numbers)
    processes = []
    pipes: dict[Connection, list[int]] = {}
    try:
        with _environment(), _no_interrupt():
            for _ in range(workers):
                mine, theirs = context.Pipe()
                process = context.Process(target=_work, args=(make, theirs), daemon=True)
                process.start()
                theirs.close()
                processes.append(process)
                pipes[mine] = []
        for _ in range(AHEAD):
            for pipe, given in pipes.items():
                _give(pipe, given, pending, left())
        while any(pipes.values()):
            for ready in wait([pipe for pipe, given in pipes.items() if given]):
                assert isinstance(ready, Connection)
                summary = _receive(ready)
                pipes[ready].pop(0)
                yield summary
                _give(ready, pipes[ready], pending, left())
    finally:
        for pipe in pipes:
            pipe.close()  # which ends a process that waits for a batch
        for process in processes:
            process.join(0.2)
            process.terminate()
        for process in processes:
            process.join(PATIENCE)
            process.kill()
            process.join()


def _give(pipe: Connection, given: list[int], pending: Iterator[int], left: frozenset[int]) -> None:
    number = next(pending, None)
    if number is not None:
        with contextlib.suppress(BrokenPipeError):  # it has died, which is told when its answer is read
            pipe.send((number, left))
        given.append(number)


def _receive(pipe: Connection) -> dict[str, Any]:
    try:
        kind, found = pipe.recv()
    except (EOFError, ConnectionResetError):
        raise TonkError("a worker process has died (killed, or out of memory?)") from None
    if kind == "refused":
        raise TonkError(found)
    if kind == "failed":
        raise RuntimeError(f"in a worker process:\n{found}")
    summary: dict[str, Any] = found
    return summary


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Tells libraries of processes started here to use one thread; read when they are first imported."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Holds Ctrl-C back, also from processes started here, which it would reach before they can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(make: Callable[[], Player], pipe: Connection) -> None:
    """Plays batches until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what follows `finally` is done
    threading.Thread(target=_die_with_parent, daemon=True).start()
    player = None
    try:
        player = make()
        with one_thread():
            while True:
                number, left = pipe.recv()
                pipe.send(("played", player.play(number, left)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except TonkError as error:
        with contextlib.suppress(OSError):
            pipe.send(("refused", str(error)))
    except Exception:
        with contextlib.suppress(OSError):
            pipe.send(("failed", traceback.format_exc()))
    finally:
        if player is not None:
            player.close()


def _die_with_parent() -> None:
    """Ends this process when the one that started it has been killed, however long its batch may take."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        os._exit(1)
