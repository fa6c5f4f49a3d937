"""Run the missing cells of a suite in many processes, on this machine or on a Dask cluster; survive their deaths."""

import asyncio
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.experiments.cells import Cell, lost, play
from mfbo.experiments.provenance import THREAD_VARIABLES
from mfbo.experiments.store import ResultStore
from mfbo.experiments.suites import Suite
from mfbo.validation import whole_number

Record = dict[str, Any]
Engine = Callable[[Sequence[Cell]], Iterator[Record]]
ATTEMPTS = 3  # in a row without a single finished cell
ANSWER_WITHIN = 15  # seconds for a Dask scheduler
LOOK_EVERY = 5  # seconds, whether a cluster that finished nothing still has workers
WORKERS_WITHIN = 60  # seconds for dead workers to be started again, as a Dask nanny does
CANCELLED = (asyncio.CancelledError, futures.CancelledError)  # what Dask raises when its scheduler is gone
LOST_CLUSTER = (
    "the Dask cluster has no workers left, or its scheduler does not answer; what is finished is kept, and the same "
    "command continues"
)
SCHEDULER_ADDRESS = re.compile(r"(tcp|tls)://[^\s/:]+:[0-9]{1,5}")


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
    try:
        import joblib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('benchmarks need joblib: pip install "mfbo[experiments]"') from error
    if dask is None:
        yield (_one_worker if jobs == 1 else _local_workers(jobs)), (BrokenExecutor,)
        return
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('--dask needs Dask: pip install "mfbo[dask]"') from error
    with _dask_client(dask, jobs) as client:
        yield _dask_workers(client), ()  # Dask itself tries a cell again whose worker died


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

    # loky renews workers whose memory grew, as torch lets it, and warns although no cell is lost
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)

    def engine(cells: Sequence[Cell]) -> Iterator[Record]:
        tasks = (delayed(play)(cell, os.getpid()) for cell in cells)
        with parallel_config(backend="loky", n_jobs=min(jobs, max(len(cells), 2)), inner_max_num_threads=1):
            yield from Parallel(return_as="generator_unordered", batch_size=1)(tasks)

    return engine


def _dask_workers(client: Any) -> Engine:
    """Run on a cluster, by Dask's own futures: joblib's backend waits for ever when a task or the scheduler fails.

    Dask gives up a cell after four workers died that had it, even if it only waited there: such a cell is run again
    alone, and only if that kills workers too it is lost.
    """

    def engine(cells: Sequence[Cell]) -> Iterator[Record]:
        suspects = []
        for cell, outcome in _dask_outcomes(client, cells):
            if isinstance(outcome, dict):
                yield outcome
            else:
                suspects.append(cell)
        for suspect in suspects:
            for cell, outcome in _dask_outcomes(client, [suspect]):
                yield outcome if isinstance(outcome, dict) else lost(cell, outcome)

    return engine


def _dask_outcomes(client: Any, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Record | Exception]]:
    """Return each cell's record as it comes, or the death of the workers that had it."""
    from distributed import KilledWorker

    attempt = uuid4().hex[:8]
    pending = {client.submit(play, cell, key=f"{cell.label}-{cell.key}-{attempt}"): cell for cell in cells}
    try:
        while pending:
            for future in _next_finished(client, list(pending)):
                cell = pending.pop(future)
                try:
                    yield cell, future.result()
                except KilledWorker as death:
                    yield cell, death
                except CANCELLED as error:
                    raise InvalidInputError(LOST_CLUSTER) from error
                except Exception as error:  # play() itself returns errors as records: this is the cluster's
                    raise InvalidInputError(
                        f"the Dask cluster could not run {cell.label}: {type(error).__name__}: "
                        f"{' '.join(str(error).split())}; its workers need this version of mfbo. What is finished is "
                        "kept, and the same command continues"
                    ) from error
                future.release()  # or Dask would run it again when the worker that holds its result dies
    finally:
        if client.status == "running":
            client.cancel(list(pending))


def _next_finished(client: Any, pending: list[Any]) -> set[Any]:
    """Wait until some futures are done, through the moments without a worker in which dead ones are started again."""
    from distributed import wait

    alive = monotonic()
    while True:
        try:
            with client.as_current():
                done: set[Any] = wait(pending, timeout=LOOK_EVERY, return_when="FIRST_COMPLETED").done
            return done
        except TimeoutError as error:
            if _has_workers(client):
                alive = monotonic()
            elif monotonic() - alive > WORKERS_WITHIN:
                raise InvalidInputError(LOST_CLUSTER) from error
        except CANCELLED as error:
            raise InvalidInputError(LOST_CLUSTER) from error


def _has_workers(client: Any) -> bool:
    try:
        return client.status == "running" and bool(client.nthreads())
    except (OSError, TimeoutError):
        return False


@contextmanager
def _dask_client(address: str, jobs: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    if address == "local":
        with (
            LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # None would listen to everyone on port 8787
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    if SCHEDULER_ADDRESS.fullmatch(address) is None:
        raise InvalidInputError(f"a Dask scheduler has an address like tcp://127.0.0.1:8786, or local, not {address!r}")
    for name in ("distributed", "distributed.client"):  # what matters is said in one line of ours
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=ANSWER_WITHIN, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise InvalidInputError(f"no Dask scheduler answers at {address!r}: start one by `dask scheduler`") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_WITHIN)
        except TimeoutError as error:
            raise InvalidInputError(f"{address} has no workers: start some by `dask worker {address}`") from error
        yield client
