"""Results as tables in a terminal."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.results import AgentResult, Results
from arena.statistics import Estimate

_WAYS = (
    ("drop\nwon", "drop", "own"),
    ("drop\nlost", "caught", "own"),
    ("tonk", "tonk", "own"),
    ("out", "out", "own"),
    ("instant", "instant_win", "own"),
    ("stock\nout", "stock_out", "nobody"),
)
_EFFECTS_LEGEND = (
    "What row is paid per hand where column sits at its table, less what it is paid where column does not."
)
_CELL = 8  # columns of the screen that a column of the crosstable takes


def print_results(results: Results, console: Console | None = None, details: bool = False) -> None:
    """Prints the ranking and the crosstable of pairs; with three seats and more, what company does too.

    Args:
        results: of a tournament.
        console: where to; None: the terminal.
        details: also how hands ended, and stakes by seat.
    """
    out = console or Console()
    out.print(_heading(results), highlight=False)
    out.print(_ranking(results))
    _print_fitting(out, *(functools.partial(_pairs, results, *cut) for cut in _cuts(results, out.width)))
    out.print(_legend(results), style="dim", highlight=False)
    if results.effects:
        _print_fitting(
            out, *(functools.partial(_effects, results, *cut) for cut in _cuts(results, out.width))
        )
        out.print(_EFFECTS_LEGEND, style="dim", highlight=False)
    if details:
        _print_fitting(out, functools.partial(_endings, results))
        _print_fitting(out, functools.partial(_seats, results))


def _print_fitting(out: Console, *parts: Callable[[bool], Table]) -> None:
    """Prints tables whose rows carry names, or places in the ranking alone where names make them too wide."""
    unbounded = out.options.update(max_width=10_000)
    names = all(out.measure(part(True), options=unbounded).maximum <= out.width for part in parts)
    for part in parts:
        out.print(part(names))


def _heading(results: Results) -> str:
    each = {agent.hands for agent in results.agents}
    share = f", {min(each):,} for each agent" if len(each) == 1 else ""
    match = f"each a match of {results.match_hands} hands " if results.match_hands > 1 else "each "
    left_out = f"; {results.blocks_left_out:,} deals left out" if results.blocks_left_out else ""
    return (
        f"{results.rules}, {results.players} players, seed {results.seed}: {results.deals:,} deals, "
        f"{match}under every seating; {results.hands:,} hands{share}{left_out}"
    )


def _legend(results: Results) -> str:
    what = "Stakes per hand, row against column"
    if results.players > 2:
        what = "Half the difference in stakes per hand where both sit, row less column"
    luck = f" (without luck: {results.luck} rollouts a card)" if results.luck else ""
    return f"{what}{luck}, and the half-width of its 95% interval; bold: zero is outside it."


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )


def _labelled(title: str, names: bool) -> Table:
    table = _table(title)
    table.add_column("#", justify="right")
    if names:
        table.add_column("agent", no_wrap=True)
    return table


def _add_row(table: Table, place: int, agent: AgentResult, names: bool, cells: list[Text | str]) -> None:
    table.add_row(str(place), *([Text(agent.agent)] if names else []), *cells)


def _ranking(results: Results) -> Table:
    table = _table("Ranking")
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("agent", overflow="fold")
    headings = ("stakes/hand", "95% interval", *(("without luck", "95% interval") if results.luck else ()))
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("policy", no_wrap=True)
    has_forfeits = any(each.forfeits or each.withdrawn for each in results.agents)
    if has_forfeits:
        table.add_column("forfeits", justify="right")
    for place, each in enumerate(results.agents, 1):
        estimates = [each.per_hand] if each.adjusted is None else [each.per_hand, each.adjusted]
        cells = [cell for estimate in estimates for cell in _with_interval(estimate)]
        forfeits = f"{each.forfeits:,}" + (" withdrawn" if each.withdrawn else "")
        last = [forfeits] if has_forfeits else []
        table.add_row(str(place), Text(each.agent), *cells, each.policy, *last)
    return table


def _with_interval(estimate: Estimate) -> tuple[Text, str]:
    low, high = (_signed(end, 4) for end in estimate.ci95)
    return _colored(estimate, _signed(estimate.mean, 4)), f"{low} … {high}"


def _cuts(results: Results, width: int) -> list[tuple[int, int]]:
    """The columns of the crosstable, in parts that fit the width."""
    agents = len(results.agents)
    at_once = max(1, (width - 4) // _CELL)
    return [(first, min(first + at_once, agents)) for first in range(0, agents, at_once)]


def _pairs(results: Results, first: int, last: int, names: bool) -> Table:
    cells = {(each.a, each.b): each.best for each in results.pairs}
    cells.update({(each.b, each.a): each.best.reversed() for each in results.pairs})
    return _crosstable("Pairs", results, cells, first, last, names)


def _effects(results: Results, first: int, last: int, names: bool) -> Table:
    cells = {(each.agent, each.other): each.per_hand for each in results.effects}
    return _crosstable("Company", results, cells, first, last, names)


def _crosstable(
    title: str,
    results: Results,
    cells: dict[tuple[str, str], Estimate],
    first: int,
    last: int,
    names: bool,
) -> Table:
    table = _labelled(title, names)
    for place in range(first + 1, last + 1):
        table.add_column(str(place), justify="right", no_wrap=True)
    for place, each in enumerate(results.agents, 1):
        row = [_pair_cell(cells.get((each.agent, other.agent))) for other in results.agents[first:last]]
        _add_row(table, place, each, names, list(row))
    return table


def _endings(results: Results, names: bool) -> Table:
    table = _labelled("How hands ended, as shares of the agent's hands", names)
    for heading, _, _ in _WAYS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("by\nothers", justify="right", no_wrap=True)
    table.add_column("moves\na hand", justify="right", no_wrap=True)
    for place, each in enumerate(results.agents, 1):
        shares = [_share(each, ending, who) for _, ending, who in _WAYS]
        shares.append(sum(by["others"].share for by in each.endings.values() if "others" in by))
        moves = each.decisions_per_hand
        row = [*(f"{share:.1%}" for share in shares), "–" if math.isnan(moves) else f"{moves:.1f}"]
        _add_row(table, place, each, names, list(row))
    return table


def _seats(results: Results, names: bool) -> Table:
    table = _labelled("Stakes by seat (1 moves first)", names)
    for seat in range(1, results.players + 1):
        table.add_column(str(seat), justify="right", no_wrap=True)
    for place, each in enumerate(results.agents, 1):
        _add_row(table, place, each, names, [_pair_cell(seat) for seat in each.seats])
    return table


def _share(agent: AgentResult, ending: str, who: str) -> float:
    found = agent.endings.get(ending, {}).get(who)
    return found.share if found else 0.0


def _pair_cell(estimate: Estimate | None) -> Text:
    if estimate is None:
        return Text("")
    half = "–" if math.isnan(estimate.half) else f"{estimate.half:.3f}"
    return _colored(estimate, _signed(estimate.mean, 3)) + Text(f"\n±{half}", style="dim not bold")


def _signed(number: float, places: int) -> str:
    if math.isnan(number):
        return "–"
    return f"{round(number, places) + 0.0:+.{places}f}"  # -0.0 + 0.0 is 0.0


def _colored(estimate: Estimate, text: str) -> Text:
    low, high = estimate.ci95
    return Text(text, style="bold green" if low > 0 else "bold red" if high < 0 else "")
