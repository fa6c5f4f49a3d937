"""`mfbo study ask`: the plan to try next, as a table, a file, or JSON."""

from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.change_words import change_words
from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.output import STANDARD_OUTPUT, check_out, counted, print_json, print_table, say, write_out
from mfbo.cli.study_commands import Ask
from mfbo.cli.study_edit import pairs, whole_or_none
from mfbo.errors import InvalidInputError
from mfbo.population import Change
from mfbo.records import Plan, Round
from mfbo.sheets import plan_rows, read_placed, rows_csv
from mfbo.simplex import Moves
from mfbo.strategies.default.guard import GUARD_WORDS
from mfbo.study import Study, load_study
from mfbo.study.guard_words import guard_word
from mfbo.written_situations import situation_of_text

GUARDED = {word: f"{said[0].lower()}{said[1:-1]}" for word, said in GUARD_WORDS.items()}  # in the midst of a line


def ask(options: Ask) -> None:
    """Ask, and write the file whole; the plan stays open if the file cannot be written, and asking again gives it."""
    if options.situations is not None:
        from mfbo.cli.study_week import ask_week

        ask_week(options, options.situations)
        return
    out = options.out
    if options.json and out == STANDARD_OUTPUT:
        raise InvalidInputError("--json and --out - both write to standard output: leave one of them out")
    if out is not None:
        check_out(out)
    today = _today(options)
    _require_one_source(options, today)
    study = load_study(options.name, options.storage)
    counted = _counted(study, options, today)
    open_before = study.history.open
    plan = _next_plan(study, options, counted)
    moves = study.moves(plan)
    rows = plan_rows(plan, study.population, moves)
    now = [study.rounds[before.number] for before in open_before]
    abandoned = [asked for asked in now if asked.state == "abandoned"]
    if out is not None:
        write_out(out, rows_csv(rows).encode())
    if options.json:
        print_json(_record(options, plan, rows, moves, abandoned, dict(study.rounds[plan.number].today)))
        return
    without_table = out is not None and (options.quiet or out == STANDARD_OUTPUT)
    for line in _warnings(study, plan, moves, abandoned):
        say(line, error=options.quiet or out == STANDARD_OUTPUT)
    if not without_table:
        _print(study, plan, rows, moves, out)


def _require_one_source(options: Ask, today: dict[str, Any]) -> None:
    """Refuse options that say in two ways where the plan comes from, or where agents are."""
    if sum([options.best, *(source is not None for source in (options.plan, options.placed, options.gbfs))]) > 1:
        raise InvalidInputError("--best, --plan, --placed and --gbfs exclude one another: give one of them")
    if today and (options.best or options.plan is not None):
        raise InvalidInputError(
            "--size, --closed and --capacity are for plans of the strategy: leave out --best, --plan"
        )


def _next_plan(study: Study, options: Ask, counted: dict[str, Any]) -> Plan:
    """Return what the strategy proposes, the best plan believed in, or the user's own."""
    said = options.situation
    stated = None if said is None else situation_of_text(said, study.history.situations)
    if options.plan is not None:
        return study.attach(read_placed(options.plan, study.population), options.worker, situation=stated)
    if options.best:
        return study.ask_best(options.worker, situation=stated)
    return study.ask(worker=options.worker, situation=stated, new_categories=options.new_categories, **counted)


def _today(options: Ask) -> dict[str, Any]:
    """Return what is otherwise today, as far as it is said."""
    capacity = pairs(options.capacity, "capacity", whole_or_none) if options.capacity else None
    today = {"size": options.size, "closed": options.closed or None, "capacity": capacity}
    return {key: value for key, value in today.items() if value is not None}


def _counted(study: Study, options: Ask, today: dict[str, Any]) -> dict[str, Any]:
    """Return what is otherwise today, and where agents are now, as a sheet or a feed says, if anybody counted."""
    if options.placed is None and options.gbfs is None:
        return today
    if options.placed is not None:
        counts: Any = read_placed(options.placed, study.population)
    else:
        from mfbo.cli.study_feeds import feed_day

        bikes, limits = feed_day(str(options.gbfs), study.population)
        counts = study.population.read_placed(bikes)
        stated = today.get("capacity", {})
        today = today | {key: {**bounds, **stated} if key == "capacity" else bounds for key, bounds in limits.items()}
    return {**today, "placed": counts, "allow_misfit": confirm_misfit(study.misfit(counts, **today), yes=options.yes)}


def _record(
    options: Ask,
    plan: Plan,
    rows: list[dict[str, Any]],
    moves: Moves | None,
    abandoned: list[Round],
    today: Change,
) -> dict[str, Any]:
    return {
        "study": options.name,
        "plan": plan.number,
        "worker": options.worker,
        "rows": rows,
        "moved": None if moves is None else moves.moved,
        "missing": None if moves is None else moves.missing,
        "surplus": None if moves is None else moves.surplus,
        "today": today,
        "abandoned": [{"plan": ended.number, "reason": ended.error} for ended in abandoned],
        "file": None if options.out is None else str(options.out),
    }


def _warnings(study: Study, plan: Plan, moves: Moves | None, abandoned: list[Round]) -> list[str]:
    """Say which plans were given up, and why changes do not add up to 0 or are more than the budget allows."""
    lines = [f"plan {ended.number} is abandoned: {ended.error}" for ended in abandoned]
    asked = study.rounds[plan.number]
    worker = asked.lease.worker
    for other in study.history.open:
        if other.lease.worker == worker and other.number != plan.number:
            undone = f"mfbo study abandon {quote(study.name)} --plan {other.number}"
            lines.append(f"plan {other.number} is open too: tell it, or {undone}")
    guarded = GUARDED.get(guard_word(study, plan.number)) if "guard" in asked.notes else None
    lines += [] if guarded is None else [guarded]
    lines += [f"today: {change_words(asked.today)}"] if asked.today else []
    if moves is None or plan.allocation is None:
        return lines
    fleet = int(plan.allocation.sum())
    if moves.missing:
        lines.append(
            f"{moves.missing} of {fleet} agents are missing from the last count: bring them along, or tell"
            " what is really placed with --placed"
        )
    if moves.surplus:
        lines.append(f"{moves.surplus} agents more than the fleet of {fleet} were last counted: take them away")
    limits = study.population.limits
    budget = None if limits is None else limits.move_budget
    if budget is not None and moves.moved > budget:
        lines.append(
            f"{moves.moved} agents are to move, more than the move budget of {budget}: from where they were last"
            " counted fewer moves do not lead to this plan"
        )
    return lines


def _print(study: Study, plan: Plan, rows: list[dict[str, Any]], moves: Moves | None, out: Path | None) -> None:
    to_move = "" if moves is None else f", {counted(moves.moved, 'agent')} to move"
    say(f"plan {plan.number} of study {study.name!r}{to_move}")
    if out is None:
        table = []
        for row in rows:
            change = "" if row["change"] is None else f"{row['change']:+d}" if row["change"] else "0"
            table.append([row["station"], row["context"], row["agents"] if "agents" in row else row["share"], change])
        amount = "share" if study.population.size is None else "agents"
        print_table("", ["station", "context", amount, "change"], table)
    else:
        say(f"written: {out}")
    say(f"then: mfbo study tell {quote(study.name)} --plan {plan.number} --payoff …")
