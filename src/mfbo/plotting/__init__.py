"""Pictures; each function writes PNG and SVG beside each other and returns their paths. Needs the extra `plot`.

``draw_problem`` shows a problem and a plan, ``best_so_far`` how strategies climb, ``arena_histogram`` the two teams.
"""

from mfbo.plotting.arena_histogram import arena_histogram
from mfbo.plotting.curves import best_so_far
from mfbo.plotting.problem_pictures import draw_problem

__all__ = ["arena_histogram", "best_so_far", "draw_problem"]
