"""What the commands share: where they print, how they check numbers, what they say while kernels compile."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_env.errors import TonkError

if TYPE_CHECKING:
    from rich.console import Console

MIN_PLAYERS, MAX_PLAYERS = 2, 6

RulesOption = Annotated[str, typer.Option(help="A rules preset, or the path of its TOML file.")]
PlayersOption = Annotated[int, typer.Option(help="Seats at the table, 2 to 6.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def stdout() -> Console:
    """Returns the terminal; tables that go elsewhere are plain text, wide enough not to be cut."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=max(console.width, 120))


def warn(message: str) -> None:
    """Prints a line on standard error."""
    print(f"tonk: {' '.join(message.split())}", file=sys.stderr)


def print_json(data: Any) -> None:
    """Prints data as one line of JSON."""
    print(json.dumps(data, ensure_ascii=False, allow_nan=False))


def note_compiling() -> None:
    """Says that kernels are about to be compiled, if they are."""
    from tonk_env._jit import is_cold

    if is_cold():
        warn("compiling the engine for this machine, once: about a minute")


def check_players(players: int) -> None:
    """Checks the option ``--players`` before anything else is loaded.

    Raises:
        TonkError: it is not 2 to 6.
    """
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise TonkError(f"--players {players}: Tonk is played by {MIN_PLAYERS} to {MAX_PLAYERS}")


def integers(option: str, text: str) -> list[int]:
    """Returns the numbers of a list such as ``8,6,8,20``.

    Raises:
        TonkError: it is not one.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise TonkError(
            f"{option} {text}: write whole numbers with commas between them, such as 8,6,8"
        ) from None


@contextmanager
def naming_options(names: Sequence[str]) -> Iterator[None]:
    """Turns the name of an argument that begins a message into an option's (``by: …`` into ``--by: …``)."""
    try:
        yield
    except TonkError as error:
        message = str(error)
        is_option = message.split()[0].rstrip(":") in names
        raise TonkError(f"--{message}" if is_option else message) from None


def amount_text(amount: float) -> str:
    """Writes a payment with its sign (``+1``, ``-0.5``, ``0``)."""
    return f"{amount:+g}" if amount else "0"
