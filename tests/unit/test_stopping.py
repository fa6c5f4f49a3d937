"""maximize ends early when it is told to, says why, and calls back after every round."""

import pytest

import mfbo
from mfbo.errors import InvalidInputError
from mfbo.problems import swarm

SMALL = swarm(6, 20)


def played(payoffs, **options):
    """Play up to eight rounds that bring these payoffs, whatever the plan."""
    found = iter(payoffs)
    return mfbo.maximize(lambda plan: next(found), SMALL.population, 8, strategy="random", **options)


@pytest.mark.parametrize(
    ("rule", "payoffs", "rounds", "said"),
    [
        (mfbo.StopWhen(target=3.0), [1.0, 3.0, 5.0], 2, "target 3"),
        (mfbo.StopWhen(no_gain=2), [1.0, 4.0, 4.0, 2.0, 9.0], 4, "2 told rounds brought no gain"),
        (mfbo.StopWhen(seconds=1e-9), [1.0, 2.0], 1, "seconds have passed"),
        (mfbo.StopWhen(target=7.0, no_gain=1), [1.0, 0.5], 2, "no gain"),
        (lambda study: len(study.rounds) == 3, [1.0, 2.0, 3.0, 4.0], 3, "stop_when was true"),
    ],
)
def test_a_rule_ends_the_rounds_and_is_said(rule, payoffs, rounds, said):
    result = played(payoffs, stop_when=rule)
    assert len(result.study.rounds) == rounds
    assert said in result.stopped


@pytest.mark.parametrize("rule", [None, mfbo.StopWhen(), mfbo.StopWhen(target=99.0, no_gain=8, seconds=1e6)])
def test_without_a_reason_all_rounds_are_played(rule):
    result = played(range(8), stop_when=rule)
    assert (len(result.study.rounds), result.stopped) == (8, "")


def test_failed_rounds_are_no_reason_to_stop():
    result = mfbo.maximize(
        lambda plan: 1.0 if plan.number == 0 else 1 / 0,
        SMALL.population,
        4,
        strategy="random",
        on_error="continue",
        stop_when=mfbo.StopWhen(no_gain=2),
    )
    assert (len(result.study.rounds), result.stopped) == (4, "")


def test_the_callback_sees_the_study_and_every_round_before_it_may_stop():
    seen = []
    result = played(
        [1.0, 2.0, 3.0],
        callback=lambda study, done: seen.append((len(study.rounds), done.payoff)),
        stop_when=mfbo.StopWhen(target=2.0),
    )
    assert seen == [(1, 1.0), (2, 2.0)]
    assert result.best.payoff == 2.0


@pytest.mark.parametrize("odd", [{"target": float("nan")}, {"no_gain": 0}, {"no_gain": 1.5}, {"seconds": 0}])
def test_odd_rules_are_refused(odd):
    with pytest.raises(InvalidInputError, match=next(iter(odd))):
        mfbo.StopWhen(**odd)
