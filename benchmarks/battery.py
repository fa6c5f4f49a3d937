"""Worlds the default strategy was not made for: strategies × problems × seeds, share of the gap closed.

    python benchmarks/battery.py                                           # default on all, one seed: about ten minutes
    python benchmarks/battery.py --problems mixture-10 team-200+noise --strategies default gp-sqrt --seeds 0 1 2
    python benchmarks/battery.py --list

A name like thresholds~3 is a fresh instance of a family, see battery_fresh. A problem may carry settings:
queues+noise (5 % of the gap), queues+wrong (2 % of the days ten times too high), queues+drift (the optimum moves by
half the gap in 150 rounds), and combinations. Writes runs.csv, battery.md and, with
the extra `plot`, battery.svg. Each finished run is kept in the folder; what is there is not run again, whatever else is
chosen, so choose another folder for another version of a strategy.
"""

import argparse
import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from battery_problems import BATTERY
from battery_worlds import world
from threadpoolctl import threadpool_limits

from mfbo.catalogue import known_strategy
from mfbo.errors import MissingExtraError
from mfbo.experiments import Batch
from mfbo.experiments.suite_runs import SuiteRun
from mfbo.study import create_study
from mfbo.whole_files import make_folder, write_whole_file

CHECKPOINTS = (50, 150)
RECENT = 10  # latest plans whose mean is noted
SETTINGS = (
    "queues+noise", "coverage+noise", "weekdays-7x24+noise", "advertising-10+noise",
    "queues+wrong", "advertising-10+wrong", "repulsion-49+wrong", "coverage+noise+wrong", "advertising-10+noise+wrong",
    "queues+drift", "coverage+drift", "portfolio-60+drift", "repulsion-49+drift", "repulsion-49+noise+drift",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One run at one round: shares of the gap closed by the recommended, the best and the latest ten plans."""

    problem: str
    strategy: str
    seed: int
    round: int
    recommended: float
    best: float
    latest: float
    ask_seconds: float


def closed_shares(name: str, strategy: Any, seed: int, rounds: int) -> dict[str, Any]:
    """Play one world and return, as plain data, the shares closed: all rounds, and the recommended plan's."""
    here = world(name)
    study = create_study(here.problem.population, strategy, seed=seed)
    played, recommended, seconds = [], {}, 0.0
    for number in range(rounds):
        began = time.process_time()
        plan = study.ask()
        seconds += time.process_time() - began
        study.tell(plan, here.told(plan, seed))
        played.append(here.closed(plan, number))
        if number + 1 in (*CHECKPOINTS, rounds):
            recommended[str(number + 1)] = here.closed(study.recommend(), number)
    return {"played": played, "recommended": recommended, "ask_seconds": seconds}


@dataclass(frozen=True)
class Played:
    """One run's outcome as its file holds it: what ``closed_shares`` found, or the error in a line."""

    run: SuiteRun
    result: dict[str, Any] | None
    error: str = ""

    @property
    def lines(self) -> list[Line]:
        """What a finished run says at the checkpoints."""
        identity, result, lines = self.run.identity, self.result, []
        if result is None:
            return []
        for at, recommended in result["recommended"].items():
            played = result["played"][: int(at)]
            latest = float(np.mean(played[-RECENT:]))
            head = (identity.problem, identity.strategy, identity.seed, int(at))
            lines.append(Line(*head, recommended, max(played), latest, result["ask_seconds"]))
        return lines

    def __str__(self) -> str:
        """Return what is printed when the run ends."""
        if self.result is None:
            return f"{self.run.label}: {self.error}"
        shares = " ".join(f"{at}: {share:.3f}" for at, share in self.result["recommended"].items())
        return f"{self.run.label}: {shares} ({self.result['ask_seconds']:.1f} s)"


def play(run: SuiteRun) -> Played:
    """Play one run on one thread; an error becomes an outcome too."""
    settings = run.settings
    try:
        with threadpool_limits(limits=1):
            return Played(run, closed_shares(settings.problem, settings.strategy, settings.seed, settings.rounds))
    except Exception as error:
        return Played(run, None, f"{type(error).__name__}: {error}")


def completed(runs: Sequence[SuiteRun], folder: Path, jobs: int, say: Callable[[str], None]) -> list[Line]:
    """Run what the folder lacks, keep each as it ends, and return the lines of all."""
    outcomes: dict[str, Played] = {}
    for run in runs:
        file = folder / f"{run.label}-{run.key}.json"
        if file.exists():
            outcomes[run.key] = Played(run, json.loads(file.read_text()))
    missing = [run for run in runs if run.key not in outcomes]
    for outcome in _played(missing, jobs):
        if outcome.result is not None:
            file = folder / f"{outcome.run.label}-{outcome.run.key}.json"
            write_whole_file(file, json.dumps(outcome.result).encode())
            outcomes[outcome.run.key] = outcome
        say(str(outcome))
    return [line for run in runs if run.key in outcomes for line in outcomes[run.key].lines]


def _played(runs: Sequence[SuiteRun], jobs: int) -> Iterator[Played]:
    if jobs == 1:
        yield from map(play, runs)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(play, run) for run in runs]):
            yield future.result()


