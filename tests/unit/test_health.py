"""Health checks see what they are for, and are silent otherwise."""

import numpy as np
import pytest

from mfbo import Population, create_study
from mfbo.health import health

POPULATION = Population({"name": ["a", "b", "c"], "x": [0.1, 0.5, 0.7]}, size=40)


def value(plan):
    return float(-((plan.realized[0] - [0.5, 0.3, 0.2]) ** 2).sum())


def played(payoff, rounds=20, **options):
    study = create_study(POPULATION, **options)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, payoff(plan))
    return {each.name: each for each in health(study)}


def test_a_sound_study_has_nothing_to_look_at():
    checks = played(value, rounds=12)
    assert list(checks) == ["model error", "drift", "repeats", "tight limits"]
    assert checks["model error"].ok
    assert checks["drift"].ok
    assert checks["tight limits"].ok


def test_few_rounds_say_nothing():
    assert {each.ok for each in played(value, rounds=3).values()} <= {None, True}


def test_pure_noise_shows_in_the_model_error():
    rng = np.random.default_rng(0)
    checks = played(lambda plan: float(rng.normal()), rounds=25)
    assert checks["model error"].value > 0.8


def test_leave_one_out_equals_leaving_one_out():
    """The closed form against predictions of a model that has not seen the round, hyperparameters kept."""
    from mfbo.models import GaussianProcess, default_kernel, rows_of_round

    study = create_study(POPULATION)
    for _ in range(9):
        plan = study.ask()
        study.tell(plan, value(plan) + 0.01 * plan.number)
    told = study.history.told
    kernel = default_kernel(POPULATION, noisy=True)
    whole = GaussianProcess(kernel)
    for each in told:
        whole.append(rows_of_round(POPULATION, each))
    fit = whole.refit(None, 20)
    errors, variances = whole.posterior().leave_one_out()
    for left_out in (2, 5, 8):
        rest = GaussianProcess(kernel)
        for each in told:
            if each.number != left_out:
                rest.append(rows_of_round(POPULATION, each))
        rest.adopt(fit)
        moments = rest.posterior().population(told[left_out].realized)
        standardized = (told[left_out].payoff - fit.shift) / fit.scale
        assert errors[left_out] == pytest.approx(standardized - moments.mean, rel=1e-4, abs=1e-6)
        assert variances[left_out] == pytest.approx(moments.variance + whole.noise_variance, rel=1e-3, abs=1e-6)


def test_falling_payoffs_show_as_drift():
    study = create_study(POPULATION, "mf-gp-ucb")
    rng = np.random.default_rng(1)
    for number in range(30):
        study.add(rng.dirichlet([3, 3, 3]), payoff=float(rng.normal(scale=0.05)) - 0.3 * number)
    checks = {each.name: each for each in health(study)}
    assert checks["drift"].ok is False
    assert "fall" in checks["drift"].message


def test_the_same_plan_again_and_again_shows():
    study = create_study(POPULATION)
    for _ in range(10):
        study.add([0.2, 0.3, 0.5], payoff=1.0)
    checks = {each.name: each for each in health(study)}
    assert checks["repeats"].ok is False


def test_cells_told_by_many_agents_are_judged_by_the_latest_rounds():
    study = create_study(Population([f"s{n}" for n in range(30)], size=300), "default")
    for _ in range(22):
        plan = study.ask()
        study.tell(plan, cells=np.minimum(1.0, 0.03 / np.maximum(plan.realized, 1e-9)), counts=plan.allocation + 1.0)
    checks = {each.name: each for each in health(study)}
    assert "last" in checks["model error"].message
    assert checks["model error"].ok is not None


def test_only_stations_that_could_hold_more_are_said_to_be_full():
    """Not one without docks, not one that is closed, not one whose number is fixed."""
    people = Population(
        ["full", "none", "shut", "fixed", "open"],
        size=40,
        capacity={"full": 5, "none": 0, "fixed": 3},
        forbidden=["shut"],
        fixed={"fixed": 3},
    )
    study = create_study(people)
    for _ in range(22):
        plan = study.ask()
        study.tell(plan, float(plan.realized[0] @ [9.0, 9.0, 9.0, 9.0, 1.0]))
    assert (np.stack([each.plan.allocation[0] for each in study.rounds[-10:]]) == [5, 0, 0, 3, 32]).all()
    found = {each.name: each for each in health(study)}["tight limits"]
    assert found.ok is False
    assert "always full: full;" in found.message


def test_health_says_which_situations_matter_and_which_are_rare():
    variables = {"day": ["weekday", "weekend"], "rain": "number"}
    study = create_study(Population(["a", "b", "c"]), situations=variables, noise=0.01)
    rng = np.random.default_rng(0)
    for number in range(24):
        rain, shares = float(rng.random()), rng.dirichlet(np.ones(3))
        day = "weekend" if number == 5 else "weekday"
        study.add([shares], float(shares[0] - 2.0 * rain), situation={"day": day, "rain": rain})
    found = next(check for check in health(study) if check.name == "situations")
    assert found.ok is False
    assert "seen fewer than 3 times: day=weekend" in found.message
    assert "rain" in found.message
    assert 0.0 < found.value <= 1.0
    plain = create_study(Population(["a", "b", "c"]))
    assert "situations" not in {check.name for check in health(plain)}
