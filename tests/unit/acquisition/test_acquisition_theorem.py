"""The theorem's quantities, pinned to numbers computed apart from the project."""

import math

import pytest

from mfbo.acquisition import Theorem, regret_orders
from mfbo.acquisition.theorem import ZETA_SLOPE

T = 250
SETTINGS = [(30, 1), (30, 2), (394, 1)]


def near(value):
    return pytest.approx(value, rel=1e-9)


def table(*values):
    """Parametrize one quantity over the three settings (actions, contexts) of the table."""
    return pytest.mark.parametrize(
        ("theorem", "expected"), [(Theorem(*setting), value) for setting, value in zip(SETTINGS, values, strict=True)]
    )


@table(4.287424307, 4.980571488, 6.862577835)
def test_lipschitz_bound(theorem, expected):
    assert theorem.lipschitz == near(expected)


@table(2.730460474, 2.909675606, 3.330884552)
def test_corrected_lipschitz_bound(theorem, expected):
    assert Theorem(theorem.actions, theorem.contexts, root=True).lipschitz == near(expected)


@table(8038920.576, 18677143.08, 168990979.2)
def test_points_per_coordinate(theorem, expected):
    assert theorem.tau(T) == near(expected)


@table(476.9941613, 1004.568662, 7464.470222)
def test_log_of_the_grid(theorem, expected):
    assert theorem.log_grid(T) == near(expected)


@table(981.0386839, 2037.573980, 14961.14111)
def test_beta_in_the_last_round(theorem, expected):
    assert theorem.beta(T) == near(expected)


@table(296.3775301, 690.3375164, 6237.232863)
def test_beta_in_the_first_round(theorem, expected):
    assert theorem.beta(1) == near(expected)


@table(953.9657304, 1973.073615, 14391.53906)
def test_beta_with_the_corrected_lipschitz_bound(theorem, expected):
    assert Theorem(theorem.actions, theorem.contexts, root=True).beta(T) == near(expected)


@table(974.2362891, 2029.385291, 14949.18841)
def test_beta_of_the_population_bound(theorem, expected):
    assert theorem.population_beta(T) == near(expected)


@table(31.32153706, 45.13949468, 122.3157435)
def test_multiplier_is_the_root_of_beta(theorem, expected):
    assert theorem.multiplier(T) == near(expected)


@table(54.20014072, 65.98309759, 1611.654879)
def test_printed_discretization_constant(theorem, expected):
    assert theorem.discretization == near(expected)


@table(298.1147494, 382.8527108, 10474.49124)
def test_corrected_discretization_constant(theorem, expected):
    assert theorem.corrected_discretization == near(expected)


def test_printed_discretization_constant_is_capped_by_the_cells():
    smooth = Theorem(5, 2, b=0.01)
    assert 1 / smooth.lipschitz > 10
    assert smooth.discretization == near(math.sqrt(2 * 5**3 * 2) * 10)


def test_a_and_b_enter_the_lipschitz_bounds():
    assert Theorem(5, 2, a=3.0, b=4.0).lipschitz == near(4 * (math.log(30) + math.sqrt(math.pi) / 2))
    assert Theorem(5, 2, a=3.0, b=4.0, root=True).lipschitz == near(
        2 * (math.sqrt(math.log(30)) + math.sqrt(math.pi) / 2)
    )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("t", [1, 2, 17, 250, 10**6])
