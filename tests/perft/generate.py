"""Writes counts.toml anew, for the presets there are: ``python -m tests.perft.generate``.

Only when the rules or the deal were meant to change: the counts are what the engine says now.
"""

from __future__ import annotations

from tests.perft.count import COUNTS, count_preset
from tonk_env.rules import preset_names


def main() -> None:
    lines = [
        "# Sequences of 1, 2 … moves by number of players, for seeds 1, 2, 3: from the deal, and from later",
        "# on in the same hand. None: it is won on the deal. Written by python -m tests.perft.generate.",
    ]
    for preset in preset_names():
        lines += ["", f"[{preset}]"]
        lines += [
            f"{start}.{players} = {counts}"
            for start, by_players in count_preset(preset).items()
            for players, counts in by_players.items()
        ]
    COUNTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
