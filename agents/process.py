"""Programs of any language as agents: asked line by line, and shown the door where they misbehave."""

from __future__ import annotations

import itertools
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from agents.base import FORFEIT, Views
from agents.lines import BYE, end_line, hello_line, move_line, moves_of, read_move, read_ready
from agents.pipes import Pipes, Trouble
from tonk_env._jit import mix
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules

PREFIX = "cmd:"
_GRACE = 1.0
"""Seconds a program has to end by itself once it is told to."""


def command_of(spec: str) -> list[str]:
    """Returns program and arguments of a spec such as ``cmd:./mybot --flag``; no shell is involved.

    Raises:
        TonkError: it names no program, or one that is not there.
    """
    if not spec.isprintable():
        raise TonkError(f"agent {spec!r}: a command is one line without control characters")
    try:
        command = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as error:
        raise TonkError(f"agent {spec!r}: {error}") from None
    if not command or not command[0]:
        raise TonkError(f"agent {spec!r}: write {PREFIX}PROGRAM ARGUMENTS, such as {PREFIX}./mybot --flag")
    if shutil.which(command[0]) is None:
        raise TonkError(f"agent {spec!r}: {command[0]} is no program that can be run from here")
    return command


class ProcessAgent:
    """An outside program that speaks the line protocol `tonk-bot/1` (docs/BOTS.md).

    Each seat has a run of the program to itself, started when it has to decide and ended with the session, so
    that a program sees the cards of one seat alone. Whatever it does wrong forfeits the hand it was asked
    about, `act` answers -1 there, and the program is started anew for the next decision. After `max_forfeits`
    of these, counted over all sessions, it is out: every decision is -1 from then on and nothing is started.

    Args:
        spec: the command, after ``cmd:``.
        seconds: the clock of each move.
        first_seconds: the clock of a start, up to the program's being ready.
        max_forfeits: hands after which the program is withdrawn.
        line_bytes: the longest line that it may answer.

    Attributes:
        name: the spec.
        forfeits: hands forfeited, by reason (`agents.pipes.REASONS`).
        last_trouble: what went wrong last, as one line that is safe to print.

    Raises:
        TonkError: the spec names no program that is there.
    """

    def __init__(
        self,
        spec: str,
        *,
        seconds: float = 5.0,
        first_seconds: float = 10.0,
        max_forfeits: int = 20,
        line_bytes: int = 4096,
    ) -> None:
        self.name = spec
        self.forfeits: Counter[str] = Counter()
        self.last_trouble = ""
        self._command = command_of(spec)
        self._seconds, self._first_seconds = seconds, first_seconds
        self.max_forfeits, self._line_bytes = max_forfeits, line_bytes
        self._rules: LoweredRules | None = None
        self._players = self._seed = 0
        self._running: dict[int, Pipes] = {}
        self._counter = itertools.count(1)
        # By seat and the caller's number of a hand: the number that the program knows it by, which tells
        # nothing of which hands share a deck, and the run that was asked about it.
        self._hands: dict[tuple[int, int], tuple[int, Pipes | None]] = {}
        self._following: list[int] | None = None

    @property
    def is_out(self) -> bool:
        """Whether the program has forfeited so many hands that it is asked no more."""
        return self.forfeits.total() >= self.max_forfeits

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session of hands; the program itself is started when it has to decide."""
        self.stop()
        self._rules, self._players, self._seed = rules, num_players, seed

    def follow(self, hands: npt.NDArray[np.int64]) -> None:
        """Notes which hand each of the next views is of: `[N]` int64."""
        self._following = hands.tolist()

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Asks for a move for each view, one after the other; -1 where the seat forfeits the hand."""
        following, self._following = self._following, None
        actions = np.full(len(views), FORFEIT, np.int32)
        for j in range(len(views)):
            if self.is_out:
                break
            options = legal[j, : num_legal[j]].tolist()
            try:
                actions[j] = self.ask(views[j], options, int(keys[j]), following[j] if following else None)
            except Trouble as trouble:
                self.note(trouble)
        return actions

    def ask(self, view: np.void, actions: Sequence[int], key: int, hand: int | None) -> int:
        """Asks for one move.

        Args:
            view: a record of VIEW_DTYPE, of the seat to move.
            actions: ids of the legal actions.
            key: 63 random bits of this decision.
            hand: the caller's number of the hand, or None.

        Raises:
            Trouble: the program did something wrong, and has been ended.
        """
        assert self._rules is not None, "start comes first"
        seat = int(view["seat"])
        with self._kept_in_step(seat):
            pipes = self._run(seat)
            number = None if hand is None else self._number(seat, hand, pipes)
            moves = moves_of(view, self._rules, actions)
            answer = pipes.ask(move_line(view, self._rules, moves, number, key), self._seconds)
            return read_move(answer, view, self._rules, moves, number)

    def note(self, trouble: Trouble) -> None:
        """Counts a hand that is forfeited."""
        self.forfeits[trouble.reason] += 1
        self.last_trouble = str(trouble)
        if self.is_out:
            self.stop()

    def end_hand(self, hand: int, ending: str, by: int, payments: Sequence[float]) -> None:
        """Tells the runs of the program that were asked about a hand how it ended."""
        for seat in range(self._players):
            number, asked = self._hands.pop((seat, hand), (0, None))
            if asked is not None and self._running.get(seat) is asked:
                asked.tell(end_line(number, seat, ending, None if by < 0 else by, payments))

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Ends the program; it is started again if it has to decide once more."""
        self.stop()

    def stop(self) -> list[str]:
        """Tells every run of the program to end; returns what they did wrong about that (`Pipes.stop`)."""
        wrong = [each for pipes in self._running.values() for each in pipes.stop(BYE, _GRACE)]
        self._running.clear()
        self._hands.clear()
        return wrong

    def greet(self, seat: int) -> None:
        """Starts the program for a seat, where it does not run, and waits until it is ready.

        Raises:
            Trouble: it does not get ready, and has been ended.
        """
        with self._kept_in_step(seat):
            self._run(seat)

    @contextmanager
    def _kept_in_step(self, seat: int) -> Iterator[None]:
        """Ends the program where it did something wrong, or was asked and not heard to the end."""
        try:
            yield
        except BaseException:
            broken = self._running.pop(seat, None)
            if broken is not None:
                broken.kill()
            raise

    def _run(self, seat: int) -> Pipes:
        pipes = self._running.get(seat)
        if pipes is None:
            assert self._rules is not None
            pipes = self._running[seat] = Pipes(self._command, self._line_bytes)
            seed = int(mix(self._seed, seat)) >> 32
            clocks = self._seconds, self._first_seconds
            hello = hello_line(self._rules, self._players, seat, *clocks, seed)
            read_ready(pipes.ask(hello, self._first_seconds))
        return pipes

    def _number(self, seat: int, hand: int, pipes: Pipes) -> int:
        known = self._hands.get((seat, hand))
        number = known[0] if known is not None else next(self._counter)
        self._hands[seat, hand] = number, pipes
        return number
