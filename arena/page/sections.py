"""Sections of the page; each is empty text where the results have nothing for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from arena.page.pairs import judged
from arena.page.parts import (
    Results,
    axis,
    drawn_cell,
    figure,
    funnel,
    half_of,
    heading,
    intervals,
    name,
    scale_of,
    section,
    signed,
    spans,
    spread,
    table,
    text,
)
from arena.significance import LEVEL


def lead(results: Results) -> str:
    """Returns in a sentence or two who won and how sure that is."""
    agents, pairs = results["agents"], judged(results)
    if not agents:
        return ""
    best = agents[0]
    said = [
        f"{name(best['agent'])} won most: <strong>{signed(best['stakes_per_hand'])}</strong> "
        f"{spread(half_of(best))} stakes per hand."
    ]
    if pairs:
        clear = sum(p <= LEVEL for _, p, _ in pairs)
        said.append(f"{clear} of {len(pairs)} pairs are resolved.")
    return f'<p class="lead">{" ".join(said)}</p>'


def ranking(results: Results) -> str:
    """Returns the ranking with interval bars."""
    agents = results["agents"]
    paid = [agent["paid"] for agent in agents if agent.get("paid")]
    scale = scale_of(end for span in spans(*agents, *paid) for end in span)
    rows = []
    for place, agent in enumerate(agents, 1):
        shown = spans(agent)
        figures = figure(agent)
        if agent.get("paid"):
            other = agent["paid"]
            shown += spans(other)
            value = f"{signed(other['stakes_per_hand'])} {spread(half_of(other))}"
            figures += '<span class="sub"><span class="whole">as paid, with luck:</span> '
            figures += f'<span class="whole">{value}</span></span>'
        label = f"{agent['agent']}: " + ", ".join(
            f"from {signed(low)} to {signed(high)}" for low, _, high in shown
        )
        rows.append(
            f'<td class="place">{place}</td><th scope="row">{name(agent["agent"])}{_remarks(agent)}</th>'
            f'<td class="number">{figures}</td>{drawn_cell(scale, intervals(scale, shown, label))}'
        )
    head = [
        heading("#", "place"),
        heading("agent"),
        heading("stakes per hand", "number"),
        heading("95% interval" + axis(scale), "drawn"),
    ]
    intro = "Stakes won per hand over all tables. Intervals are computed on deals, not on hands."
    return section("ranking", "Ranking", intro, table("Ranking", head, rows))


def _remarks(agent: Mapping[str, Any]) -> str:
    said = [("", text(agent["policy"]))] if agent.get("policy") else []
    if "hands" in agent:
        said.append(("", f"{agent['hands']:,} hands"))
    if agent.get("decisions_per_hand") is not None:
        said.append(("few", f"{agent['decisions_per_hand']:.1f} moves a hand"))
    if agent.get("forfeits"):
        said.append(("flag", f"{agent['forfeits']:,} {'forfeit' if agent['forfeits'] == 1 else 'forfeits'}"))
    if agent.get("withdrawn"):
        said.append(("flag", "withdrawn"))
    parts = [
        f'<span class="whole {kind}">{"· " if number else ""}{each}</span>'
        for number, (kind, each) in enumerate(said)
    ]
    return f'<span class="sub">{" ".join(parts)}</span>'


def convergence(results: Results) -> str:
    """Returns how each agent's estimate settled, as small drawings on one scale."""
    course = [each for each in results.get("convergence") or () if each["deals"] > 0]
    if len(course) < 2:
        return ""
    figures, reach = [], 0.0
    for agent in results["agents"]:
        who = agent["agent"]
        points = [
            (each["deals"], *each["agents"][who])
            for each in course
            if all(
                number is not None and math.isfinite(number) for number in each["agents"].get(who, (None,))
            )
        ]
        if len(points) > 1:
            figures.append((who, points))
            reach = max(reach, *(abs(mean - points[-1][1]) + half for _, mean, half in points))
    if not figures:
        return ""
    drawn = []
    for who, points in figures:
        _, mean, half = points[-1]
        label = f"{who}: from {signed(points[0][1])} {spread(points[0][2])} to {signed(mean)} {spread(half)}"
        drawn.append(
            f'<figure><figcaption>{name(who)}<span class="sub">{signed(mean)} {spread(half)}</span>'
            f"</figcaption>{funnel(points, reach or 1.0, label)}</figure>"
        )
    intro = (
        "The estimate of stakes per hand as deals were played, with its 95% interval; all drawings reach "
        "equally far from where the estimate ended."
    )
    return section(
        "convergence", "How the estimate settled", intro, f'<div class="panels">{"".join(drawn)}</div>'
    )


