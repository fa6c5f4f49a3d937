"""TuRBO-1 on the assignment: every agent is a dimension, its action a place on the unit interval."""

from dataclasses import dataclass, field

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.population import Population
from mfbo.records import History, Proposal
from mfbo.strategies.model_free import ModelFreeStrategy
from mfbo.strategies.per_agent.assignments import assignment_of, proposal_of, require_agents
from mfbo.strategies.per_agent.trust_region import TrustRegionSearch
from mfbo.strategies.reading import told_payoffs


@dataclass(frozen=True)
class Turbo(ModelFreeStrategy):
    """The paper's opponent.

    failure_tolerance: the original's max(4, M) is capped here, because within 250 rounds a region for M = 300 agents
    would otherwise never shrink; None takes the cap away. initial_rounds: random assignments at the start and after
    every restart.
    """

    initial_rounds: int = 20
    failure_tolerance: int | None = 20
    candidates: int = 2048
    name: str = field(default="turbo", kw_only=True)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the assignment at which a draw from the model is highest; the first ones are random."""
        population = history.population
        agents = require_agents(population, self.name)
        if population.shape[1] == 1:
            return proposal_of(population, np.zeros(agents, dtype=np.int64))
        line = Line.of(population)
        told = [line.places[assignment_of(population, done)] for done in history.told]
        points = np.stack(told) if told else np.empty((0, agents))
        point = self._search(agents, line).suggest(points, told_payoffs(history), rng)
        return proposal_of(population, line.actions(point))

    def _search(self, agents: int, line: "Line") -> TrustRegionSearch:
        paper = TrustRegionSearch()
        tolerance = max(4, agents)
        return TrustRegionSearch(
            initial_points=self.initial_rounds,
            # a region shorter than the step between two actions holds no other assignment
            least_length=min(max(paper.least_length, 1.0 / len(line.order)), paper.first_length / 2),
            failure_tolerance=tolerance if self.failure_tolerance is None else min(tolerance, self.failure_tolerance),
            candidates=self.candidates,
            grid=lambda points: line.places[line.actions(points)],
        )


@dataclass(frozen=True, eq=False)
class Line:
    """Actions as places on [0, 1], evenly spaced, in the order of their one feature or else as listed.

    order: actions from left to right, (A,). places: where each action is, (A,).
    """

    order: IntArray
    places: FloatArray

    @staticmethod
    def of(population: Population) -> "Line":
        """Read the order off the features."""
        actions = population.shape[1]
        features = population.features
        one = features is not None and features.shape[1] == 1
        order = np.argsort(features[:, 0], kind="stable") if features is not None and one else np.arange(actions)
        places = np.empty(actions)
        places[order] = (np.arange(actions) + 0.5) / actions
        return Line(order, places)

    def actions(self, points: FloatArray) -> IntArray:
        """Return the actions nearest to points in [0, 1], any shape."""
        count = len(self.order)
        return np.asarray(self.order[np.minimum((points * count).astype(np.int64), count - 1)])
