"""Who is placed: the actions, the contexts with their weights, the number of agents."""

from mfbo.population.limits import Limits
from mfbo.population.population import Population

__all__ = ["Limits", "Population"]
