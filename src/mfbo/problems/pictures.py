"""How a problem is shown: the kind of picture, and what it takes beyond the problem's population and places.

Nothing is drawn here; ``mfbo.plotting`` has one function for each kind.
"""

from collections.abc import Callable
from dataclasses import dataclass

from mfbo.arrays import FloatArray


@dataclass(frozen=True)
class PlacesPicture:
    """The shares of the places: heat maps on a grid, circles on a map, or bars if they lie nowhere."""


@dataclass(frozen=True)
class PitchPicture:
    """Two teams around a pitch, as in the paper's figure 3."""


@dataclass(frozen=True, eq=False)
class RewardPicture:
    """Bars over an angle, below the reward that draws everyone. angles: of the actions, (A,)."""

    angles: FloatArray
    reward: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class PortsPicture:
    """Ports on a map of the world. home: (C, A), 1 where port and vessel share the region."""

    home: FloatArray


Picture = PlacesPicture | PitchPicture | RewardPicture | PortsPicture
