"""Problems with known optima to learn on, test on and compare on; and what can be seen of them."""

from mfbo.problems.arena import arena
from mfbo.problems.observation import FeedbackKind, Observer
from mfbo.problems.problem import Optimum, Payoff, Problem
from mfbo.problems.swarm import swarm

__all__ = ["FeedbackKind", "Observer", "Optimum", "Payoff", "Problem", "arena", "swarm"]
