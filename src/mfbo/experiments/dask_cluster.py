"""Play runs on a Dask cluster by its own futures; say clearly when it is lost, and never wait for ever.

joblib's Dask backend waits for ever when a task or the scheduler fails: docs/decisions/0007.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any
from uuid import uuid4

from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.experiments.run_records import AnyRun, RunRecord
from mfbo.experiments.suite_runs import SuiteRun, lost, play

ANSWER_WITHIN = 15  # seconds for a scheduler
RESULT_WITHIN = 15  # seconds for a worker to hand over what it finished
FIRST_WORKER_WITHIN = 60  # seconds for the first worker: their processes import much on a busy machine
LOOK_EVERY = 5  # seconds, whether a cluster that finished nothing still has workers
WORKERS_WITHIN = 60  # seconds for dead workers to be started again, as a Dask nanny does
CONTINUES = "what is finished is kept, and the same command continues"
LOST_CLUSTER = f"the Dask cluster has no workers left, or its scheduler does not answer; {CONTINUES}"
SCHEDULER_ADDRESS = re.compile(r"(tcp|tls)://[^\s/:]+:[0-9]{1,5}")


@contextmanager
def dask_client(address: str, workers: int) -> Iterator[Any]:
    """Connect to a scheduler, or start one with as many workers here if the address is "local"."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError('--dask needs Dask: pip install "mfbo[dask]"') from error
    if address == "local":
        with (
            # a LocalCluster else drops a worker for good if, 15 s after one death of it, it is just being started again
            dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}),
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # None would listen to everyone on port 8787
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    client = _connected(address)
    try:
        _require_first_worker(client, address)
        yield client
    finally:
        with suppress(TimeoutError):  # a scheduler that does not answer does not say goodbye
            client.close()


def _connected(address: str) -> Any:
    from distributed import Client

    if SCHEDULER_ADDRESS.fullmatch(address) is None:
        raise InvalidInputError(f"a Dask scheduler has an address like tcp://127.0.0.1:8786, or local, not {address!r}")
    for name in ("distributed", "distributed.client"):  # what matters is said in one line of ours
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=ANSWER_WITHIN, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise InvalidInputError(f"no Dask scheduler answers at {address!r}: start one with `dask scheduler`") from error


def _require_first_worker(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_WITHIN)
    except TimeoutError as error:
        raise InvalidInputError(f"{address} has no workers: start some with `dask worker {address}`") from error


def play_on_dask(client: Any, runs: Sequence[SuiteRun]) -> Iterator[AnyRun]:
    """Yield the record of every run as it comes.

    Dask gives up a run after four workers died that had it, even if it only waited there: such a run is played again
    alone, and only if that kills workers too it is lost.
    """
    suspects = []
    for run, outcome in _outcomes(client, runs):
        if isinstance(outcome, RunRecord):
            yield outcome
        else:
            suspects.append(run)
    for suspect in suspects:
        for run, outcome in _outcomes(client, [suspect]):
            yield outcome if isinstance(outcome, RunRecord) else lost(run, outcome)


def _outcomes(client: Any, runs: Sequence[SuiteRun]) -> Iterator[tuple[SuiteRun, AnyRun | Exception]]:
    """Yield the record of every run as it comes, or the death of the workers that had it."""
    from distributed.client import ClosedClientError

    attempt = uuid4().hex[:8]
    arrived: SimpleQueue[Any] = SimpleQueue()  # distributed.wait would leave a task per future behind at every look
    pending: dict[Any, SuiteRun] = {}
    watch = _Watch(client)
    try:
        for run in runs:
            future = client.submit(play, run, key=f"{run.label}-{run.key}-{attempt}")
            pending[future] = run
            future.add_done_callback(arrived.put)
        while pending:
            try:
                future = arrived.get(timeout=LOOK_EVERY)
            except Empty:
                watch.look()
                continue
            outcome = _fetched(future, pending[future])
            if outcome is None:
                watch.look()
                future.add_done_callback(arrived.put)
                continue
            watch.saw_life()
            yield pending.pop(future), outcome
            future.release()  # or Dask would run it again when the worker that holds its result dies
    except ClosedClientError as error:
        raise InvalidInputError(LOST_CLUSTER) from error
    finally:
        if client.status == "running":
            client.cancel(list(pending))


def _fetched(future: Any, run: SuiteRun) -> AnyRun | Exception | None:
    """Return a done future's record or the death of its workers; None if its worker died before handing it over."""
    from distributed import KilledWorker

    try:
        record: AnyRun = future.result(timeout=RESULT_WITHIN)
        return record
    except KilledWorker as error:
        death: Exception = error
        return death
    except Exception as error:
        if future.status == "error":  # play() itself returns errors as records: this is the cluster's
            raise InvalidInputError(
                f"the Dask cluster could not run {run.label}: {type(error).__name__}: "
                f"{' '.join(str(error).split())}; its workers need this version of mfbo; {CONTINUES}"
            ) from error
        if isinstance(error, TimeoutError):
            return None
        raise InvalidInputError(LOST_CLUSTER) from error  # cancelled, or a broken connection


class _Watch:
    """Ends the wait for a cluster that had no workers for long."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._last_life = monotonic()

    def saw_life(self) -> None:
        self._last_life = monotonic()

    def look(self) -> None:
        try:
            alive = self._client.status == "running" and bool(self._client.nthreads(callback_timeout=ANSWER_WITHIN))
        except (OSError, TimeoutError):
            alive = False
        if alive:
            self.saw_life()
        elif monotonic() - self._last_life > WORKERS_WITHIN:
            raise InvalidInputError(LOST_CLUSTER)
