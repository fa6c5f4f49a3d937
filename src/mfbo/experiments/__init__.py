"""Runs of strategies on problems, whole benchmarks of them, and what is measured.

``run`` plays one; ``find_suite`` gives a suite of many, ``run_suite`` plays it and ``ResultStore`` keeps it.
"""

from mfbo.experiments.builtin_suites import BUILT_IN, find_suite
from mfbo.experiments.runs import RunResult, RunSettings, run
from mfbo.experiments.store import ResultStore
from mfbo.experiments.suite_runner import Outcome, run_suite
from mfbo.experiments.suite_runs import SuiteRun
from mfbo.experiments.suites import Batch, Suite, read_suite, suite_toml

__all__ = [
    "BUILT_IN",
    "Batch",
    "Outcome",
    "ResultStore",
    "RunResult",
    "RunSettings",
    "Suite",
    "SuiteRun",
    "find_suite",
    "read_suite",
    "run",
    "run_suite",
    "suite_toml",
]
