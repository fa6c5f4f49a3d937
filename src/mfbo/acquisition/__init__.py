"""How promising a distribution is: upper confidence bounds, the theorem that sets their width, and improvement.

``MeanFieldUCB`` is the paper's; ``PopulationUCB`` is tighter and cheaper and what the default strategy uses;
``LogExpectedImprovement`` is what the plain baselines climb; ``TrustRegion`` keeps either of them near what was seen.
"""

from mfbo.acquisition.expected_improvement import LogExpectedImprovement
from mfbo.acquisition.theorem import RegretOrder, Theorem, regret_orders
from mfbo.acquisition.trust import TrustRegion
from mfbo.acquisition.upper_confidence import MeanFieldUCB, PopulationUCB

__all__ = [
    "LogExpectedImprovement",
    "MeanFieldUCB",
    "PopulationUCB",
    "RegretOrder",
    "Theorem",
    "TrustRegion",
    "regret_orders",
]
