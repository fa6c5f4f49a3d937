"""Which kernel a history gets: exact payoffs of actions of which nothing is known have one of their own."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.errors import InvalidInputError
from mfbo.models import Fit, GaussianProcess, system_rows, unplaced_kernel
from mfbo.strategies import Default
from mfbo.strategies.default.kernels import UNPLACED, kernel_for

NOTHING_KNOWN = Population(list("abcd"), {"x": 0.5, "y": 0.5})
ON_A_LINE = Population(np.linspace(0.0, 1.0, 4), {"x": 0.5, "y": 0.5})


def history_of(population: Population) -> History:
    plans = np.random.default_rng(3).dirichlet(np.ones(4), size=(12, 2))
    told = [Round(Plan(i, plan)).done(Feedback(-float((plan**2).sum())), plan, i) for i, plan in enumerate(plans)]
    return History(population, tuple(told))


def names_of(population: Population, kind: str) -> list[str]:
    return [term.name for term in kernel_for(population, kind).terms]


def test_crowding_is_let_in_by_evidence_only_where_actions_have_no_places_and_payoffs_are_exact():
    assert "shares" in names_of(NOTHING_KNOWN, UNPLACED)
    assert not [name for name in names_of(NOTHING_KNOWN, UNPLACED) if "/actions/" in name]
    assert [group.name for group in unplaced_kernel(NOTHING_KNOWN).further] == ["separable", "occupancy"]
    assert [group.name for group in unplaced_kernel(Population(list("abcd"))).further] == ["separable"]
    assert unplaced_kernel(Population(["one"], {"x": 0.5, "y": 0.5})).further[-1].name == "separable"
    for names in (names_of(ON_A_LINE, "exact"), names_of(NOTHING_KNOWN, "noisy")):
        assert {"linear/actions/all", "root/actions/own", "one/actions/own"} <= set(names)
        assert "shares" not in names


def test_actions_with_features_are_refused_with_the_way_out():
    with pytest.raises(InvalidInputError, match="take default_kernel"):
        unplaced_kernel(ON_A_LINE)


def test_channels_of_occupancy_come_in_where_contexts_crowd_the_same_places():
    kernel, crowd = unplaced_kernel(NOTHING_KNOWN), np.array([2.0, 1.0, 3.0, 1.5])
    shares = 0.5 * np.random.default_rng(6).dirichlet(np.ones(4), size=(40, 2))

    def fit_of(payoffs: np.ndarray) -> Fit:
        process = GaussianProcess(kernel)
        process.append(system_rows(shares, payoffs))
        return process.refit(None, 20)

    crowded = fit_of(-(crowd * shares.sum(axis=1) ** 1.5).sum(axis=1))
    assert crowded.further == ("occupancy",)
    assert len(crowded.theta) == len(kernel.with_further(("occupancy",)).hyperparameters)
    alone = fit_of(-(shares**2).sum(axis=(1, 2)))  # each context has places of its own
    assert "occupancy" not in alone.further


def test_a_study_whose_contexts_crowd_the_same_places_resumes_to_the_bit():
    strategy, crowd = Default(), np.array([2.0, 1.0, 3.0, 1.5])
    study = create_study(NOTHING_KNOWN, strategy, seed=1)
    for number in range(45):
        asked = study.ask()
        shares = 0.5 * asked.distribution
        study.tell(asked, float((shares[0, :2].sum()) - (crowd * shares.sum(axis=0) ** 1.5).sum()))
        if number > 30:
            anew = Default().propose(study.history, np.random.default_rng(number))
            kept = strategy.propose(study.history, np.random.default_rng(number))
            np.testing.assert_array_equal(anew.distribution, kept.distribution)
            assert anew.notes == kept.notes
    assert "occupancy" in kept.notes["further"]


def test_a_fit_that_an_older_version_noted_of_another_kernel_is_replaced():
    history = history_of(NOTHING_KNOWN)
    noted = Default().propose(history, np.random.default_rng(0)).notes
    assert noted["setting"] == (UNPLACED, "all")
    older = {"setting": ("exact", "all"), "theta": (*noted["theta"], 0.0, 0.0, 0.0), "further": ("shares",)}
    last = replace(history.rounds[-1], notes={**noted, **older})
    after = Default().propose(replace(history, rounds=(*history.rounds[:-1], last)), np.random.default_rng(0)).notes
    assert after["setting"] == (UNPLACED, "all")
    assert after["theta"] == noted["theta"]  # begun at the medians, as the first fit was


def test_actions_with_places_keep_the_word_of_older_studies():
    notes = Default().propose(history_of(ON_A_LINE), np.random.default_rng(0)).notes
    assert notes["setting"] == ("exact", "all")
