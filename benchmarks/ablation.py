"""What each part of the default strategy is worth: the same runs with one part changed.

    python benchmarks/ablation.py                        # four problems, two seeds, 100 rounds: about ten minutes
    python benchmarks/ablation.py --problems nyc-12x20 --rounds 250 --seeds 0 1 2
    python benchmarks/ablation.py --problems traffic sioux-falls~2 --variants "as it is" "crowding from the start"

Problems of the battery are taken too (benchmarks/battery.py), population payoffs only. Prints the share of the gap
from uniform to the optimum that is closed at 25, 50 and 100 rounds, mean over seeds.
"""

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from battery import closed_shares
from battery_problems import BATTERY
from sample_efficiency import gap_closed
from threadpoolctl import threadpool_limits

import mfbo
from mfbo.experiments import RunSettings, run
from mfbo.models import Kernel, default_kernel, paper_kernel
from mfbo.population import Population
from mfbo.strategies import Default
from mfbo.strategies.default.kernels import UNPLACED
from mfbo.strategies.replay_plan import RefitSchedule

CHECKPOINTS = (25, 50, 100)


@dataclass(frozen=True)
class Without(Default):
    """The default strategy without the kernel terms whose names start so."""

    dropped: tuple[str, ...] = ()

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return our kernel without the dropped terms."""
        kernel = super().kernel_for(population, kind)
        terms = tuple(term for term in kernel.terms if not term.name.startswith(self.dropped))
        further = tuple(group for group in kernel.further if not group.name.startswith(self.dropped))
        return replace(kernel, terms=terms, further=further)


@dataclass(frozen=True)
class PaperKernel(Default):
    """The default strategy on the paper's kernel with the Hellinger distance."""

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return the additive kernel whatever was told."""
        return paper_kernel(population, distance="hellinger")


@dataclass(frozen=True)
class CrowdingAtOnce(Default):
    """The default strategy with channels of occupancy from the first round on where nothing is known of actions."""

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return our kernel with the channels that it leaves out, or lets in by evidence."""
        kernel = super().kernel_for(population, kind)
        here = {term.name for term in kernel.terms}
        usual = default_kernel(population, noisy=True).terms
        more = [term for term in usual if "/actions/" in term.name and term.name not in here]
        further = tuple(group for group in kernel.further if group.name != "occupancy")
        return replace(kernel, terms=(*kernel.terms, *more), further=further) if kind == UNPLACED else kernel


VARIANTS: dict[str, Callable[[], Default]] = {
    "as it is": Default,
    "without √ channels": partial(Without, dropped=("root",)),
    "without linear channels (w, P)": partial(Without, dropped=("one",)),
    "without P² channels": partial(Without, dropped=("linear",)),
    "without the RBFs": partial(Without, dropped=("hellinger", "mean", "shares", "interaction")),
    "without the RBF of shares": partial(Without, dropped=("shares",)),
    "crowding from the start": CrowdingAtOnce,
    "without RBF couplings": partial(Without, dropped=tuple(
        f"{shape}/{axis}/{length}"
        for shape in ("root", "one", "linear", "log", "decay", "fast decay")
        for axis in ("cells", "actions")
        for length in ("0.1", "0.25", "0.6")
    )),
    "paper's kernel (Hellinger)": PaperKernel,
    "no stall rule": partial(Default, highest_multiplier=0.3),
    "more optimism (1.0)": partial(Default, multiplier=1.0),
    "refit every round": partial(Default, schedule=RefitSchedule(later=1)),
    "no trust region": partial(Default, trust=1e9),
}  # fmt: skip


def measured(variant: str, problem: str, feedback: str, seed: int, rounds: int) -> list[float]:
    """Return the share of the gap closed at the checkpoints."""
    if problem in BATTERY or "~" in problem:
        with threadpool_limits(limits=1):
            played = closed_shares(problem, VARIANTS[variant](), seed, rounds)["played"]
        return [max(played[:at]) for at in CHECKPOINTS if at <= rounds]
    result = run(RunSettings(problem, VARIANTS[variant](), rounds, seed, "inf", feedback))
    closed = gap_closed(mfbo.make_problem(problem), np.array(result.trace))
    return [float(closed[at - 1]) for at in CHECKPOINTS if at <= rounds]


def main() -> None:
    """Run all variants, print a line each, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=["swarm", "arena", "bay-area-bike", "maritime"])
    parser.add_argument("--feedback", default="system")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = []
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [
            (problem, variant, [
                pool.submit(measured, variant, problem, options.feedback, seed, options.rounds)
                for seed in options.seeds
            ])
            for problem in options.problems
            for variant in options.variants
        ]  # fmt: skip
        for problem, variant, futures in waiting:
            closed = np.mean([future.result() for future in futures], axis=0)
            lines.append({"problem": problem, "variant": variant, "gap_closed": [round(x, 5) for x in closed]})
            print(f"{problem:>14} | {variant:<32} | {' '.join(f'{x:8.4f}' for x in closed)}", flush=True)
    if options.out:
        options.out.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
