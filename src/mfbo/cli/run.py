"""`mfbo run`: a strategy on a problem with a known optimum."""

from pathlib import Path
from typing import Any

from mfbo.catalogue import PROBLEMS, known_strategy, make_problem, require_data_taker
from mfbo.cli.data_options import BuildOptions
from mfbo.cli.options import parse_agents
from mfbo.cli.output import bytes_progress, print_json, print_note, print_table, progress
from mfbo.cli.trip_options import demand_of
from mfbo.errors import InvalidInputError
from mfbo.experiments import RunResult, RunSettings
from mfbo.experiments import run as run_experiment
from mfbo.problems.tables import DemandTable
from mfbo.validation import known_name


def run(
    problem: str,
    strategy: str,
    rounds: int,
    seed: int,
    feedback: str,
    agents: str | None,
    allocation: Any,
    contexts: Any,
    noise: float,
    *,
    data: Path | None,
    trips: BuildOptions,
    known_noise: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Check everything first, then play and print."""
    known_name(problem, "problem", list(PROBLEMS))
    settings = RunSettings(
        problem,
        known_strategy(strategy),
        rounds,
        seed,
        parse_agents(agents),  # type: ignore[arg-type]
        feedback,
        allocation,
        contexts,
        noise,
        known_noise,
        data,
    )
    chosen = make_problem(problem, _demand(problem, data, trips, silent=quiet or json))
    print_note(chosen.note, silent=quiet or json)
    with progress(f"{problem}, {strategy}", rounds, silent=quiet or json) as advance:
        result = run_experiment(settings, chosen, progress=advance)
    if json:
        print_json(result.to_json())
    else:
        _print(result)


def _demand(problem: str, data: Path | None, trips: BuildOptions, *, silent: bool) -> DemandTable | Path | None:
    """Return the demand of a user's file; refuse options that choose among trips where there is no file."""
    if data is None:
        if trips.given:
            flag = next(iter(trips.given)).replace("_", "-")
            raise InvalidInputError(f"--{flag} chooses among the trips of a file: give one with --data")
        return None
    require_data_taker(problem)
    with bytes_progress(data.name, silent=silent) as advance:
        return demand_of(problem, data, trips, advance)


def _print(result: RunResult) -> None:
    title = f"{result.problem}: {result.strategy}, {result.rounds} rounds of {result.feedback} feedback"
    rows = [
        ("agents", result.agents),
        ("actions × contexts", f"{result.actions} × {result.contexts}"),
        ("optimum", result.optimum),
        ("best value played", result.best_value),
        ("regret", result.regret),
        ("value of the recommended plan", result.recommended_value),
        ("cumulative regret", result.cumulative_regret),
        ("seconds in the strategy", round(result.ask_seconds, 2)),
    ]
    print_table(title, ["", "value"], rows)
