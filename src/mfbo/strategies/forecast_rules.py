"""The forecast rules as strategies: the plan that a rule made of past trips, day after day. They learn nothing.

Which rule made the plan is said by the name; the plan itself is the study's status quo, for strategies know no trips.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.interfaces import Posterior
from mfbo.records import History, Proposal


@dataclass(frozen=True)
class Deficit:
    """Follows the plan of the rule ``deficit``: the mean over past days of a station's largest running deficit."""

    name: str = "deficit"

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the plan that was made beforehand; the study keeps its limits."""
        return Proposal(self.recommend(history))

    def recommend(self, history: History) -> FloatArray:
        """Return the same plan."""
        if history.status_quo is None:
            raise InvalidInputError(
                f"strategy {self.name!r} follows a plan made of past trips: give it with --start-from trips.csv, "
                "or start=forecast_plan(…)"
            )
        return history.status_quo

    def posterior(self, history: History) -> Posterior | None:
        """Return None: there is no model."""
        return None


@dataclass(frozen=True)
class Shares(Deficit):
    """Follows the plan of the rule ``shares``: the shares of past starts."""

    name: str = "shares"
