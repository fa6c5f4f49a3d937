"""Pictures; each function writes PNG and SVG beside each other and returns their paths. Needs the extra `plot`."""

from mfbo.plotting.arena import arena_histogram
from mfbo.plotting.curves import best_so_far

__all__ = ["arena_histogram", "best_so_far"]
