"""Sixty days of a fleet that lives, as the example plays them: every sheet is right, and nothing is lost by living."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from mfbo import load_study

EXAMPLE = Path(__file__).parents[2] / "examples" / "05_a_living_fleet.py"
WITHIN = 0.02  # of the gap between even everywhere and the optimum


@pytest.mark.slow
def test_the_life_of_a_study():
    life = runpy.run_path(str(EXAMPLE))  # it looks at every sheet itself: fleet, docks, closed stations
    study, names = life["study"], life["names"]
    gap = life["best"] - life["uniform"]
    assert life["lived"] >= life["told_at_once"] - WITHIN * gap
    assert max(life["opened"][:3]) > 0
    assert [len(study.rounds), study.population.size, len(names)] == [60, 520, 8]
    assert [one.number for one in study.rounds if one.state == "withdrawn"] == [life["NEVER"]]
    assert [one.number for one in study.rounds if one.correction.startswith("amended")] == sorted(life["TYPED"])
    told = {entry.plan: entry.said["total"] for entry in study.log() if entry.kind == "told"}
    for day, factor in life["TYPED"].items():
        assert told[day] == pytest.approx(factor * study.rounds[day].as_told)
    mill = names.index("Mill")
    assert not any(one.plan.allocation[0, mill] for one in study.rounds[20:])
    again = load_study("bikes", study.storage)
    for ours, theirs in zip(again.rounds, study.rounds, strict=True):
        np.testing.assert_array_equal(ours.played, theirs.played)
    np.testing.assert_array_equal(again.ask().distribution, study.ask().distribution)
