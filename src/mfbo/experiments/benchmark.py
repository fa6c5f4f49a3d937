"""Run the missing cells of a suite in many processes, on this machine or on a Dask cluster; survive their deaths."""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mfbo.errors import MissingExtraError
from mfbo.experiments.cells import Cell, Record, lost, play
from mfbo.experiments.dask_cluster import dask_client, play_on_dask
from mfbo.experiments.provenance import THREAD_VARIABLES
from mfbo.experiments.store import ResultStore
from mfbo.experiments.suites import Suite
from mfbo.validation import whole_number

Engine = Callable[[Sequence[Cell]], Iterator[Record]]
ATTEMPTS = 3  # in a row without a single finished cell


@dataclass(frozen=True)
class Outcome:
    """What a benchmark left: cells chosen, found finished, run now, and the failed ones among all chosen."""

    chosen: int
    found: int
    played: int
    failed: tuple[Record, ...]


def run_suite(
    suite: Suite,
    folder: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    problems: Sequence[str] = (),
    strategies: Sequence[str] = (),
    retry_failed: bool = False,
    progress: Callable[[int, int, Record | None], None] | None = None,
) -> Outcome:
    """Run what is not in the folder yet and keep each result as it arrives.

    dask: address of a scheduler, or "local" for one with ``jobs`` workers here. problems, strategies: run only these;
    the rest may follow later into the same folder. progress(done, chosen, record) is called at the start and after
    each cell. Values do not depend on jobs, workers or interruptions; those of runs that a time limit ends do.
    """
    whole_number(jobs, "jobs", least=1, most=10_000)
    cells = suite.selected(problems, strategies)
    store = ResultStore(folder)
    store.open_for(suite)
    held = {cell.key: store.read(cell) for cell in cells}
    records = {key: record for key, record in held.items() if record is not None}
    if retry_failed:
        records = {key: record for key, record in records.items() if record["state"] == "done"}
    found = len(records)
    tell = progress or (lambda done, chosen, record: None)
    tell(found, len(cells), None)

    def keep(record: Record) -> None:
        records[record["key"]] = store.write(record)
        tell(len(records), len(cells), record)

    missing = [cell for cell in cells if cell.key not in records]
    if missing:
        with _engine(min(jobs, len(missing)), dask) as (engine, deaths):
            complete(engine, missing, keep, deaths)
    failed = tuple(record for record in records.values() if record["state"] == "failed")
    return Outcome(len(cells), found, len(missing), failed)


def complete(
    engine: Engine, cells: Sequence[Cell], keep: Callable[[Record], None], deaths: tuple[type[BaseException], ...]
) -> None:
    """Run all cells; when a worker dies, run again what has no result.

    deaths: the errors that mean a worker died. If ``ATTEMPTS`` in a row finish nothing, cells get attempts of their
    own until the one that kills its worker is found; it becomes a failed record and the others go on together.
    """
    missing = {cell.key: cell for cell in cells}
    fruitless = 0
    while missing:
        alone = fruitless >= ATTEMPTS
        chosen = tuple(missing.values())[: 1 if alone else None]
        before = len(missing)
        try:
            for record in engine(chosen):
                del missing[record["key"]]
                keep(record)
        except deaths as death:
            fruitless = fruitless + 1 if len(missing) == before and not alone else 0
            if alone:
                del missing[chosen[0].key]
                keep(lost(chosen[0], death))


@contextmanager
def _engine(jobs: int, dask: str | None) -> Iterator[tuple[Engine, tuple[type[BaseException], ...]]]:
    if dask is not None:
        with dask_client(dask, jobs) as client:
            yield partial(play_on_dask, client), ()  # Dask itself tries a cell again whose worker died
        return
    try:
        import joblib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('benchmarks need joblib: pip install "mfbo[experiments]"') from error
    with warnings.catch_warnings():  # loky renews workers whose memory grew, as torch lets it: no cell is lost
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        yield (_one_worker if jobs == 1 else _local_workers(jobs)), (BrokenExecutor,)


def _one_worker(cells: Sequence[Cell]) -> Iterator[Record]:
    """Run one after another in a process of its own, as joblib would not: BLAS must start with one thread."""
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=1, env=dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        for cell in cells:
            yield executor.submit(play, cell, os.getpid()).result()
    finally:
        executor.shutdown(kill_workers=True)


def _local_workers(jobs: int) -> Engine:
    from joblib import Parallel, delayed, parallel_config

    def engine(cells: Sequence[Cell]) -> Iterator[Record]:
        tasks = (delayed(play)(cell, os.getpid()) for cell in cells)
        with parallel_config(backend="loky", n_jobs=min(jobs, max(len(cells), 2)), inner_max_num_threads=1):
            yield from Parallel(return_as="generator_unordered", batch_size=1)(tasks)

    return engine
