"""The battery: certificates of its optima, gradients, and a run that stops and goes on."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))  # its modules import each other by name
import battery  # noqa: E402
import battery_problems  # noqa: E402
import battery_worlds  # noqa: E402
from battery_fresh import FAMILIES  # noqa: E402
from battery_problems import BATTERY, CONCAVE, battery_problem  # noqa: E402
from battery_worlds import world  # noqa: E402

from mfbo.records import Plan  # noqa: E402
from mfbo.simplex import uniform  # noqa: E402

OWN = [name for name in BATTERY if name not in ("traffic", "queues", "coverage", "portfolio", "mixture")]

FRESH = [f"{family}~3" for family in FAMILIES]


def gap_of(problem) -> float:
    return problem.optimum.value - problem.mean_field_value(uniform(*problem.population.shape))


@pytest.mark.parametrize("name", [*BATTERY, *FRESH])
def test_every_problem_carries_its_name(name):
    assert battery_problem(name).name == name


@pytest.mark.parametrize("name", [*OWN, "crowded~3"])
def test_gradients_equal_finite_differences(name):
    problem = battery_problem(name)
    contexts, actions = problem.population.shape
    rng = np.random.default_rng(6)
    distribution = rng.dirichlet(np.ones(actions), size=contexts)
    gradient = problem.gradient(distribution)
    for _ in range(5):
        direction = rng.normal(size=distribution.shape) * distribution
        ahead, behind = (problem.mean_field_value(distribution + step * direction) for step in (1e-6, -1e-6))
        assert (ahead - behind) / 2e-6 == pytest.approx(float((gradient * direction).sum()), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", [*OWN, "crowded~3"])
def test_population_payoff_is_the_mean_of_the_agents_payoffs(name):
    problem = battery_problem(name)
    contexts, actions = problem.population.shape
    distribution = np.random.default_rng(5).dirichlet(np.ones(actions), size=contexts)
    shares = problem.population.joint_shares(distribution)
    mean = float((shares * problem.payoff.cells(shares)).sum())
    assert problem.mean_field_value(distribution) == pytest.approx(mean, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", [*(name for name in CONCAVE if name in OWN), "shared~3"])
def test_concave_problems_have_no_gap_at_the_optimum(name):
    problem = battery_problem(name)
    assert problem.optimality_gap(problem.optimum.distribution) <= 1e-7 * gap_of(problem)


@pytest.mark.parametrize("name", CONCAVE)
def test_concave_problems_are_concave_along_random_chords(name):
    problem = battery_problem(name)
    contexts, actions = problem.population.shape
    rng = np.random.default_rng(9)
    for _ in range(20):
        one, other = rng.dirichlet(np.full(actions, 0.3), size=(2, contexts))
        middle = problem.mean_field_value(0.5 * (one + other))
        assert middle >= 0.5 * (problem.mean_field_value(one) + problem.mean_field_value(other)) - 1e-9 * abs(middle)


@pytest.mark.parametrize(("name", "actions"), [("thresholds-12", 12), ("advertising-10", 10)])
def test_separable_optima_are_certified_by_their_bound(name, actions):
    problem = battery_problem(name)
    _, price = battery_problems.separable_best(problem.payoff.terms, actions)
    bound = battery_problems.separable_bound(problem.payoff.terms, actions, price)
    assert problem.optimum.value <= bound + 1e-9
    assert bound - problem.optimum.value < 0.002 * gap_of(problem)


@pytest.mark.parametrize("name", FRESH)
def test_no_random_plan_is_better_than_the_optimum_of_a_fresh_instance(name):
    problem = battery_problem(name)
    contexts, actions = problem.population.shape
    rng = np.random.default_rng(2)
    plans = [rng.dirichlet(np.full(actions, rng.choice([0.05, 0.3, 1.0])), size=contexts) for _ in range(200)]
    assert gap_of(problem) > 0
    assert max(map(problem.mean_field_value, plans)) < problem.optimum.value


@pytest.mark.parametrize(("name", "said"), [("threshold~1", "thresholds"), ("thresholds~x", "lacks the number")])
def test_a_fresh_instance_that_does_not_exist_is_refused(name, said):
    with pytest.raises((KeyError, ValueError), match=said):
        battery_problem(name)


def test_the_grid_of_separable_problems_equals_brute_force():
    rng = np.random.default_rng(0)
    table = np.cumsum(rng.random((16, 3)), axis=0)  # rising, of any shape

    def terms(occupancy):
        return np.stack([table[np.rint(occupancy[..., a] * 12).astype(int), a] for a in range(3)], axis=-1)

    best, _ = battery_problems.separable_best(terms, 3, steps=12)
    tried = [table[i, 0] + table[j, 1] + table[12 - i - j, 2] for i in range(13) for j in range(13 - i)]
    assert terms(best[None, :]).sum() == pytest.approx(max(tried))
    assert best.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("price", [0.0, 0.3, 1.5])
def test_any_price_bounds_a_separable_sum(price):
    """√P₁ + √P₂ is √2 at most; at its own price √½ the bound is close."""
    bound = battery_problems.separable_bound(np.sqrt, 2, price, steps=200)
    assert bound >= np.sqrt(2.0)
    assert battery_problems.separable_bound(np.sqrt, 2, np.sqrt(0.5), steps=200) < np.sqrt(2.0) + 2e-3


def test_the_bikes_are_within_a_thousandth_of_the_linear_bound():
    problem = battery_problem("bikes-20")
    _, bound = battery_problems.bike_optimum(problem.payoff)
    assert -1e-9 <= bound - problem.optimum.value < 1e-3 * gap_of(problem)


def test_the_best_placement_of_five_agents_is_no_better_than_the_limit():
    problem = battery_problem("agents-5")
    assert battery_worlds.best_of_whole_agents(problem) <= problem.optimum.value + 1e-12
    assert world("agents-5").closed(Plan(0, problem.optimum.distribution), 0) >= 1.0


def test_noise_is_a_twentieth_of_the_gap_and_belongs_to_the_round():
    noisy, problem = world("portfolio+noise"), battery_problem("portfolio")
    plans = [Plan(number, problem.optimum.distribution) for number in range(400)]
    told = np.array([noisy.told(plan, seed=3) for plan in plans])
    assert told.std() == pytest.approx(0.05 * gap_of(problem), rel=0.12)
    assert told[7] == noisy.told(plans[7], seed=3)


def test_one_day_in_fifty_is_ten_times_too_high():
    wrong, problem = world("portfolio+wrong"), battery_problem("portfolio")
    told = np.array([wrong.told(Plan(number, problem.optimum.distribution), seed=3) for number in range(1000)])
    high = told > problem.optimum.value + 1e-9
    assert high.sum() == 20
    floor = wrong.start - gap_of(problem)
    np.testing.assert_allclose((told[high] - floor) / (problem.optimum.value - floor), 10.0, rtol=1e-9)
    np.testing.assert_allclose(told[~high], problem.optimum.value, rtol=1e-12)


def test_drift_takes_half_of_the_gap_from_the_first_optimum():
    drifting, problem = world("repulsion-49+drift"), battery_problem("repulsion-49")
    first = Plan(0, problem.optimum.distribution)
    assert drifting.closed(first, 0) == pytest.approx(1.0, abs=1e-6)
    assert drifting.closed(first, 150) == pytest.approx(0.5, abs=0.01)
    assert 0.5 < drifting.closed(first, 75) < 1.0


def test_a_problem_that_is_not_concave_cannot_drift():
    with pytest.raises(KeyError, match="can drift"):
        world("mixture-10+drift")


def test_a_battery_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    def said(*problems):
        options = ["--rounds", "4", "--strategies", "random", "--out", str(tmp_path), "--problems", *problems]
        monkeypatch.setattr(sys, "argv", ["battery.py", *options])
        battery.main()
        return capsys.readouterr().out

    assert "two-random" in said("two")
    second = said("two", "agents-1")
    assert "two-random" not in second
    assert "agents-1-random" in second
    rows = (tmp_path / "runs.csv").read_text().splitlines()
    assert rows[0] == "problem,strategy,seed,round,recommended,best,latest,ask_seconds"
    assert len(rows) == 3
    assert "| two | 1 × 2 | ∞ |" in (tmp_path / "battery.md").read_text()
    assert (tmp_path / "battery.svg").stat().st_size > 1000


def test_a_run_that_fails_is_an_outcome_and_not_the_end():
    run = battery.Batch(("two",), ("annealing",), (0,), (3,)).runs()[0]  # needs a number of agents
    outcome = battery.play(run)
    assert outcome.result is None
    assert outcome.lines == []
    assert "agents" in str(outcome)
