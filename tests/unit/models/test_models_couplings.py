"""Couplings over actions: what each matrix is, sums of them, low-rank factors, and nothing of (A, A) for names."""

import tracemalloc

import numpy as np
import pytest

from mfbo.errors import InvalidInputError
from mfbo.models import (
    SHAPES,
    Channel,
    Feature,
    FixedCoupling,
    GaussianProcess,
    Hyperparameter,
    Kernel,
    agents_kernel,
    default_kernel,
    joint_kernel,
    paper_kernel,
    presets,
    system_rows,
)
from mfbo.models import couplings as module
from mfbo.models.couplings import (
    DENSE_LIMIT,
    FACTOR_RANK,
    Dense,
    Identity,
    LearnedCoupling,
    LowRank,
    Ones,
    by_features,
    coupled_features,
    factor_of,
    squared_distances,
    unit_scaled,
    weighted_sum,
)
from mfbo.models.gaussian_process import Fit
from mfbo.population import Population


def matrix_of(coupling, count):
    return coupling.apply(np.eye(count))


def some_couplings(count=6):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(count, count))
    return {
        "identity": (Identity(), np.eye(count)),
        "ones": (Ones(), np.full((count, count), 1 / count)),
        "dense": (Dense(root @ root.T), root @ root.T),
        "low-rank": (LowRank(root[:, :2]), root[:, :2] @ root[:, :2].T),
    }


def squared_exponential(features, length):
    """Return the matrix straight from its definition, without any trick."""
    low, high = features.min(axis=0), features.max(axis=0)
    scaled = (features - low) / (high - low)
    squared = ((scaled[:, None] - scaled[None, :]) ** 2).mean(axis=-1)
    return np.exp(-squared / (2 * length**2))


@pytest.mark.parametrize("name", some_couplings())
def test_apply_and_diagonal_are_those_of_the_matrix(name):
    coupling, matrix = some_couplings()[name]
    values = np.random.default_rng(1).normal(size=(3, 2, 6))
    np.testing.assert_allclose(coupling.apply(values), values @ matrix, atol=1e-12)
    np.testing.assert_allclose(coupling.diagonal(6), np.diag(matrix), atol=1e-12)


@pytest.mark.parametrize(
    "names",
    [
        ("identity",),
        ("ones", "identity"),
        ("dense", "identity", "ones"),
        ("dense", "dense"),
        ("low-rank", "identity", "ones"),
        ("dense", "low-rank", "identity"),
    ],
    ids="+".join,
)
def test_weighted_sum_equals_the_explicit_sum(names):
    known = some_couplings()
    weights = [0.5 + position for position in range(len(names))]
    total = weighted_sum([(weight, known[name][0]) for weight, name in zip(weights, names, strict=True)], 6)
    explicit = sum(weight * known[name][1] for weight, name in zip(weights, names, strict=True))
    np.testing.assert_allclose(matrix_of(total, 6), explicit, atol=1e-12)
    np.testing.assert_allclose(total.diagonal(6), np.diag(explicit), atol=1e-12)


def test_weighted_sum_leaves_its_parts_alone():
    dense, matrix = some_couplings()["dense"]
    before = matrix.copy()
    weighted_sum([(2.0, dense), (1.0, Identity())], 6)
    np.testing.assert_array_equal(dense.matrix, before)


def test_contexts_are_coupled_on_the_other_side():
    rng = np.random.default_rng(2)
    phi, along_actions, along_contexts = rng.normal(size=(4, 3, 6)), rng.normal(size=(6, 6)), rng.normal(size=(3, 3))
    along_actions, along_contexts = along_actions @ along_actions.T, along_contexts @ along_contexts.T
    expected = np.einsum("cd,nda,ab->ncb", along_contexts, phi, along_actions)
    np.testing.assert_allclose(coupled_features(phi, Dense(along_actions), Dense(along_contexts)), expected, atol=1e-12)


def test_learned_coupling_leaves_out_untouched_actions_without_a_difference():
    rng = np.random.default_rng(3)
    points = rng.normal(size=6)
    coupling = LearnedCoupling((points[:, None] - points[None, :]) ** 2, None)
    phi = np.zeros((4, 1, 6))
    phi[np.arange(4), 0, [1, 4, 4, 2]] = 1.0
    full = np.exp(-coupling.actions / (2 * 0.7**2))
    expected = np.einsum("nra,ab,mrb->nm", phi, full, phi)
    np.testing.assert_allclose(coupling.gram(phi, phi, 0.7)[0], expected, atol=1e-12)


def test_features_couple_by_their_scaled_distance():
    features = np.random.default_rng(4).normal(size=(7, 3)) * [1.0, 1e6, 1e-6]
    np.testing.assert_allclose(matrix_of(by_features(features, 0.4), 7), squared_exponential(features, 0.4), atol=1e-9)


def test_a_constant_feature_column_does_no_harm():
    features = np.column_stack([np.arange(4.0), np.full(4, 3.0)])
    np.testing.assert_array_equal(unit_scaled(features)[:, 1], 0.0)
    assert squared_distances(unit_scaled(features))[0, 3] == pytest.approx(0.5)


def test_without_features_every_action_stands_for_itself():
    assert isinstance(by_features(None, 0.25), Identity)


def test_factor_of_a_dense_coupling_gives_it_back():
    features = np.random.default_rng(5).normal(size=(30, 2))
    coupling = by_features(features, 0.25)
    factor = factor_of(coupling, 30)
    np.testing.assert_allclose(factor @ factor.T, coupling.matrix, atol=1e-3)


