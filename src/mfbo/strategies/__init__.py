"""Strategies propose the next plan from the history.

``Default`` needs the fewest rounds; ``MeanFieldGPUCB`` is the paper's algorithm; ``RandomSearch`` the paper's control.
"""

from mfbo.strategies.default import Default
from mfbo.strategies.mf_gp_ucb import MeanFieldGPUCB
from mfbo.strategies.random_search import RandomSearch

__all__ = ["Default", "MeanFieldGPUCB", "RandomSearch"]
