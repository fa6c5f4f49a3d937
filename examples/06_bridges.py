"""mfbo in other libraries: a plan inside an Optuna study, and the model as a scikit-learn regressor."""

import numpy as np
import optuna

import mfbo
from mfbo.bridges.optuna import MeanFieldSampler, distribution_space
from mfbo.bridges.sklearn import DistributionRegressor

optuna.logging.set_verbosity(optuna.logging.WARNING)
population = mfbo.Population(["Market St", "Harbor", "Old Town", "Campus"], size=300)
demand = np.array([0.1, 0.5, 0.1, 0.3])


def served(trial: optuna.Trial) -> float:
    """Return the share of the demand that finds a bike."""
    return float(np.minimum(distribution_space(trial, population)[0], demand).sum())


study = optuna.create_study(direction="maximize", sampler=MeanFieldSampler(population, seed=0))
study.optimize(served, n_trials=20)
print(f"served by the best of 20 trials: {study.best_value:.1%}")

placements = np.array([list(trial.params.values()) for trial in study.trials])
payoffs = np.array([trial.value for trial in study.trials])
regressor = DistributionRegressor(population).fit(placements, payoffs)
mean, deviation = regressor.predict(demand[None, :], return_std=True)
print(f"expected of a placement like the demand: {mean[0]:.1%} ± {2 * deviation[0]:.1%}")
