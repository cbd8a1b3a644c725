"""Plots a run's strength against its anchors over decisions, from its TensorBoard events.

python docs/plot_run.py runs/pagat_2p-1 docs/pagat_2p.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

PREFIX = "anchors/stake_vs_"


def plot(run: Path, target: Path) -> None:
    """Writes the curves of `run` as a picture."""
    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for tag in events.Tags()["scalars"]:
        if tag.startswith(PREFIX):
            anchor = tag.removeprefix(PREFIX)
            points = events.Scalars(tag)
            halves = events.Scalars(f"anchors/ci_half_{anchor}")
            steps = [point.step / 1e6 for point in points]
            values = [point.value for point in points]
            axes.errorbar(steps, values, [half.value for half in halves], label=anchor, capsize=2, lw=1.2)
    axes.axhline(0, color="black", lw=0.8)
    axes.set(xlabel="million decisions", ylabel="stakes per hand, 95% interval", title=run.name)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", ncols=2)
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    plot(Path(sys.argv[1]), Path(sys.argv[2]))
