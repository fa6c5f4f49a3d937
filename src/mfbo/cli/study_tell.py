"""`mfbo study tell`: what a plan brought, as a number or in files."""

from datetime import date
from shlex import quote
from typing import Any

from mfbo.cli.confirming import confirm_counts, confirm_misfit, confirm_payoff
from mfbo.cli.output import counted, print_json, print_table, say
from mfbo.cli.study_commands import Abandon, Amend, Tell
from mfbo.errors import InvalidInputError, MfboError, UnknownNameError
from mfbo.records import Round
from mfbo.sheets import Faults, read_agents, read_cells, read_placed, too_many_seen
from mfbo.study import Study, load_study
from mfbo.written_situations import situation_of_text


def tell(options: Tell) -> None:
    """Read all files first; nothing is told if one of them has a fault."""
    _require_one_result(options)
    study = load_study(options.name, options.storage)
    if options.failed is not None and options.placed is not None and study.population.size is None:
        raise InvalidInputError("a study of shares keeps no placement of a failed plan: leave out --placed")
    plan = _plan_meant(study) if options.plan is None else options.plan
    feedback, played = read_told(study, plan, options)
    rides = _rides(study, options)
    if rides is not None:
        feedback |= _of_trips(study, plan, options, rides, played.get("placed"))
    if "placed" in played:
        played["allow_misfit"] = confirm_misfit(study.misfit(played["placed"], plan), yes=options.yes)
    if feedback["payoff"] is not None:
        confirm_payoff(study.doubtful(plan, feedback["payoff"]), yes=options.yes)
    if options.failed is None:
        stated = situation_of_text(options.situation, study.history.situations)
        said_of_it: dict[str, Any] = {"situation": stated, "new_categories": options.new_categories}
        done = study.tell(plan, worker=options.worker, **said_of_it, **feedback, **played)
    else:
        played.pop("distribution", None)
        done = study.fail(plan, options.failed, **played)
    _say(study, done, options)
    if rides is not None and not (options.quiet or options.json):
        shown = zip(study.population.actions, rides.started.tolist(), rides.arrived.tolist(), strict=True)
        title = f"Rides of {date.fromordinal(rides.day).isoformat()}"
        print_table(title, ["station", "started", "arrived"], [list(row) for row in shown])


def abandon(options: Abandon) -> None:
    """It will not be tried."""
    study = load_study(options.name, options.storage)
    ended = study.abandon(options.plan)
    if options.json:
        print_json({"study": study.name, "plan": ended.number, "state": ended.state})
    elif not options.quiet:
        say(f"plan {ended.number} of study {study.name!r} is {ended.state}")


def _require_one_result(options: Tell) -> None:
    """Refuse a result that is told twice, or not at all."""
    if options.trips is not None and options.payoff is not None:
        raise InvalidInputError("--payoff and --trips both say what the plan brought: leave one of them out")
    if options.trips is None and (options.day is not None or options.columns is not None):
        raise InvalidInputError("--day and --columns are about a trip file: give it with --trips")
    results = (options.payoff, options.cells, options.agents_file, options.trips)
    is_told = any(result is not None for result in results)
    if options.failed is not None and is_told:
        raise InvalidInputError(
            "--failed says that there is no result: leave out --payoff, --cells, --agents-file and --trips"
        )
    if options.failed is None and not is_told:
        raise InvalidInputError(
            "nothing was told: give --payoff, --cells, --agents-file or --trips, or --failed with the reason"
        )


def _plan_meant(study: Study) -> int:
    """Return the only open plan."""
    numbers = [asked.number for asked in study.history.open]
    if not numbers:
        raise InvalidInputError(f"study {study.name!r} has no open plan: ask for one, or say which with --plan NUMBER")
    if len(numbers) > 1:
        listed = ", ".join(str(number) for number in numbers)
        raise InvalidInputError(f"study {study.name!r} has {len(numbers)} open plans ({listed}): say which with --plan")
    return numbers[0]


def _rides(study: Study, options: Tell) -> Any:
    """Return the rides of the day's trip file; None without one."""
    if options.trips is None:
        return None
    from mfbo.cli.study_feeds import told_day

    silent = options.quiet or options.json
    return told_day(options.trips, study.population, options.columns, options.day, silent=silent)


def _of_trips(study: Study, plan: int, options: Tell, rides: Any, placed: Any) -> dict[str, Any]:
    """Return the payoff of a day's trips and, where agents are of one kind, what every station saw beside it.

    Rides per bike are hints, not pieces of the payoff, though they add up to the rides per bike of all; so they stay
    away where payoffs are divided by the agents, and would be taken for pieces (decision 12).
    """
    told = {"payoff": rides.payoff(options.measure)}
    bikes = study.rounds[plan].plan.allocation if placed is None else placed
    told_otherwise = options.cells is not None or options.agents_file is not None
    if told_otherwise or bikes is None or len(bikes) > 1 or study.payoff_is == "total":
        return told
    from mfbo.problems.day_rides import station_hints

    hints = station_hints(rides.started, bikes[0])
    return told | {"cells": hints.cells, "counts": hints.counts}


def read_told(study: Study, plan: int, options: Tell | Amend) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what was seen and what was really played, as the study takes them; refuse with the faults of all files."""
    if not 0 <= plan < len(study.rounds):
        raise UnknownNameError(
            f"plan {plan} was never asked; study {study.name!r} has {counted(len(study.rounds), 'plan')}"
        )
    faults, surplus = Faults(), ""
    feedback: dict[str, Any] = {"payoff": options.payoff}
    played: dict[str, Any] = {}
    planned: Any = study.rounds[plan].plan.allocation
    if options.placed is not None:
        planned = read_placed(options.placed, study.population, faults)
        totals = planned.sum(axis=1, keepdims=True)
        if study.population.size is None:
            played["distribution"] = planned / (totals + (totals == 0))
        else:
            played["placed"] = planned
    if options.cells is not None:
        seen = read_cells(options.cells, study.population, planned, faults)
        feedback |= {"cells": seen.payoffs, "counts": seen.counts}
        surplus = too_many_seen(seen, study.population, planned)
    if options.agents_file is not None:
        feedback["agents"] = read_agents(options.agents_file, study.population, faults)
    faults.report()
    confirm_counts(surplus, yes=options.yes)
    return feedback, played


def _say(study: Study, done: Round, options: Tell) -> None:
    if options.json:
        print_json(
            {
                "study": study.name,
                "plan": done.number,
                "state": done.state,
                "payoff": done.as_told,
                "late": done.late,
                "placed": None if done.placed is None else done.placed.tolist(),
            }
        )
        return
    if options.quiet:
        return
    late = ", late: its lease had expired" if done.late else ""
    say(f"plan {done.number} of study {study.name!r} is {done.state}{late}")
    try:
        best = study.best if study.history.told else None
    except MfboError:  # it is told: a model that cannot name the best is no failure of that
        return
    if best is not None and study.history.situations is not None:  # told payoffs of different days do not compare
        say(f"best so far, as expected on a usual day: plan {best.number}")
    elif best is not None and best.as_told is not None:
        luck = f"luck included; mfbo study show {quote(study.name)} says what the model expects"
        total = best.as_told != best.payoff
        said = f"highest told payoff{' per agent' * total} so far: plan {best.number}, {best.payoff:.6g}"
        say(f"{said} ({f'{best.as_told:.6g} in all; ' * total}{luck})")
