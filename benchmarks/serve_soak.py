"""Many clients at a served storage, the server killed on the way: nothing is lost, doubled or answered with a fault.

    python benchmarks/serve_soak.py --storage sqlite:////tmp/soak.db --reference sqlite:////tmp/reference.db

Every client asks and tells its own payoffs, all different, so that each can be looked for in the log afterwards. The
reference puts the same load on a storage of the same kind without a service, in two ways: one process whose threads
share its studies, and a process for each client. Nobody pauses, so waiting makes up most of every figure; the mean
belongs beside the median, since a lock that threads share favors whoever had it last. Clients of the service are
threads of this process: they take their share of the same processors. Asks that met an outage, from a kill until the
server has started again, are no measure of a server that runs: their times stand apart, but none of them may be lost.
"""

import argparse
import json
import multiprocessing
import os
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import mfbo
from mfbo import Population
from mfbo.client.calls import Calls
from mfbo.client.connecting import Service
from mfbo.storage import open_storage
from mfbo.study import create_study, load_study

ALONE = 20  # rounds of one client, before the others come
POPULATION = Population([f"station {number}" for number in range(8)], size=60)


class CountingCalls(Calls):
    """Calls that count how they were answered."""

    def __init__(self, url: str) -> None:
        super().__init__(url, None, 600.0)
        self.statuses: Counter[int] = Counter()

    def _attempt(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        status, content = super()._attempt(method, path, body)
        self.statuses[status] += 1
        return status, content


class Server:
    """`mfbo serve`, which can be killed and started again at its port."""

    def __init__(self, storage: str) -> None:
        self._storage = storage
        self._port = "0"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it can be called."""
        command = [sys.executable, "-m", "mfbo", "serve", "--storage", self._storage, "--port", self._port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 (our own command)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().rpartition(" at ")[2].split()[0].rstrip("/")
        self._port = self.url.rpartition(":")[2]

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()


class Load:
    """What all clients do, and what they saw."""

    def __init__(self, opened: Callable[[str], Any], studies: list[str], clients: int, rounds: int) -> None:
        self._opened, self._studies, self._clients, self._rounds = opened, studies, clients, rounds
        self.asks: list[tuple[float, float]] = []  # when each began, and how long it took
        self.seconds = 0.0
        self.told: Counter[tuple[str, float]] = Counter()
        self._lock = threading.Lock()

    def run(self) -> None:
        """Let all clients play their rounds at the same time."""
        began = time.perf_counter()
        with ThreadPoolExecutor(self._clients) as pool:
            for done in [pool.submit(self._client, number) for number in range(self._clients)]:
                done.result()
        self.seconds = time.perf_counter() - began

    @property
    def share(self) -> float:
        """How much of it is told."""
        return len(self.told) / (self._clients * self._rounds)

    def _client(self, number: int) -> None:
        name = self._studies[number % len(self._studies)]
        for began, seconds, payoff in played(self._opened(name), number, self._rounds):
            with self._lock:
                self.asks.append((began, seconds))
                self.told[name, payoff] += 1


def played(study: Any, number: int, rounds: int) -> Iterator[tuple[float, float, float]]:
    """Ask and tell as one client; yield when every ask began, its seconds and the payoff told."""
    for turn in range(rounds):
        began = time.perf_counter()
        plan = study.ask(f"client {number}")
        seconds = time.perf_counter() - began
        payoff = number + turn / 1000.0
        study.tell(plan, payoff, worker=f"client {number}")
        yield began, seconds, payoff


def played_alone(address: str, name: str, number: int, rounds: int) -> list[float]:
    """Play as one client in a process of its own; return the seconds of its asks."""
    return [seconds for _, seconds, _ in played(load_study(name, address), number, rounds)]


def alone(study: Any) -> float:
    """Return the median seconds of an ask when nobody else calls."""
    seconds = []
    for turn in range(ALONE):
        began = time.perf_counter()
        plan = study.ask("alone")
        seconds.append(time.perf_counter() - began)
        study.tell(plan, turn / 1000.0)
    return statistics.median(seconds)


def served(storage: str, names: list[str], arguments: argparse.Namespace) -> tuple[Load, Counter[int], dict[str, Any]]:
    """Put the load on a server and kill it on the way; also return what was seen of its asks."""
    server = Server(storage)
    calls = CountingCalls(server.url)
    service = Service(calls)
    for name in names:
        service.create_study(POPULATION, arguments.strategy, name=name)
    before = alone(service.create_study(POPULATION, arguments.strategy, name="alone"))
    load = Load(service.load_study, names, arguments.clients, arguments.rounds)
    running = threading.Thread(target=load.run)
    running.start()
    outages = []
    for kill in range(arguments.kills):
        while load.share < (kill + 1) / (arguments.kills + 1):
            time.sleep(0.02)
        killed = time.perf_counter()
        server.kill()
        server.start()
        outages.append((killed, time.perf_counter()))
    running.join()
    server.process.terminate()
    server.process.communicate()
    return load, calls.statuses, {"alone": before, **apart(load.asks, outages)}


def apart(asks: list[tuple[float, float]], outages: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the seconds of asks that met no outage, apart from those that did."""

    def met(began: float, seconds: float) -> bool:
        return any(began < up and began + seconds > killed for killed, up in outages)

    return {
        "running": waits([seconds for began, seconds in asks if not met(began, seconds)]),
        "in_outages": waits([seconds for began, seconds in asks if met(began, seconds)]),
        "outage_seconds": [up - killed for killed, up in outages],
    }


def in_process(storage: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Put the same load on a storage without a service, by threads and by processes; return their figures."""
    shared = open_storage(storage)
    before = alone(create_study(POPULATION, arguments.strategy, storage=shared, name="alone"))
    names = [f"threads {number}" for number in range(arguments.studies)]
    made = {name: create_study(POPULATION, arguments.strategy, storage=shared, name=name) for name in names}
    load = Load(made.__getitem__, names, arguments.clients, arguments.rounds)
    used = time.process_time()
    load.run()
    threads = figures([seconds for _, seconds in load.asks], load.seconds, time.process_time() - used)
    shared.close()
    return {"alone": before, "threads": threads, "processes": in_processes(storage, arguments)}


def in_processes(storage: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Put the load on a storage by a process for each client."""
    names = [f"processes {number}" for number in range(arguments.studies)]
    for name in names:
        create_study(POPULATION, arguments.strategy, storage=storage, name=name)
    clients, used, began = arguments.clients, children_seconds(), time.perf_counter()
    with ProcessPoolExecutor(clients, multiprocessing.get_context("fork")) as pool:
        work = [
            pool.submit(played_alone, storage, names[number % len(names)], number, arguments.rounds)
            for number in range(clients)
        ]
        ask_seconds = [seconds for client in work for seconds in client.result()]
        seconds = time.perf_counter() - began
    return figures(ask_seconds, seconds, children_seconds() - used)


def figures(ask_seconds: list[float], seconds: float, processor_seconds: float) -> dict[str, float]:
    """Return what is reported of a load."""
    return {
        **waits(ask_seconds),
        "rounds_per_second": len(ask_seconds) / seconds,
        "processor_seconds_per_round": processor_seconds / len(ask_seconds),
    }


def waits(ask_seconds: list[float]) -> dict[str, float]:
    """Return how long asks took."""
    if not ask_seconds:
        return {"asks": 0}
    return {
        "asks": len(ask_seconds),
        "median_ask_seconds": statistics.median(ask_seconds),
        "mean_ask_seconds": statistics.mean(ask_seconds),
        "slowest_ask_seconds": max(ask_seconds),
    }


def children_seconds() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kept(storage: str, names: list[str]) -> Counter[tuple[str, float]]:
    """Return all payoffs in the storage, and refuse plans that are still open."""
    found: Counter[tuple[str, float]] = Counter()
    for name in names:
        for one in load_study(name, storage).rounds:
            assert one.state == "done", f"plan {one.number} of {name} is {one.state}"
            assert one.payoff is not None
            found[name, one.payoff] += 1
    return found


def main() -> None:
    """Run, compare, print one JSON object; the exit code says whether everything held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--storage", required=True, help="an empty storage for the service")
    parser.add_argument("--reference", help="an empty storage for the same load in one process")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--strategy", default="default")
    arguments = parser.parse_args()
    names = [f"study {number}" for number in range(arguments.studies)]
    record: dict[str, Any] = {**vars(arguments), "version": mfbo.__version__}
    used, own = children_seconds(), time.process_time()
    load, statuses, seen = served(arguments.storage, names, arguments)
    spent = children_seconds() - used + time.process_time() - own
    found = kept(arguments.storage, names)
    record |= {
        "told": sum(load.told.values()),
        "lost": sum((load.told - found).values()),
        "doubled": sum((found - load.told).values()),
        "statuses": dict(sorted(statuses.items())),
        "served": {**seen, "load": figures([seconds for _, seconds in load.asks], load.seconds, spent)},
    }
    if arguments.reference:
        record["in_process"] = in_process(arguments.reference, arguments)
    print(json.dumps(record, indent=2))
    held = not record["lost"] and not record["doubled"] and not any(status >= 500 for status in statuses)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
