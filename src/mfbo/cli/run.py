"""`mfbo run`: a strategy on a problem with a known optimum."""

from pathlib import Path
from typing import Any

from mfbo.catalogue import known_problem, known_strategy, make_problem, require_data_taker
from mfbo.cli.commands import Run
from mfbo.cli.options import parse_agents
from mfbo.cli.output import bytes_progress, print_json, print_note, print_table, progress
from mfbo.cli.trip_options import TripChoices, demand_of
from mfbo.errors import InvalidInputError
from mfbo.experiments import RunResult, RunSettings
from mfbo.experiments import run as run_experiment
from mfbo.problems.tables import DemandTable


def run(options: Run) -> None:
    """Check everything first, then play and print."""
    known_problem(options.problem)
    settings = _settings(options)
    silent = options.quiet or options.json
    problem = make_problem(options.problem, _demand(options, silent=silent))
    print_note(problem.note, silent=silent)
    with progress(f"{options.problem}, {options.strategy}", options.rounds, silent=silent) as advance:
        result = run_experiment(settings, problem, progress=advance)
    if options.json:
        print_json(result.to_json())
    else:
        _print(result)


def _demand(options: Run, *, silent: bool) -> DemandTable | Path | None:
    """Return the demand of a user's file; refuse options that choose among trips where there is no file."""
    choices = TripChoices.of(options)
    if options.data is None:
        if choices.chosen:
            flag = next(iter(choices.chosen)).replace("_", "-")
            raise InvalidInputError(f"--{flag} chooses among the trips of a file: give one with --data")
        return None
    require_data_taker(options.problem)
    with bytes_progress(options.data.name, silent=silent) as advance:
        return demand_of(options.problem, options.data, choices, advance)


def _settings(options: Run) -> RunSettings:
    agents: Any = parse_agents(options.agents)
    allocation: Any = options.allocation  # which words are allowed, the settings say
    context_allocation: Any = options.context_allocation
    return RunSettings(
        options.problem,
        known_strategy(options.strategy),
        options.rounds,
        options.seed,
        agents,
        options.feedback,
        allocation,
        context_allocation,
        options.noise,
        options.known_noise,
        options.data,
    )


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
