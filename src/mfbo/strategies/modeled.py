"""What all strategies with a Gaussian-process model share: the model itself, recommendation, prediction."""

from dataclasses import dataclass, field

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.interfaces import Posterior
from mfbo.models import Kernel, RescaledPosterior
from mfbo.population import Population
from mfbo.records import History, Round
from mfbo.strategies.reading import recommendable, steered
from mfbo.strategies.replay_plan import RefitSchedule, ReplayPlan, Setting
from mfbo.strategies.surrogate import Belief, Surrogate


@dataclass(frozen=True)
class ModeledStrategy:
    """A strategy with a model; subclasses choose the kernel and propose.

    sparse: whether the sparse process takes over beyond the row budget. subset_kinds: kinds of data for which the best
    and the newest rounds tell all, see ``Setting``.
    """

    schedule: RefitSchedule = field(default_factory=RefitSchedule, kw_only=True)
    sparse: bool = field(default=False, kw_only=True)
    subset_kinds: tuple[str, ...] = field(default=(), kw_only=True)
    surrogate: Surrogate = field(default_factory=Surrogate, init=False, repr=False, compare=False)
    _kernels: dict[tuple[int, str], tuple[Population, Kernel]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def data_kind(self, told: tuple[Round, ...], noise: float | None) -> str:
        """Return the kind of data told so far; another kind means another kernel."""
        return "any"

    def kind_of(self, history: History) -> str:
        """Return the kind of data of a history as it is modeled."""
        return self.data_kind(history.told, history.noise)

    def as_modeled(self, history: History) -> History:
        """Return the history as the model reads it."""
        return history

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return the kernel for a kind of data."""
        raise NotImplementedError

    def belief(self, history: History, kind: str | None = None) -> Belief:
        """Return the model of a history as it is modeled, fitted now if the schedule says so.

        kind: of its data, if that is known already.
        """
        told = history.told
        known = self.kind_of(history) if kind is None else kind
        setting = Setting.of(told, known, sparse=self.sparse, subset=known in self.subset_kinds)
        plan = ReplayPlan.of(history, setting, self.schedule)
        return self.surrogate.belief(plan, history, self._kernel(history.population, known), self.schedule.iterations)

    def recommend(self, history: History) -> FloatArray:
        """Return the visited distribution with the highest posterior mean, of those that keep the limits."""
        with one_blas_thread():
            visited = steered(history)[recommendable(history)]
            posterior = self.belief(self.as_modeled(history)).posterior
            return np.asarray(visited[int(np.argmax(posterior.population_means(visited)))])

    def posterior(self, history: History) -> Posterior | None:
        """Return the model in the payoff's own units."""
        with one_blas_thread():
            belief = self.belief(self.as_modeled(history))
            return RescaledPosterior(belief.posterior, belief.note.fit.shift, belief.note.fit.scale)

    def _kernel(self, population: Population, kind: str) -> Kernel:
        key = (id(population), kind)
        if key not in self._kernels:
            self._kernels[key] = population, self.kernel_for(population, kind)  # kept alive, so its id stays its own
        return self._kernels[key][1]
