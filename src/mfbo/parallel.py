"""How a plan's round ends, well or badly; and several plans at a time on any ``concurrent.futures`` executor."""

import itertools
import os
import socket
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from mfbo.errors import RoundStateError, ServiceError, StorageError
from mfbo.records import Feedback, Plan, Round
from mfbo.validation import known_name, whole_number

ON_ERROR = ("stop", "continue")
_RUNS = itertools.count()

Payoff = Callable[[Plan], "float | Feedback"]


class Asked(Protocol):
    """The part of a study that is needed here."""

    def ask(self, worker: str | None = None) -> Plan:
        """Return a worker's plan."""
        ...

    def tell(self, plan: Plan, payoff: Any, *, worker: str | None = None) -> Round:
        """Record a result."""
        ...

    def fail(self, plan: Plan, reason: str) -> Round:
        """Record that there is none."""
        ...


def run_rounds(
    study: Asked,
    payoff: Payoff,
    rounds: int,
    workers: int,
    executor: Executor | None,
    *,
    on_error: str,
    progress: Callable[[Round], None] | None = None,
) -> list[Round]:
    """Play ``rounds`` rounds, up to ``workers`` at a time; asks and tells happen in the calling thread alone."""
    whole_number(rounds, "rounds", least=1)
    workers = min(whole_number(workers, "workers", least=1), rounds)
    stop = known_name(on_error, "on_error", ON_ERROR) == "stop"
    own = ThreadPoolExecutor(workers) if executor is None else None
    try:
        return _play(study, payoff, rounds, workers, own or executor, stop=stop, progress=progress)
    finally:
        if own is not None:
            own.shutdown(wait=False, cancel_futures=True)


def _play(
    study: Asked,
    payoff: Payoff,
    rounds: int,
    workers: int,
    executor: Any,
    *,
    stop: bool,
    progress: Callable[[Round], None] | None,
) -> list[Round]:
    run = next(_RUNS)  # threads may run one study at once: a name that two of them have would give both one plan
    names = [f"{socket.gethostname()}-{os.getpid()}-{run}-{slot}" for slot in range(workers)]
    running: dict[Future[Any], tuple[Plan, str]] = {}
    finished: list[Round] = []
    while len(finished) < rounds:
        busy = {name for _, name in running.values()}
        for name in [idle for idle in names if idle not in busy][: rounds - len(finished) - len(running)]:
            plan = study.ask(worker=name)
            if any(plan.number == other.number for other, _ in running.values()):
                break  # its lease ran out while another slot still plays it: wait for that one
            running[executor.submit(payoff, plan)] = (plan, name)
        ready = wait(running, return_when=FIRST_COMPLETED).done
        for future in sorted(ready, key=lambda ended: running[ended][0].number):
            plan, name = running.pop(future)
            finished.append(ended(study, plan, future.result, stop=stop, worker=name))
            if progress is not None:
                progress(finished[-1])
    return finished


def ended(study: Asked, plan: Plan, result: Callable[[], Any], *, stop: bool, worker: str | None = None) -> Round:
    """Tell what a plan brought, or that it failed; then its error is raised, if it is to ``stop``."""
    try:
        brought = result()
    except Exception as error:
        return _failed(study, plan, error, stop=stop)
    try:
        return study.tell(plan, brought, worker=worker)
    except (RoundStateError, StorageError, ServiceError):
        raise  # the result is good, the study cannot take it: that is not a failure of the plan
    except Exception as error:
        return _failed(study, plan, error, stop=stop)


def _failed(study: Asked, plan: Plan, error: Exception, *, stop: bool) -> Round:
    failed = study.fail(plan, f"{type(error).__name__}: {error}")
    if stop:
        raise error
    return failed
