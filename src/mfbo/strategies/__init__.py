"""Strategies propose the next plan from the history.

``Default`` needs the fewest rounds; ``MeanFieldGPUCB`` is the paper's algorithm; ``RandomSearch`` the paper's control.
``ModeledStrategy`` is what a strategy of one's own derives from if it has a Gaussian process.
"""

from mfbo.strategies.default import Default
from mfbo.strategies.mf_gp_ucb import MeanFieldGPUCB
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.random_search import RandomSearch

__all__ = ["Default", "MeanFieldGPUCB", "ModeledStrategy", "RandomSearch"]
