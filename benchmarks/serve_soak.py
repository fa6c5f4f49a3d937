"""Many clients at a served storage, the server killed on the way: nothing is lost, doubled or answered with a fault.

    python benchmarks/serve_soak.py --storage sqlite:////tmp/soak.db --reference sqlite:////tmp/reference.db

Every client asks and tells its own payoffs, all different, so that each can be looked for in the log afterwards. The
reference does the same in one process, with threads that share its studies, on a storage of the same kind.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mfbo
from mfbo import Population
from mfbo.client.calls import Calls
from mfbo.client.connecting import Service
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
        self.ask_seconds: list[float] = []
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
        study = self._opened(name)
        for turn in range(self._rounds):
            began = time.perf_counter()
            plan = study.ask(f"client {number}")
            seconds = time.perf_counter() - began
            payoff = number + turn / 1000.0
            study.tell(plan, payoff, worker=f"client {number}")
            with self._lock:
                self.ask_seconds.append(seconds)
                self.told[name, payoff] += 1


def alone(study: Any) -> float:
    """Return the median seconds of an ask when nobody else calls."""
    seconds = []
    for turn in range(ALONE):
        began = time.perf_counter()
        plan = study.ask("alone")
        seconds.append(time.perf_counter() - began)
        study.tell(plan, turn / 1000.0)
    return statistics.median(seconds)


def served(storage: str, names: list[str], arguments: argparse.Namespace) -> tuple[Load, Counter[int], float]:
    """Put the load on a server and kill it on the way; also return the median seconds of an ask before that."""
    server = Server(storage)
    calls = CountingCalls(server.url)
    service = Service(calls)
    for name in names:
        service.create_study(POPULATION, arguments.strategy, name=name)
    before = alone(service.create_study(POPULATION, arguments.strategy, name="alone"))
    load = Load(service.load_study, names, arguments.clients, arguments.rounds)
    running = threading.Thread(target=load.run)
    running.start()
    for kill in range(arguments.kills):
        while load.share < (kill + 1) / (arguments.kills + 1):
            time.sleep(0.02)
        server.kill()
        server.start()
    running.join()
    server.process.terminate()
    server.process.communicate()
    return load, calls.statuses, before


def in_process(storage: str, names: list[str], arguments: argparse.Namespace) -> tuple[Load, float]:
    """Put the same load on studies of this process; also return the median seconds of an ask before that."""
    before = alone(create_study(POPULATION, arguments.strategy, storage=storage, name="alone"))
    made = {name: create_study(POPULATION, arguments.strategy, storage=storage, name=name) for name in names}
    load = Load(made.__getitem__, names, arguments.clients, arguments.rounds)
    load.run()
    return load, before


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
    load, statuses, before = served(arguments.storage, names, arguments)
    found = kept(arguments.storage, names)
    record |= {
        "told": sum(load.told.values()),
        "lost": sum((load.told - found).values()),
        "doubled": sum((found - load.told).values()),
        "statuses": dict(sorted(statuses.items())),
        "median_ask_seconds_alone": before,
        "median_ask_seconds_under_load": statistics.median(load.ask_seconds),
        "rounds_per_second": sum(load.told.values()) / load.seconds,
    }
    if arguments.reference:
        reference, before = in_process(arguments.reference, names, arguments)
        record |= {
            "in_process_median_ask_seconds_alone": before,
            "in_process_median_ask_seconds_under_load": statistics.median(reference.ask_seconds),
            "in_process_rounds_per_second": sum(reference.told.values()) / reference.seconds,
            "ratio_alone": record["median_ask_seconds_alone"] / before,
        }
    print(json.dumps(record, indent=2))
    held = not record["lost"] and not record["doubled"] and not any(status >= 500 for status in statuses)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
