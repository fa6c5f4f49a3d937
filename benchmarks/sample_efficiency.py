"""How many rounds are needed: strategies × problems × feedback × noise × seeds.

    python benchmarks/sample_efficiency.py                                   # all problems, default against mf-gp-ucb
    python benchmarks/sample_efficiency.py --problems swarm arena --noise 0 0.05 --seeds 0 1 2 --rounds 150

Prints a table: rounds needed to close 90 % and 99 % of the gap from uniform to the optimum (mean over seeds; a dash if
some seed never gets there), and the share of the gap closed at 25, 50, 100 and 250 rounds, by the best plan played and
by the plan that would be recommended. Values are noise-free. Writes the lines as JSON and, with the extra `plot`, one
figure per problem and feedback.
"""

import argparse
import itertools
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mfbo
from mfbo.arrays import FloatArray
from mfbo.catalogue import PROBLEMS
from mfbo.errors import MissingExtraError
from mfbo.experiments import RunResult, RunSettings, run
from mfbo.simplex import uniform

CHECKPOINTS = (25, 50, 100, 250)
LEVELS = (0.9, 0.99)


@dataclass(frozen=True)
class Setting:
    """One line of the table."""

    problem: str
    feedback: str
    noise: float
    known_noise: bool
    strategy: str


def gap_closed(problem: mfbo.Problem, values: FloatArray) -> FloatArray:
    """Return (value − uniform) / (optimum − uniform) in the mean-field limit."""
    if problem.optimum is None:
        raise ValueError(f"{problem.name} has no known optimum")
    start = problem.mean_field_value(uniform(*problem.population.shape))
    return np.asarray((values - start) / (problem.optimum.value - start))


def played(setting: Setting, seed: int, rounds: int) -> RunResult:
    """Run one seed."""
    settings = RunSettings(
        setting.problem,
        setting.strategy,
        rounds,
        seed,
        "inf",
        setting.feedback,
        noise=setting.noise,
        known_noise=setting.known_noise,
    )
    return run(settings, checkpoints=CHECKPOINTS)


def summarized(setting: Setting, runs: list[RunResult]) -> dict[str, object]:
    """Return the line of one setting."""
    problem = mfbo.make_problem(setting.problem)
    traces = gap_closed(problem, np.array([run.trace for run in runs]))
    rounds = traces.shape[1]
    line: dict[str, object] = {**vars(setting), "seeds": len(runs)}
    for level in LEVELS:
        reached = [int(np.argmax(trace >= level)) + 1 if trace[-1] >= level else None for trace in traces]
        there = [number for number in reached if number is not None]
        line[f"rounds_to_{level:g}"] = float(np.mean(there)) if len(there) == len(reached) else None
    for at in [checkpoint for checkpoint in CHECKPOINTS if checkpoint <= rounds]:
        line[f"best_at_{at}"] = float(traces[:, at - 1].mean())
        recommended = gap_closed(problem, np.array([run.recommended_at[at] for run in runs]))
        line[f"recommended_at_{at}"] = float(recommended.mean())
    line["ask_seconds"] = float(np.mean([run.ask_seconds for run in runs]))
    return line


def draw(folder: Path, results: dict[Setting, list[RunResult]]) -> None:
    """Write best-so-far curves, one picture per problem, feedback and noise."""
    try:
        from mfbo.plotting import best_so_far, save_figure
    except MissingExtraError as error:
        print(f"no figures: {error}")
        return
    for key, group in itertools.groupby(results.items(), key=lambda item: (*vars(item[0]).values(),)[:4]):
        name, feedback, noise, _ = key
        curves = {setting.strategy: [run.trace for run in runs] for setting, runs in group}
        label = f"{name}-{feedback}-{noise:g}".replace(":", "")
        figure = best_so_far(f"{name}, {feedback}", curves, mfbo.make_problem(name).known_optimum.value)
        save_figure(figure, folder / label)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=[name for name in PROBLEMS if name != "louvelo"])
    parser.add_argument("--strategies", nargs="+", default=["default", "mf-gp-ucb"])
    parser.add_argument("--feedback", nargs="+", default=["system"])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0])
    parser.add_argument("--known-noise", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rounds", type=int, default=250)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("sample-efficiency"))
    options = parser.parse_args()
    settings = [
        Setting(problem, feedback, noise, options.known_noise and noise > 0, strategy)
        for problem in options.problems
        for feedback in options.feedback
        for noise in options.noise
        for strategy in options.strategies
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    results: dict[Setting, list[RunResult]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = {
            setting: [pool.submit(played, setting, seed, options.rounds) for seed in options.seeds]
            for setting in settings
        }
        lines = []
        for setting, futures in waiting.items():
            results[setting] = [future.result() for future in futures]
            lines.append(summarized(setting, results[setting]))
            print(" ".join(f"{key}={_shown(value)}" for key, value in lines[-1].items()), flush=True)
            (options.out / "lines.json").write_text(json.dumps(lines, indent=1) + "\n")
    draw(options.out, results)


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
