"""Optuna's samplers in softmax coordinates: a fresh study from the told rounds for every plan."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import History, Proposal
from mfbo.simplex import uniform
from mfbo.strategies.model_free import ModelFreeStrategy, standardized
from mfbo.strategies.on_simplex.logits import logits_of, proposal_of_logits, require_cells
from mfbo.strategies.optional_library import drawn_seed, load, seeded_torch
from mfbo.strategies.reading import told_payoffs

BOUND = 4.0  # logits from −4 to 4: within a context shares differ by a factor of 3,000 at most


@dataclass(frozen=True)
class OptunaSampler(ModelFreeStrategy):
    """Asks one of Optuna's samplers for C · A logits; subclasses choose it. Open rounds are told as running trials."""

    name: str = field(default="optuna", kw_only=True)
    most_cells: int = field(default=2000, kw_only=True)

    def sampler(self, optuna: Any, seed: int) -> Any:
        """Return a new sampler with this seed."""
        raise NotImplementedError

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the sampler's next point."""
        shape = history.population.shape
        require_cells(history.population, self.name, self.most_cells)
        optuna = load("optuna", self.name)
        if shape[1] == 1:
            return Proposal(uniform(*shape))
        space = {f"logit{i}": optuna.distributions.FloatDistribution(-BOUND, BOUND) for i in range(shape[0] * shape[1])}
        with _silent(optuna):
            study = optuna.create_study(direction="maximize", sampler=self.sampler(optuna, drawn_seed(rng)))
            study.add_trials(_trials(optuna, history, space))
            found = self.asked(study, space, drawn_seed(rng))
        return proposal_of_logits(np.array([found[key] for key in space]).reshape(shape))

    def asked(self, study: Any, space: dict[str, Any], seed: int) -> dict[str, float]:
        """Return the point that the study asks for next."""
        return dict(study.ask(space).params)


@dataclass(frozen=True)
class OptunaTpe(OptunaSampler):
    """The tree-structured Parzen estimator with Optuna's defaults, ten random plans first."""

    name: str = field(default="optuna-tpe", kw_only=True)

    def sampler(self, optuna: Any, seed: int) -> Any:
        """Return the sampler; open trials count as bad ones, so that a batch spreads."""
        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)


@dataclass(frozen=True)
class OptunaGp(OptunaSampler):
    """Optuna's Gaussian process with log expected improvement and its defaults, ten random plans first."""

    name: str = field(default="optuna-gp", kw_only=True)
    most_cells: int = field(default=500, kw_only=True)

    def sampler(self, optuna: Any, seed: int) -> Any:
        """Return the sampler."""
        return optuna.samplers.GPSampler(seed=seed)

    def asked(self, study: Any, space: dict[str, Any], seed: int) -> dict[str, float]:
        """Return the point that the study asks for next; the sampler computes with PyTorch."""
        with seeded_torch(load("torch", self.name), seed):
            return super().asked(study, space, seed)


def _trials(optuna: Any, history: History, space: dict[str, Any]) -> list[Any]:
    """Return told rounds as complete trials, open ones as running; rounds without a result are left out."""
    states = optuna.trial.TrialState
    made = [
        optuna.trial.create_trial(params=_params(logits_of(done), space), distributions=space, value=float(value))
        for done, value in zip(history.told, standardized(told_payoffs(history)), strict=True)
    ]
    for asked in history.open:
        params = _params(logits_of(asked), space)
        made.append(optuna.trial.create_trial(state=states.RUNNING, params=params, distributions=space))
    return made


def _params(logits: FloatArray, space: dict[str, Any]) -> dict[str, float]:
    return dict(zip(space, np.clip(logits, -BOUND, BOUND).ravel().tolist(), strict=True))


@contextmanager
def _silent(optuna: Any) -> Iterator[None]:
    """Keep Optuna's reports off standard error for a while."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            optuna.logging.set_verbosity(verbosity)
