"""Strategies with a Gaussian-process model: the model as they keep it, recommendation, prediction.

``Surrogate`` carries out what ``replay_plan`` plans; it is a cache that is always equal to replaying the history.
"""

import logging
import operator
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.errors import DamageError
from mfbo.interfaces import Posterior
from mfbo.models import (
    Fit,
    GaussianProcess,
    InducedProcess,
    Kernel,
    RescaledPosterior,
    SparseProcess,
    joined_rows,
    rows_of_round,
    with_nearness,
)
from mfbo.models.situation_kernel import SituationModel
from mfbo.population import Population
from mfbo.records import History, Note, Round
from mfbo.strategies.own_kernel import own_kernel
from mfbo.strategies.reading import pending_shares, pending_situations, recommendable, situation_of
from mfbo.strategies.replay_plan import FitNote, RefitSchedule, ReplayPlan, Setting

_log = logging.getLogger(__package__)
Process = GaussianProcess | SparseProcess | InducedProcess


@dataclass(frozen=True, eq=False)
class Belief:
    """A process that holds the told rounds of a history, and the fit it stands on.

    notes: the fit for the round's notes. noise_variance: of the noise on one standardized payoff, fitted or known.
    """

    process: Process
    note: FitNote
    notes: dict[str, Note]
    noise_variance: float
    history: History

    @cached_property
    def posterior(self) -> Posterior:
        """What is believed after the told rounds, in standardized payoffs."""
        return self._conditioned(None)

    @property
    def bends(self) -> bool:
        """Whether the payoffs asked for functions of single cells: the model may have many hills."""
        return "separable" in self.note.fit.further

    @property
    def warped(self) -> "Belief | None":
        """The same of warped payoffs, if they asked for it."""
        fit, process = self.note.fit.warped, self.process
        if fit is None or not isinstance(process, GaussianProcess) or process.warped is None:
            return None
        process = process.warped
        return Belief(process, replace(self.note, fit=fit), self.notes, process.noise_variance, self.history)

    @property
    def after_open_plans(self) -> Posterior:
        """What will be believed once the open plans are told, as far as that is known."""
        return self._conditioned(pending_shares(self.history)) if self.history.open else self.posterior

    def _conditioned(self, pending: FloatArray | None) -> Posterior:
        """Return the posterior; pending: joint shares of open plans, (m, C, A), or None."""
        if isinstance(self.process, SparseProcess) or self.history.situations is None:
            return self.process.posterior(pending)
        situations = None if pending is None else pending_situations(self.history)
        return self.process.posterior(pending, situation=situation_of(self.history), pending_situations=situations)


def _named(fit: Fit, kernel: Kernel) -> Fit | None:
    """Return a noted fit with its further terms named; None if it is not of this kernel.

    Older studies did not name them and knew one group alone: the number of numbers tells.
    """
    names = fit.further
    if not names and len(fit.theta) != len(kernel.hyperparameters):
        names = ("separable",)
    has_them = {group.name for group in kernel.further}.issuperset(names)
    numbers = len(kernel.with_further(names).hyperparameters)
    theirs = {len(one.theta) for one in (fit, fit.warped) if one is not None}
    return replace(fit, further=names) if has_them and theirs == {numbers} else None


def _start(plan: ReplayPlan, kernel: Kernel) -> tuple[FloatArray | None, tuple[str, ...], FloatArray | None]:
    """Return the θ from which a fit begins, with its further terms, and the θ for warped payoffs.

    None if the one before is not of this kernel: a population may change. A basis has no further terms.
    """
    before = None if plan.start is None else _named(plan.start, kernel)
    if before is None:
        return None, (), None
    if plan.setting.size == "sparse":
        return kernel.with_further(before.further).carried_to(kernel, before.theta), (), None
    return before.theta, before.further, None if before.warped is None else before.warped.theta


