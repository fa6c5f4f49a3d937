"""How time and regret change along M, |A| or T, and regret curves for several M on one picture."""

from collections.abc import Mapping, Sequence

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.plotting.curves import CURVES_SIZE, in_lines, legend_beside, mean_with_error, strategy_color
from mfbo.plotting.figures import Figure, drawn

Point = tuple[float, float, float]  # where, mean, half of the 95 % interval


def sweep(title: str, where: str, panels: Mapping[str, Mapping[str, Sequence[Point]]]) -> Figure:
    """Draw one panel per quantity (label of its axis → strategy → points), logarithmic in both axes.

    A point at infinity stands one step to the right of the others.
    """
    with drawn((4.4 * len(panels) + 1.2, 3.8), ncols=len(panels), squeeze=False) as (table, figure):
        for axes, (quantity, lines) in zip(table.flat, panels.items(), strict=True):
            places = sorted({place for points in lines.values() for place, _, _ in points})
            beyond = 10.0 * max((place for place in places if place < np.inf), default=1.0)
            for strategy, points in lines.items():
                x, y, half = np.array(points, dtype=np.float64).T
                x = np.minimum(x, beyond)
                color = strategy_color(strategy)
                floor = np.minimum(half, 0.9 * y)  # the axis is logarithmic
                axes.errorbar(x, y, [floor, half], label=strategy, color=color, marker="o", markersize=4, capsize=3)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(np.minimum(places, beyond), [_short(place) for place in places])
            axes.minorticks_off()
            axes.set_xlabel(where)
            axes.set_ylabel(quantity)
            axes.grid(alpha=0.25, linewidth=0.6)
        legend_beside(table.flat[0])
        table.flat[0].figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    return figure


def curves_along(
    title: str, quantity: str, curves: Mapping[str, FloatArray], bound: FloatArray | None = None
) -> Figure:
    """Draw mean curves (S, T) with their standard error.

    Labels that begin with a strategy's name have its color, others go from dark to bright. bound: a curve (T,) to draw
    dashed above them.
    """
    from matplotlib import colormaps

    ramp = colormaps["viridis"](np.linspace(0.0, 0.85, max(len(curves), 1)))
    with drawn(CURVES_SIZE) as (axes, figure):
        for (label, table), shade in zip(curves.items(), ramp, strict=True):
            mean_with_error(axes, table, label, strategy_color(label, shade), logarithmic=True)
        if bound is not None:
            axes.plot(np.arange(1, len(bound) + 1), bound, color="black", linestyle="--", linewidth=1, label="bound")
        axes.set_yscale("log")
        axes.set_title(in_lines(title))
        axes.set_xlabel("round")
        axes.set_ylabel(quantity)
        axes.margins(x=0.01)
        legend_beside(axes)
    return figure


def _short(number: float) -> str:
    """Return 20k for 20,000, 10M for ten million, ∞ for the mean-field limit."""
    if number == np.inf:
        return "∞"
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if size <= number:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
