"""Who is placed: the actions, the contexts with their weights, the number of agents; and how that changes."""

from mfbo.population.by_cell import cells_by_name
from mfbo.population.changing import Change, changed, in_later_names, read_change
from mfbo.population.limits import Limits
from mfbo.population.population import CellLabels, Population

__all__ = ["CellLabels", "Change", "Limits", "Population", "cells_by_name", "changed", "in_later_names", "read_change"]
