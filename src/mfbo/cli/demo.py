"""`mfbo demo`: swarm and arena against random search, a table, and pictures."""

from pathlib import Path
from typing import Literal

from mfbo.catalogue import make_problem
from mfbo.cli.commands import Demo
from mfbo.cli.output import print_json, print_table, progress, say
from mfbo.errors import MissingExtraError
from mfbo.experiments import RunResult, RunSettings
from mfbo.experiments import run as run_experiment
from mfbo.experiments.builtin_suites import DRAWN
from mfbo.whole_files import make_folder

PROBLEMS = ("swarm", "arena")
STRATEGIES = ("default", "mf-gp-ucb", "random")


def demo(options: Demo) -> None:
    """Run, print, draw."""
    out, rounds = options.out, options.rounds
    make_folder(out)  # a folder that cannot be written to is said before the work, not after
    results: list[RunResult] = []
    for problem in PROBLEMS:
        for strategy in STRATEGIES:
            way: Literal["quota", "sampled"] = "sampled" if strategy in DRAWN else "quota"
            settings = RunSettings(problem, strategy, rounds, options.seed, allocation=way)
            with progress(f"{problem}, {strategy}", rounds, silent=options.quiet or options.json) as advance:
                results.append(run_experiment(settings, progress=advance))
    if options.json:
        drawn = [str(path) for path in _pictures(out, results)]
        print_json({"runs": [result.to_json() for result in results], "pictures": drawn})
        return
    columns = ["problem", "strategy", "optimum", "best value", "regret", "seconds"]
    rows = [[r.problem, r.strategy, r.optimum, r.best_value, r.regret, round(r.seconds, 1)] for r in results]
    print_table(f"Best of {rounds} rounds with 50 agents, one number seen per round", columns, rows)
    pictures = _pictures(out, results)
    for path in pictures:
        say(f"picture: {path}")
    if not pictures:
        say('no pictures: pip install "mfbo[plot]"')


def _pictures(out: Path, results: list[RunResult]) -> list[Path]:
    """Draw what can be drawn; none without matplotlib."""
    try:
        from mfbo.plotting import arena_histogram, best_so_far, save_figure
    except MissingExtraError:
        return []
    pictures = []
    for problem in PROBLEMS:
        runs = [result for result in results if result.problem == problem]
        curves = {result.strategy: [result.trace] for result in runs}
        pictures += save_figure(best_so_far(problem, curves, runs[0].optimum), out / f"{problem}-curves")
    ours = next(result for result in results if result.problem == "arena" and result.strategy == "default")
    arena = make_problem("arena")
    pictures += save_figure(arena_histogram(arena.population, ours.best_distribution), out / "arena-histogram")
    return pictures