def seats(results: Results) -> str:
    """Returns stakes by seat, as figures and drawn."""
    agents = [agent for agent in results["agents"] if agent.get("seats")]
    if not agents:
        return ""
    number = max(len(agent["seats"]) for agent in agents)
    scale = scale_of(end for agent in agents for span in spans(*agent["seats"]) for end in span)
    rows = []
    for agent in agents:
        cells = "".join(f'<td class="number">{figure(seat, 3)}</td>' for seat in agent["seats"])
        label = f"{agent['agent']} by seat, from the first to the last"
        drawing = intervals(scale, spans(*agent["seats"]), label, is_numbered=True)
        rows.append(f'<th scope="row">{name(agent["agent"])}</th>{cells}{drawn_cell(scale, drawing)}')
    head = [
        heading("agent"),
        *(heading(f"seat {seat}", "number") for seat in range(1, number + 1)),
        heading("95% interval, by seat" + axis(scale), "drawn"),
    ]
    intro = "Stakes per hand by seat; seat 1 moves first."
    return section("seats", "What the seat is worth", intro, table("Stakes by seat", head, rows))


def ratings(results: Results, given: Sequence[Mapping[str, Any]]) -> str:
    """Returns other ratings, side by side."""
    there = [each for each in given if each.get("scores")]
    missing = [each for each in given if not each.get("scores")]
    if not given:
        return ""
    head = [heading("agent")]
    rows = [f'<th scope="row">{name(agent["agent"])}</th>' for agent in results["agents"]]
    for each in there:
        for column, label in enumerate(each["columns"]):
            title = f'{text(each["kind"])}<span class="sub">{text(label)}</span>'
            head.append(heading(title, "number"))
            for at, agent in enumerate(results["agents"]):
                score = each["scores"].get(agent["agent"])
                shown = "–" if score is None or not math.isfinite(score[column]) else f"{score[column]:.3f}"
                rows[at] += f'<td class="number">{shown.replace("-", "−")}</td>'
    notes = [f"<li>{text(each['kind'])}: {text(each.get('reason', ''))}</li>" for each in (*there, *missing)]
    intro = "Other ways to put the agents in order. Stakes per hand are what the game is about."
    parts = [table("Other ratings", head, rows)] if there else []
    return section("ratings", "Other ratings", intro, *parts, f'<ul class="plain sub">{"".join(notes)}</ul>')


def speed(results: Results, timing: Mapping[str, Any] | None) -> str:
    """Returns how long agents thought; times change from run to run and are no part of the results."""
    by_agent = (timing or {}).get("agents") or {}
    rows = []
    for agent in results["agents"]:
        took = by_agent.get(agent["agent"])
        took = took.get("seconds_per_decision") if isinstance(took, Mapping) else took
        if took is not None:
            rows.append(
                f'<th scope="row">{name(agent["agent"])}</th><td class="number">{_duration(took)}</td>'
            )
    total = (timing or {}).get("seconds")
    if not rows and total is None:
        return ""
    intro = "Times are this machine's and differ from run to run."
    if total and results.get("hands"):
        intro += f" All hands took {_duration(total)}: {results['hands'] / total:,.0f} a second."
    head = [heading("agent"), heading("time per decision", "number")]
    return section("speed", "Time", intro, table("Time per decision", head, rows, "short") if rows else "")


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.3g} {unit}" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds / 1e-9:,.3g} ns"


def replays(given: Sequence[Mapping[str, str]]) -> str:
    """Returns hands that can be read move by move, each folded under its title."""
    if not given:
        return ""
    folded = "".join(
        f'<details id="hand-{number}"><summary>{text(each["title"])}</summary>'
        f"<pre>{text(each['text'])}</pre></details>"
        for number, each in enumerate(given, 1)
    )
    intro = (
        "Deals in which it mattered most who sat where: the same cards in the same seat, as they paid most "
        "and as they paid least. One deal of each group of agents, those of the best first."
    )
    return section("hands", "Decisive hands", intro, folded)
