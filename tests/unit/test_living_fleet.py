"""A fleet that lives: what is otherwise for a day, what changes from now on, and what the rounds before it become."""

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import InvalidInputError, UnknownNameError

PLACES = {"name": ["Main St", "Harbor", "Old Town"], "x": [0.0, 0.4, 1.0], "y": [0.0, 0.3, 1.0]}


def new(storage=None, strategy="default", size=20, **options):
    limits = {key: options.pop(key) for key in ("capacity", "move_budget", "minimum") if key in options}
    name = {} if storage is None else {"storage": storage, "name": "one"}
    return create_study(Population(PLACES, size=size, **limits), strategy, seed=3, **name, **options)


def value(plan):
    ideal = np.array([0.2, 0.5, 0.3, 0.0, 0.0, 0.0])[: plan.realized.shape[1]]
    return float(-((plan.realized - ideal) ** 2).sum())


def play(study, rounds, **today):
    plans = []
    for _ in range(rounds):
        plans.append(study.ask(**today))
        study.tell(plans[-1], value(plans[-1]))
    return plans


@pytest.mark.parametrize("aim", ["find", "earn"])
def test_for_one_day_fewer_agents_and_a_closed_station(aim):
    study = new(aim=aim)
    play(study, 4)
    plan = study.ask(size=17, closed=["Harbor"], capacity={"Main St": 6})
    assert plan.allocation.sum() == 17
    assert plan.allocation[0, 1] == 0
    assert plan.allocation[0, 0] <= 6
    study.tell(plan, value(plan), placed={"Main St": 5, "Old Town": 12})
    assert study.rounds[4].size == 17
    assert dict(study.rounds[4].today) == {"close": ["Harbor"], "size": 17, "capacity": {"Main St": 6}}
    assert study.moves(study.ask()).missing == 3
    assert study.population.limits is None
    assert study.rounds[5].plan.allocation.sum() == 20


def test_a_day_that_cannot_be_is_refused_with_the_reason_and_nothing_is_stored():
    study = new("memory", capacity={"Main St": 8, "Harbor": 8, "Old Town": 8})
    for today, reason in (
        ({"closed": ["Harbor"]}, "adds up to 16, which is less than 20"),
        ({"size": 30}, "adds up to 24, which is less than 30"),
        ({"closed": ["Harbour"]}, "Harbor"),
        ({"size": 0}, "size"),
        ({"placed": [7, 7, 5]}, "1 are missing"),
    ):
        with pytest.raises((InvalidInputError, UnknownNameError), match=reason):
            study.ask(**today)
    assert study.log() == []
    assert study.ask(size=19, placed=[7, 7, 5]).allocation.sum() == 19


def test_a_day_counts_misfits_by_its_own_fleet():
    study = new()
    plan = study.ask(size=17)
    with pytest.raises(InvalidInputError, match="placed must have 17 agents, not 20"):
        study.tell(plan, 1.0, placed=[10, 5, 5])
    assert study.misfit([10, 5, 2], plan) == ""
    study.tell(plan, 1.0, placed=[10, 5, 2])
    np.testing.assert_array_equal(study.placed, [[10, 5, 2]])


def test_an_open_plan_that_does_not_fit_the_day_is_asked_anew():
    study = new()
    play(study, 3)
    first = study.ask("ann")
    assert study.ask("ann") is first
    second = study.ask("ann", closed=["Harbor"])
    assert second.number == first.number + 1
    assert study.rounds[first.number].state == "abandoned"
    assert study.ask("ann") is second
    study.change(close=["Main St"])
    third = study.ask("ann")
    assert third.number == second.number + 1
    assert third.allocation[0, 0] == 0
    assert "limits of today" in study.rounds[second.number].error


def test_what_opens_has_nobody_before_and_what_closes_nobody_afterwards():
    study = new(capacity={"Main St": 15}, move_budget=6)
    play(study, 4)
    before = [done.played.copy() for done in study.history.told]
    study.change(open={"Park": [0.5, 0.4], "Zoo": {"x": 0.9, "y": 0.9}}, close=["Old Town"], by="ann", reason="spring")
    population = study.population
    assert population.actions == ("Main St", "Harbor", "Old Town", "Park", "Zoo")
    np.testing.assert_array_equal(population.features[3:], [[0.5, 0.4], [0.9, 0.9]])
    assert population.closed == ("Old Town",)
    for played, done in zip(before, study.history.told, strict=True):
        np.testing.assert_array_equal(done.played[:, :3], played)
        np.testing.assert_array_equal(done.played[:, 3:], 0.0)
    for plan in play(study, 6):
        assert plan.allocation.sum() == 20
        assert plan.allocation[0, 2] == 0
        assert plan.allocation[0, 0] <= 15
    assert study.recommend().allocation[0, 2] == 0
    study.change(open=["Old Town"], capacity={"Zoo": 0})
    assert study.population.closed == ()
    assert study.population.limits.most.tolist() == [15, 20, 20, 20, 0]