def markdown(lines: Sequence[Line]) -> str:
    """Return the table: problems × strategies, mean and least over the seeds at every checkpoint."""
    strategies = list(dict.fromkeys(line.strategy for line in lines))
    rounds = sorted({line.round for line in lines})
    columns = [(strategy, at) for strategy in strategies for at in rounds]
    head = ["problem", "C × A", "M", *(f"{strategy} @ {at}" for strategy, at in columns)]
    rows = [head, ["---"] * len(head)]
    for problem in dict.fromkeys(line.problem for line in lines):
        population = world(problem).problem.population
        shape, size = population.shape, population.size
        shares = [_shown(_chosen(lines, problem, *column)) for column in columns]
        rows.append([problem, f"{shape[0]} × {shape[1]}", "∞" if size is None else f"{size}", *shares])
    summary = [_summary([line for line in lines if (line.strategy, line.round) == column]) for column in columns]
    rows.append(["mean; open by more than 5 %", "", "", *summary])
    note = (
        "Share of the gap closed by the recommended plan (drift: by the latest ten plans), mean over seeds (least).\n\n"
    )
    return note + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _chosen(lines: Sequence[Line], problem: str, strategy: str, at: int) -> list[float]:
    found = [line for line in lines if (line.problem, line.strategy, line.round) == (problem, strategy, at)]
    return [_judged(line) for line in found]


def _judged(line: Line) -> float:
    return line.latest if "drift" in line.problem.split("+") else line.recommended


def _shown(shares: Sequence[float]) -> str:
    if not shares:
        return "–"
    return f"{np.mean(shares):.3f}" + (f" ({min(shares):.3f})" if len(shares) > 1 else "")


def _summary(lines: Sequence[Line]) -> str:
    shares = [_judged(line) for line in lines]
    return f"{np.mean(shares):.3f}; {sum(share < 0.95 for share in shares)} of {len(shares)}" if shares else "–"


def table_csv(lines: Sequence[Line]) -> str:
    """Return all lines as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Line.__dataclass_fields__)
    writer.writerows([f"{value:.6f}" if isinstance(value, float) else value for value in vars(line).values()]
                     for line in lines)  # fmt: skip
    return text.getvalue()


def draw(path: Path, lines: Sequence[Line]) -> None:
    """Draw the share of the gap left open in the last round: a row for each problem, a mark for each strategy."""
    from mfbo.plotting.figures import drawn, save_figure

    last = max(line.round for line in lines)
    problems = list(dict.fromkeys(line.problem for line in lines))[::-1]
    strategies = list(dict.fromkeys(line.strategy for line in lines))
    with drawn((7.0, 1.4 + 0.22 * len(problems))) as (axes, figure):
        for place, strategy in enumerate(strategies):
            shares = [_chosen(lines, problem, strategy, last) for problem in problems]
            rows = [row for row, found in enumerate(shares) if found]
            left = [max(1.0 - float(np.mean(shares[row])), 1e-4) for row in rows]
            axes.plot(left, rows, "osD^vP*X"[place % 8], label=strategy, alpha=0.8, markersize=5)
        axes.axvline(0.05, color="0.6", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yticks(range(len(problems)), problems)
        axes.set_xlabel(f"share of the gap left open at round {last} (mean over seeds; line: 5 %)")
        axes.legend(loc="best", fontsize=8)
    save_figure(figure, path)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=[*BATTERY, *SETTINGS])
    parser.add_argument("--strategies", nargs="+", default=["default"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--rounds", type=int, default=CHECKPOINTS[-1])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("battery"))
    parser.add_argument("--list", action="store_true", help="name all problems and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join([*BATTERY, *SETTINGS]))
        return
    for name in options.problems:
        world(name)
    strategies = tuple(known_strategy(strategy) for strategy in options.strategies)
    batch = Batch(tuple(options.problems), strategies, tuple(options.seeds), (options.rounds,))
    folder = options.out / "runs"
    make_folder(folder)
    lines = completed(batch.runs(), folder, options.jobs, lambda text: print(text, flush=True))
    if not lines:
        return
    write_whole_file(options.out / "runs.csv", table_csv(lines).encode())
    write_whole_file(options.out / "battery.md", markdown(lines).encode())
    print(markdown(lines))
    try:
        draw(options.out / "battery", lines)
    except MissingExtraError as error:
        print(f"no figure: {error}")


if __name__ == "__main__":
    main()
