"""Which kernel a history gets: exact payoffs of actions of which nothing is known have one of their own."""

from dataclasses import replace

import numpy as np

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.models import default_kernel
from mfbo.strategies import Default
from mfbo.strategies.default.kernels import UNPLACED

NOTHING_KNOWN = Population(list("abcd"), {"x": 0.5, "y": 0.5})
ON_A_LINE = Population(np.linspace(0.0, 1.0, 4), {"x": 0.5, "y": 0.5})


def history_of(population: Population) -> History:
    plans = np.random.default_rng(3).dirichlet(np.ones(4), size=(12, 2))
    told = [Round(Plan(i, plan)).done(Feedback(-float((plan**2).sum())), plan, i) for i, plan in enumerate(plans)]
    return History(population, tuple(told))


def names_of(population: Population, *, noisy: bool = False) -> list[str]:
    return [term.name for term in default_kernel(population, noisy=noisy).terms]


def test_crowding_is_known_from_the_start_only_where_actions_have_places_or_payoffs_are_noisy():
    assert "shares" in names_of(NOTHING_KNOWN)
    assert not [name for name in names_of(NOTHING_KNOWN) if "/actions/" in name]
    for names in (names_of(ON_A_LINE), names_of(NOTHING_KNOWN, noisy=True)):
        assert {"linear/actions/all", "root/actions/own", "one/actions/own"} <= set(names)
        assert "shares" not in names


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
