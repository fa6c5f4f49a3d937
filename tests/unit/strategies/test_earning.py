"""An earning study begins at the status quo, steps, guards, and is not led astray by a wrong day."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import InvalidInputError
from mfbo.records import Feedback, History, Plan, Round
from mfbo.situations import Situations
from mfbo.strategies import Default
from mfbo.strategies.default.crowding import Crowding
from mfbo.strategies.default.guard import GUARD_WORDS, SAME_AGENTS, Guard, Word
from mfbo.strategies.default.hints import without_hints
from mfbo.strategies.default.kernels import COSTS_FACTOR
from mfbo.strategies.default.seen import Seen, is_cost
from mfbo.strategies.default.stall import RESTED
from mfbo.strategies.default.status_quo import HIDDEN, REFERENCE, reference_is_due
from mfbo.strategies.default.step import FIRST, GROWTH, LEAST, MOST_NOISY, Both, Step
from mfbo.strategies.default.tilt import TiltedMean
from mfbo.strategies.default.wrong_days import wrong_days

DEMAND = np.array([60.0, 30.0, 20.0, 10.0, 25.0, 5.0])
START = np.array([[5, 5, 5, 5, 5, 15]])
STUDENT_7 = 1.894578605  # 95 % of Student's distribution with seven degrees of freedom, by a printed table


def rides(counts):
    return float((DEMAND * (1.0 - np.exp(-3.0 * counts / DEMAND))).sum())


def population(**limits):
    return Population({f"s{i}": (float(i), float(i % 2)) for i in range(6)}, size=40, **limits)


def earned(study, rounds, noise=0.0, wrong=None):
    """Play rounds; return the true value of each."""
    rng, values = np.random.default_rng(7), []
    for day in range(rounds):
        plan = study.ask()
        values.append(rides(plan.allocation[0]))
        factor = 10.0 if day == wrong else 1.0
        study.tell(plan, factor * values[-1] * (1.0 + noise * rng.standard_normal()))
    return np.array(values)


def told_days(payoffs):
    plans = [Plan(number, np.full((1, 2), 0.5)) for number in range(len(payoffs))]
    return tuple(
        Round(plan).done(Feedback(payoff), plan.distribution, told=plan.number)
        for plan, payoff in zip(plans, payoffs, strict=True)
    )


def test_the_status_quo_is_played_first_and_again_to_see_noise():
    study = create_study(population(), aim="earn", start=START)
    for _ in range(2):
        plan = study.ask()
        np.testing.assert_array_equal(plan.allocation, START)
        study.tell(plan, 1.0)
    assert not np.array_equal(study.ask().allocation, START)


def test_where_agents_stand_is_the_status_quo_unless_a_start_is_named():
    here = create_study(population(), aim="earn", placed=START)
    np.testing.assert_array_equal(here.history.status_quo, START / 40)
    named = create_study(population(), aim="earn", placed=START, start=np.full((1, 6), 1 / 6))
    np.testing.assert_allclose(named.history.status_quo, 1 / 6)
    assert create_study(population()).history.aim == "find"


def test_past_days_stand_for_the_status_quo():
    study = create_study(population(), aim="earn")
    study.add(START / 40, rides(START[0]))
    study.add(np.eye(6)[[5]], rides(40 * np.eye(6)[5]))
    plan = study.ask()
    moved = np.maximum(plan.allocation - START, 0).sum()
    assert moved <= round(FIRST * 40) + 1  # a step from the better of the two days


def test_an_earning_study_earns_more_than_the_status_quo_from_the_start():
    study = create_study(population(), aim="earn", start=START, seed=1)
    values = earned(study, 14)
    base = rides(START[0])
    assert values.min() >= 0.95 * base
    assert values[-4:].mean() >= 1.05 * base
    assert rides(study.recommend().allocation[0]) >= 1.05 * base


def test_the_move_budget_is_kept_exactly_under_steps():
    study = create_study(population(move_budget=2), aim="earn", placed=START, seed=2)
    before = START
    for _ in range(8):
        plan = study.ask()
        assert np.maximum(plan.allocation - before, 0).sum() <= 2
        before = plan.allocation
        study.tell(plan, rides(before[0]))


def test_a_resumed_earning_study_proposes_the_same_bits(tmp_path):
    storage = f"sqlite:///{tmp_path / 'mfbo.db'}"
    options = {"aim": "earn", "start": START, "risk": 0.1, "seed": 3}
    kept = create_study(population(), storage=storage, name="kept", **options)
    unbroken = create_study(population(), **options)
    earned(kept, 6, noise=0.1)
    earned(unbroken, 6, noise=0.1)
    again = load_study("kept", storage)
    assert (again.history.aim, again.history.risk) == ("earn", 0.1)
    assert again.history.status_quo.tobytes() == unbroken.history.status_quo.tobytes()
    assert again.ask().distribution.tobytes() == unbroken.ask().distribution.tobytes()


def test_one_day_told_ten_times_too_high_changes_nothing_recommended():
    plain, wrong = (create_study(population(), aim="earn", start=START, seed=4) for _ in range(2))
    earned(plain, 20, noise=0.05)
    earned(wrong, 20, noise=0.05, wrong=12)
    found, misled = (rides(study.recommend().allocation[0]) for study in (plain, wrong))
    assert misled >= 0.98 * found


def test_wrong_days_stand_out_from_those_around_them():
    days = [100.0, 90.0, 110.0, 105.0, 1000.0, 95.0, 100.0]
    assert wrong_days(told_days(days)) == (4,)
    assert wrong_days(told_days([100.0, 1000.0])) == ()  # two days: which of them is wrong?
    risen = [100.0, 101.0, 99.0, 100.0, 300.0, 301.0, 299.0, 300.0]
    assert wrong_days(told_days(risen)) == ()  # the world has changed, and the days after say so


def belief_of(study):
    history = study.strategy.as_modeled(study.history)
    return Seen.of(history, study.strategy.kind_of(history)), study.strategy.belief(history)


def test_the_guard_allows_a_share_of_what_the_status_quo_earns():
    study = create_study(population(), aim="earn", start=START, risk=0.03, seed=5)
    earned(study, 8, noise=0.1)
    seen, belief = belief_of(study)
    guard = Guard.of(seen, belief)
    posterior = study.strategy.posterior(study.history)
    earns = posterior.population(START / 40).mean
    plans = np.random.default_rng(0).dirichlet(np.ones(6), size=(20, 1))
    mean, variance = posterior.changes(START / 40, plans)
    np.testing.assert_array_equal(guard.passes(plans), mean - STUDENT_7 * np.sqrt(variance) >= -0.03 * abs(earns))
    assert guard.passes((START / 40)[None]).all()
    free = Guard.of(replace(seen, history=replace(seen.history, risk=None)), belief)
    assert free.passes(plans).all()


def test_a_plan_that_does_not_pass_is_shortened_or_left():
    study = create_study(population(), aim="earn", start=START, seed=5)
    earned(study, 8, noise=0.1)
    seen, belief = belief_of(study)
    guard, start = Guard.of(seen, belief), START / 40
    tilted = TiltedMean.drawn(belief.posterior, seen.history.population, start, np.random.default_rng(1))
    strict, far = replace(guard, allowed=0.0), np.eye(6)[[5]]
    assert not strict.passes(far[None])[0]
    plan, word = strict.held(far, start, tilted)
    assert word in ("shortened", "status quo")
    assert strict.passes(plan[None])[0]
    assert replace(guard, allowed=np.inf).held(far, start, tilted)[1] == "free"


def test_the_tilted_mean_has_the_gradient_of_its_value():
    study = create_study(population(), aim="earn", start=START, seed=6)
    earned(study, 5, noise=0.1)
    seen, belief = belief_of(study)
    tilted = TiltedMean.drawn(belief.posterior, seen.history.population, START / 40, np.random.default_rng(2))
    point = np.full((1, 6), 1 / 6)
    gradient = tilted(point)[1]
    for cell in range(6):
        step = np.zeros((1, 6))
        step[0, cell] = 1e-6
        slope = (tilted(point + step)[0] - tilted(point - step)[0]) / 2e-6
        assert gradient[0, cell] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def stepped(share, moved):
    """Two exact rounds: the status quo, and a plan that moved so many of its 40 agents; the step as noted."""
    there = START + moved * np.array([[1, 0, 0, 0, 0, -1]])
    plans = [Plan(0, START / 40), Plan(1, there / 40)]
    rounds = [
        Round(plan, {"step": (share,)}).done(Feedback(1.0), plan.distribution, told=plan.number) for plan in plans
    ]
    return Seen.of(History(population(), tuple(rounds)), "exact")


def test_the_step_grows_with_success_and_shrinks_with_losses():
    assert Step.of(stepped(0.1, moved=4), np.array([0.0, 1.0])).share == pytest.approx(0.1 * GROWTH)
    assert Step.of(stepped(0.1, moved=4), np.array([1.0, 0.0])).share < 0.1
    assert Step.of(stepped(LEAST, moved=1), np.array([1.0, 0.0])).share == LEAST


def test_a_success_that_used_little_of_the_step_does_not_let_it_grow():
    assert Step.of(stepped(0.1, moved=1), np.array([0.0, 1.0])).share == 0.1


@pytest.mark.parametrize(("aim", "noise", "afresh"), [("earn", 0.0, True), ("earn", 0.1, False), ("find", 0.0, False)])
def test_an_earning_study_with_exact_payoffs_fits_its_model_afresh(aim, noise, afresh):
    study = create_study(population(), aim=aim, start=START if aim == "earn" else None)
    earned(study, 4, noise=noise)
    assert belief_of(study)[1].process.kernel.afresh is afresh


@pytest.mark.parametrize(("risk", "moved"), [(0.05, 1), (0.5, 2), (None, 2)])
def test_the_first_step_is_small_while_payoffs_say_nothing_of_their_unit(risk, moved):
    study = create_study(population(), aim="earn", start=START, risk=risk)
    earned(study, 2)
    plan = study.ask()
    assert 0 < np.abs(plan.allocation - START).sum() / 2 <= moved
    assert study.rounds[-1].notes["guard"] == ("free",)


def test_looks_that_find_nothing_for_long_give_way_to_the_best_plan():
    study = create_study(Population(["a", "b", "c"], size=6), aim="earn", start=np.array([[2, 2, 2]]))
    for _ in range(40):
        plan = study.ask()
        study.tell(plan, -float(((plan.allocation - 2) ** 2).sum()))
    guarded = [asked.notes.get("guard") for asked in study.rounds]
    resting = [asked for asked, word in zip(study.rounds, guarded, strict=True) if word == ("rests",)]
    assert len(resting) > 10
    assert all((asked.plan.allocation == 2).all() for asked in resting)
    assert set(guarded[20:]) > {("rests",)}  # it still looks now and then


@pytest.mark.parametrize(("noise", "stays"), [(0.2, True), (0.01, False)])
def test_a_plan_that_somebody_chose_is_kept_while_luck_hides_what_a_look_may_cost(noise, stays):
    study = create_study(population(), aim="earn", start=START, seed=6)
    values = earned(study, 5, noise=noise)
    assert (values == values[0]).all() == stays
    assert (study.rounds[-1].notes["guard"] == ("luck",)) == stays


def test_a_step_holds_so_many_agents_elsewhere_at_most():
    seen = Seen.of(History(population()), "exact")
    region = Step(0.1).region(seen, START / 40)
    far = region.projected(np.eye(6)[[0]])
    assert 40 * np.abs(far - START / 40).sum() / 2 == pytest.approx(4.0, abs=1e-4)
    budget = History(population(move_budget=1, placed=START))
    both = Step(0.1).region(Seen.of(budget, "exact"), START / 40)
    assert isinstance(both, Both)
    assert 40 * np.abs(both.projected(np.eye(6)[[0]]) - START / 40).sum() / 2 <= 1.0 + 1e-6


def test_the_step_stays_small_under_noise():
    plan = Plan(0, START / 40)
    noted = Round(plan, {"step": (MOST_NOISY,)}).done(Feedback(1.0), plan.distribution, told=0)
    seen = Seen.of(History(population(), (noted,)), "street")
    assert Step.of(seen, np.array([0.0, 1.0])).share == MOST_NOISY


def test_diminishing_returns_are_expected_where_agents_merely_stand():
    people = Population(["a", "b"], size=4)
    told = (Round(Plan(0, np.array([[1.0, 0.0]]))).done(Feedback(10.0), np.array([[1.0, 0.0]]), told=0),)
    crowding = Crowding.of(History(people, told), np.array([[1.0, 0.0]]))
    even = np.array([[0.5, 0.5]])
    root = np.sqrt(0.0005)  # of the offset
    expected = 10.0 * (2.0 * np.sqrt(0.5005) / (np.sqrt(1.0005) + root) - 1.0)
    assert crowding.at(even[None])[0] == pytest.approx(expected)
    uneven, step = np.array([[0.7, 0.3]]), np.array([[1e-6, 0.0]])
    slope = np.diff(crowding.at(np.stack([uneven - step, uneven + step])))[0] / 2e-6
    assert crowding.gradient(uneven)[0, 0] == pytest.approx(slope, rel=1e-6)
    assert Crowding.of(History(people, told, planned=True), np.array([[1.0, 0.0]])).at(even[None])[0] == 0.0


def test_the_model_of_noisy_days_adds_what_is_expected_to_what_is_learned():
    study = create_study(population(), aim="earn", placed=START, seed=6)
    earned(study, 4, noise=0.1)
    assert belief_of(study)[0].kind == "street"
    posterior, even = study.strategy.posterior(study.history), np.full((1, 6), 1 / 6)
    moments = posterior.population(even)
    mean, _ = posterior.changes(START / 40, even[None])
    assert posterior.population_means(even[None])[0] == pytest.approx(moments.mean)
    assert mean[0] == pytest.approx(moments.mean - posterior.population(START / 40).mean)
    slope, step = moments.pullback(1.0, 0.0), np.zeros((1, 6))
    step[0, 2] = 1e-6
    means = posterior.population_means(np.stack([even - step, even + step]))
    assert slope[0, 2] == pytest.approx(np.diff(means)[0] / 2e-6, rel=1e-4)


def test_nearness_to_a_plan_that_somebody_chose_is_a_feature_of_noisy_days():
    names = {}
    for words in ({"start": START}, {"placed": START}):
        study = create_study(population(), aim="earn", seed=6, risk=0.9, **words)  # with less, luck would hide the days
        earned(study, 3, noise=0.2)
        seen, belief = belief_of(study)
        names[seen.kind] = [term.name for term in belief.process.kernel.terms]
    assert [name for name in names["planned"] if name != "nearness"] == names["street"]
    assert "nearness" in names["planned"]


def days_that_differ(level, plans, **words):
    """Return a history of days with rain, which tell a level and less the further a plan is from START."""
    rounds = []
    for number, plan in enumerate(plans):
        looks = not np.array_equal(plan, START / 40)
        notes = {} if number < 2 else {"guard": ("free" if looks else "reference",)}
        played = Round(Plan(number, plan), notes, situation={"rain": float(number % 3)})
        payoff = level + number % 3 - 10.0 * float(np.abs(plan - START / 40).sum())
        rounds.append(played.done(Feedback(payoff), plan, told=number))
    situations = Situations.read({"rain": "number"})
    told = {"situations": situations, "situation": {"rain": 1.0}, "aim": "earn", "status_quo": START / 40}
    return History(population(), tuple(rounds), **{**told, **words})


@pytest.mark.parametrize(("references", "due"), [(2, True), (3, False)])
def test_the_status_quo_is_told_again_where_days_differ_and_nothing_is_known_to_be_better(references, due):
    quo, others = START / 40, [START / 40 + 0.02 * np.roll([[1, -1, 0, 0, 0, 0]], step) for step in range(5)]
    plans = [quo] * references + others[: 7 - references]
    history = days_that_differ(100.0, plans, planned=True)
    proposed = Default().propose(history, np.random.default_rng(0))
    assert (proposed.notes["guard"] == ("reference",)) == due
    assert np.array_equal(proposed.distribution, quo) == due
    assert not reference_is_due(Seen.of(replace(history, situations=None), "planned"))


@pytest.mark.parametrize(
    ("rounds", "looks", "due"), [(30, 20, False), (30, 21, True), (100, 40, False), (100, 41, True)]
)
def test_looks_that_find_nothing_become_rarer(rounds, looks, due):
    quo = START / 40
    history = days_that_differ(100.0, [quo] * (rounds - looks) + [np.roll(quo, 1)] * looks, planned=True)
    assert reference_is_due(Seen.of(history, "planned")) == due


def test_a_start_that_docks_do_not_hold_is_not_all_that_is_played():
    capacity = [8, 8, 8, 8, 8, 10]  # fifteen agents stand at the last station in START
    study = create_study(
        population(capacity=capacity), aim="earn", start=START / 40, seed=6, situations={"rain": "number"}
    )
    rng, words = np.random.default_rng(7), []
    for day in range(9):
        plan = study.ask(situation={"rain": float(day % 2)})
        words.append(study.rounds[plan.number].notes.get("guard", ("first",))[0])
        study.tell(plan, rides(plan.allocation[0]) * (1.0 + 0.1 * rng.standard_normal()))
    assert set(words[2:]) - {"reference", "status quo"}, words


@pytest.mark.parametrize(("level", "expected"), [(-100.0, True), (0.0, False), (100.0, False)])
def test_luck_around_nothing_is_not_a_cost(level, expected):
    told = days_that_differ(level - 1.0, [START / 40] * 8).told
    assert is_cost(told) == expected


@pytest.mark.parametrize(("planned", "kinds"), [(True, ("planned", "planned costs")), (False, ("street", "costs"))])
def test_an_agent_may_change_more_of_a_cost_than_of_what_is_earned(planned, kinds):
    strategy, medians = Default(), []
    for level, kind in zip((100.0, -100.0), kinds, strict=True):
        history = days_that_differ(level, [START / 40] * 2, planned=planned)
        assert strategy.kind_of(history) == kind
        terms = strategy.belief(history).process.kernel.terms
        medians.append({term.name: term.weight.median for term in terms})
    assert medians[0].pop("constant") == medians[1].pop("constant")
    assert medians[1] == {name: COSTS_FACTOR * weight for name, weight in medians[0].items()}


def test_a_plan_that_somebody_chose_is_left_by_the_smallest_steps():
    study = create_study(population(), aim="earn", start=START, seed=6)
    assert study.history.planned
    earned(study, 3, noise=0.2)
    assert np.maximum(study.ask().allocation - START, 0).sum() <= max(1, round(LEAST * 40)) + 1


@pytest.mark.parametrize(("factor", "alone"), [(1.0, False), (3.0, True)])
def test_cells_that_do_not_add_up_are_no_worse_than_the_payoff_alone(factor, alone):
    both, payoff = (create_study(population(), seed=8) for _ in range(2))
    for _ in range(4):
        plan, plain = both.ask(), payoff.ask()
        counts = plan.allocation[0]
        an_agent_brings = DEMAND * (1.0 - np.exp(-3.0 * counts / DEMAND)) / np.maximum(counts, 1)
        cells = np.where(counts > 0, factor * an_agent_brings, np.nan)[None]
        both.tell(plan, rides(counts) / 40, cells=cells)
        payoff.tell(plain, rides(plain.allocation[0]) / 40)
    assert (without_hints(both.history).told[-1].feedback.cells is None) == alone
    same = both.ask().distribution.tobytes() == payoff.ask().distribution.tobytes()
    assert same == alone


@pytest.mark.parametrize("feedback", ["cells", "shares"])
def test_it_earns_with_cells_and_without_a_size(feedback):
    people = population() if feedback == "cells" else Population({f"s{i}": (float(i),) for i in range(6)})
    study = create_study(people, aim="earn", start=START / 40, seed=8)
    values = []
    for _ in range(7):
        plan = study.ask()
        counts = 40.0 * plan.realized[0]
        values.append(rides(counts))
        if feedback == "shares":
            study.tell(plan, values[-1])
            continue
        means = DEMAND * (1.0 - np.exp(-3.0 * counts / DEMAND)) / np.maximum(counts, 1e-9)
        study.tell(plan, cells=np.where(counts > 0, means, np.nan)[None])
    assert min(values) >= 0.9 * values[0]
    assert max(values) > values[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": 1.5}, "share from 0 to 1"),
        ({"risk": "much"}, "risk"),
        ({"start": np.zeros((1, 6))}, "somebody"),
        ({"start": np.ones((2, 6))}, "start must be a plan"),
        ({"aim": "win"}, "aim"),
    ],
)
def test_what_cannot_be_a_start_or_a_risk_is_refused(options, message):
    with pytest.raises(InvalidInputError if "aim" not in options else Exception, match=message):
        create_study(population(), **{"aim": "earn", **options})


def test_a_status_quo_that_earns_about_nothing_is_left_all_the_same():
    study = create_study(population(), aim="earn", start=START, seed=9)
    base = rides(START[0])
    plans = []
    for _ in range(5):
        plans.append(study.ask())
        study.tell(plans[-1], rides(plans[-1].allocation[0]) - base)  # the status quo brings 0
    assert not np.array_equal(plans[-1].allocation, START)


def test_cells_and_crowds_of_a_round_are_weighed_by_its_own_contexts():
    people = Population(["a", "b"], {"u": 0.9, "v": 0.1})
    shares, own = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5])  # the contexts were equal in this round
    cells, counts = np.array([[4.0, np.nan], [np.nan, 2.0]]), np.eye(2)
    done = replace(Round(Plan(0, shares)).done(Feedback(3.0, (), cells, counts), shares, told=0), weights=own)
    assert without_hints(History(people, (done,))).told[0].feedback.cells is cells
    crowding = Crowding.of(History(people, (done,)), shares)
    believed = crowding.removed_from(History(people, (done,))).told[0].payoff
    assert believed == 3.0 - replace(crowding, weights=own).at(shares[None])[0] < 3.0


def test_every_note_of_the_guard_has_words_for_people():
    assert {*get_args(Word), *HIDDEN, *REFERENCE, *RESTED, SAME_AGENTS} == {"free", *GUARD_WORDS}
