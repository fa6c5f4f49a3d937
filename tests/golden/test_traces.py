"""What strategies play stays as recorded, bit for bit; if a change is meant, see ``traces.py`` and say why."""

import json

import pytest
import traces

STRATEGIES = sorted(path.stem for path in traces.FOLDER.glob("*.json"))
QUICK = [run for run in traces.RUNS if run.problem in ("swarm", "bay-area-bike") and run.feedback != "cells"]
QUICK_ROUNDS = 12
WHOLE_FILE = 300_000  # bytes


def assert_as_recorded(strategy: str, run: traces.Run, rounds: int) -> None:
    recorded = traces.recorded(strategy)
    found = traces.played(strategy, run, rounds)
    first = traces.moved(found, recorded["runs"][run.key], here=traces.is_of_here(recorded, run))
    hint = f"if the change is meant: python tests/golden/traces.py {strategy} --write"
    assert first is None, f"{run.key} moved from round {first} on; {hint}"


@pytest.mark.parametrize("run", QUICK, ids=lambda run: run.key)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_first_rounds_are_those_recorded(strategy, run):
    assert_as_recorded(strategy, run, QUICK_ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("run", traces.RUNS, ids=lambda run: run.key)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rounds_are_those_recorded(strategy, run):
    assert_as_recorded(strategy, run, traces.affordable_rounds(run))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_run_is_recorded_in_full_in_a_file_of_modest_size(strategy):
    recorded = traces.recorded(strategy)["runs"]
    assert list(recorded) == [run.key for run in traces.RUNS]
    assert {len(lines) for lines in recorded.values()} == {traces.ROUNDS}
    assert (traces.FOLDER / f"{strategy}.json").stat().st_size < WHOLE_FILE


def test_a_moved_round_is_seen():
    lines = json.loads(json.dumps(traces.played("random", QUICK[0], 3)))
    other = [*lines[:2], "0000000000 " + (1.5).hex()]
    assert traces.moved(lines, lines, here=True) is None
    assert traces.moved(other, lines, here=True) == 2
    assert traces.moved(other, lines, here=False) == 2
