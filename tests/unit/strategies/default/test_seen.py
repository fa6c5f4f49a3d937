"""What the default strategy sees: the kind of data, and that a subclass may name another."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.models import Fit
from mfbo.strategies import Default
from mfbo.strategies.default.seen import data_kind
from mfbo.strategies.replay_plan import FitNote

EVEN, LEFT = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])
AGENT = Feedback(agents=((0, 1, 0.5),))


def told(*pairs) -> tuple[Round, ...]:
    return tuple(Round(Plan(i, plan)).done(feedback, plan, i) for i, (plan, feedback) in enumerate(pairs))


@pytest.mark.parametrize(
    ("rounds", "noise", "kind"),
    [
        (told(), None, "exact"),
        (told((EVEN, Feedback(1.0)), (EVEN, Feedback(1.0))), None, "exact"),
        (told((EVEN, Feedback(1.0)), (LEFT, Feedback(2.0))), None, "exact"),
        (told((EVEN, Feedback(1.0)), (EVEN, Feedback(1.1))), None, "noisy"),
        (told((EVEN, Feedback(1.0))), 0.1, "noisy"),
        (told((EVEN, Feedback(1.0)), (EVEN, AGENT)), 0.1, "agents"),
    ],
)
def test_the_kind_of_data_follows_from_what_was_told_and_from_known_noise(rounds, noise, kind):
    assert data_kind(rounds, noise) == kind


@pytest.mark.parametrize(
    ("memory", "noise_variance", "noise", "kind"),
    [
        (300.0, 1e-6, None, "exact"),
        (300.0, 1e-2, None, "noisy"),
        (None, 1e-6, None, "noisy"),
        (300.0, 1e-6, 0.1, "noisy"),
    ],
)
def test_payoffs_of_one_plan_that_differ_because_of_drift_alone_are_exact(memory, noise_variance, noise, kind):
    fit = Fit(np.log([1.0, noise_variance]), 0.0, 1.0, memory)
    first, second = told((EVEN, Feedback(1.0)), (EVEN, Feedback(1.1)))
    rounds = first, replace(second, notes=FitNote(1, fit, ("noisy", "all")).to_notes())
    assert Default().kind_of(History(Population(["a", "b"]), rounds, noise=noise)) == kind


@dataclass(frozen=True)
class AlwaysNoisy(Default):
    """Takes every payoff for noisy."""

    def kind_of(self, history):
        return "noisy"


def test_a_subclass_that_names_another_kind_is_heeded_by_plans_and_by_the_model():
    study = create_study(Population(["a", "b", "c"]), AlwaysNoisy())
    for _ in range(5):
        plan = study.ask()
        study.tell(plan, float(plan.distribution[0, 0]))
    notes = study.rounds[-1].notes
    assert notes["setting"] == ("noisy", "all")
    assert notes["multiplier"][0] >= AlwaysNoisy().noisy_multiplier
