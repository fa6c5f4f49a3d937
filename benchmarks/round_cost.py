"""Times whole runs of MF-GP-UCB against the same algorithm on BoTorch + GPyTorch, one BLAS thread for both.

    python benchmarks/round_cost.py              # peer timed at n = 25, 75, 125, 175, 225 and summed up
    python benchmarks/round_cost.py --whole      # the peer plays all its rounds too (an hour and a half)

Seconds are CPU seconds of the one thread, so that other work on the machine does not count.

Both do the same work: 500 Adam steps a round from the uniform plan, none left out, and fits in the same rounds, those
of our schedule.
Both see the same kind of data, as in the paper: a representative agent's cell, the distribution played, and the agent's
payoff. For A = 30 the problem is `swarm`; for 158 and 409 a city grid where every agent's payoff is minus the
Jensen–Shannon divergence to a smooth demand. The payoff printed is that of the population: the best of all rounds with
--whole, otherwise the best plan of those that both propose from the same data at the sampled n. "bare" is the time of
the LAPACK and BLAS calls alone, of the same shapes and number as ours makes.
"""

import argparse
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from bare_calls import CallCounter
from botorch_peer import BotorchPeer

import mfbo
from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.models.couplings import unit_scaled
from mfbo.problems import demand_problem, swarm
from mfbo.simplex import softmax
from mfbo.strategies import MeanFieldGPUCB

ROUNDS = 250
SAMPLED_AT = (25, 75, 125, 175, 225)
OURS = MeanFieldGPUCB()  # the peer takes its multiplier, steps and rate
LAST_ROWS = 240  # rounds from here on stand for "at n = 250"


@dataclass(frozen=True)
class Task:
    """A problem over A actions with coordinates and one context, in the mean-field limit."""

    name: str
    problem: mfbo.Problem

    @property
    def population(self) -> mfbo.Population:
        """Who is placed."""
        return self.problem.population


