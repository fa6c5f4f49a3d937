"""Exact payoffs: what cannot gain is not played, every second round explores, the best is not replayed."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.simplex import whole_agents
from mfbo.strategies import Default
from mfbo.strategies.default.doubts import REPETITION
from mfbo.strategies.default.exploring import FEWEST, MANY_LOOK, OFF_FACES, Exploring
from mfbo.strategies.default.search import Search, Starts
from mfbo.strategies.default.seen import NEGLIGIBLE_NOISE, Seen

PLANS = [np.array([row]) for row in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4])]
MEANS = np.linspace(0.0, 1.0, FEWEST)


def payoff(distribution: np.ndarray) -> float:
    """Two hills, the lower one nearer to the uniform plan."""
    a, b, c = distribution[0]
    return float(a + 0.8 * c - 3.0 * a * c + 0.2 * b)


def seen_of(population: Population) -> Seen:
    rounds = [Round(Plan(i, plan)).done(Feedback(payoff(plan)), plan, i) for i, plan in enumerate(PLANS)]
    return Seen.of(History(population, tuple(rounds)), "exact")


def whole(plan: np.ndarray) -> bytes:
    """Return the placement of ten agents that a plan rounds to, as placements are remembered."""
    return whole_agents(plan, np.array([10])).tobytes()


SEEN = seen_of(Population(["a", "b", "c"]))


def exploring(means: np.ndarray, noise_variance: float = 0.0) -> Exploring:
    """Return the rule after rounds with these means."""
    rounds = [Round(Plan(i, PLANS[0])).done(Feedback(1.0), PLANS[0], i) for i in range(len(means))]
    seen = Seen.of(History(SEEN.history.population, tuple(rounds)), "exact")
    return Exploring.of(seen, np.asarray(means), noise_variance, 0.3, 8.0)


def test_every_second_round_explores_once_there_is_enough_to_go_on():
    payoffs = np.linspace(0.0, 1.0, FEWEST + 4)
    due = [count for count in range(2, len(payoffs) + 1) if exploring(payoffs[:count]).due]
    assert due == [FEWEST, FEWEST + 2, FEWEST + 4]


def test_of_plans_asked_two_at_a_time_one_explores():
    study = create_study(Population(list("abcdef")), seed=1)
    explores = []
    for _ in range(12):
        plans = [study.ask(), study.ask()]
        explores.append(sum(study.history.rounds[plan.number].notes.get("explores") == (1.0,) for plan in plans))
        for plan in plans:
            study.tell(plan, -float(((plan.distribution[0] - [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]) ** 2).sum()))
    assert min(explores[6:]) == 1  # both do where the model is sure that nothing can gain


def test_where_nothing_is_known_of_many_actions_every_second_look_is_random():
    def blind(population: Population, count: int) -> bool:
        even = np.full((1, population.shape[1]), 1.0 / population.shape[1])
        told = [Round(Plan(i, even)).done(Feedback(1.0), even, i) for i in range(count)]
        return Exploring.of(Seen.of(History(population, tuple(told)), "exact"), np.zeros(count), 0.0, 0.3, 8.0).blind

    names = [f"a{place}" for place in range(40)]
    unknown, on_a_line = Population(names), Population(np.linspace(0.0, 1.0, 40))
    assert [count for count in range(1, 60) if blind(unknown, count)] == [12, 16, 20, 24, 28, 32, 36]
    assert not any(blind(on_a_line, count) for count in range(1, 60))
    rule, alone = replace(exploring(MEANS), due=True, blind=True), np.array([[1.0, 0.0, 0.0]])
    search = Search.of(SEEN, Default().belief(SEEN.history), 2.0)
    for best, random in ((alone, True), (PLANS[0], False)):  # a plan that leaves nobody out is looked at as ever
        plan, explores = rule.climbed(search, Starts(None, best, PLANS[2]), np.random.default_rng(0))
        assert np.array_equal(plan, 0.9 * best + 0.1 * PLANS[2]) is random
        assert explores


@pytest.mark.parametrize("size", [6, 10])
def test_few_agents_are_never_placed_twice_while_others_are_left(size):
    study = create_study(Population(list("abcde"), size=size), seed=1)
    placed = []
    for _ in range(25):
        plan = study.ask()
        if REPETITION not in study.history.rounds[plan.number].notes:  # one that surprised is repeated on purpose
            placed.append(plan.allocation.tobytes())
        study.tell(plan, -float(np.abs(plan.realized[0] - [0.6, 0.0, 0.4, 0.0, 0.0]).sum()))
    assert len(placed) >= 24
    assert len(set(placed)) == len(placed) - 1  # and so is the first


def test_no_plan_is_asked_that_is_open():
    study = create_study(Population(list("abcd")), seed=2)
    for _ in range(8):
        plans = [study.ask() for _ in range(4)]
        apart = [
            np.abs(one.distribution - other.distribution).sum() for one in plans for other in plans if one is not other
        ]
        assert min(apart) > 1e-6 or plans[0].number == 0
        for plan in plans:
            study.tell(plan, float(plan.distribution[0] @ [1.0, 0.2, 0.5, 0.1]))


def test_starts_on_a_face_are_mixed_with_the_random_one():
    face, random = np.array([[0.5, 0.5, 0.0]]), np.array([[0.2, 0.2, 0.6]])
    last, incumbent, other = Starts(np.array([[1.0, 0.0, 0.0]]), face, random).mixed(0.1)
    np.testing.assert_allclose(last, [[0.92, 0.02, 0.06]])
    np.testing.assert_allclose(incumbent, [[0.47, 0.47, 0.06]])
    assert other is random


def test_more_cells_than_payoffs_tell_apart_are_looked_at_with_optimism_instead_of_expected_gain():
    rule, starts = exploring(MEANS), Starts(None, PLANS[0], PLANS[1])
    believed = Default().belief(SEEN.history)
    search = Search.of(SEEN, believed, 2.0)
    few, many = (replace(rule, best=-9.0, many=many) for many in (False, True))
    plan, explores = many.climbed(search, starts, np.random.default_rng(0))
    assert explores
    np.testing.assert_array_equal(plan, search.held_back.climbed(MANY_LOOK, starts.every))
    assert (plan != few.climbed(search, starts, np.random.default_rng(0))[0]).any()
    assert Exploring.of(SEEN, np.zeros(4), 0.0, 0.3, 8.0).many is False


@pytest.mark.parametrize(("variance", "optimism"), [(NEGLIGIBLE_NOISE, 0.3), (2 * NEGLIGIBLE_NOISE, 1.0)])
def test_optimism_is_little_unless_noise_was_fitted(variance, optimism):
    assert exploring(MEANS, variance).multiplier == optimism


def test_a_told_plan_may_not_gain_and_an_unknown_one_may():
    belief = Default().belief(SEEN.history, "exact")
    means = belief.posterior.population_means(SEEN.visited)
    rule, search = exploring(means, belief.noise_variance), Search.of(SEEN, belief, 2.0)
    assert not rule.may_gain(search, PLANS[int(np.argmax(means))])
    assert rule.may_gain(search, np.array([[0.0, 0.0, 1.0]]))


def test_a_plan_that_explores_fills_no_action_far_beyond_twice_what_was_seen():
    population, rng = Population([f"a{i}" for i in range(12)]), np.random.default_rng(5)
    plans = [rng.dirichlet(np.full(12, 30.0))[None] for _ in range(8)]
    told = [Round(Plan(i, plan)).done(Feedback(float(plan[0, 0])), plan, i) for i, plan in enumerate(plans)]
    seen = Seen.of(History(population, tuple(told)), "exact")
    belief = Default().belief(seen.history, "exact")
    means = belief.posterior.population_means(seen.visited)
    rule = replace(Exploring.of(seen, means, 0.0, 0.3, 8.0), due=True)
    search, starts = Search.of(seen, belief, 2.0), Starts.of(seen, plans[int(np.argmax(means))], rng)
    plan, explores = rule.climbed(search, starts, rng)
    assert explores
    assert (plan[0] / search.trusted).max() < 1.3
    assert (search.climbed(rule.highest, [starts.random])[0] / search.trusted).max() > 2.0  # free, it would


def test_where_payoffs_drift_whole_agents_that_would_sit_take_turns_between_the_best_and_a_look():
    seen = seen_of(Population(["a", "b", "c"], size=10))
    rounds = [replace(done, plan=replace(done.plan, allocation=(10 * plan).round().astype(int)))
              for done, plan in zip(seen.told, PLANS, strict=True)]  # fmt: skip
    seen = Seen.of(replace(seen.history, rounds=tuple(rounds)), "exact")
    belief = Default().belief(seen.history, "exact")
    means = belief.posterior.population_means(seen.visited)
    rng, incumbent = np.random.default_rng(1), PLANS[int(np.argmax(means))]
    search = Search.of(seen, belief, 2.0)
    rule = replace(Exploring.of(seen, means, 0.0, 0.0, 8.0), follows=True)
    starts = Starts(None, incumbent, incumbent)
    anywhere = replace(rule.placements, allocations=frozenset({whole(search.climbed(0.0, starts.mixed(OFF_FACES)))}))
    sitting = replace(rule, placements=anywhere)
    played, explores = replace(sitting, due=False).climbed(search, starts, rng)
    assert played is incumbent
    assert not explores
    looked, explores = replace(sitting, due=True).climbed(search, starts, rng)
    assert whole(looked) not in anywhere.allocations
    assert explores
    assert (looked[0] / search.near(incumbent).trusted).max() < 1.3


def test_where_payoffs_drift_a_look_goes_no_further_than_what_it_may_lose_is_bearable():
    belief = Default().belief(SEEN.history, "exact")
    means = belief.posterior.population_means(SEEN.visited)
    rule, search = exploring(means), Search.of(SEEN, belief, 2.0)
    best, worst = (PLANS[int(place)] for place in (np.argmax(means), np.argmin(means)))
    held = rule._shortened(search, worst, best)
    assert belief.posterior.population(held).mean >= rule.best - rule.bearable
    assert 0.0 < np.abs(held - best).sum() < np.abs(worst - best).sum()
    assert rule._shortened(search, best, best) is best


def test_in_the_mean_field_limit_no_exact_payoff_is_told_twice_and_the_higher_hill_is_found():
    study = create_study(Population(["a", "b", "c"]), seed=3)
    told = []
    for _ in range(20):
        plan = study.ask()
        told.append(payoff(plan.distribution))
        study.tell(plan, told[-1])
    plans = np.stack([done.plan.distribution.ravel() for done in study.rounds[1:]])  # the first is repeated on purpose
    apart = np.abs(plans[:, None] - plans[None]).sum(axis=2)[np.triu_indices(len(plans), 1)]
    assert apart.min() > 1e-9
    assert max(told) == pytest.approx(1.0, abs=1e-6)
