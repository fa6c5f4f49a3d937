"""Axes of a map: tick labels in degrees, and a degree of longitude as short as it is on the ground."""

from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfbo.arrays import FloatArray
from mfbo.plotting.panels import Pictured

MOST_TICKS = 4
SLIMMEST = 0.35  # of a map's sides, short to long
SMALLEST_MAP = 0.01  # degrees, about 1 km: the map of a single place
WIDEST_RATIO = 8.0  # beyond it, equal units on both axes of a plain plane would leave a line


def is_geographic(problem: Pictured) -> bool:
    """Say whether the places of a problem are longitude and latitude, and not x and y of some plane."""
    return {"longitude", "latitude"} <= set(problem.population.feature_names)


def set_map_axes(axes: Any, places: FloatArray, *, geographic: bool) -> None:
    """Set aspect, ticks and labels for places (A, 2)."""
    if geographic:
        axes.set_aspect(degree_ratio(places))
        _set_degrees(axes.xaxis, "° E", "° W")
        _set_degrees(axes.yaxis, "° N", "° S")
        return
    if _comparable(places):
        axes.set_aspect("equal")
    axes.set_xlabel("x")
    axes.set_ylabel("y")


def degree_ratio(places: FloatArray) -> float:
    """Return how much longer a degree of latitude is than one of longitude, amid places (A, 2): 1 / cos(latitude)."""
    middle = (places[:, 1].min() + places[:, 1].max()) / 2
    return float(1.0 / max(np.cos(np.radians(middle)), 0.05))


def map_limits(places: FloatArray, margin: float, *, geographic: bool) -> FloatArray:
    """Return the window of a map of places (A, 2), a row (low, high) for each axis, (2, 2); never a thin strip."""
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    unit = np.array([degree_ratio(places), 1.0]) if geographic else np.ones(2)  # of equal length on the ground
    spans = np.ptp(places, axis=0) / unit
    if geographic or _comparable(places):
        spans = np.maximum(spans, SLIMMEST * spans.max())
    smallest = SMALLEST_MAP if geographic else 1.0
    half = np.where(spans > 0, spans, smallest) * (0.5 + margin) * unit
    return np.stack([middle - half, middle + half], axis=1)


def _comparable(places: FloatArray) -> bool:
    """Say whether x and y of a plane are of one size, so that equal units leave more than a line."""
    low, high = sorted(np.ptp(places, axis=0))
    return bool(high < WIDEST_RATIO * low)


def _set_degrees(axis: Any, positive: str, negative: str) -> None:
    def label(value: float, position: int) -> str:
        steps = np.diff(axis.get_majorticklocs())
        digits = max(0, int(np.ceil(-np.log10(steps.min()) - 1e-6))) if len(steps) else 2
        text = f"{abs(value):.{digits}f}"
        return "0°" if float(text) == 0 else text + (positive if value > 0 else negative)

    axis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(label))