@dataclass
class Data:
    """Rows of a run so far: actions, distributions (n, 1, A), the agents' payoffs; and what the population got."""

    actions: list[int] = field(default_factory=list)
    distributions: list[FloatArray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    population_payoffs: list[float] = field(default_factory=list)

    def add(self, task: Task, distribution: FloatArray, rng: np.random.Generator) -> None:
        """Play a distribution (1, A): draw the representative agent, note its payoff."""
        action = int(rng.choice(distribution.shape[1], p=distribution[0]))
        self.actions.append(action)
        self.distributions.append(distribution)
        self.values.append(float(task.problem.payoff.cells(distribution)[0, action]))
        self.population_payoffs.append(task.problem.mean_field_value(distribution))


def city(actions: int) -> Task:
    """Return a grid city with ``actions`` cells and a smooth demand with three centers."""
    columns = int(np.ceil(np.sqrt(actions * 0.6)))
    cells = np.array([(i % columns, i // columns) for i in range(actions)], dtype=np.float64)
    rng = np.random.default_rng(5)
    centers = cells[rng.choice(actions, 3, replace=False)]
    squared = ((cells[:, None, :] - centers[None]) ** 2).sum(-1)
    weights = (np.exp(-squared / (2 * (0.25 * columns) ** 2)) * [1.0, 0.7, 0.5]).sum(axis=1) + 0.02
    names = [f"cell {index}" for index in range(actions)]
    return Task(f"city {actions}", demand_problem(names, weights, cells))


def task_of(actions: int) -> Task:
    """Return the benchmark's problem with this many actions."""
    return Task("swarm", swarm(size=None)) if actions == 30 else city(actions)


def play_ours(task: Task, seed: int) -> tuple[list[float], Data]:
    """Return the seconds of each of T whole rounds and the data they left."""
    rng = np.random.default_rng(seed)
    study = mfbo.create_study(task.population, "mf-gp-ucb", seed=seed)
    data = Data()
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        plan = study.ask()
        seconds.append(time.process_time() - started)
        data.add(task, np.asarray(plan.distribution), rng)
        study.tell(plan, agents=[(data.actions[-1], data.values[-1])])
    return seconds, data


def peer_of(task: Task) -> BotorchPeer:
    """Return the peer for a task."""
    features = task.population.features
    if features is None:
        raise ValueError("the peer needs coordinates")
    return BotorchPeer(unit_scaled(features), None, np.ones(1), float(OURS.multiplier), OURS.steps, OURS.rate)


def fit_rounds() -> set[int]:
    """Return after how many told rounds our schedule fits, within T."""
    fits, fitted = set(), 0
    for told in range(1, ROUNDS):
        if OURS.schedule.due(told, fitted):
            fits.add(told)
            fitted = told
    return fits


def proposed(peer: BotorchPeer, data: Data, rows: int, *, refit: bool) -> FloatArray:
    """Return the peer's next logits from the first ``rows`` rows, climbed from the uniform plan."""
    return peer.propose(
        np.array(data.actions[:rows]),
        np.zeros(rows, dtype=np.int64),
        np.array(data.distributions[:rows]),
        np.array(data.values[:rows]),
        np.zeros_like(data.distributions[0]),
        refit=refit,
    )


def play_peer(task: Task, seed: int) -> tuple[float, Data]:
    """Play all rounds with the peer; return its seconds and data."""
    rng = np.random.default_rng(seed)
    peer = peer_of(task)
    data = Data()
    logits = rng.uniform(size=task.population.shape)
    seconds, fits = 0.0, fit_rounds()
    for number in range(ROUNDS):
        data.add(task, softmax(logits), rng)
        if number + 1 < ROUNDS:
            started = time.process_time()
            logits = proposed(peer, data, number + 1, refit=number + 1 in fits)
            seconds += time.process_time() - started
    return seconds, data


def sample_peer(task: Task, ours: Data) -> tuple[float, float]:
    """Time the peer on our data at a few sizes; return seconds for all rounds and the best payoff it proposes.

    At every size a round with a fit and one without; each kind counts as often as it comes in a run.
    """
    peer = peer_of(task)
    proposed(peer, ours, SAMPLED_AT[0], refit=True)  # warm up
    seconds: dict[bool, list[float]] = {True: [], False: []}
    best = -np.inf
    for rows in SAMPLED_AT:
        for refit in (True, False):
            started = time.process_time()
            logits = proposed(peer, ours, rows, refit=refit)
            seconds[refit].append(time.process_time() - started)
        best = max(best, task.problem.mean_field_value(softmax(logits)))
    fits = len(fit_rounds())
    return float(np.mean(seconds[True]) * fits + np.mean(seconds[False]) * (ROUNDS - 1 - fits)), best


def measured(actions: int, *, whole: bool, seed: int) -> dict[str, float | str]:
    """Return one line of the table."""
    task = task_of(actions)
    play_ours(task_of(30), seed)  # warm up
    with CallCounter() as calls:
        play_ours(task, seed)
    rounds, data = play_ours(task, seed)
    seconds = sum(rounds)
    with one_blas_thread():
        bare, bare_at_end = calls.replayed_seconds(), calls.replayed_seconds(fewest_rows=LAST_ROWS)
        if whole:
            peer_seconds, peer_data = play_peer(task, seed)
            ours_best, peer_best = max(data.population_payoffs), max(peer_data.population_payoffs)
        else:
            peer_seconds, peer_best = sample_peer(task, data)
            ours_best = max(data.population_payoffs[rows] for rows in SAMPLED_AT)
    return {
        "task": task.name,
        "actions": actions,
        "peer": "all rounds" if whole else f"timed at n = {', '.join(map(str, SAMPLED_AT))}",
        "ours_seconds": seconds,
        "peer_seconds": peer_seconds,
        "ratio": peer_seconds / seconds,
        "ours_payoff": ours_best,
        "peer_payoff": peer_best,
        "optimum": 0.0 if task.problem.optimum is None else task.problem.optimum.value,
        "ours_over_bare": seconds / bare,
        "ours_over_bare_at_250": sum(rounds[LAST_ROWS:]) / bare_at_end,
    }


def main() -> None:
    """Print the table, one line per number of actions, and write it as JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actions", type=int, nargs="+", default=[30, 158, 409])
    parser.add_argument("--whole", action="store_true", help="let the peer play all its rounds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the lines as JSON")
    options = parser.parse_args()
    lines = []
    for actions in options.actions:
        line = measured(actions, whole=options.whole, seed=options.seed)
        lines.append(line)
        print(
            f"{line['task']:>9}: ours {line['ours_seconds']:.2f} s, peer {line['peer_seconds']:.1f} s, "
            f"ratio {line['ratio']:.0f}; {'final' if options.whole else 'sampled'} payoff "
            f"ours {line['ours_payoff']:.5f}, peer {line['peer_payoff']:.5f} (optimum {line['optimum']:.5f}); "
            f"ours / bare calls {line['ours_over_bare']:.2f} in all, {line['ours_over_bare_at_250']:.2f} at n = 250",
            flush=True,
        )
    if options.out:
        options.out.write_text(json.dumps(lines, indent=2) + "\n")


if __name__ == "__main__":
    main()
