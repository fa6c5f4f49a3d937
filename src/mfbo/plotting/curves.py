"""Curves over the rounds: how fast each strategy climbs, with the standard error over seeds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.plotting.figures import COLORS, Figure, Picture, drawn

CURVES_SIZE = (7.0, 3.8)  # inches, the legend beside the axes included
LONGEST_TITLE = 42  # letters above the axes


def best_so_far(
    problem: str,
    traces: Mapping[str, Sequence[Sequence[float]]],
    optimum: float | None,
    ceilings: Mapping[str, float] | None = None,
    ax: Any = None,
    colors: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the mean best value so far per strategy, with the standard error over seeds if there are several.

    traces: strategy → one trace (T,) per seed. ceilings: values that some cannot pass, by name, drawn dotted.
    colors: of strategies that have none of their own.
    """
    with drawn(CURVES_SIZE, ax) as (axes, figure):
        for strategy, runs in traces.items():
            color = strategy_color(strategy, (colors or {}).get(strategy))
            mean_with_error(axes, np.array(runs), strategy, color)
        if optimum is not None:
            axes.axhline(optimum, color="black", linewidth=0.8, linestyle="--")
            axes.annotate(f"optimum {optimum:.4g}", (1, optimum), xytext=(0, 3), textcoords="offset points", fontsize=9)
        for (label, value), gray in zip((ceilings or {}).items(), ("0.35", "0.6"), strict=False):
            axes.axhline(value, color=gray, linewidth=1.2, linestyle=":", label=f"{label} {value:.4g}")
        axes.set_title(in_lines(f"{problem}: best payoff so far"))
        axes.set_xlabel("round")
        axes.set_ylabel("payoff")
        axes.margins(x=0.01, y=0.08)
        legend_beside(axes)
    return figure


def in_lines(title: str) -> str:
    """Return a title that would run into the legend in two lines, broken at its colon."""
    return title if len(title) <= LONGEST_TITLE else title.replace(": ", "\n", 1)


def mean_with_error(axes: Any, table: FloatArray, label: str, color: Any, *, logarithmic: bool = False) -> None:
    """Draw the mean of curves (S, T) over the rounds and, for several, a band of one standard error."""
    rounds = np.arange(1, table.shape[1] + 1)
    mean = table.mean(axis=0)
    (line,) = axes.plot(rounds, mean, label=label, color=color, linewidth=1.8)
    if len(table) > 1:
        error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
        low = np.maximum(mean - error, 0.05 * mean) if logarithmic else mean - error
        axes.fill_between(rounds, low, mean + error, color=line.get_color(), alpha=0.2, linewidth=0)


def strategy_color(label: str, other: Any = None) -> Any:
    """Return the color of the strategy that a label names: "turbo (limit 600 s)" is turbo."""
    return COLORS.get(label.partition(" (limit")[0], other)


def legend_beside(axes: Any) -> None:
    """Put the legend where it covers no curve; inside the axes of a figure that is not ours."""
    if not isinstance(axes.figure, Picture):
        axes.legend(frameon=False, fontsize=9)
        return
    axes.figure.legend(*axes.get_legend_handles_labels(), frameon=False, loc="outside right upper", fontsize=9)
