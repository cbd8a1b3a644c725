"""How each agent's hands ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.page.parts import Results, heading, name, section, signed, table, text

# Ending, who brought it about, what that is to the agent, colour: from what wins to what loses.
_ENDINGS = (
    ("drop", "own", "dropped and won", "g0"),
    ("caught", "others", "caught a drop", "g1"),
    ("tonk", "own", "tonk", "g2"),
    ("out", "own", "went out", "g3"),
    ("instant_win", "own", "won on the deal", "g4"),
    ("claim", "own", "claimed", "g4"),
    ("forfeit", "others", "another forfeited", "n0"),
    ("stock_out", "nobody", "stock ran out", "n0"),
    ("turn_limit", "nobody", "too many turns", "n0"),
    ("void", "nobody", "void", "n0"),
    ("claim", "others", "another claimed", "l4"),
    ("instant_win", "others", "another won on the deal", "l4"),
    ("out", "others", "another went out", "l3"),
    ("tonk", "others", "another's tonk", "l2"),
    ("caught", "own", "dropped and was caught", "l1"),
    ("drop", "others", "another's drop won", "l0"),
    ("forfeit", "own", "forfeited", "bad"),
)


def endings(results: Results) -> str:
    """Returns how each agent's hands ended: bars of shares, and a table with mean payments."""
    agents = [agent for agent in results["agents"] if agent.get("endings")]
    if not agents:
        return ""
    kinds = _kinds(agents)
    bars = []
    for agent in agents:
        parts, told = [], []
        for ending, who, label, colour in kinds:
            found = agent["endings"].get(ending, {}).get(who)
            if found and found["share"] > 0:
                share = found["share"]
                said = f"{label}: {share:.1%} of hands, {signed(found['stakes_per_hand'], 2)} stakes in each"
                inside = f"{share:.0%}" if share >= 0.06 else ""
                style = f'class="part {colour}" style="width:{100 * share:.4f}%"'
                parts.append(f'<div {style} title="{text(said)}">{inside}</div>')
                told.append(f"{label} {share:.1%}")
        label = f"{agent['agent']}: {', '.join(told)}"
        bars.append(
            f"<h3>{name(agent['agent'])}</h3>"
            f'<div class="stack" role="img" aria-label="{text(label)}">{"".join(parts)}</div>'
        )
    legend = "".join(
        f'<li><span class="swatch part {colour}"></span>{text(label)}</li>' for _, _, label, colour in kinds
    )
    intro = "Shares of the agent's hands, from what wins on the left to what loses on the right."
    return section(
        "endings",
        "How hands ended",
        intro,
        f'<div class="bars">{"".join(bars)}</div><ul class="legend">{legend}</ul>',
        f"<details><summary>Shares and mean payments</summary>{_endings_table(agents, kinds)}</details>",
    )


def _kinds(agents: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    """The kinds of ending that happened; those that are not known here come in the middle."""
    there = {(ending, who): None for agent in agents for ending, by in agent["endings"].items() for who in by}
    known = [kind for kind in _ENDINGS if kind[:2] in there]
    other = [(*key, f"{key[0]} ({key[1]})", "n0") for key in there if key not in {kind[:2] for kind in known}]
    half = sum(kind[3][0] == "g" for kind in known)
    return [*known[:half], *other, *known[half:]]


def _endings_table(agents: Sequence[Mapping[str, Any]], kinds: Sequence[tuple[str, str, str, str]]) -> str:
    head = [heading("agent"), *(heading(text(label), "number") for _, _, label, _ in kinds)]
    rows = []
    for agent in agents:
        cells = []
        for ending, who, _, _ in kinds:
            found = agent["endings"].get(ending, {}).get(who)
            shown = "–"
            if found:
                paid = signed(found["stakes_per_hand"], 2)
                shown = f'{found["share"]:.2%}<span class="sub">{paid}</span>'
            cells.append(f'<td class="number">{shown}</td>')
        rows.append(f'<th scope="row">{name(agent["agent"])}</th>{"".join(cells)}')
    return table("Shares of hands and mean stakes in them, by ending", head, rows)