def test_a_renamed_station_keeps_its_rounds():
    study = new()
    play(study, 3)
    plan = study.ask()
    study.change(rename={"Harbor": "Port", "Main St": "Harbor"})
    assert study.population.actions == ("Harbor", "Port", "Old Town")
    study.tell(plan, cells={"Port": 1.0})
    assert study.rounds[3].feedback.cells[0, 1] == 1.0
    study.change(close=["Port"])
    assert study.ask().allocation[0, 1] == 0


def test_the_fleet_grows_and_shrinks_with_and_without_limits():
    for limits in ({}, {"capacity": {"Harbor": 9}}, {"minimum": 2, "move_budget": 30}):
        study = new(**limits)
        play(study, 3)
        for size in (500, 18):
            study.change(size=size)
            plan = study.ask()
            assert plan.allocation.sum() == size
            assert plan.allocation[0, 1] <= (9 if "capacity" in limits else size)
            study.tell(plan, value(plan))
        assert [done.size for done in study.rounds] == [20, 20, 20, 500, None]
        assert study.rounds[0].plan.allocation.sum() == 20


def test_limits_are_changed_and_given_up():
    study = new(capacity={"Main St": 15}, move_budget=6)
    study.change(capacity={"Main St": None, "Harbor": 7}, move_budget=float("inf"), minimum={"Old Town": 3})
    limits = study.population.limits
    assert (limits.most.tolist(), limits.least.tolist(), limits.move_budget) == ([20, 7, 20], [0, 0, 3], None)


def test_weights_change_and_earlier_rounds_keep_theirs():
    study = create_study(Population(PLACES, {"u": 0.5, "v": 0.5}, 20), seed=3)
    play(study, 4)
    study.change(weights={"u": 0.25, "v": 0.75})
    plan = study.ask()
    np.testing.assert_array_equal(plan.allocation.sum(axis=1), [5, 15])
    done = study.rounds[0]
    np.testing.assert_allclose(done.joint_shares(done.played, study.population).sum(axis=1), [0.5, 0.5])
    np.testing.assert_array_equal(done.totals(study.population), [10, 10])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "nothing changes"),
        ({"close": ["Main St", "Harbor", "Old Town"]}, "adds up to 0, which is less than 20"),
        ({"close": ["Harbour"]}, "Harbor"),
        ({"open": {"Park": [0.5]}}, "features of 'Park'"),
        ({"open": ["Park"]}, "needs the features x, y"),
        ({"open": {"Harbor": [0.0, 1.0]}}, "not closed"),
        ({"rename": {"Harbor": "Old Town"}}, "two actions would be called 'Old Town'"),
        ({"size": 0}, "size"),
        ({"capacity": {"Harbor": 3, "Main St": 3, "Old Town": 3}}, "adds up to 9"),
        ({"minimum": {"Harbor": 30}}, "Harbor"),
        ({"weights": {"u": 1.0}}, "weights must name every context once"),
        ({"capacity": "many"}, "capacity must be"),
    ],
)
def test_a_change_that_cannot_be_is_refused_with_the_reason(change, reason):
    study = new("memory")
    with pytest.raises((InvalidInputError, UnknownNameError), match=reason):
        study.change(**change)
    assert study.log() == []


def test_shares_and_strategies_that_cannot_follow_are_refused():
    with pytest.raises(InvalidInputError, match="need a study with a size"):
        create_study(Population(["a", "b"])).change(close=["a"])
    with pytest.raises(InvalidInputError, match="one by one"):
        create_study(Population(["a", "b"], size=4), "genetic").ask(size=3)
    with pytest.raises(InvalidInputError, match="random draws keep no limits"):
        create_study(Population(["a", "b"], size=4), allocation="sampled").change(close=["a"])


def test_a_tell_that_knows_nothing_of_a_new_station_is_taken():
    study = new("memory")
    play(study, 3)
    plan = study.ask()
    other = load_study("one", study.storage)
    journal, refresh = other._journal, other._journal.refresh
    other.refresh()
    journal.refresh = lambda history: history  # a change falls between its reading and its writing
    study.change(open={"Park": [0.5, 0.4]})
    asked = other._open_round(plan.number)
    told = asked.done(other._read_feedback(None, None, {"Harbor": 2.0}, None), plan.realized, 3, seen=2)
    journal.refresh = refresh
    other._end(told)
    np.testing.assert_array_equal(other.rounds[3].feedback.cells, [[np.nan, 2.0, np.nan, np.nan]])
    assert other.rounds[3].played.shape == (1, 4)
    assert other.ask().allocation.shape == (1, 4)


