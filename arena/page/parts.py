"""Small pieces of the page of a tournament: text that is safe, numbers, scales, tables and drawings."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BREAKS = re.compile(r"[^:,/]{0,23}[:,/]|[^:,/]{1,24}", re.DOTALL)
_DEEPEST = 0.62  # how strong the strongest colour of a heat map is: text on it stays readable


Results = Mapping[str, Any]
"""As in `results.json`."""


def text(given: object) -> str:
    """Returns text as HTML; controls, and marks that turn the direction of writing, become `�`."""
    return html.escape(_UNFIT.sub("�", str(given)), quote=True)


def name(given: object) -> str:
    """Returns an agent's name as HTML, with places where its line may end."""
    parts = _BREAKS.findall(str(given))
    return f'<bdi class="name">{"<wbr>".join(text(part) for part in parts)}</bdi>'


def signed(number: float | None, places: int = 4) -> str:
    """Returns a number with its sign; what rounds to zero is `+0`, and a dash stands for none."""
    if number is None:
        return "–"
    return f"{round(number, places) + 0.0:+.{places}f}".replace("-", "−")


def spread(half: float | None, places: int = 4) -> str:
    """Returns the half-width of an interval; nothing where there is none."""
    return "" if half is None else f"±{half:.{places}f}"


def half_of(entry: Mapping[str, Any]) -> float | None:
    """Returns the half-width of an entry's interval; None: it has none, for want of deals."""
    if entry.get("ci95") is None:
        return None
    low, high = entry["ci95"]
    return float(high - low) / 2


