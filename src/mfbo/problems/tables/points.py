"""Points of the earth as trip and port files give them: read, and refused when they lie off the map."""

from typing import Any


def on_the_map(longitude: Any, latitude: Any) -> tuple[float, float] | None:
    """Return (longitude, latitude) as numbers, or None if they are unreadable, (0, 0) or outside the earth.

    (0, 0) is what receivers write when they have no position; no taxi, station or port is there.
    """
    try:
        east, north = float(longitude), float(latitude)
    except (TypeError, ValueError):
        return None  # the caller counts it with the other points off the map
    if not (-180 <= east <= 180 and -90 <= north <= 90) or (east == 0 and north == 0):  # NaN fails the first test
        return None
    return east, north
