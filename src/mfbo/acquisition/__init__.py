"""How promising a distribution is: upper confidence bounds, the theorem that sets their width, and expected gain.

``MeanFieldUCB`` is the paper's; ``PopulationUCB`` is tighter and cheaper and what the default strategy uses;
``ExpectedGain`` is what it explores with, and what plain processes climb; ``TrustRegion`` keeps any of them near what
was seen.
"""

from mfbo.acquisition.expected_gain import ExpectedGain
from mfbo.acquisition.theorem import RegretOrder, Theorem, regret_orders
from mfbo.acquisition.trust import TrustRegion
from mfbo.acquisition.upper_confidence import MeanFieldUCB, PopulationUCB

__all__ = [
    "ExpectedGain",
    "MeanFieldUCB",
    "PopulationUCB",
    "RegretOrder",
    "Theorem",
    "TrustRegion",
    "regret_orders",
]
