"""The `tonk` command. Every command's module is light; what computes is imported when a command runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tonk_cli import arena, bench, check_bot, doctor, exploit, play, points, replay, rules, training
from tonk_cli.common import warn
from tonk_env.errors import TonkError
from tonk_env.resources import check_siblings

USER_ERROR = 2
"""Exit status where something that the user gave is wrong."""

app = typer.Typer(
    name="tonk",
    help="Tonk: the card game as an environment, a training suite and an arena.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(play.play)
app.command()(training.train)
app.command()(arena.arena)
app.command()(exploit.exploit)
app.command()(training.quickstart)
app.command()(replay.replay)
app.command()(points.score)
app.command()(points.odds)
app.add_typer(rules.app, name="rules")
app.command("check-bot")(check_bot.check_bot)
app.command()(bench.bench)
app.command()(doctor.doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        from tonk_env import __version__

        print(f"tonk {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def tonk(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Tonk: the card game as an environment, a training suite and an arena."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status: 2, after one line, where the user gave something wrong."""
    try:
        check_siblings()  # before a command imports them
        status = typer.main.get_command(app).main(arguments, prog_name="tonk", standalone_mode=False)
    except TonkError as error:
        warn(str(error))
        return USER_ERROR
    except typer.Abort:
        return 1
    except BrokenPipeError:
        # Whoever read the output has gone; nothing more can be written, not even when Python closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        warn(f"{error.filename}: {error.strerror}")
        return USER_ERROR
    except Exception as error:
        line = _usage_line(error)
        if line is None:
            raise
        warn(line)
        return USER_ERROR
    return status if isinstance(status, int) else 0


def _usage_line(error: Any) -> str | None:
    """What click has to say of wrong arguments; None where the error is no such thing.

    Newer versions of typer bring a click of their own, so its errors are known by what they can do.
    """
    if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
        return None
    context = getattr(error, "ctx", None)
    where = getattr(context, "command_path", "tonk")
    return f"{error.format_message().rstrip('.')} (see {where} --help)"


def main() -> None:
    """The console script."""
    # Products are small here: two threads spend more on waiting for each other than they save, the more so on
    # a busy machine. Read by torch and BLAS when they are first imported, which commands do.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(run())


if __name__ == "__main__":
    main()
