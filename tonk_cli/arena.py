"""`tonk arena`: ranks agents."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tonk_cli.common import (
    JsonOption,
    amount_text,
    check_players,
    naming_options,
    note_compiling,
    stdout,
    warn,
)
from tonk_env.errors import TonkError
from tonk_env.resources import list_configs

if TYPE_CHECKING:
    from arena.config import ArenaConfig
    from arena.replays import Replay
    from arena.results import Results

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def arena(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="AGENT...",
            help="Agents. The first word may be a tournament's config instead: one that ships, by name, or a "
            ".toml file; agents after it are added to its own.",
        ),
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help="A rules preset, or the path of its TOML file (default: pagat).")
    ] = None,
    players: Annotated[int | None, typer.Option(help="Seats at a table, 2 to 6 (default: 2).")] = None,
    deals: Annotated[
        int | None,
        typer.Option(help="Decks, each played under every seating; with --until, at most (default: 20000)."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Equal seeds give equal results (default: 0).")] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            help="Who meets whom: round_robin, all_pairs, field (the first agent against each other, which "
            "holds all seats but one) or host (the first agent holds them) (default: round_robin)."
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(help="Play until the half-width of every interval is below this, in stakes per hand."),
    ] = None,
    min_deals: Annotated[
        int | None, typer.Option(help="With --until, decks that are played at least (default: 2000).")
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(help="Decks between which results are kept (default: a twentieth, 50 to 1000)."),
    ] = None,
    luck: Annotated[
        int | None,
        typer.Option(
            help="Take luck out of payments, by so many rollouts after each card drawn: narrower intervals "
            "for some milliseconds a hand, which pays where decisions are dear (default: 0, do not)."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; results do not depend on it (default: 1).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Also write results.json and timing.json into this folder, and batches as they are played: "
            "the same command goes on where it was interrupted."
        ),
    ] = None,
    hands: Annotated[
        bool,
        typer.Option(
            "--hands", help="Also write hands.parquet into --out: a row for each hand (extra: parquet)."
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with what --out holds; agents and options may be left out."),
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also print how hands ended, and stakes by seat.")
    ] = False,
    ratings: Annotated[
        bool,
        typer.Option(
            "--ratings", help="Also rate by OpenSkill, alpha-rank and Nash averaging (extra: ratings)."
        ),
    ] = False,
    tensorboard: Annotated[
        Path | None,
        typer.Option(
            help="Also write curves over the checkpoints of a run among the agents, for TensorBoard."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank agents in stakes per hand over duplicate deals."""
    if players is not None:
        check_players(players)
    options = {
        "rules": rules,
        "players": players,
        "deals": deals,
        "seed": seed,
        "schedule": schedule,
        "until": until,
        "min_deals": min_deals,
        "batch": batch,
        "luck": luck,
        "workers": workers,
        "out": None if out is None else str(out),
        "hands": hands or None,
    }
    config = _configure(
        agents or [], {key: each for key, each in options.items() if each is not None}, resume
    )
    names = ("players", "deals", "seed", "schedule", "workers", "hands")
    with _resumable(config):
        note_compiling()
        from arena.report import print_results
        from arena.run import run

        with naming_options(names), progress_bar("hands") as progress:
            results = run(config, progress=progress)
        rated = _rate(results) if ratings else []
        if config.out is not None:
            _write_page(config, results, rated)
    if tensorboard is not None:
        from arena.curves import write_curves
        from arena.results import deciding

        write_curves(tensorboard, deciding(results.to_dict()))
    if as_json:
        print(results.to_json(), end="")
    else:
        print_results(results, stdout(), details)
        for each in rated:
            _print_rating(each)


def _rate(results: Results) -> list[dict[str, Any]]:
    """Returns the secondary ratings as plain data."""
    from arena.ratings import alpha_rank, nash_averaging, open_skill
    from arena.results import deciding

    data = deciding(results.to_dict())
    return [each.to_dict() for each in (open_skill(results.games), alpha_rank(data), nash_averaging(data))]


def _print_rating(rating: dict[str, Any]) -> None:
    from rich.table import Table

    console = stdout()
    if rating["scores"] is None:
        console.print(f"{rating['kind']}: none, {rating['reason']}", soft_wrap=True, markup=False)
        return
    table = Table(title=rating["kind"], title_justify="left", box=None)
    table.add_column("agent")
    for column in rating["columns"]:
        table.add_column(column, justify="right")
    for agent, figures in rating["scores"].items():
        table.add_row(agent, *(f"{figure:.3f}" for figure in figures))
    console.print(table)
    console.print(f"{rating['reason']}\n".capitalize(), soft_wrap=True, markup=False)


