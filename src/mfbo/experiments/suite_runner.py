"""Play the missing runs of a suite in many processes, on this machine or on a Dask cluster; survive their deaths."""

import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mfbo.errors import MissingExtraError
from mfbo.experiments.dask_cluster import dask_client, play_on_dask
from mfbo.experiments.origins import THREAD_VARIABLES
from mfbo.experiments.run_records import AnyRun, FailedRun, FinishedRun
from mfbo.experiments.store import ResultStore
from mfbo.experiments.suite_runs import SuiteRun, lost, play
from mfbo.experiments.suites import Suite
from mfbo.validation import whole_number

Engine = Callable[[Sequence[SuiteRun]], Iterator[AnyRun]]
_log = logging.getLogger(__package__)
ATTEMPTS = 3  # in a row without a single finished run


@dataclass(frozen=True)
class Outcome:
    """What a benchmark left: runs chosen, found finished, played now, and the failed ones among all chosen."""

    chosen: int
    found: int
    played: int
    failed: tuple[FailedRun, ...]


def run_suite(
    suite: Suite,
    folder: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    problems: Sequence[str] = (),
    strategies: Sequence[str] = (),
    retry_failed: bool = False,
    progress: Callable[[int, int, AnyRun | None], None] | None = None,
) -> Outcome:
    """Play what is not in the folder yet and keep every result as it arrives.

    dask: address of a scheduler, or "local" for one with ``jobs`` workers here. problems, strategies: play only these;
    the rest may follow later into the same folder. progress(done, chosen, record) is called at the start and after
    every run. Values do not depend on jobs, workers or interruptions; those of runs that a time limit ends do.
    """
    whole_number(jobs, "jobs", least=1, most=10_000)
    chosen = suite.selected(problems, strategies)
    store = ResultStore(folder)
    store.open_for(suite)
    held = {run.key: store.read(run) for run in chosen}
    counts = FinishedRun if retry_failed else (FinishedRun, FailedRun)
    records = {key: record for key, record in held.items() if isinstance(record, counts)}
    found = len(records)
    tell = progress or (lambda done, total, record: None)
    tell(found, len(chosen), None)

    def write(record: AnyRun) -> None:
        records[record.key] = store.write(record)
        _log.info("run %s: %s", record.key, "failed" if isinstance(record, FailedRun) else "finished")
        tell(len(records), len(chosen), record)

    missing = [run for run in chosen if run.key not in records]
    if missing:
        with _engine(min(jobs, len(missing)), dask) as (engine, deaths):
            complete(engine, missing, write, deaths)
    failed = tuple(record for record in records.values() if isinstance(record, FailedRun))
    return Outcome(len(chosen), found, len(missing), failed)


def complete(
    engine: Engine, runs: Sequence[SuiteRun], write: Callable[[AnyRun], None], deaths: tuple[type[BaseException], ...]
) -> None:
    """Play all runs; when a worker dies, play again what has no result.

    deaths: the errors that mean a worker died. If ``ATTEMPTS`` in a row finish nothing, runs get attempts of their
    own until the one that kills its worker is found; it becomes a failed record and the others go on together.
    """
    missing = {run.key: run for run in runs}
    fruitless = 0
    while missing:
        alone = fruitless >= ATTEMPTS
        chosen = tuple(missing.values())[: 1 if alone else None]
        before = len(missing)
        try:
            for record in engine(chosen):
                del missing[record.key]
                write(record)
        except deaths as death:
            _log.info("a worker died; %d runs are played again", len(missing))
            fruitless = fruitless + 1 if len(missing) == before and not alone else 0
            if alone:
                del missing[chosen[0].key]
                write(lost(chosen[0], death))


@contextmanager
def _engine(jobs: int, dask: str | None) -> Iterator[tuple[Engine, tuple[type[BaseException], ...]]]:
    if dask is not None:
        with dask_client(dask, jobs) as client:
            yield partial(play_on_dask, client), ()  # Dask itself tries a run again whose worker died
        return
    try:
        import joblib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('benchmarks need joblib: pip install "mfbo[experiments]"') from error
    with warnings.catch_warnings():  # loky renews workers whose memory grew, as torch lets it: no run is lost
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        yield (_one_worker if jobs == 1 else _local_workers(jobs)), (BrokenExecutor,)


def _one_worker(runs: Sequence[SuiteRun]) -> Iterator[AnyRun]:
    """Play one after another in a process of its own, as joblib would not: BLAS must start with one thread."""
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=1, env=dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        for run in runs:
            yield executor.submit(play, run, os.getpid()).result()
    finally:
        executor.shutdown(kill_workers=True)


def _local_workers(jobs: int) -> Engine:
    from joblib import Parallel, delayed, parallel_config

    def engine(runs: Sequence[SuiteRun]) -> Iterator[AnyRun]:
        tasks = (delayed(play)(run, os.getpid()) for run in runs)
        with parallel_config(backend="loky", n_jobs=min(jobs, max(len(runs), 2)), inner_max_num_threads=1):
            yield from Parallel(return_as="generator_unordered", batch_size=1)(tasks)

    return engine
