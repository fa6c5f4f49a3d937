"""Our process as a scikit-learn regressor on distributions.

X (n, C · A)   amounts per cell, contexts one after the other: shares, or whole agents; scaled to shares per context
y (n,)         population payoffs
"""

from typing import Any, Self

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.bridges.fitted_process import fitted_process
from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.models import RescaledPosterior
from mfbo.population import Population

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f'this bridge needs {error.name}: pip install "mfbo[bridges]"') from error


class DistributionRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts what a placement brings from placements that were tried.

    population: who is placed; None: one context, and as many actions without features as X has columns.
    noise: the known standard deviation of one payoff, None to fit it.
    """

    def __init__(self, population: Population | None = None, noise: float | None = None) -> None:
        self.population = population
        self.noise = noise

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the process to payoffs y (n,) at placements X (n, C · A)."""
        amounts, payoffs = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        columns = amounts.shape[1]
        self.population_ = Population(list(map(str, range(columns)))) if self.population is None else self.population
        self.process_, self.fit_ = fitted_process(self.population_, self._shares(amounts), payoffs, noise=self.noise)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the expected payoffs (n,), and with ``return_std`` their standard deviations too."""
        check_is_fitted(self)
        distributions = self._shares(validate_data(self, X, dtype=np.float64, reset=False))
        with one_blas_thread():
            posterior = RescaledPosterior(self.process_.posterior(), self.fit_.shift, self.fit_.scale)
            if not return_std:
                return posterior.population_means(distributions)
            moments = [posterior.population(distribution) for distribution in distributions]
        means = np.array([moment.mean for moment in moments])
        return means, np.sqrt([moment.variance for moment in moments])

    def _shares(self, amounts: FloatArray) -> FloatArray:
        """Return amounts (n, C · A) as shares per context, (n, C, A)."""
        contexts, actions = self.population_.shape
        if amounts.shape[1] != contexts * actions:
            raise InvalidInputError(f"X has {amounts.shape[1]} columns, the population {contexts} × {actions} cells")
        if (amounts < 0).any():
            raise InvalidInputError("Negative values in data: X holds shares or agents per cell")
        cells = amounts.reshape(len(amounts), contexts, actions)
        totals = cells.sum(axis=2, keepdims=True)
        if (totals <= 0).any():
            row = int(np.argwhere((totals <= 0).any(axis=(1, 2)))[0, 0])
            raise InvalidInputError(f"row {row} of X places nobody in some context: give every context a total above 0")
        return np.asarray(cells / totals)

    def __sklearn_tags__(self) -> Any:
        """Say that only amounts from 0 on can be placed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # scikit-learn's own test data depend on totals, which shares forget
        return tags
