"""Separable terms: a sum of scikit-learn's RBFs of single cells, let in by evidence, let go without it."""

from dataclasses import replace
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
from mfbo.strategies.modeled import _named, _start

POPULATION = Population(list("abcd"))
KERNEL = default_kernel(POPULATION)
SHARP = ("separable",)
RICHER = KERNEL.with_further(SHARP)
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
    for term in default_kernel(population).further[0].terms:
        embedding = term.radial.embedding
        columns = {embedding: embedding.of_rows(shares, shares)}
        roots = np.sqrt(shares.reshape(6, -1) + embedding.offset)
        expected = sum(RBF(np.sqrt(term.radial.norm))(cell[:, None]) for cell in roots.T)
        np.testing.assert_allclose(term.pairs(columns, 2, 6)[0], expected[2:], rtol=1e-12)
        at = term.part(0.7, 1.0, {embedding: columns[embedding][:5]}).at(shares[5])
        np.testing.assert_allclose(at.cross, 0.7 * expected[5, :5], rtol=1e-12)


def test_terms_are_let_in_where_payoffs_are_sharp_and_only_there():
    assert process_of(smooth).refit(None, 20).further == ()
    assert process_of(sharp, PLANS[:19]).refit(None, 20).further == ()  # too few to tell
    assert process_of(sharp).refit(None, 20).further == SHARP


def test_an_rbf_of_shares_is_let_in_where_places_interact():
    def interacting(plan: np.ndarray) -> float:
        return float(np.exp(3.0 * (plan[0, 0] + plan[0, 1]) * (plan[0, 2] + 2.0 * plan[0, 3])))

    fit = process_of(interacting).refit(None, 20)
    assert fit.further == ("shares",)
    assert len(fit.theta) == len(KERNEL.hyperparameters) + 2  # a weight and a length
    assert process_of(smooth).refit(KERNEL.with_further(fit.further).start, 20, further=fit.further).further == ()


def test_terms_are_let_go_where_they_explain_nothing():
    process, rich = process_of(smooth), KERNEL.carried_to(RICHER, KERNEL.start)
    np.testing.assert_array_equal(rich, RICHER.start)
    np.testing.assert_array_equal(RICHER.carried_to(KERNEL, rich), KERNEL.start)
    assert process.adopt(Fit(rich, 0.0, 1.0, further=SHARP)).further == SHARP
    assert process.refit(rich, 20, further=SHARP).further == ()


def test_numbers_are_carried_to_the_terms_and_lengths_they_are_of():
    both = KERNEL.with_further(("separable", "shares"))
    theta = both.start + np.arange(len(both.start))
    shares = KERNEL.with_further(("shares",))
    np.testing.assert_array_equal(both.carried_to(shares, theta)[:-2], np.delete(theta, [-6, -5])[:-2])
    np.testing.assert_array_equal(shares.carried_to(both, both.carried_to(shares, theta))[-3:], theta[-3:])


def test_a_fit_that_older_studies_noted_without_names_is_of_functions_of_single_cells():
    fit = Fit(RICHER.start, 0.0, 1.0)
    assert _named(fit, KERNEL).further == SHARP
    assert _named(Fit(KERNEL.start, 0.0, 1.0), KERNEL).further == ()
    assert _named(replace(fit, further=("shares", "separable")), KERNEL) is None
    assert _named(replace(fit, further=("unknown",)), KERNEL) is None


def test_gram_matrices_of_further_terms_are_the_same_whenever_they_are_asked_for():
    rows = [system_rows(plan[None], np.zeros(1)) for plan in PLANS[:8]]
    early, late, whole = Design(KERNEL), Design(KERNEL), Design(RICHER)
    values = RICHER.values(RICHER.start + 0.1)
    for each in rows:
        for design in (early, late, whole):
            design.append(each)
        early.gram(values, kernel=RICHER)
    assert len(late.columns) < len(early.columns)  # nothing is read before it is asked for
    known, later = early.gram(values, kernel=RICHER), late.gram(values, kernel=RICHER)
    np.testing.assert_array_equal(known, later)
    np.testing.assert_allclose(later, whole.gram(values), rtol=1e-12)


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
    assert [len(group.terms) for group in default_kernel(Population(names[:-1])).further] == [len(SEPARABLE_LENGTHS), 1]
    assert [group.name for group in default_kernel(Population(names)).further] == ["shares"]
    assert default_kernel(POPULATION, noisy=True).further == ()
    on_a_map = Population({name: (float(place), 0.0) for place, name in enumerate(names[:-1])})
    assert [group.name for group in default_kernel(on_a_map).further] == ["separable"]  # the mean embedding is there


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
    assert fit.further == SHARP
    for size, kernel, further in (("sparse", KERNEL, ()), ("exact", RICHER, SHARP)):
        plan = SimpleNamespace(start=fit, setting=SimpleNamespace(size=size))
        theta, names, warped = _start(plan, KERNEL)
        assert len(theta) == len(kernel.hyperparameters)
        assert names == further
        assert warped is None
    sparse = SparseProcess(KERNEL, None)
    sparse.append(system_rows(PLANS, np.array([sharp(plan) for plan in PLANS])))
    begun = SimpleNamespace(start=fit, setting=SimpleNamespace(size="sparse"))
    assert np.isfinite(sparse.refit(_start(begun, KERNEL)[0], 5).theta).all()


def test_the_page_names_functions_of_single_cells_by_their_whole_variance():
    fit = process_of(sharp).refit(None, 20)
    weights = RICHER.values(fit.theta).weights
    said = _parts(RICHER.terms, weights)
    cells = 4 * float(weights[-len(SEPARABLE_LENGTHS) :].sum())
    constants = [weight for term, weight in zip(RICHER.terms, weights, strict=True) if term.role == "constant"]
    everything = float(weights.sum()) - sum(constants) + 0.75 * cells
    assert f"{cells / everything:.0%}".rstrip("%") in said.split("how full each single station is")[0]