def test_beta_makes_the_union_bound_of_round_t_equal_to_its_share(setting, t):
    """A C |Ξ_t| exp(−β_t / 2) / √(2π) = 1 / t², in logarithms."""
    theorem = Theorem(*setting)
    log_union = math.log(theorem.cells) + theorem.log_grid(t) - theorem.beta(t) / 2 - 0.5 * math.log(2 * math.pi)
    assert log_union == pytest.approx(-2 * math.log(t), abs=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_population_bound_needs_no_union_over_the_cells(setting):
    theorem = Theorem(*setting)
    assert theorem.beta(T) - theorem.population_beta(T) == near(2 * math.log(theorem.cells))


def test_beta_grows_with_the_round():
    betas = [Theorem(30, 2).beta(t) for t in range(1, 50)]
    assert betas == sorted(set(betas))


def test_beta_of_huge_populations_does_not_overflow():
    assert math.isfinite(Theorem(10_000, 100).beta(10**6))


def test_zeta_slope():
    partial = sum(math.log(t) / t**2 for t in range(1, 251))
    assert ZETA_SLOPE == 0.9375482543158437
    assert partial == near(0.9115065288)
    # ∫ from N to infinity of log t / t² = (log N + 1) / N brackets the rest of the series.
    assert (math.log(251) + 1) / 251 <= ZETA_SLOPE - partial <= (math.log(250) + 1) / 250


@pytest.mark.parametrize(("prior_variance", "expected"), [(1.0, 0.4333581307), (4.0, 1.3346765903)])
def test_bound_uses_the_constant_between_variances_and_gain(prior_variance, expected):
    """D of T12, taken out of the bound by comparing two gains."""
    theorem = Theorem(30, 1)
    without, with_gain = (theorem.bound(T, gain, prior_variance, noise=0.1) for gain in (0.0, 9.0))
    assert ((with_gain - without) / theorem.multiplier(T)) ** 2 / (T * 9.0) == near(expected)


def test_bound_without_gain_is_the_cost_of_discretization():
    theorem = Theorem(30, 1)
    assert theorem.bound(T, 0.0, 1.0, 0.1) == near(math.pi**2 / 3 + 298.1147494)
    assert theorem.bound(T, 0.0, 4.0, 0.1) == near(math.pi**2 / 6 + 2 * (math.pi**2 / 6 + 298.1147494))


def log_gain(order, theorem, rounds=T):
    """Take log γ_T back out of log10(√β_T √(T γ_T))."""
    return 2 * (order * math.log(10) - math.log(theorem.multiplier(rounds))) - math.log(rounds)


LOG_IOTA = 1.708642484  # log log 250


def rows_of(agents=50, **features):
    theorem = Theorem(30, 2)
    rows = regret_orders(theorem, agents, T, **features)
    return {row.algorithm: (log_gain(row.printed, theorem), log_gain(row.corrected, theorem)) for row in rows}


def test_the_four_rows_come_in_the_order_of_the_table():
    assert list(rows_of()) == ["GP-UCB", "Add-GP-UCB", "MF-GP-UCB", "MF-GP-UCB (additive)"]


@pytest.mark.parametrize(
    ("algorithm", "printed", "corrected"),
    [
        ("GP-UCB", (50 * 2 + 3) * LOG_IOTA, (50 * 2 + 3 + 1) * LOG_IOTA),
        ("Add-GP-UCB", math.log(50) + 5 * LOG_IOTA, math.log(50) + 6 * LOG_IOTA),
        ("MF-GP-UCB", (5 + 60) * LOG_IOTA, (5 + 58 + 1) * LOG_IOTA),
    ],
)
def test_information_gain_of_each_row(algorithm, printed, corrected):
    found = rows_of(action_features=2, context_features=3)[algorithm]
    assert found == pytest.approx((printed, corrected), rel=1e-8)


def test_information_gain_of_the_additive_row():
    iota = math.exp(LOG_IOTA)
    printed = math.log(2 * iota**30 + iota**3 + iota**2)
    corrected = math.log(2 * iota**30 + iota**4 + iota**3)
    found = rows_of(action_features=2, context_features=3)["MF-GP-UCB (additive)"]
    assert found == pytest.approx((printed, corrected), rel=1e-8)


def test_information_gain_of_one_context_and_thirty_actions():
    theorem = Theorem(30, 1)
    additive = regret_orders(theorem, 50, T)[-1]
    assert math.exp(log_gain(additive.printed, theorem)) == pytest.approx(1.8265e22, rel=1e-4)


def test_regret_of_gp_ucb_grows_with_the_number_of_agents():
    orders = [regret_orders(Theorem(30, 2), agents, T)[0] for agents in (10, 100, 1000)]
    assert orders[0].printed < orders[1].printed < orders[2].printed
    assert orders[0].corrected < orders[1].corrected < orders[2].corrected


def test_regret_of_add_gp_ucb_grows_with_the_root_of_the_number_of_agents():
    few, many = (regret_orders(Theorem(30, 2), agents, T)[1] for agents in (10, 1000))
    assert many.printed - few.printed == pytest.approx(1.0)
    assert many.corrected - few.corrected == pytest.approx(1.0)


def test_regret_of_mf_gp_ucb_does_not_depend_on_the_number_of_agents():
    few, many = (regret_orders(Theorem(30, 2), agents, T)[2:] for agents in (2, 10**9))
    assert few == many


def test_regret_of_very_many_actions_does_not_overflow():
    assert all(math.isfinite(row.printed) for row in regret_orders(Theorem(10_000, 10), 10**9, T))