@pytest.mark.parametrize("length", [0.25, 0.6])
def test_beyond_the_dense_limit_a_thin_factor_is_close(length):
    features = np.random.default_rng(6).random(size=(DENSE_LIMIT + 1, 2))
    coupling = by_features(features, length)
    assert isinstance(coupling, LowRank)
    assert coupling.factor.shape[1] < FACTOR_RANK
    some = np.random.default_rng(7).choice(DENSE_LIMIT + 1, size=60, replace=False)
    low_rank = coupling.factor[some] @ coupling.factor[some].T
    exact = np.exp(-squared_distances(unit_scaled(features))[np.ix_(some, some)] / (2 * length**2))
    np.testing.assert_allclose(low_rank, exact, atol=1e-5)
    np.testing.assert_allclose(coupling.diagonal(DENSE_LIMIT + 1), 1.0, atol=1e-5)


def test_at_the_dense_limit_the_matrix_is_dense():
    assert isinstance(by_features(np.arange(float(DENSE_LIMIT))[:, None], 0.25), Dense)


def grid(side):
    return np.argwhere(np.ones((side, side))).astype(float)


def test_lengths_reach_down_to_next_neighbors_on_maps_of_many_places():
    distance = 1 / 25 / 2**0.5  # of next neighbors in a grid of 26 rows: the mean over two coordinates
    np.testing.assert_allclose(presets.close_lengths(grid(26)), (2.5 * distance, (1.5 * distance) ** 0.5, 0.6))
    assert presets.close_lengths(grid(20)) == presets.close_lengths(grid(39)) == presets.LENGTHS


def test_only_exact_payoffs_tell_close_neighbors_apart(monkeypatch):
    monkeypatch.setattr(presets, "CLOSE", 1.0)
    exact, noisy = default_kernel(Population(grid(8))), default_kernel(Population(grid(8)), noisy=True)
    assert len(exact.start) == len(noisy.start)
    for kernel, lengths in ((exact, presets.close_lengths(grid(8))), (noisy, presets.LENGTHS)):
        names = [term.name for term in kernel.terms if term.name.startswith("root/cells/")]
        assert names[1:-1] == [f"root/cells/{length:g}" for length in lengths]


def test_the_same_place_is_no_neighbor_and_lengths_do_not_vanish():
    assert presets.close_lengths(np.repeat(np.arange(4.0), 2)[:, None]) == presets.LENGTHS
    assert presets.close_lengths(np.zeros((1, 2))) == presets.close_lengths(None) == presets.LENGTHS
    assert presets.close_lengths(np.append(np.arange(20.0), 1e5)[:, None])[0] == presets.SHORTEST


@pytest.mark.parametrize("make", [default_kernel, agents_kernel])
def test_low_rank_posterior_is_close_to_the_dense_one(monkeypatch, make):
    population = Population(np.random.default_rng(8).random(size=(40, 2)))
    rng = np.random.default_rng(9)
    played = rng.dirichlet(np.full(40, 0.5), size=(10, 1))
    payoffs = np.sin(played[:, 0, :10].sum(axis=1))
    candidate = rng.dirichlet(np.full(40, 0.5), size=1)

    def moments():
        kernel = make(population)
        process = GaussianProcess(kernel)
        process.append(system_rows(played, payoffs))
        process.adopt(Fit(kernel.start, 0.0, 1.0))
        return process.posterior().cells(candidate)

    dense = moments()
    monkeypatch.setattr(module, "DENSE_LIMIT", 20)
    low_rank = moments()
    np.testing.assert_allclose(low_rank.mean, dense.mean, atol=1e-3)
    np.testing.assert_allclose(low_rank.variance, dense.variance, atol=1e-3)


def test_low_rank_paper_kernel_of_many_actions_is_close_to_the_dense_one():
    """Beyond the limit the paper's action length is fixed at its prior median and its matrix is a thin factor."""
    count = DENSE_LIMIT + 50
    features = np.random.default_rng(10).random(size=(count, 2))
    kernel = paper_kernel(Population(features))
    term = kernel.terms[0]
    assert isinstance(term.coupling.actions, LowRank)
    assert term.length is None
    some = np.arange(0, count, 40)
    exact = np.exp(-squared_distances(unit_scaled(features))[np.ix_(some, some)] / (2 * 0.5**2))
    np.testing.assert_allclose(term.coupling.actions.apply(np.eye(count)[some])[:, some], exact, atol=1e-5)


@pytest.mark.parametrize("make", [paper_kernel, joint_kernel, default_kernel, agents_kernel])
def test_ten_thousand_names_never_cost_a_square_array(make):
    count = 10_000
    population = Population([f"place {i}" for i in range(count)])
    rng = np.random.default_rng(11)
    played = rng.dirichlet(np.full(count, 0.1), size=(5, 1))
    tracemalloc.start()
    try:
        process = GaussianProcess(make(population))
        process.append(system_rows(played, rng.normal(size=5)))
        process.refit(None, 5)
        posterior = process.posterior(played[:1])
        posterior.population(played[0]).pullback(1.0, 1.0)
        posterior.cells(played[0]).pullback(played[0], played[0])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * count * count / 10


def test_channels_that_share_a_feature_cannot_couple_contexts():
    population = Population(["a", "b"], ["u", "v"])
    shared, weight = Feature("cells", SHAPES["one"](2)), Hyperparameter(1.0, 1.0)
    terms = tuple(Channel(name, weight, shared, FixedCoupling(Identity(), Ones())) for name in ("first", "second"))
    process = GaussianProcess(Kernel("mine", terms, Hyperparameter(1e-4, 2.0), population.weights))
    process.append(system_rows(np.full((1, 2, 2), 0.25), np.ones(1)))
    with pytest.raises(InvalidInputError, match="'first' couples contexts and shares its feature"):
        process.adopt(Fit(process.kernel.start, 0.0, 1.0))
