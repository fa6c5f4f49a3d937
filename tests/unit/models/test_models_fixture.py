"""The numbers of the checked maths: a four-row fixture under the additive kernel, and single facts.

The kernel is put together from the project's own terms, with lengths that act on the features as they stand.
"""

import numpy as np
import pytest

from mfbo.acquisition import MeanFieldUCB, PopulationUCB
from mfbo.models import GaussianProcess, Kernel, Rows, agents_kernel, paper_kernel, system_rows
from mfbo.models.channels import Channel
from mfbo.models.couplings import LearnedCoupling
from mfbo.models.features import Feature, One
from mfbo.models.fitting import JITTER, MarginalLikelihood
from mfbo.models.gaussian_process import Fit
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import Constant
from mfbo.models.stationary import ByContext, Radial, Rbf, Stationary
from mfbo.population import Population

R = 0.1
P = np.array([0.4, 0.6])
ROWS = [  # action, context, ξ played, payoff
    (0, 0, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], 0.3),
    (2, 1, [[1 / 3, 1 / 3, 1 / 3], [0.1, 0.1, 0.8]], -0.2),
    (1, 1, [[0.7, 0.2, 0.1], [0.25, 0.5, 0.25]], 0.7),
    (1, 0, [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5]], 0.1),
]
XI = np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
PRIOR_VARIANCE = 4.0  # k0 = 2 + C


def one_dimensional(points):
    points = np.asarray(points, dtype=float)
    return (points[:, None] - points[None, :]) ** 2


def fixture_kernel():
    one = One(3)
    unit = Hyperparameter(1.0, 1.0)
    terms = (
        Channel(
            "action",
            unit,
            Feature("actions", one),
            LearnedCoupling(one_dimensional([0, 0.5, 1]), None),
            length=Hyperparameter(0.5, 1.0),
        ),
        Channel(
            "context",
            unit,
            Feature("contexts", one),
            LearnedCoupling(None, one_dimensional([-1, 1])),
            length=Hyperparameter(1.0, 1.0),
        ),
        Stationary("distribution", unit, Radial(ByContext(P), Rbf()), Hyperparameter(0.5, 1.0)),
    )
    # The process adds JITTER to every row's noise: with this noise they make R² together.
    return Kernel("fixture", terms, Hyperparameter(R**2 - JITTER, 1.0), P)


def fixture_row(action, context, distribution, payoff):
    omega = np.zeros((1, 2, 3))
    omega[0, context, action] = 1.0
    return Rows(omega, (P[:, None] * np.array(distribution))[None], np.array([payoff]), np.ones(1))


@pytest.fixture
def process():
    kernel = fixture_kernel()
    process = GaussianProcess(kernel)
    for row in ROWS:
        process.append(fixture_row(*row))
    process.adopt(Fit(kernel.start, 0.0, 1.0))
    return process


def gram(process):
    """Return the Gram matrix of the process's rows without noise."""
    lower = process.design.gram(process.kernel.values(process.kernel.start))
    return lower + np.tril(lower, -1).T


def test_covariances_of_the_first_row(process):
    expected = [4.01, 1.3916964574, 1.8643107970, 3.0531949966]
    np.testing.assert_allclose(gram(process)[0] + [R**2, 0, 0, 0], expected, atol=1e-9)


def test_solved_payoffs(process):
    expected = [0.0015331498, -0.2956556190, 0.3654069477, 0.0078877467]
    np.testing.assert_allclose(process.posterior().data.alpha, expected, atol=1e-9)


def test_cell_means(process):
    expected = [[0.2425930044, 0.2495582134, -0.0143756382], [0.2947586005, 0.3017238095, 0.0377899578]]
    np.testing.assert_allclose(process.posterior().cells(XI).mean, expected, atol=1e-9)


def test_cell_variances(process):
    expected = [[1.1803392371, 0.9005798056, 1.2129688361], [0.9427551761, 0.3305926831, 0.2078966342]]
    np.testing.assert_allclose(process.posterior().cells(XI).variance, expected, atol=1e-9)


def test_mean_field_ucb(process):
    value, _ = MeanFieldUCB(process.posterior(), P, 2.0)(XI)
    assert value == pytest.approx(1.701171870708, abs=1e-9)


def test_mean_field_ucb_gradient(process):
    expected = [[2.2436435359, 0.2078831291, 0.2490008963], [1.6045740325, 1.2300856730, -0.0518348406]]
    _, gradient = MeanFieldUCB(process.posterior(), P, 2.0)(XI)
    np.testing.assert_allclose(gradient, expected, atol=1e-9)


def test_population_moments(process):
    moments = process.posterior().population(XI)
    assert moments.mean == pytest.approx(0.157219132401, abs=1e-9)
    assert moments.variance**0.5 == pytest.approx(0.556193179817, abs=1e-9)


def test_population_ucb_is_below_mean_field_ucb(process):
    value, _ = PopulationUCB(process.posterior(), 2.0)(XI)
    assert value == pytest.approx(1.269605492034, abs=1e-9)
    assert value < MeanFieldUCB(process.posterior(), P, 2.0)(XI)[0]


def test_mean_of_the_cell_deviations(process):
    deviations = np.sqrt(process.posterior().cells(XI).variance)
    assert (P[:, None] * XI * deviations).sum() == pytest.approx(0.771976369154, abs=1e-9)


