"""The two teams around the pitch, as in the paper's figure."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mfbo.errors import InvalidInputError
from mfbo.plotting.figures import Figure, drawn
from mfbo.population import Population

TEAM_COLORS = ("#d55e00", "#0072b2")
PITCH = 0.35  # inner radius; bars grow outwards from it


def arena_histogram(
    population: Population, distribution: Sequence[Sequence[float]], what: str = "plan", ax: Any = None
) -> Figure:
    """Draw each team's share of seats as bars around the pitch; distribution (2, A).

    what: which distribution it is, for the title. ax: axes with a polar projection.
    Seats are spread evenly: the first and the last, which share the
    place 0 = 2π, stand side by side.
    """
    if population.features is None or len(population.contexts) != len(TEAM_COLORS):
        raise InvalidInputError("an arena has two teams and seats with an angle")
    shares = np.array(distribution)
    angles = 2 * np.pi * np.arange(shares.shape[1]) / shares.shape[1]
    width = 2 * np.pi / len(angles) * 0.46
    with drawn((5.2, 5.4), ax, subplot_kw={"projection": "polar"}) as (axes, figure):
        for team, color, offset in zip(range(2), TEAM_COLORS, (-width / 2, width / 2), strict=True):
            axes.bar(
                angles + offset,
                shares[team],
                width=width,
                bottom=PITCH,
                color=color,
                label=population.contexts[team],
                linewidth=0,
            )
        axes.set_axisbelow(True)
        axes.fill(np.linspace(0, 2 * np.pi, 200), np.full(200, PITCH), color="#bfdfbf", zorder=2)
        axes.set_ylim(0, PITCH + max(float(shares.max()) * 1.1, 0.2))
        ticks = [tick for tick in (0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0) if tick <= shares.max() * 1.1][-3:]
        axes.set_yticks([PITCH + tick for tick in ticks], [f"{tick:.0%}" for tick in ticks], fontsize=8)
        axes.set_xticks(np.linspace(0, 2 * np.pi, 8, endpoint=False))
        axes.set_title(f"arena, {what}: share of each team per seat")
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.05, -0.08))
    return figure