@pytest.mark.parametrize("strategy", ["default", "mf-gp-ucb", "random", "cma-es"])
def test_resumed_before_every_call_or_never_plans_are_equal(tmp_path, strategy):
    if strategy == "cma-es":
        pytest.importorskip("cmaes")

    def lives(study):
        for number in range(9):
            today = {"size": 18} if number == 2 else {"closed": ["Main St"]} if number == 4 else {}
            plan = study().ask(**today)
            study().tell(plan.number, value(plan))
            if number == 3:
                study().change(open={"Park": [0.5, 0.4]}, by="ann")
            if number == 5:
                study().amend(2, -1.0)
                study().change(size=25, close=["Old Town"], rename={"Park": "Zoo"})
            if number == 6:
                study().withdraw(1)

    options = {"strategy": strategy} if strategy == "cma-es" else {"strategy": strategy, "capacity": {"Harbor": 18}}
    unbroken = new(**options)
    lives(lambda: unbroken)
    address = f"sqlite:///{tmp_path}/one.db"
    new(address, **options)
    lives(lambda: load_study("one", address))
    stored = load_study("one", address)
    for ours, theirs in zip(stored.rounds, unbroken.rounds, strict=True):
        np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution)
        np.testing.assert_array_equal(ours.plan.allocation, theirs.plan.allocation)
        assert dict(ours.notes) == dict(theirs.notes)
        assert (ours.size, dict(ours.today), ours.payoff) == (theirs.size, dict(theirs.today), theirs.payoff)
    np.testing.assert_array_equal(stored.recommend().allocation, unbroken.recommend().allocation)
    assert [entry.kind for entry in stored.log() if entry.plan is None] == ["changed", "changed"]


@pytest.mark.parametrize(
    ("aim", "noise"),
    [
        ("find", 0.05),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [("find", 0), ("earn", 0), ("earn", 0.05)]),
    ],
)
def test_a_new_station_beside_good_ones_gets_agents_within_three_rounds(aim, noise):
    riders = {"a": (0.1, 0.2, 32.0), "b": (0.8, 0.2, 10.0), "c": (0.3, 0.6, 20.0), "d": (0.9, 0.8, 7.0)}
    riders |= {"e": (0.15, 0.35, 35.0), "new": (0.14, 0.3, 28.0)}
    names = list(riders)[:5]
    places = {"name": names, "x": [riders[name][0] for name in names], "y": [riders[name][1] for name in names]}
    start = {"placed": [20] * 5} if aim == "earn" else {}
    study = create_study(Population(places, size=100), seed=1, aim=aim, **start)
    rng = np.random.default_rng(1)

    def day():
        plan = study.ask()
        wanted = np.array([riders[name][2] for name in study.population.actions])
        rides = float((wanted * (1.0 - np.exp(-plan.allocation[0] / wanted))).sum())
        study.tell(plan, rides * (1.0 + noise * rng.normal()))
        return plan.allocation[0]

    for _ in range(8):
        day()
    study.change(open={"new": riders["new"][:2]}, close=["d"])
    placed = [day() for _ in range(3)]
    assert max(bikes[5] for bikes in placed) > 0
    assert [bikes[3] for bikes in placed] == [0, 0, 0]


def test_a_day_is_told_in_the_names_of_today():
    study = new("memory")
    plan = study.ask("ann", closed=["Harbor"], capacity={"Main St": 9})
    study.change(rename={"Harbor": "Main St", "Main St": "Harbor"})
    assert dict(study.rounds[0].today) == {"close": ["Main St"], "capacity": {"Harbor": 9}}
    assert dict(load_study("one", study.storage).rounds[0].today) == dict(study.rounds[0].today)
    assert study.ask("ann") is study.rounds[0].plan
    np.testing.assert_array_equal(study.rounds[0].plan.allocation, plan.allocation)


def test_what_was_placed_is_held_against_the_docks_of_its_own_day():
    study = new(capacity={"Main St": 8, "Harbor": 8, "Old Town": 8})
    plan = study.ask(closed=["Harbor"], capacity={"Main St": 15}, size=19)
    assert study.misfit([15, 0, 4], plan) == ""
    assert "'Harbor', which holds at most 0" in study.misfit([14, 1, 4], plan)
    assert "'Old Town', which holds at most 8" in study.misfit([10, 0, 9], plan)
    study.tell(plan, 1.0, placed=[15, 0, 4])
    study.change(size=24)
    study.amend(plan, placed=[14, 0, 5])
    np.testing.assert_array_equal(study.placed, [[14, 0, 5]])
