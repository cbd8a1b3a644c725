"""`tonk arena`: ranks agents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tonk_cli.common import JsonOption, check_players, naming_options, note_compiling, stdout


def arena(
    agents: Annotated[
        list[str],
        typer.Argument(metavar="AGENT...", help="Agents; or one config file of a tournament (.toml)."),
    ],
    rules: Annotated[
        str | None, typer.Option(help="A rules preset, or the path of its TOML file (default: pagat).")
    ] = None,
    players: Annotated[int | None, typer.Option(help="Seats at a table, 2 to 6 (default: 2).")] = None,
    deals: Annotated[
        int | None, typer.Option(help="Decks, each played under every seating (default: 20000).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Equal seeds give equal results (default: 0).")] = None,
    out: Annotated[Path | None, typer.Option(help="Also write results.json into this folder.")] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Also print how hands ended, and stakes by seat.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Rank agents in stakes per hand over duplicate deals."""
    if players is not None:
        check_players(players)
    from arena.config import ArenaConfig, load_config

    defaults = ArenaConfig(agents=("a", "b"))
    if len(agents) == 1 and agents[0].endswith(".toml"):
        defaults = load_config(agents[0])
        agents = list(defaults.agents)
    note_compiling()
    from arena.report import print_results
    from arena.tournament import run_tournament

    with naming_options(("players", "deals", "seed")), progress_bar("hands") as progress:
        results = run_tournament(
            agents,
            rules=defaults.rules if rules is None else rules,
            players=defaults.players if players is None else players,
            deals=defaults.deals if deals is None else deals,
            seed=defaults.seed if seed is None else seed,
            progress=progress,
        )
    if out is not None:
        results.write(out)
    if as_json:
        print(results.to_json(), end="")
    else:
        print_results(results, stdout(), details)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Shows progress on a terminal: yields what is told (done, total), or None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)
