"""Agents against agents, as heat maps: who beats whom, and what company is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.page.parts import (
    Results,
    half_of,
    heading,
    heat_cell,
    heat_legend,
    name,
    section,
    signed,
    spread,
    table,
    text,
)
from arena.significance import LEVEL, intransitive_triples, judge_results


def judged(results: Results) -> list[tuple[Mapping[str, Any], float, int | None]]:
    """Returns each pair that has a result with its corrected p-value and the further deals it needs."""
    pairs = results.get("pairs", [])
    found = [(each.p_holm, each.deals_needed) for each in judge_results(results)]
    judged = [(pair, p, needed) for pair, (p, needed) in zip(pairs, found, strict=True)]
    return [each for each in judged if each[0]["stakes_per_hand"] is not None]


def crosstable(results: Results) -> str:
    """Returns who beats whom as a heat map, what is not resolved, and triples that go round."""
    pairs = judged(results)
    if not pairs:
        return ""
    largest = max(abs(pair["stakes_per_hand"]) for pair, _, _ in pairs)
    cells = {}
    for pair, p, needed in pairs:
        note = f"corrected p = {_p(p)}" + (f"; {needed:,} more deals would resolve it" if needed else "")
        for a, b, sign in ((pair["a"], pair["b"], 1), (pair["b"], pair["a"], -1)):
            mean = sign * pair["stakes_per_hand"] + 0.0
            whole = f"{a} against {b}: {signed(mean)}, {note}"
            cells[a, b] = heat_cell(mean, half_of(pair), largest, p > LEVEL, whole)
    what = "Stakes per hand, row against column"
    if results.get("players", 2) > 2:
        what = "Half the difference in stakes per hand where both sit, row less column"
    intro = (
        f"{what}, with the half-width of the 95% interval. A pair is resolved where its p-value, corrected "
        "for the number of pairs by Holm's method, is at most 5%."
    )
    heat = _matrix("Crosstable of pairs", results, cells.get)
    parts = (heat, heat_legend(largest), _unresolved(pairs), _triples(results, pairs))
    return section("pairs", "Who beats whom", intro, *parts)


def _p(p: float) -> str:
    return "less than 0.0001" if p < 0.0001 else f"{p:.2g}"


def _matrix(caption: str, results: Results, cell: Callable[[tuple[str, str]], str | None]) -> str:
    """A table of all agents against all, whose cells are asked for by (row, column)."""
    names = [agent["agent"] for agent in results["agents"]]
    head = [heading("agent")]
    for place, column in enumerate(names, 1):
        head.append(
            f'<th scope="col" title="{text(column)}">{place}<span class="unseen"> {name(column)}</span></th>'
        )
    rows = []
    for place, row in enumerate(names, 1):
        cells = [cell((row, column)) or _empty(row == column) for column in names]
        rows.append(f'<th scope="row"><span class="dim">{place}</span> {name(row)}</th>{"".join(cells)}')
    return table(caption, head, rows, "heat")


def _empty(is_itself: bool) -> str:
    said = "itself" if is_itself else "no result"
    return f'<td class="cell none"><span aria-hidden="true">·</span><span class="unseen">{said}</span></td>'


def _unresolved(pairs: Sequence[tuple[Mapping[str, Any], float, int | None]]) -> str:
    said = []
    for pair, p, needed in pairs:
        if p > LEVEL:
            more = f"about {_rounded(needed):,} more deals" if needed else "no number of deals"
            said.append(
                f"<li>{name(pair['a'])} and {name(pair['b'])}: {signed(pair['stakes_per_hand'])} "
                f"{spread(half_of(pair))}, corrected p = {_p(p)}; {more} would resolve it</li>"
            )
    if not said:
        return ""
    if_so = "if means and spreads stay as they are"
    return (
        f"<details{' open' if len(said) <= 6 else ''}><summary>Not resolved: {len(said)}</summary>"
        f'<p class="sub">Further deals {if_so}.</p><ul class="plain">{"".join(said)}</ul></details>'
    )


def _rounded(deals: int) -> int:
    """Rounds up to two digits: more would pretend to know the spread better than it is known."""
    step: int = 10 ** max(0, len(str(deals)) - 2)
    return -(-deals // step) * step


def _triples(results: Results, pairs: Sequence[tuple[Mapping[str, Any], float, int | None]]) -> str:
    triples = results.get("triples")
    if triples is None:
        triples = intransitive_triples([{**pair, "p_holm": p} for pair, p, _ in pairs])
    if not triples:
        return ""
    said = "".join(
        f"<li>{name(a)} beats {name(b)}, which beats {name(c)}, which beats {name(a)}</li>"
        for a, b, c in triples
    )
    return (
        f'<details open><summary>Going round: {len(triples)}</summary><ul class="plain">{said}</ul></details>'
    )


def effects(results: Results) -> str:
    """Returns how much agents give or take when another sits at their table."""
    found = [each for each in results.get("effects") or () if each["stakes_per_hand"] is not None]
    if not found:
        return ""
    largest = max(abs(each["stakes_per_hand"]) for each in found)
    cells = {}
    for each in found:
        half = half_of(each)
        is_open = half is not None and abs(each["stakes_per_hand"]) <= half
        note = f"{each['agent']} with {each['other']} at the table, less without"
        cells[each["agent"], each["other"]] = heat_cell(each["stakes_per_hand"], half, largest, is_open, note)
    intro = (
        "Stakes per hand of the row's agent at tables where the column's sits, less those at all its other "
        "tables, on the same decks. Strong company costs everyone; a cell that stands out from its column is "
        "worth a look. Hatched where the 95% interval holds zero."
    )
    heat = _matrix("Effects of company", results, cells.get)
    return section("effects", "What company is worth", intro, heat, heat_legend(largest))
