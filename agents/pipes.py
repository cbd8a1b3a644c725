"""A program that is talked to in lines: what it may cost is bounded in time, in bytes and in processes."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Sequence

from agents.leash import Leash

START = "start"
CRASH = "crash"
SILENCE = "silence"
FLOOD = "flood"
UNASKED = "unasked"
GARBAGE = "garbage"
ILLEGAL = "illegal move"
IMPOSTOR = "another seat"
REASONS = (START, CRASH, SILENCE, FLOOD, UNASKED, GARBAGE, ILLEGAL, IMPOSTOR)
"""What a program can do wrong."""

_CHUNK = 1 << 16
_WORDS_KEPT = 2048  # of what it says on standard error
_MAX_ERRORS = 1 << 20  # bytes of that for each question
_SHOWN = 160
_FOR_STATUS = 0.2  # seconds that the exit status of a program which has closed its output is waited for


class Trouble(Exception):
    """A program did something wrong.

    Attributes:
        reason: one of `REASONS`.
        detail: what exactly: one line without control characters.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


def clean(said: bytes | str, length: int = _SHOWN) -> str:
    """Returns what a program said as one short line that is safe to print: no control characters."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    # Cut before it is looked at, for it may be long.
    cut = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * length])
    words = " ".join(cut.split())
    return words if len(words) <= length else f"{words[:length]}…"


class Pipes:
    """A running program.

    Args:
        argv: the program and its arguments.
        line_bytes: the longest line it may answer.

    Raises:
        Trouble: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], line_bytes: int) -> None:
        try:
            self._leash = Leash(argv)
        except OSError as error:
            raise Trouble(START, clean(f"{argv[0]}: {error.strerror}")) from None
        process = self._leash.process
        assert process.stdin and process.stdout and process.stderr
        self._input, self._output, self._errors = (
            stream.fileno() for stream in (process.stdin, process.stdout, process.stderr)
        )
        self._line_bytes = line_bytes
        self._unsent, self._unread, self._words = bytearray(), b"", b""
        self._error_bytes = 0
        self._is_closed = False  # its output
        self._poll = select.poll()
        for stream in (self._input, self._output, self._errors):
            os.set_blocking(stream, False)
        self._poll.register(self._output, select.POLLIN)
        self._poll.register(self._errors, select.POLLIN)
        # Tells of the program's end even where something it started keeps the pipes open.
        self._pid_file = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else -1
        if self._pid_file >= 0:
            self._poll.register(self._pid_file, select.POLLIN)

    def tell(self, line: str) -> None:
        """Sends a line that is not answered, along with the next question."""
        self._unsent += line.encode() + b"\n"

    def ask(self, line: str, seconds: float) -> str:
        """Sends a line and returns the line that is answered, stripped.

        Raises:
            Trouble: there is no answer within so many seconds, it is too long, or something was said before.
        """
        deadline = time.monotonic() + seconds
        self._error_bytes = 0
        self._refuse_chatter()
        self.tell(line)
        while True:
            self._send()
            if not self._unsent:
                answer = self._next_line()
                if answer is not None:
                    return answer
            self._wait(deadline, seconds)

    def stop(self, farewell: str, grace: float) -> list[str]:
        """Says a last line, closes the program's input and ends it with all that it started.

        Args:
            farewell: the line.
            grace: seconds it has to end by itself.

        Returns:
            What it did wrong about that, each as the end of a sentence.
        """
        self.tell(farewell)
        deadline = time.monotonic() + grace
        with contextlib.suppress(Trouble):  # it is over anyway
            self._send()
            while self._unsent and not self._is_closed:
                self._wait(deadline, grace)
                self._send()
        process = self._leash.process
        if process.stdin is not None:
            process.stdin.close()
        wrong = []
        if not self._leash.wait(deadline - time.monotonic()):
            wrong.append(f"did not end within {grace:g} s of being told to")
        if self._leash.num_left():
            wrong.append("left processes behind")
        self.kill()
        return wrong

    def kill(self) -> None:
        """Ends the program and all that it started."""
        self._leash.end()
        if self._pid_file >= 0:
            os.close(self._pid_file)
            self._pid_file = -1

    def __del__(self) -> None:
        if getattr(self, "_pid_file", -1) >= 0:
            os.close(self._pid_file)

    def _refuse_chatter(self) -> None:
        if self._unread.isspace() or not self._unread:
            self._unread = b""
            self._receive()
        if self._unread.strip():
            raise Trouble(UNASKED, f"said {clean(self._unread)!r} without being asked")

    def _send(self) -> None:
        if not self._unsent:
            return
        try:
            del self._unsent[: os.write(self._input, self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            raise self._crash() from None

    def _wait(self, deadline: float, seconds: float) -> None:
        """Waits for whatever comes next, and takes it in."""
        left = deadline - time.monotonic()
        if left <= 0:
            doing = "did not read its input" if self._unsent else "did not answer"
            raise Trouble(SILENCE, f"{doing} within {seconds:g} seconds{self._last_words()}")
        if self._unsent:
            self._poll.register(self._input, select.POLLOUT)
        ready = {stream for stream, _ in self._poll.poll(left * 1000)}
        if self._unsent:
            self._poll.unregister(self._input)
        if self._errors in ready:
            self._listen_to_errors()
        if self._output in ready:
            self._receive()
            if self._is_closed:
                raise self._crash()
        elif self._pid_file in ready:
            raise self._crash()

    def _receive(self) -> None:
        try:
            chunk = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        self._unread += chunk
        self._is_closed = not chunk
        if len(self._unread) > self._line_bytes + _CHUNK:
            raise self._flood(self._unread)

    def _flood(self, said: bytes) -> Trouble:
        return Trouble(FLOOD, f"more than a line of {self._line_bytes} bytes: {clean(said, 40)!r}")

    def _next_line(self) -> str | None:
        while True:
            line, newline, rest = self._unread.partition(b"\n")
            if len(line) > self._line_bytes:
                raise self._flood(line)
            if not newline:
                return None
            self._unread = rest
            if line.strip():
                return line.decode("utf-8", "replace").strip()

    def _listen_to_errors(self) -> None:
        try:
            chunk = os.read(self._errors, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._poll.unregister(self._errors)
            return
        self._words = (self._words + chunk)[-_WORDS_KEPT:]
        self._error_bytes += len(chunk)
        if self._error_bytes > _MAX_ERRORS:
            raise Trouble(FLOOD, f"more than {_MAX_ERRORS} bytes on standard error: {clean(chunk, 40)!r}")

    def _last_words(self) -> str:
        """What it said last on standard error, as an end to a message."""
        with contextlib.suppress(OSError):
            self._words = (self._words + os.read(self._errors, _CHUNK))[-_WORDS_KEPT:]
        lines = [line for line in map(clean, self._words.splitlines()) if line]
        return f"; its last words: {lines[-1]}" if lines else ""

    def _crash(self) -> Trouble:
        self._leash.wait(_FOR_STATUS)
        return Trouble(CRASH, (self._leash.status() or "closed its pipes") + self._last_words())