def spans(*entries: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """Returns (low, mean, high) of the entries that have an interval."""
    return [
        (each["ci95"][0], each["stakes_per_hand"], each["ci95"][1])
        for each in entries
        if half_of(each) is not None
    ]


def figure(entry: Mapping[str, Any], places: int = 4) -> str:
    """Returns an entry's stakes per hand with the half-width of the interval under it."""
    kind = ""
    for low, _, high in spans(entry):
        kind = "gain" if low > 0 else "loss" if high < 0 else ""
    return (
        f'<span class="{kind}">{signed(entry["stakes_per_hand"], places)}</span>'
        f'<span class="sub">{spread(half_of(entry), places)}</span>'
    )


@dataclass(frozen=True)
class Scale:
    """A stretch of numbers that is drawn from left to right.

    Attributes:
        low: its left end.
        high: its right end.
        ticks: round numbers in it.
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, number: float) -> str:
        """Returns where a number is, in percent of the width."""
        return f"{100 * (number - self.low) / (self.high - self.low):.3f}%"


def scale_of(numbers: Iterable[float]) -> Scale:
    """Returns a scale that holds the numbers and 0, with a margin."""
    every = [0.0, *numbers]
    low, high = min(every), max(every)
    width = (high - low) or 1.0
    low, high = low - 0.05 * width, high + 0.05 * width
    step = _round_step((high - low) / 4)
    ticks = tuple(step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1))
    return Scale(low, high, ticks)


def _round_step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= rough * 0.999)


def axis(scale: Scale) -> str:
    """Returns the labels of a scale as a drawing; it is told to nobody who listens."""
    parts = []
    for tick in scale.ticks:
        at, label = scale.at(tick), f"{tick + 0.0:+.3g}".replace("-", "−") if abs(tick) > 1e-12 else "0"
        parts.append(
            f'<line class="tick" x1="{at}" x2="{at}" y1="15" y2="20"/>'
            f'<text x="{at}" y="11" text-anchor="middle">{label}</text>'
        )
    return f'<svg width="100%" height="20" aria-hidden="true">{"".join(parts)}</svg>'


def intervals(
    scale: Scale, rows: Sequence[tuple[float, float, float]], label: str, is_numbered: bool = False
) -> str:
    """Returns intervals with their means as a drawing, one under another.

    Args:
        scale: where they lie.
        rows: (low, mean, high) of each.
        label: what is said of the drawing.
        is_numbered: they are of one kind, and numbered from 1; otherwise all but the first are drawn fainter.
    """
    parts = []
    spaced = 16 if is_numbered else 22
    for number, (low, mean, high) in enumerate(rows):
        kind, y = " second" if number and not is_numbered else "", spaced * number + spaced // 2
        parts.append(
            f'<line class="span{kind}" x1="{scale.at(low)}" x2="{scale.at(high)}" y1="{y}" y2="{y}"/>'
            f'<circle class="dot{kind}" cx="{scale.at(mean)}" cy="{y}" r="4.5"/>'
        )
        if is_numbered:
            parts.append(f'<text x="{scale.at(high)}" dx="6" y="{y + 4}">{number + 1}</text>')
    size = f'width="100%" height="{spaced * len(rows)}"'
    return f'<svg {size} role="img" aria-label="{text(label)}">{"".join(parts)}</svg>'


def drawn_cell(scale: Scale, drawing: str) -> str:
    """Returns a table's cell that holds a drawing on a scale, with a line at zero through all rows."""
    return f'<td class="drawn" style="--zero:{scale.at(0)}">{drawing}</td>'


def heat_cell(
    mean: float, half: float | None, largest: float, is_open: bool, note: str, places: int = 3
) -> str:
    """Returns a cell of a heat map.

    Args:
        mean: the number.
        half: of its interval, if there is one.
        largest: the size of the number that has the strongest colour.
        is_open: it may as well be zero: hatched, and marked with `?`.
        note: shown to who points at the cell.
        places: after the point.
    """
    kinds = " minus" if mean < 0 else ""
    mark = ""
    if is_open:
        kinds += " open"
        mark = '<span aria-hidden="true">?</span><span class="unseen"> unresolved</span>'
    below = "" if half is None else f'<span class="sub">{spread(half, places)}</span>'
    style = f"--depth:{depth(mean, largest):.3f}"
    title = f' title="{text(note)}"' if note else ""
    return f'<td class="cell{kinds}" style="{style}"{title}>{signed(mean, places)}{mark}{below}</td>'


def depth(number: float, largest: float) -> float:
    """Returns how strong the colour of a number is; roots, so that small ones can be told from none."""
    return _DEEPEST * math.sqrt(min(1.0, abs(number) / largest)) if largest > 0 else 0.0


def heat_legend(largest: float, places: int = 2) -> str:
    """Returns the key to a heat map."""
    steps = [largest * k / 4 for k in range(-4, 5)]
    swatches = "".join(
        f'<span class="swatch cell{" minus" if step < 0 else ""}" style="--depth:{depth(step, largest):.3f}">'
        "</span>"
        for step in steps
    )
    return (
        f'<ul class="legend"><li>{signed(-largest, places)}<span class="scale" aria-hidden="true">{swatches}'
        f"</span>{signed(largest, places)}</li>"
        '<li><span class="swatch cell open" style="--depth:.08"></span>not resolved: may as well be zero</li>'
        "</ul>"
    )


def table(caption: str, head: Sequence[str], rows: Sequence[str], kind: str = "") -> str:
    """Returns a table that scrolls by itself where the screen is narrow.

    Args:
        caption: what it shows; heard, not seen.
        head: whole cells of the heading.
        rows: whole cells of each row.
        kind: class of the table.
    """
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{text(caption)}">'
        f"<table{_class(kind)}><caption>{text(caption)}</caption>"
        f"<thead><tr>{''.join(head)}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def heading(title: str, kind: str = "") -> str:
    """Returns a column's heading; `title` is HTML."""
    return f'<th scope="col"{_class(kind)}>{title}</th>'


def section(key: str, title: str, intro: str, *parts: str) -> str:
    """Returns a section of the page; all but its key is HTML."""
    return (
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>'
        f"<p>{intro}</p>{''.join(parts)}</section>"
    )


def funnel(points: Sequence[tuple[float, float, float]], reach: float, label: str) -> str:
    """Returns how an estimate settled: a line with its interval as a band, around where it ended.

    Args:
        points: (deals, mean, half) in ascending order of deals.
        reach: the largest distance from the end that is drawn; the same for drawings to be compared.
        label: what is said of the drawing.
    """
    width, height, left, top, bottom = 260, 100, 48, 6, 16
    end, most = points[-1][1], points[-1][0]

    def at(deals: float, value: float) -> str:
        x = left + (width - left - 4) * deals / most
        share = max(-1.0, min(1.0, (value - end) / reach))
        return f"{x:.1f},{top + (height - top - bottom) * (1 - share) / 2:.1f}"

    upper = [at(deals, mean + half) for deals, mean, half in points]
    lower = [at(deals, mean - half) for deals, mean, half in reversed(points)]
    middle = top + (height - top - bottom) / 2
    labels = "".join(
        f'<text x="{left - 5}" y="{y + 4:.0f}" text-anchor="end">{signed(value, 3)}</text>'
        for y, value in ((top + 4, end + reach), (middle, end), (height - bottom - 4, end - reach))
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{text(label)}">{labels}'
        f'<line class="final" x1="{left}" x2="{width - 4}" y1="{middle}" y2="{middle}"/>'
        f'<polygon class="band" points="{" ".join(upper + lower)}"/>'
        f'<polyline class="path" points="{" ".join(at(deals, mean) for deals, mean, _ in points)}"/>'
        f'<text x="{left}" y="{height - 3}">0</text>'
        f'<text x="{width - 4}" y="{height - 3}" text-anchor="end">{most:,} deals</text></svg>'
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
