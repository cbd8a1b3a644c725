"""`tonk check-bot`: whether an outside program can play in the arena."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tonk_cli.common import (
    JsonOption,
    PlayersOption,
    RulesOption,
    check_players,
    naming_options,
    note_compiling,
    print_json,
)

if TYPE_CHECKING:
    from arena.conformance import Report

_WRONG = 1


def check_bot(
    program: Annotated[
        str, typer.Argument(metavar="cmd:PROGRAM", help="The program and its arguments, in quotes.")
    ],
    rules: RulesOption = "pagat",
    players: PlayersOption = 2,
    hands: Annotated[int, typer.Option(help="Hands to play against the expert.")] = 200,
    seconds: Annotated[float, typer.Option(help="The clock of each move.")] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Check that a program speaks the arena's protocol (docs/BOTS.md), and say what is wrong.

    Exit status: 1 where something is wrong with the program.
    """
    check_players(players)
    note_compiling()
    from arena.conformance import check_bot as check

    with naming_options(("players", "hands", "seconds")):
        report = check(program, rules, players, hands, seconds)
    if as_json:
        print_json({"agent": program, "rules": rules, "players": players, **report.to_dict()})
    else:
        _show(report)
    if not report.is_ok:
        raise typer.Exit(_WRONG)


def _show(report: Report) -> None:
    # Plain prints: what a program said is text, not markup.
    words = {True: "ok", False: "WRONG", None: "note"}
    for check in report.checks:
        print(f"{words[check.passed]:<6}{check.name}: {check.detail}")
    facts = report.to_dict()
    if facts["seconds"]:
        median, most = (1000 * facts["seconds"][which] for which in ("median", "max"))
        print(f"{facts['decisions']} answers, {median:.2f} ms each in the median, {most:.2f} ms at most.")
    if report.forfeits:
        print("Forfeits: " + ", ".join(f"{reason} {count}" for reason, count in report.forfeits.items()))
    print("All right." if report.is_ok else "Not ready for the arena.")
