"""The model as strategies keep it: a cache that is always equal to replaying the history."""

import operator
from dataclasses import dataclass
from functools import cached_property

from mfbo.arrays import FloatArray
from mfbo.errors import DamageError
from mfbo.interfaces import Posterior
from mfbo.models import GaussianProcess, Kernel, SparseProcess, joined_rows, rows_of_round
from mfbo.records import History, Note, Round
from mfbo.strategies.replay_plan import FitNote, ReplayPlan

Process = GaussianProcess | SparseProcess


@dataclass(frozen=True, eq=False)
class Belief:
    """A process that holds the told rounds, and the fit it stands on."""

    process: Process
    note: FitNote

    @cached_property
    def posterior(self) -> Posterior:
        """What is believed after the told rounds, in standardized payoffs."""
        return self.process.posterior()

    def after_open_plans(self, shares: FloatArray) -> Posterior:
        """Return what will be believed once open plans with these joint shares (m, C, A) are told, as far as known."""
        return self.process.posterior(shares) if len(shares) else self.posterior

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one standardized payoff, fitted or known."""
        return self.process.noise_variance

    @property
    def notes(self) -> dict[str, Note]:
        """The fit for the round's notes."""
        return self.note.to_notes()


class Surrogate:
    """Carries out replay plans, and takes up again from the one before where that changes no bit."""

    def __init__(self) -> None:
        """Hold nothing before the first plan."""
        self._belief: Belief | None = None
        self._rounds: tuple[Round, ...] = ()

    def belief(self, plan: ReplayPlan, history: History, kernel: Kernel, iterations: int) -> Belief:
        """Return the model of a history; a new fit takes ``iterations`` L-BFGS steps at most."""
        if plan.noted is not None and len(plan.noted.fit.theta) != len(kernel.hyperparameters):
            raise DamageError(
                f"a round's notes hold {len(plan.noted.fit.theta)} numbers of a fit, and the model has"
                f" {len(kernel.hyperparameters)}: another version or another strategy wrote them"
            )
        process, held = self._taken_up(plan, history, kernel)
        population = history.population
        missing = [rows_of_round(population, done) for done in plan.fitted_on[held:]]
        for rows in [joined_rows(missing)] if missing and plan.setting.size == "subset" else missing:
            process.append(rows)
        if plan.noted is not None and missing:
            process.adopt(plan.noted.fit)
        for done in plan.appended[max(held - len(plan.fitted_on), 0) :]:
            process.append(rows_of_round(population, done))
        note = plan.noted
        if note is None:
            setting = (plan.setting.kind, plan.setting.size)
            note = FitNote(plan.told, process.refit(plan.start, iterations), setting)
        self._belief, self._rounds = Belief(process, note), plan.rounds
        return self._belief

    def _taken_up(self, plan: ReplayPlan, history: History, kernel: Kernel) -> tuple[Process, int]:
        """Return a process and how many of the plan's rounds it holds, under the noted fit if there is one.

        The cached one, if it would not differ by a bit; a subset is joined at once, so it is kept whole or not at all.
        """
        made = SparseProcess if plan.setting.size == "sparse" else GaussianProcess
        old, self._belief = self._belief, None  # an error on the way must not leave half a model
        if old is None or not self._is_beginning(old, plan):
            return made(kernel, history.noise), 0
        process = old.process
        if not isinstance(process, made) or process.kernel is not kernel or process.noise != history.noise:
            return made(kernel, history.noise), 0
        if plan.noted is None and isinstance(process, GaussianProcess):
            process.forget_fit()  # a factor that is about to be made anew need not grow first
        return process, len(self._rounds)

    def _is_beginning(self, old: Belief, plan: ReplayPlan) -> bool:
        same_fit = plan.setting.size != "subset" if plan.noted is None else old.note.equals(plan.noted)
        held = self._rounds
        return same_fit and len(held) <= len(plan.rounds) and all(map(operator.is_, held, plan.rounds))
