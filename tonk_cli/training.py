"""`tonk train` and `tonk quickstart`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tonk_cli.arena import progress_bar
from tonk_cli.common import note_compiling, stdout, warn
from tonk_env.errors import TonkError

QUICKSTART = "quickstart"
YARDSTICKS = ("reference", "heuristic:drop=25", "random")
QUICK_DEALS = 5000

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a key of the config; repeatable."),
]
OutOption = Annotated[Path | None, typer.Option(help="Where run folders go (default: runs).")]


def train(
    config: Annotated[
        str | None, typer.Argument(help="A training config: one that ships, by name, or a path.")
    ] = None,
    overrides: SetOption = None,
    out: OutOption = None,
    resume: Annotated[Path | None, typer.Option(help="The folder of a run to go on with.")] = None,
) -> None:
    """Train an agent or solve a small game, as a config says; or go on with a run."""
    if (config is None) == (resume is None):
        raise TonkError("give either a training config to start with, or --resume RUN")
    if resume is not None and (overrides or out is not None):
        raise TonkError(
            f"--resume {resume}: a run keeps its config and folder; --set and --out do not go with it"
        )
    _run(config, overrides or [], out, resume)


def _run(config: str | None, overrides: Sequence[str], out: Path | None, resume: Path | None) -> Path:
    from train.config import load_config

    # Before the learner is imported: a mistake in the config is told at once.
    loaded = None if config is None else load_config(config, overrides)
    note_compiling()
    from train.kinds import trainer_of

    try:
        return trainer_of(loaded, resume)(loaded, out=out, resume=resume)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def quickstart(
    out: OutOption = None,
    overrides: SetOption = None,
    deals: Annotated[int, typer.Option(help="Decks of the ranking.")] = QUICK_DEALS,
) -> None:
    """Train an agent for about two minutes, then rank it against rule bots."""
    run = _run(QUICKSTART, overrides or [], out, None)
    warn("ranking the best checkpoint on decks that training never saw")
    from arena.report import print_results
    from arena.tournament import run_tournament
    from train.config import load_config
    from train.folder import BEST

    game = load_config(QUICKSTART, overrides or []).game
    with progress_bar("hands") as progress:
        results = run_tournament(
            [str(run / BEST), *YARDSTICKS],
            rules=game.rules,
            players=game.players,
            deals=deals,
            progress=progress,
        )
    console = stdout()
    print_results(results, console)
    console.print(f"Run folder: {run}", soft_wrap=True)
    console.print(f"Its curves: {_beside_python('tensorboard')} --logdir {run.parent}", soft_wrap=True)


def _beside_python(command: str) -> str:
    """How to call a command of the environment that runs this one."""
    path = Path(sys.executable).with_name(command)
    return os.path.relpath(path) if path.exists() else command
