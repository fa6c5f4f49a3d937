"""Records made by hand, so that a report can be checked against numbers known beforehand."""

import pytest

from mfbo.experiments import Batch, RunResult, RunSettings, Suite, SuiteRun
from mfbo.experiments.origins import Origin, Threads
from mfbo.experiments.run_records import FinishedRun

ORIGIN = Origin("0", None, "3", {"numpy": "2"}, "none", "none", 1, "here", Threads({}, (), 1))


@pytest.fixture
def made_record():
    """Return a maker of records of swarm (optimum 18.01…, uniform −10.5…) from the values of their rounds."""

    def make(
        values, strategy="default", seed=0, rounds=None, *, problem="swarm", time_limit=None, seconds=2.0, **settings
    ):
        rounds = rounds or len(values)
        suite_run = SuiteRun(RunSettings(problem, strategy, rounds, seed, **settings), time_limit)
        result = RunResult(
            problem=problem,
            strategy=strategy,
            rounds=rounds,
            seed=seed,
            agents=settings.get("agents", 50),
            actions=30,
            contexts=1,
            feedback="system",
            optimum=18.0,
            best_value=max(values),
            regret=18.0 - max(values),
            recommended_value=max(values),
            trace=tuple(max(values[: t + 1]) for t in range(len(values))),
            cumulative_regret=sum(18.0 - value for value in values),
            seconds=seconds,
            ask_seconds=seconds / 2,
            best_distribution=((1 / 30,) * 30,),
            rounds_played=len(values),
            time_limited=len(values) < rounds,
            values=tuple(values),
        )
        gain = tuple(5.0 * (t + 1) for t in range(len(values)))
        return FinishedRun(suite_run.identity, ORIGIN, 1.0, result, gain)

    return make


@pytest.fixture
def tiny_suite():
    return Suite("tiny", (Batch(("swarm",), ("random",), (0, 1), (3,)),))
