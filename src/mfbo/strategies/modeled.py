"""What all strategies with a Gaussian-process model share: the model itself, recommendation, prediction."""

from dataclasses import dataclass, field

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.interfaces import Posterior
from mfbo.models import Kernel, RescaledPosterior
from mfbo.population import Population
from mfbo.records import History, Round
from mfbo.strategies.reading import recommendable, steered
from mfbo.strategies.surrogate import RefitSchedule, Surrogate


@dataclass(frozen=True)
class ModeledStrategy:
    """A strategy with a model; subclasses choose the kernel and propose.

    sparse, subset_kinds: how the model copes with many rows, see ``Surrogate``.
    """

    schedule: RefitSchedule = field(default_factory=RefitSchedule, kw_only=True)
    sparse: bool = field(default=False, kw_only=True)
    subset_kinds: tuple[str, ...] = field(default=(), kw_only=True)
    surrogate: Surrogate = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare the cache of the model."""
        surrogate = Surrogate(
            self.kernel_for, self.data_kind, self.schedule, sparse=self.sparse, subset_kinds=self.subset_kinds
        )
        object.__setattr__(self, "surrogate", surrogate)

    def data_kind(self, told: tuple[Round, ...], noise: float | None) -> str:
        """Return the kind of data told so far; another kind means another kernel."""
        return "any"

    def as_modeled(self, history: History) -> History:
        """Return the history as the model reads it."""
        return history

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return the kernel for a kind of data."""
        raise NotImplementedError

    def recommend(self, history: History) -> FloatArray:
        """Return the visited distribution with the highest posterior mean, of those that keep the limits."""
        with one_blas_thread():
            visited = steered(history)[recommendable(history)]
            posterior = self.surrogate.prepared(self.as_modeled(history))[0].posterior()
            return np.asarray(visited[int(np.argmax(posterior.population_means(visited)))])

    def posterior(self, history: History) -> Posterior | None:
        """Return the model in the payoff's own units."""
        with one_blas_thread():
            process, note = self.surrogate.prepared(self.as_modeled(history))
            return RescaledPosterior(process.posterior(), note.fit.shift, note.fit.scale)
