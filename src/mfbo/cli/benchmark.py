"""`mfbo benchmark`: a suite of runs, continued where it was left."""

import os
import re
import sys
from pathlib import Path
from typing import Any

from mfbo.cli.commands import Benchmark
from mfbo.cli.output import print_json, print_table, runs_progress, say
from mfbo.errors import InvalidInputError
from mfbo.experiments import Outcome, Suite, find_suite, run_suite, suite_toml

BETWEEN_NAMES = re.compile(r",(?![^(]*\))")


def benchmark(options: Benchmark) -> None:
    """Check the suite, run what is missing, say what is there."""
    suite = find_suite(options.suite)
    if options.show:
        sys.stdout.write(suite_toml(suite))
        return
    folder = options.out or Path(f"mfbo-benchmark-{suite.name}")
    try:
        with runs_progress(suite.name, silent=options.quiet or options.json) as advance:
            outcome = run_suite(
                suite,
                folder,
                jobs=_processors() if options.jobs is None else options.jobs,
                dask=options.dask,
                problems=_names(options.problems, "--problems"),
                strategies=_names(options.strategies, "--strategies"),
                retry_failed=options.retry_failed,
                progress=advance,
            )
    except KeyboardInterrupt:
        say(f"finished runs are in {folder}; the same command continues", error=True)
        raise
    if options.json:
        print_json(_record(suite, folder, outcome))
        return
    _print(suite, folder, outcome)


def _processors() -> int:
    """Return how many processors this process may use, which in a container may be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _names(text: str | None, option: str) -> tuple[str, ...]:
    """Return the names between commas; those inside parentheses belong to a strategy's settings."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in BETWEEN_NAMES.split(text) if name.strip())
    if not names:
        raise InvalidInputError(f"{option} names nothing: give names with commas between them, or leave it out")
    return names


def _record(suite: Suite, folder: Path, outcome: Outcome) -> dict[str, Any]:
    failed = [{"run": record.label, "error": record.error.message} for record in outcome.failed]
    return {
        "suite": suite.name,
        "hash": suite.hash,
        "folder": str(folder),
        "runs": outcome.chosen,
        "found": outcome.found,
        "played": outcome.played,
        "failed": failed,
    }


def _print(suite: Suite, folder: Path, outcome: Outcome) -> None:
    rows: list[list[Any]] = [
        ["runs chosen", outcome.chosen],
        ["finished before", outcome.found],
        ["played now", outcome.played],
        ["failed", len(outcome.failed)],
    ]
    print_table(f"Suite {suite.name} ({suite.hash}) in {folder}", ["", "count"], rows)
    for record in outcome.failed[:10]:
        say(f"failed: {record.label}: {record.error.type}: {record.error.in_one_line}")
    if outcome.failed:
        say("--retry-failed runs the failed ones again")
    say(f"tables and figures: mfbo report {folder}")
