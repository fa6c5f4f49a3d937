"""The structured posterior of additive kernels equals the general one on the same conditioned data."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo.models import Kernel
from mfbo.models.additive import AdditivePosterior
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import Constant
from mfbo.models.posterior import TermPosterior

ADDITIVE = ["paper", "matern52+hellinger"]


@pytest.fixture(params=ADDITIVE)
def preset(request):
    return request.param


def assert_same_cells(case, structured, general):
    distribution = case.distribution()
    first, second = structured.cells(distribution), general.cells(distribution)
    np.testing.assert_allclose(first.mean, second.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(first.variance, second.variance, rtol=1e-9, atol=1e-9)
    d_mean, d_variance = case.rng.normal(size=(2, *distribution.shape))
    np.testing.assert_allclose(
        first.pullback(d_mean, d_variance), second.pullback(d_mean, d_variance), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("features", [True, False], ids=["features", "names"])
@pytest.mark.parametrize("contexts", [1, 3])
def test_structured_equals_general(make_case, preset, contexts, features, kind):
    case = make_case(preset, contexts, features=features)
    structured = case.process(case.rounds(kind)).posterior()
    assert isinstance(structured, AdditivePosterior)
    assert_same_cells(case, structured, TermPosterior(structured.data))


@pytest.mark.parametrize("contexts", [1, 3])
def test_structured_equals_general_with_pending_plans(make_case, preset, contexts):
    case = make_case(preset, contexts)
    structured = case.process(case.rounds("mixed")).posterior(case.pending())
    assert_same_cells(case, structured, TermPosterior(structured.data))


def without(case, *names):
    """Return the case without some terms of its kernel, and with a constant one."""
    constant = Constant("constant", Hyperparameter(0.7, 1.0))
    terms = (*(term for term in case.kernel.terms if term.name not in names), constant)
    kernel = Kernel("some", terms, case.kernel.noise, case.kernel.weights)
    return replace(case, kernel=kernel, theta=np.concatenate([kernel.start[:-1], [np.log(1e-2)]]))


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("left_out", [(), ("context",)], ids=["nothing", "context"])
def test_structured_equals_general_with_a_constant(make_case, left_out, contexts):
    case = without(make_case("paper", contexts), *left_out)
    structured = case.process(case.rounds("mixed")).posterior()
    assert isinstance(structured, AdditivePosterior)
    assert_same_cells(case, structured, TermPosterior(structured.data))


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("left_out", ["action", "distribution"])
def test_kernels_without_some_part_still_know_every_cell(make_case, left_out, contexts):
    case = without(make_case("paper", contexts), left_out)
    moments = case.process(case.rounds("mixed")).posterior().cells(case.distribution())
    assert moments.mean.shape == moments.variance.shape == case.population.shape


@pytest.mark.parametrize("preset_name", ["joint", "default", "agents"])
def test_kernels_with_interactions_use_the_general_posterior(make_case, preset_name):
    case = make_case(preset_name, 3)
    assert not case.kernel.additive
    assert type(case.process(case.rounds("mixed")).posterior()) is TermPosterior
