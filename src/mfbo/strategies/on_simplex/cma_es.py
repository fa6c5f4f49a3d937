"""CMA-ES on logits, by the library cmaes: its state is replayed from the told rounds, generation by generation."""

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.records import History, Proposal, Round, told_payoff
from mfbo.simplex import uniform
from mfbo.strategies.model_free import ModelFreeStrategy
from mfbo.strategies.on_simplex.logits import logits_of, noted_logits, proposal_of_logits, require_cells
from mfbo.strategies.optional_library import drawn_seed, load
from mfbo.validation import positive

MOST_CELLS = 2000  # the covariance is decomposed every generation


@dataclass(frozen=True)
class CmaEs(ModelFreeStrategy):
    """Evolves a Gaussian over the C · A logits; the plan is their softmax per context.

    step: first standard deviation of a logit. The population is the library's 4 + ⌊3 ln(C A)⌋ and doubles at every
    restart (IPOP), which the library's own stopping rules call for.
    """

    step: float = 1.0
    name: str = field(default="cma-es", kw_only=True)
    _replay: "_Replay" = field(default_factory=lambda: _Replay(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a Gaussian without width."""
        positive(self.step, "step")

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return a draw from the Gaussian as it is after all complete generations."""
        population = history.population
        require_cells(population, self.name, MOST_CELLS)
        cmaes = load("cmaes", self.name)
        if population.shape[1] == 1:
            return Proposal(uniform(*population.shape))
        own = [asked for asked in history.rounds if "seen" in asked.notes]
        seen = int(own[0].notes["seen"][0]) if own else len(history.told)
        with one_blas_thread():
            start = _start(history.told[:seen], population.shape)
            evolution = self._replay.after(history, cmaes, start, self.step)
            evolution.reseed_rng(drawn_seed(rng))
            logits = evolution.ask().reshape(population.shape)
        return proposal_of_logits(logits, seen=seen)


class _Replay:
    """The library's object after the told rounds: a cache that is always equal to starting over.

    Its state depends on what it was told alone; asking only moves its generator, which is seeded before every ask.
    """

    def __init__(self) -> None:
        self._evolution: Any = None
        self._start: bytes = b""
        self._rounds: tuple[Round, ...] = ()
        self._unit = 1.0

    def after(self, history: History, cmaes: Any, start: FloatArray, step: float) -> Any:
        """Return the evolution after all complete generations among the told rounds that are its own."""
        told = tuple(done for done in history.told if noted_logits(done) is not None)
        held = len(self._rounds)
        continues = held <= len(told) and all(map(operator.is_, self._rounds, told))
        if self._evolution is None or self._start != start.tobytes() or not continues:
            self._evolution, self._start, self._rounds = cmaes.CMA(start.ravel(), step, seed=0), start.tobytes(), ()
        while len(told) - len(self._rounds) >= self._evolution.population_size:
            first = len(self._rounds)
            generation = told[first : first + self._evolution.population_size]
            self._tell(generation)
            self._rounds = (*self._rounds, *generation)
            if self._evolution.should_stop():
                size = 2 * self._evolution.population_size
                self._evolution = cmaes.CMA(start.ravel(), step, seed=0, population_size=size)
        return self._evolution

    def _tell(self, generation: tuple[Round, ...]) -> None:
        """Tell one generation; the library minimizes, and its stopping rules expect values of order 1."""
        payoffs = np.array([told_payoff(done) for done in generation])
        if not self._rounds:
            self._unit = float(np.ptp(payoffs)) or 1.0
        points = [logits_of(done).ravel() for done in generation]
        self._evolution.tell([(x, -float(y) / self._unit) for x, y in zip(points, payoffs, strict=True)])


def _start(before: tuple[Round, ...], shape: tuple[int, int]) -> FloatArray:
    """Return the first mean (C, A): the best of the rounds told before the first own one, or the uniform plan."""
    foreign = [done for done in before if noted_logits(done) is None]
    return logits_of(max(foreign, key=told_payoff)) if foreign else np.zeros(shape)