def _write_page(config: ArenaConfig, results: Results, ratings: list[dict[str, Any]]) -> None:
    """Writes report.html beside the results."""
    from arena.page import write_page
    from arena.replays import play_again
    from arena.store import TIMING

    folder = Path(str(config.out))
    timing = json.loads((folder / TIMING).read_text(encoding="utf-8"))
    seconds = {
        each["agent"]: each["microseconds_per_decision"] / 1e6
        for each in timing["agents"]
        if each["microseconds_per_decision"] is not None
    }
    spent = {"seconds": timing["seconds"], "agents": seconds}
    command = shlex.join(["tonk", *sys.argv[1:]])
    replays = [_readable(each) for each in play_again(config, results.decisive)]
    path = write_page(folder, results.to_dict(), spent, replays=replays, ratings=ratings, command=command)
    warn(f"report: {path}")


def _readable(replay: Replay) -> dict[str, str]:
    """A decisive hand as the page takes it."""
    from tonk_cli.replay import hand_text

    seat, names, hand = replay.seat, replay.agents, replay.hand
    deal = f"Deal {replay.block}" + (f", hand {replay.number} of the match" if replay.number else "")
    others = ", ".join(name for at, name in enumerate(names) if at != seat)
    seats = "\n".join(f"seat {at}: {name}" for at, name in enumerate(names))
    shown = f"not shown: {replay.reason}" if hand is None else hand_text(hand)
    return {
        "title": f"{deal}, seat {seat}: {amount_text(replay.stakes)} for {names[seat]} against {others}",
        "text": f"{seats}\n\n{shown}",
    }


def _configure(words: list[str], options: dict[str, Any], resume: bool) -> ArenaConfig:
    """Returns the tournament that words and options name.

    Raises:
        TonkError: it is not valid, or there is nothing to resume.
    """
    from arena.config import ArenaConfig, load_config, make_config

    out = options.get("out")
    if resume and out is None:
        raise TonkError("--resume: say which folder to go on in, with --out DIR")
    if resume and not words:
        from arena.store import read_header

        config = make_config(read_header(Path(str(out)))["config"], f"{out}: ")
    elif words and _names_config(words[0]):
        config = load_config(words[0])
        config = config.model_copy(update={"agents": (*config.agents, *words[1:])})
    else:
        config = ArenaConfig(agents=tuple(words))
    with naming_options(tuple(_dashed(key) for key in options)):
        return _with_options(config, options, make_config)


def _names_config(word: str) -> bool:
    """Whether a word is a tournament's config rather than an agent, such as ``style:bot.toml``."""
    return word in list_configs("arena") or (word.endswith(".toml") and ":" not in word)


def _with_options(
    config: ArenaConfig, options: dict[str, Any], make_config: Callable[..., ArenaConfig]
) -> ArenaConfig:
    deals = options.get("deals", 2)
    if deals < 2:
        raise TonkError(f"deals = {deals}: at least 2 are needed, since one deal alone has no interval")
    try:
        return make_config(config.model_dump() | options)
    except TonkError as error:
        key, space, rest = str(error).partition(" ")
        raise TonkError(f"{_dashed(key)}{space}{rest}") from None


def _dashed(key: str) -> str:
    """An option's name as it is typed."""
    return key.replace("_", "-")


@contextmanager
def _resumable(config: ArenaConfig) -> Iterator[None]:
    """Says on Ctrl-C how to go on, and exits with status 130."""
    try:
        yield
    except KeyboardInterrupt:
        warn(_how_to_resume(config))
        raise typer.Exit(INTERRUPTED) from None


def _how_to_resume(config: ArenaConfig) -> str:
    if config.out is None:
        return "stopped; nothing is kept (with --out DIR, what is played is)"
    from arena.store import BLOCKS

    if not (Path(config.out) / BLOCKS).exists():
        return "stopped before anything was played"
    workers = f" --workers {config.workers}" if config.workers > 1 else ""
    hands = " --hands" if config.hands else ""
    command = f"tonk arena --resume --out {shlex.quote(config.out)}{workers}{hands}"
    return f"stopped; what is played is kept; go on with: {command}"


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
