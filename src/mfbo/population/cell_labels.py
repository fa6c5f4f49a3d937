"""What the cells of a plan are called, and where the actions lie: enough to show a plan by itself."""

from dataclasses import dataclass

from mfbo.arrays import FloatArray

MAPPED = (("longitude", "latitude"), ("x", "y"))  # features that are places on a map; the first ones are degrees


@dataclass(frozen=True, eq=False)
class CellLabels:
    """Names and places of a population.

    contexts, actions: their names. weights: (C,), the agents' share of each context. places: (A, 2), None if the
    population knows none. geographic: whether places are degrees of longitude and latitude.
    """

    contexts: tuple[str, ...]
    actions: tuple[str, ...]
    weights: FloatArray
    places: FloatArray | None = None
    geographic: bool = False


def places_of(features: FloatArray | None, names: tuple[str, ...]) -> tuple[FloatArray | None, bool]:
    """Return where actions lie, (A, 2), by their features (A, d) of these names, and whether that is in degrees."""
    for pair in MAPPED:
        if features is not None and set(pair) <= set(names):
            return features[:, [names.index(name) for name in pair]], pair == MAPPED[0]
    return None, False