class Surrogate:
    """Carries out replay plans, and takes up again from the one before where that changes no bit."""

    def __init__(self) -> None:
        """Hold nothing before the first plan."""
        self._belief: Belief | None = None
        self._rounds: tuple[Round, ...] = ()

    def belief(self, plan: ReplayPlan, history: History, kernel: Kernel, iterations: int) -> Belief:
        """Return the model of a history; a new fit takes ``iterations`` L-BFGS steps at most."""
        if plan.noted is not None:
            named = _named(plan.noted.fit, kernel)
            if named is None:
                raise DamageError(
                    f"a round's notes hold {len(plan.noted.fit.theta)} numbers of a fit, and the model has"
                    f" {len(kernel.hyperparameters)}: another version or another strategy wrote them"
                )
            plan = replace(plan, noted=replace(plan.noted, fit=named))
        process, held = self._taken_up(plan, history, kernel)
        rows_of = partial(rows_of_round, history.population, situations=history.situations)
        missing = list(map(rows_of, plan.fitted_on[held:]))
        for rows in [joined_rows(missing)] if missing and plan.setting.size == "subset" else missing:
            process.append(rows)
        if plan.noted is not None and missing:
            process.adopt(plan.noted.fit)
        for done in plan.appended[max(held - len(plan.fitted_on), 0) :]:
            process.append(rows_of(done))
        note = plan.noted
        if note is None:
            setting = (plan.setting.kind, plan.setting.size)
            start, further, warped = _start(plan, kernel)
            fit = process.refit(start, iterations, plan.memory if kernel.drifts else None, further, warped)
            note = FitNote(plan.told, fit, setting, history.corrections)
            _log.info("fitted the kernel %r to %d told rounds", kernel.name, plan.told)
        self._belief = Belief(process, note, note.to_notes(), process.noise_variance, history)
        self._rounds = plan.rounds
        return self._belief

    def _taken_up(self, plan: ReplayPlan, history: History, kernel: Kernel) -> tuple[Process, int]:
        """Return a process and how many of the plan's rounds it holds, under the noted fit if there is one.

        The cached one, if it would not differ by a bit; a subset is joined at once, so it is kept whole or not at all.
        """
        made: type[Process] = GaussianProcess
        if plan.setting.size == "sparse":
            made = SparseProcess if kernel.situation is None else InducedProcess
        old, self._belief = self._belief, None  # an error on the way must not leave half a model
        if old is None or not isinstance(old.process, made):
            return made(kernel, history.noise), 0
        process, held = old.process, self._rounds
        same_fit = plan.setting.size != "subset" if plan.noted is None else old.notes == plan.noted.to_notes()
        begins = len(held) <= len(plan.rounds) and all(map(operator.is_, held, plan.rounds))
        if not (same_fit and begins and process.kernel is kernel and process.noise == history.noise):
            return made(kernel, history.noise), 0
        if plan.noted is None and not isinstance(process, SparseProcess):
            process.forget_fit()  # a factor that is about to be made anew need not grow first
        return process, len(held)


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
    _kernels: dict[tuple[Hashable, int, str, bytes | None, bool, bool], tuple[Any, Kernel]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def kind_of(self, history: History) -> str:
        """Return the kind of data of a history as it is modeled; another kind means another kernel."""
        return "any"

    def as_modeled(self, history: History) -> History:
        """Return the history as the model reads it."""
        return history

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return the kernel for a kind of data."""
        raise NotImplementedError

    def started(self, kernel: Kernel, population: Population, start: FloatArray, kind: str) -> Kernel:
        """Return a kernel that knows a plan (C, A) to begin at."""
        return with_nearness(kernel, population, start)

    def situated(self, kernel: Kernel, model: SituationModel) -> Kernel:
        """Return a kernel that knows situations; time among them is how drift is followed."""
        return replace(kernel, situation=model, drifts=False)

    def belief(self, history: History, kind: str | None = None) -> Belief:
        """Return the model of a history as it is modeled, fitted now if the schedule says so.

        kind: of its data; None: it is looked up.
        """
        return self.belief_with(history, self.kind_of(history) if kind is None else kind)

    def belief_with(
        self,
        history: History,
        kind: str,
        *,
        start: FloatArray | None = None,
        own: str | None = None,
        afresh: bool = False,
        warps: bool = False,
    ) -> Belief:
        """Return the model of a history whose data are of a kind.

        start: a plan (C, A) that the kernel is to know, see ``started``. own: the import path of a kernel to be used
        instead of the strategy's. afresh: whether fits begin at the medians of the prior as well. warps: whether they
        ask for warped payoffs.
        """
        told, population = history.told, history.population
        situations = history.situations
        differ = situations is not None
        setting = Setting.of(told, kind, sparse=self.sparse, subset=kind in self.subset_kinds, situations=differ)
        plan = ReplayPlan.of(history, setting, self.schedule)
        arrays = (population.features, population.weights, population.context_features)
        place = population.shape, *map(id, arrays)  # a fleet that grows and a station that closes leave a kernel as is
        key = place, id(situations), kind, None if start is None else start.tobytes(), afresh, warps
        if key not in self._kernels:  # both are kept alive, so that the ids of their parts stay their own
            kernel = self.kernel_for(population, kind) if own is None else own_kernel(own, population)
            if start is not None:
                kernel = self.started(kernel, population, start, kind)
            if situations is not None:
                kernel = self.situated(kernel, SituationModel.of(situations))
            self._kernels[key] = (
                (population, situations),
                replace(kernel, afresh=kernel.afresh or afresh, warps=kernel.warps or warps),
            )
        return self.surrogate.belief(plan, history, self._kernels[key][1], self.schedule.iterations)

    def recommend(self, history: History) -> FloatArray:
        """Return the visited distribution with the highest posterior mean, of those that keep the limits."""
        with one_blas_thread():
            visited = history.steered[recommendable(history)]
            posterior = self.belief(self.as_modeled(history)).posterior
            return np.asarray(visited[int(np.argmax(posterior.population_means(visited)))])

    def posterior(self, history: History) -> Posterior | None:
        """Return the model in the payoff's own units."""
        with one_blas_thread():
            belief = self.belief(self.as_modeled(history))
            return RescaledPosterior(belief.posterior, belief.note.fit.shift, belief.note.fit.scale)
