"""Separable terms: a sum of scikit-learn's RBFs of single cells, let in by evidence, let go without it."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from mfbo import Population, create_study
from mfbo.models import Fit, GaussianProcess, default_kernel, system_rows
from mfbo.models.fitting import Design
from mfbo.models.presets import MOST_SEPARABLE, SEPARABLE_LENGTHS
from mfbo.models.sparse import SparseProcess
from mfbo.serve.pages.views.believed import _parts
from mfbo.strategies import Default
from mfbo.strategies.default.exploring import EXCHANGES, SPARSE, exchanges
from mfbo.strategies.modeled import _start

POPULATION = Population(list("abcd"))
KERNEL = default_kernel(POPULATION)
PLANS = np.random.default_rng(5).dirichlet(np.ones(4), size=(30, 1))


def sharp(plan: np.ndarray) -> float:
    """Places that are held beyond a share of 0.3, the first ones worth more."""
    return float((np.array([1.0, 0.9, 0.8, 0.7]) / (1.0 + np.exp(-(plan[0] - 0.3) / 0.02))).sum())


def smooth(plan: np.ndarray) -> float:
    return -float(((plan[0] - np.array([0.4, 0.3, 0.2, 0.1])) ** 2).sum())


def process_of(payoff, plans: np.ndarray = PLANS) -> GaussianProcess:
    process = GaussianProcess(KERNEL)
    process.append(system_rows(plans, np.array([payoff(plan) for plan in plans])))
    return process


@pytest.mark.parametrize("contexts", [1, 3])
def test_covariances_are_sums_of_rbfs(population_of, contexts):
    population = population_of(contexts)
    rng = np.random.default_rng(3)
    shares = population.weights[:, None] * rng.dirichlet(np.ones(5), size=(6, contexts))
    for term in default_kernel(population).further:
        embedding = term.radial.embedding
        columns = {embedding: embedding.of_rows(shares, shares)}
        roots = np.sqrt(shares.reshape(6, -1) + embedding.offset)
        expected = sum(RBF(np.sqrt(term.radial.norm))(cell[:, None]) for cell in roots.T)
        np.testing.assert_allclose(term.pairs(columns, 2, 6)[0], expected[2:], rtol=1e-12)
        at = term.part(0.7, 1.0, {embedding: columns[embedding][:5]}).at(shares[5])
        np.testing.assert_allclose(at.cross, 0.7 * expected[5, :5], rtol=1e-12)


def test_terms_are_let_in_where_payoffs_are_sharp_and_only_there():
    assert KERNEL.that_has(process_of(smooth).refit(None, 20).theta) is KERNEL
    assert KERNEL.that_has(process_of(sharp, PLANS[:19]).refit(None, 20).theta) is KERNEL  # too few to tell
    assert KERNEL.that_has(process_of(sharp).refit(None, 20).theta) is KERNEL.richer


def test_terms_are_let_go_where_they_explain_nothing():
    process, rich = process_of(smooth), KERNEL.let_in(KERNEL.start)
    np.testing.assert_array_equal(KERNEL.let_go(rich), KERNEL.start)
    assert KERNEL.that_has(process.adopt(Fit(rich, 0.0, 1.0)).theta) is KERNEL.richer
    assert KERNEL.that_has(process.refit(rich, 20).theta) is KERNEL


def test_gram_matrices_of_further_terms_are_the_same_whenever_they_are_asked_for():
    rows = [system_rows(plan[None], np.zeros(1)) for plan in PLANS[:8]]
    early, late, whole = Design(KERNEL), Design(KERNEL), Design(KERNEL.richer)
    values = KERNEL.richer.values(KERNEL.richer.start + 0.1)
    for each in rows:
        for design in (early, late, whole):
            design.append(each)
        early.gram(values)
    assert len(late.columns) < len(early.columns) == len(whole.columns)  # nothing is read before it is asked for
    np.testing.assert_array_equal(early.gram(values), late.gram(values))
    np.testing.assert_allclose(late.gram(values), whole.gram(values), rtol=1e-12)


def test_a_study_of_sharp_payoffs_resumes_to_the_bit():
    strategy = Default()
    study = create_study(POPULATION, strategy, seed=1)
    for plan in PLANS:
        study.add(plan, sharp(plan))
    for _ in range(3):
        asked = study.ask()
        study.tell(asked, sharp(asked.distribution))
    assert strategy.belief(study.history).bends
    unbroken, resumed = (one.belief(study.history).posterior.population_means(PLANS) for one in (strategy, Default()))
    np.testing.assert_array_equal(unbroken, resumed)


def test_many_cells_and_noisy_payoffs_have_no_such_terms():
    names = [f"a{place}" for place in range(MOST_SEPARABLE + 1)]
    assert len(default_kernel(Population(names[:-1])).further) == len(SEPARABLE_LENGTHS)
    assert default_kernel(Population(names)).further == default_kernel(POPULATION, noisy=True).further == ()


def test_exchanges_keep_the_shares_of_the_plan():
    plan = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.2, 0.3, 0.4]])
    found = exchanges(plan, np.random.default_rng(2))
    assert len(found) == EXCHANGES + SPARSE
    for other in found[SPARSE:]:
        np.testing.assert_array_equal(np.sort(other, axis=1), np.sort(plan, axis=1))
        assert (other != plan).any(axis=1).sum() <= 1
    np.testing.assert_allclose([other.sum(axis=1) for other in found], 1.0)


def test_a_basis_begins_its_fit_without_the_further_terms():
    fit = process_of(sharp).refit(None, 20)
    assert KERNEL.that_has(fit.theta) is not KERNEL
    for size, kernel in (("sparse", KERNEL), ("exact", KERNEL.richer)):
        plan = SimpleNamespace(start=fit.theta, setting=SimpleNamespace(size=size))
        assert len(_start(plan, KERNEL)) == len(kernel.hyperparameters)
    sparse = SparseProcess(KERNEL, None)
    sparse.append(system_rows(PLANS, np.array([sharp(plan) for plan in PLANS])))
    begun = SimpleNamespace(start=fit.theta, setting=SimpleNamespace(size="sparse"))
    assert np.isfinite(sparse.refit(_start(begun, KERNEL), 5).theta).all()


def test_the_page_names_functions_of_single_cells_by_their_whole_variance():
    fit = process_of(sharp).refit(None, 20)
    weights = KERNEL.richer.values(fit.theta).weights
    said = _parts(KERNEL.richer.terms, weights)
    cells = 4 * float(weights[-len(KERNEL.further) :].sum())
    constants = [weight for term, weight in zip(KERNEL.richer.terms, weights, strict=True) if term.role == "constant"]
    everything = float(weights.sum()) - sum(constants) + 0.75 * cells
    assert f"{cells / everything:.0%}".rstrip("%") in said.split("how full each single station is")[0]
