"""Shares as circles whose area is the share, and the key that says how much an area means."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from mfbo.arrays import FloatArray

MOST_IN_KEY = 3
KEY_FONT = 9
ROUND_SHARES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def areas(shares: FloatArray, largest: float, top: float) -> FloatArray:
    """Return circle areas (A,) in square points; the share ``top`` gets the area ``largest``."""
    return np.asarray(shares / top * largest)


def radii(area: FloatArray) -> FloatArray:
    """Return the radii of circles in points; matplotlib's marker area is that of the square around the circle."""
    return np.asarray(np.sqrt(area) / 2)


def draw_area_key(figure: Any, largest: float, top: float, others: Mapping[str, Any]) -> None:
    """Write a legend below the panels: a few round shares as circles, then other handles by their label."""
    shown = [share for share in ROUND_SHARES if share <= top][-MOST_IN_KEY:]
    handles = [
        Line2D([], [], linestyle="none", marker="o", markersize=np.sqrt(share / top * largest), color="#bbbbbb")
        for share in shown
    ]
    labels = [f"{'share ' * (position == 0)}{100 * share:g}%" for position, share in enumerate(shown)]
    room = np.sqrt(shown[-1] / top * largest) / KEY_FONT if shown else 1.0  # of the largest circle, in letters
    figure.legend(
        [*handles, *others.values()],
        [*labels, *others],
        loc="outside lower center",
        ncols=len(handles) + len(others),
        frameon=False,
        fontsize=KEY_FONT,
        borderpad=0.3 + room / 2,  # the circles are higher than a line of the legend
        handlelength=room,
        columnspacing=1.2,
    )
