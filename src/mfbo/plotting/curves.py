"""Best-so-far curves: how fast each strategy climbs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mfbo.plotting.figures import COLORS, drawn


def best_so_far(
    path: Path, problem: str, traces: Mapping[str, Sequence[Sequence[float]]], optimum: float | None
) -> list[Path]:
    """Draw the mean best value so far per strategy, with the standard error over seeds if there are several.

    traces: strategy → one trace (T,) per seed. Returns the files written.
    """
    with drawn(path, (6.0, 3.8)) as (axes, files):
        for strategy, runs in traces.items():
            table = np.array(runs)
            rounds = np.arange(1, table.shape[1] + 1)
            color = COLORS.get(strategy.partition(" ")[0])  # "turbo (limit 600 s)" is turbo
            (line,) = axes.plot(rounds, table.mean(axis=0), label=strategy, color=color, linewidth=1.8)
            if len(table) > 1:
                error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
                low, high = table.mean(axis=0) - error, table.mean(axis=0) + error
                axes.fill_between(rounds, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        if optimum is not None:
            axes.axhline(optimum, color="black", linewidth=0.8, linestyle="--")
            axes.annotate(f"optimum {optimum:.4g}", (1, optimum), xytext=(0, 3), textcoords="offset points", fontsize=9)
        axes.set_title(f"{problem}: best population payoff so far")
        axes.set_xlabel("round")
        axes.set_ylabel("payoff")
        axes.margins(x=0.01, y=0.08)
        axes.legend(frameon=False, loc="best")
    return files
