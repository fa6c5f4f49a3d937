"""Pictures as figures: each function returns a matplotlib figure and writes nothing. Needs the extra `plot`.

Those that need one pair of axes take ``ax=`` and draw there. A notebook shows a figure that is the last word of a cell;
``save_figure`` writes one as PNG and SVG.
"""

from mfbo.plotting.arena_histogram import arena_histogram
from mfbo.plotting.curves import best_so_far
from mfbo.plotting.figures import save_figure
from mfbo.plotting.problem_pictures import problem_figures
from mfbo.plotting.report_figures import ReportFigure, report_figures
from mfbo.plotting.study_figures import (
    by_situation,
    comparison,
    explanation,
    heat_maps,
    placement,
    placements,
    progress,
    slices,
)

__all__ = [
    "ReportFigure",
    "arena_histogram",
    "best_so_far",
    "by_situation",
    "comparison",
    "explanation",
    "heat_maps",
    "placement",
    "placements",
    "problem_figures",
    "progress",
    "report_figures",
    "save_figure",
    "slices",
]