def test_negative_log_marginal_likelihood(process):
    values = process.design.values
    at_medians, _ = MarginalLikelihood(process.design, values, None)(process.kernel.start)  # the prior adds 0 there
    assert at_medians + 0.5 * len(values) * np.log(2 * np.pi) == pytest.approx(5.673664643525, abs=1e-9)


def test_realized_gain_from_the_cholesky_factor(process):
    inverse = process.posterior().data.inverse  # of L
    gain = -np.log(np.diag(inverse)).sum() - len(ROWS) * np.log(R)
    assert gain == pytest.approx(11.050168529264, abs=1e-9)


def variances_before_each_row():
    """Return σ²_{t-1} of each row's cell, given the rows before it."""
    found = [PRIOR_VARIANCE]
    for count in range(1, len(ROWS)):
        process = GaussianProcess(fixture_kernel())
        for row in ROWS[:count]:
            process.append(fixture_row(*row))
        process.adopt(Fit(process.kernel.start, 0.0, 1.0))
        action, context, distribution, _ = ROWS[count]
        found.append(process.posterior().cells(np.array(distribution)).variance[context, action])
    return np.array(found)


def test_realized_gain_is_the_sum_over_rounds():
    gain = 0.5 * np.log1p(variances_before_each_row() / R**2).sum()
    assert gain == pytest.approx(11.050168529264, abs=1e-8)


def test_posterior_variances_are_bounded_by_the_gain():
    variances = variances_before_each_row()
    constant = 2 * PRIOR_VARIANCE / np.log1p(PRIOR_VARIANCE / R**2)
    assert constant == pytest.approx(1.3346765903, rel=1e-9)
    assert variances.sum() <= constant * 0.5 * np.log1p(variances / R**2).sum()


def test_one_datum():
    kernel = Kernel(
        "unit", (Constant("constant", Hyperparameter(1.0, 1.0)),), Hyperparameter(R**2 - JITTER, 1.0), np.ones(1)
    )
    process = GaussianProcess(kernel)
    process.append(system_rows(np.array([[[0.5, 0.5]]]), np.ones(1)))
    process.adopt(Fit(kernel.start, 0.0, 1.0))
    moments = process.posterior().population(np.array([[0.5, 0.5]]))
    assert moments.mean == pytest.approx(0.9900990099, abs=1e-10)
    assert moments.variance == pytest.approx(0.0099009901, abs=1e-10)


def test_squared_exponential():
    assert Rbf().value(np.array(0.1**2 / 0.5**2)) == pytest.approx(0.9801986733, abs=1e-10)


def test_deviation_of_g_is_at_most_the_mean_deviation_of_the_cells(process):
    posterior = process.posterior()
    rng = np.random.default_rng(18)
    for distribution in rng.dirichlet(np.full(3, 0.5), size=(1000, 2)):
        by_cell = (P[:, None] * distribution * np.sqrt(posterior.cells(distribution).variance)).sum()
        assert posterior.population(distribution).variance ** 0.5 <= by_cell + 1e-12


def test_the_deviations_are_equal_if_all_cells_have_the_same_payoff():
    full = fixture_kernel()
    kernel = Kernel("shared", full.terms[2:], full.noise, P)
    process = GaussianProcess(kernel)
    for row in ROWS:
        process.append(fixture_row(*row))
    process.adopt(Fit(kernel.start, 0.0, 1.0))
    posterior = process.posterior()
    for distribution in np.random.default_rng(18).dirichlet(np.full(3, 0.5), size=(20, 2)):
        by_cell = (P[:, None] * distribution * np.sqrt(posterior.cells(distribution).variance)).sum()
        assert posterior.population(distribution).variance ** 0.5 == pytest.approx(by_cell, abs=1e-12)


def mixed_difference(kernel, weights):
    """Return the prior variance of f(a,ξ) − f(a′,ξ) − f(a,ξ′) + f(a′,ξ′)."""
    plans = np.random.default_rng(20).dirichlet(np.ones(3), size=(2, 2))
    process = GaussianProcess(kernel)
    for plan in plans:
        for action in (0, 2):
            omega = np.zeros((1, 2, 3))
            omega[0, 1, action] = 1.0
            process.append(Rows(omega, (weights[:, None] * plan)[None], np.zeros(1), np.ones(1)))
    signs = np.array([1, -1, -1, 1])
    return signs @ gram(process) @ signs


def test_the_additive_kernel_knows_no_interaction_of_action_and_distribution():
    population = Population(np.array([0.0, 0.5, 1.0]), {"left": 0.4, "right": 0.6})
    assert mixed_difference(fixture_kernel(), P) == pytest.approx(0.0, abs=1e-12)
    assert mixed_difference(paper_kernel(population), P) == pytest.approx(0.0, abs=1e-12)


def test_the_agents_kernel_knows_such_an_interaction():
    population = Population(np.array([0.0, 0.5, 1.0]), {"left": 0.4, "right": 0.6})
    assert mixed_difference(agents_kernel(population), P) > 1e-3


def test_the_order_of_rows_does_not_matter(process):
    shuffled = GaussianProcess(process.kernel)
    for position in (2, 0, 3, 1):
        shuffled.append(fixture_row(*ROWS[position]))
    shuffled.adopt(Fit(process.kernel.start, 0.0, 1.0))
    np.testing.assert_allclose(shuffled.posterior().cells(XI).mean, process.posterior().cells(XI).mean, atol=1e-12)
    np.testing.assert_allclose(
        shuffled.posterior().cells(XI).variance, process.posterior().cells(XI).variance, atol=1e-12
    )
