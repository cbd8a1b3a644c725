"""Writes docs/observations.md from the layout that the engine uses: python docs/generate_observations.py."""

from __future__ import annotations

from pathlib import Path

from tonk_env.observe import layout, planes_table
from tonk_env.rules import lower

TARGET = Path(__file__).resolve().with_name("observations.md")
SHOWN = (("pagat", 2), ("pagat", 4), ("runout", 6))

INTRODUCTION = """\
# Observations

<!-- Written by docs/generate_observations.py; do not edit by hand. -->

What an agent observes is a vector of 32-bit floats within 0 and 1, nearly all of them 0 or 1. It is made
of named planes, and is the same everywhere: PettingZoo, Gymnasium, `TonkTables` and training. It holds
what the viewer may know, its own cards and the public course of the hand, and nothing else; it assumes
perfect memory of what was seen. Seats are counted from the viewer, so a network need not know where it
sits.

A card plane has one feature for each different card of the deck, ascending: clubs, diamonds, hearts,
spades, and in each suit ace, 2 … king; cards that the rules leave out take no room. Sizes depend on the
deck, the number of players and the hand size. The tables below are examples;
`tonk_env.observe.planes_table(rules, num_players)` gives the one for any rules, and
`tonk_env.observe.layout` gives it as data. A checkpoint keeps the layout's fingerprint and is refused
where the layout is another.

Of actions, `tonk_env.actions` tells what each id means. The mask says which are legal; it is all zero
for a seat that is not to move.

`state()` of the PettingZoo environment is for learners trained centrally: the observations of all seats
one after the other, who is to move, and the stock in drawing order.
"""


def text() -> str:
    """Returns the whole page."""
    parts = [INTRODUCTION]
    for preset, num_players in SHOWN:
        rules = lower(preset)
        size = layout(rules, num_players).size
        parts.append(
            f"## `{preset}`, {num_players} players: {size} features\n\n{planes_table(rules, num_players)}"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
