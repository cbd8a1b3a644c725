"""The whole page, and the file it is kept in."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.page.endings import endings
from arena.page.pairs import crosstable, effects
from arena.page.parts import text
from arena.page.sections import convergence, lead, ranking, seats, speed
from arena.page.sections import ratings as rating_section
from arena.page.sections import replays as replay_section
from arena.page.style import STYLE
from arena.results import deciding
from arena.store import write_whole

FILE_NAME = "report.html"

# What the page may load: nothing. The empty icon keeps browsers from asking for one.
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    'img-src data:"><link rel="icon" href="data:,">'
)


def page(
    results: Mapping[str, Any],
    timing: Mapping[str, Any] | None = None,
    *,
    replays: Sequence[Mapping[str, str]] = (),
    ratings: Sequence[Mapping[str, Any]] = (),
    command: str | None = None,
) -> str:
    """Returns the page of a tournament.

    Args:
        results: as in `results.json`; sections whose data are missing are left out.
        timing: as in `timing.json`: `seconds` in all, and `agents` with the seconds per decision of each, as
            a number or under `seconds_per_decision`; both may be missing.
        replays: hands to read: `title` and `text` of each.
        ratings: other ratings, as `arena.ratings.Ratings.to_dict` returns them.
        command: what repeats the tournament; None: put together from the results.

    Returns:
        HTML that ends in a newline; equal arguments give equal text.
    """
    results = deciding(results)
    parts = (
        ranking(results),
        crosstable(results),
        endings(results),
        convergence(results),
        seats(results),
        effects(results),
        rating_section(results, ratings),
        speed(results, timing),
        replay_section(replays),
    )
    body = "\n".join(part for part in parts if part)
    title = f"Tonk arena: {len(results['agents'])} agents, {results['rules']}"
    return (
        f'<!doctype html>\n<html lang="en"><head>{_HEAD}<title>{text(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body><main><header><h1>{text(title)}</h1>"
        f'{lead(results)}<p class="facts">{_facts(results)}</p></header>\n'
        f"{body}\n{_foot(results, command)}</main></body></html>\n"
    )


def write_page(
    folder: str | Path,
    results: Mapping[str, Any],
    timing: Mapping[str, Any] | None = None,
    *,
    replays: Sequence[Mapping[str, str]] = (),
    ratings: Sequence[Mapping[str, Any]] = (),
    command: str | None = None,
) -> Path:
    """Writes `report.html` into a folder, made if need be, whole or not at all; returns the file.

    Raises:
        TonkError: it cannot be written.
    """
    whole = page(results, timing, replays=replays, ratings=ratings, command=command)
    target = Path(folder) / FILE_NAME
    write_whole(target, whole)
    return target


def command_of(results: Mapping[str, Any]) -> str | None:
    """Returns the command that repeats a tournament, as far as its results tell; None: they do not.

    Agents are named best first. Whoever knows in which order they were named should say so to `page`: with
    four seats and more it decides who follows whom.
    """
    if results.get("schedule") in ("field", "host"):
        return None  # who was measured against whom is not in the results
    words = ["tonk", "arena", *(str(agent["agent"]) for agent in results["agents"])]
    for key in ("rules", "players", "schedule", "deals", "until", "luck", "seed"):
        if results.get(key) is not None and (key, results[key]) != ("luck", 0):
            words += [f"--{key}", str(results[key])]
    return shlex.join(words)


def _facts(results: Mapping[str, Any]) -> str:
    said = [f"{text(results['rules'])} rules", f"{results['players']} players"]
    said.append(f"{results['deals']:,} deals, each under every seating")
    said.append(f"{results['hands']:,} hands")
    if results.get("luck"):
        said.append(f"luck taken out by {results['luck']:,} rollouts a card")
    if results.get("blocks_left_out"):
        said.append(f'<span class="flag">{results["blocks_left_out"]:,} deals left out</span>')
    return " · ".join(said)


def _foot(results: Mapping[str, Any], command: str | None) -> str:
    versions = ", ".join(f"{key} {each}" for key, each in (results.get("versions") or {}).items())
    facts = (
        ("Rules", f"{results['rules']} ({results.get('rules_fingerprint', 'no fingerprint')})"),
        ("Players", results["players"]),
        ("Hands of a match", None if results.get("match_hands", 1) == 1 else results["match_hands"]),
        ("Schedule", results.get("schedule")),
        ("Seed", results.get("seed")),
        ("Deals", f"{results['deals']:,}"),
        ("Played until every half-width was below", results.get("until")),
        ("Deals left out for a withdrawn agent", results.get("blocks_left_out") or None),
        ("Hands", f"{results['hands']:,}"),
        ("Versions", versions or None),
        ("Format", results.get("format")),
    )
    again = command or command_of(results)
    repeated = ""
    if again:
        repeated = (
            '<p class="dim">To play it again (agents that decide alike give the same figures, to the last '
            f"digit):</p><pre><code>{text(again)}</code></pre>"
        )
    listed = "".join(f"<dt>{key}</dt><dd>{text(value)}</dd>" for key, value in facts if value is not None)
    return f'<footer id="about"><h2>What was played</h2><dl>{listed}</dl>{repeated}</footer>'
