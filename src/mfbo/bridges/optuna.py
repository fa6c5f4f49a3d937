"""Our strategies as an Optuna sampler, and our problems as OptunaHub benchmark problems.

A trial asks for a distribution with ``distribution_space(trial, population)``: one parameter for every cell, which our
sampler fills together. Parameters of other names are drawn independently, as Optuna's own samplers do::

    population = mfbo.Population(["Market", "Harbor", "Old Town"], size=300)
    study = optuna.create_study(direction="maximize", sampler=MeanFieldSampler(population, seed=0))
    study.optimize(lambda trial: rides(distribution_space(trial, population)), n_trials=50)
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.population import Population
from mfbo.problems import Problem
from mfbo.records import Plan
from mfbo.simplex import uniform
from mfbo.study import Study, create_study

try:
    import optuna
    import optunahub
    from optuna.distributions import BaseDistribution, FloatDistribution
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise MissingExtraError(f'this bridge needs {error.name}: pip install "mfbo[bridges]"') from error

SHARE = FloatDistribution(0.0, 1.0)
EXACT = 1e-9  # shares that sum to 1 up to rounding are taken as they are


def share_names(population: Population) -> list[str]:
    """Return the name of every cell's parameter, contexts one after the other."""
    if len(population.contexts) == 1:
        return [f"share of {action}" for action in population.actions]
    return [f"share of {action} for {context}" for context in population.contexts for action in population.actions]


def distribution_space(trial: Any, population: Population) -> FloatArray:
    """Return the distribution (C, A) that a trial suggests: every context's shares, scaled to sum to 1."""
    params = {name: trial.suggest_float(name, SHARE.low, SHARE.high) for name in share_names(population)}
    return _distribution(params, population)


def _distribution(params: Mapping[str, float], population: Population) -> FloatArray:
    shares = np.array([params[name] for name in share_names(population)]).reshape(population.shape)
    totals = shares.sum(axis=1, keepdims=True)
    if np.abs(totals - 1.0).max() <= EXACT:
        return np.asarray(shares)
    return np.asarray(np.where(totals > 0, shares / np.where(totals > 0, totals, 1.0), uniform(*population.shape)))


class MeanFieldSampler(optunahub.samplers.SimpleBaseSampler):
    """Fills the parameters of ``distribution_space`` with the plans of an mfbo strategy.

    It follows the study's trials in their order, so a sampler that is made anew for a stored Optuna study asks its
    strategy again for every trial and goes on where the first one was. A trial whose shares came from elsewhere
    (enqueued, another sampler) counts as a past day; one that failed or was pruned counts as failed.
    """

    def __init__(self, population: Population, strategy: Any = "default", *, seed: int | None = None) -> None:
        """Name who is placed; strategy: as in ``mfbo.create_study``."""
        super().__init__(dict.fromkeys(share_names(population), SHARE), seed)
        self._names = set(share_names(population))
        self.population = population
        self.strategy = strategy
        self._fleet_seed = 0 if seed is None else seed
        self._followed: _Followed | None = None

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the shares of the strategy's next plan; other parameters are drawn independently."""
        _require_one_payoff(study)
        if not self._names <= set(search_space):
            return {name: self.sample_independent(study, trial, name, of) for name, of in search_space.items()}
        followed = self._followed
        if followed is None or followed.study_name != study.study_name or not followed.fits(study):
            followed = self._followed = _Followed(study.study_name, self._new_study())
        return followed.asked(study, trial.number, self.population)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draw a parameter that is not part of a distribution."""
        _require_one_payoff(study)
        return super().sample_independent(study, trial, param_name, param_distribution)

    def _new_study(self) -> Study:
        return create_study(self.population, self.strategy, seed=self._fleet_seed)


class _Followed:
    """One Optuna study as our own sees it: which trials have which plan, and what is told of them."""

    def __init__(self, study_name: str, study: Study) -> None:
        self.study_name = study_name
        self.study = study
        self.plans: dict[int, Plan] = {}
        self.ended: set[int] = set()

    def fits(self, study: optuna.Study) -> bool:
        """Tell whether all that is followed is still in the study: another one may have its name."""
        return len(study.get_trials(deepcopy=False)) >= max([0, *(number + 1 for number in self.plans)])

    def asked(self, study: optuna.Study, number: int, population: Population) -> dict[str, float]:
        """Return the parameters of a new trial, after following all earlier ones."""
        sign = 1.0 if study.direction == optuna.study.StudyDirection.MAXIMIZE else -1.0
        for trial in study.get_trials(deepcopy=False):
            if trial.number < number:
                self._follow(trial, sign, population)
        self.plans[number] = self.study.ask()
        return _params(self.plans[number], population)

    def _follow(self, trial: FrozenTrial, sign: float, population: Population) -> None:
        names = share_names(population)
        if trial.number in self.ended or not all(name in trial.params for name in names):
            return
        if trial.number not in self.plans and not trial.state.is_finished():
            return  # another process plays it
        ours = self.plans.get(trial.number)
        if ours is None and not self._is_past(trial):
            ours = self.plans[trial.number] = self.study.ask()
        if not trial.state.is_finished():
            return
        self.ended.add(trial.number)
        played = _distribution(trial.params, population)
        payoff = trial.value if trial.state == TrialState.COMPLETE else None
        worth = None if payoff is None or not math.isfinite(payoff) else sign * payoff
        if ours is not None and worth is None:
            self.study.fail(ours, "the trial has no value")
        elif ours is not None and np.array_equal(played, ours.realized):
            self.study.tell(ours, worth)
        elif ours is not None:
            self.study.tell(ours, worth, distribution=played)
        elif worth is not None:
            self.study.add(played, worth)

    def _is_past(self, trial: FrozenTrial) -> bool:
        """Tell whether a trial's shares were given and not sampled: enqueued, or added from elsewhere."""
        return "fixed_params" in trial.system_attrs or trial.datetime_start is None


def _require_one_payoff(study: optuna.Study) -> None:
    if len(study.directions) > 1:
        raise InvalidInputError("MeanFieldSampler maximizes or minimizes one payoff: use it with a single direction")


def _params(plan: Plan, population: Population) -> dict[str, float]:
    return dict(zip(share_names(population), plan.realized.ravel().tolist(), strict=True))


class BenchmarkProblem(optunahub.benchmarks.BaseProblem):
    """A problem of ours as OptunaHub expects it: a search space, ``evaluate``, directions."""

    def __init__(self, problem: Problem) -> None:
        """Wrap a problem, e.g. ``mfbo.make_problem("swarm")``."""
        if problem.days is not None:
            raise InvalidInputError(f"the rounds of {problem.name!r} differ, which a benchmark problem cannot say")
        self.problem = problem

    @property
    def search_space(self) -> dict[str, BaseDistribution]:
        """One share for every cell."""
        return dict.fromkeys(share_names(self.problem.population), SHARE)

    @property
    def directions(self) -> list[optuna.study.StudyDirection]:
        """We maximize."""
        return [optuna.study.StudyDirection.MAXIMIZE]

    def evaluate(self, params: dict[str, Any]) -> float:
        """Return the noise-free payoff of the distribution."""
        return self.problem.mean_field_value(_distribution(params, self.problem.population))
