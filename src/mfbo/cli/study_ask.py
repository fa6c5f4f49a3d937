"""`mfbo study ask`: the plan to try next, as a table, a file, or JSON."""

import csv
import io
from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.output import STANDARD_OUTPUT, check_out, print_json, print_table, say, write_out
from mfbo.cli.sheets import Faults
from mfbo.cli.study_feeds import feed_placement
from mfbo.cli.study_sheets import read_placement
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import Plan
from mfbo.shown_text import defused
from mfbo.simplex import Moves
from mfbo.study import Study, load_study


def ask(
    name: str,
    out: Path | None,
    placed: Path | None,
    worker: str,
    storage: str,
    *,
    gbfs: str | None = None,
    yes: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Ask, and write the file whole; the plan stays open if the file cannot be written, and asking again gives it."""
    if json and out == STANDARD_OUTPUT:
        raise InvalidInputError("--json and --out - both write to standard output: leave one of them out")
    check_out(out)
    study = load_study(name, storage)
    if placed is not None and gbfs is not None:
        raise InvalidInputError("--placed and --gbfs both say where the agents are: leave one of them out")
    counted = {} if placed is None else _counted(study, placed, yes=yes)
    if gbfs is not None:
        counted = _confirmed(study, study.population.read_placed(feed_placement(gbfs, study.population)), yes=yes)
    open_before = {each.number for each in study.history.open}
    plan = study.ask(worker=worker, **counted)
    given_up = [each for each in study.rounds if each.number in open_before and each.state == "abandoned"]
    rows, moves = plan_rows(study, plan), study.moves(plan)
    warnings = [f"plan {each.number} is abandoned: {each.error}" for each in given_up]
    warnings += [] if moves is None else _gaps(moves, plan, study.population)
    if out is not None:
        write_out(out, rows_csv(rows).encode())
    if out == STANDARD_OUTPUT:
        for line in warnings:
            say(line, error=True)
        return
    if json:
        print_json(
            {
                "study": name,
                "plan": plan.number,
                "worker": worker,
                "rows": rows,
                "moved": None if moves is None else moves.moved,
                "missing": None if moves is None else moves.missing,
                "surplus": None if moves is None else moves.surplus,
                "abandoned": [{"plan": each.number, "reason": each.error} for each in given_up],
                "file": out and str(out),
            }
        )
        return
    for line in warnings:
        say(line, error=quiet)
    if not quiet or out is None:
        _print(study, plan, rows, moves, out)


def _print(study: Study, plan: Plan, rows: list[dict[str, Any]], moves: Moves | None, out: Path | None) -> None:
    to_move = "" if moves is None else f", {moves.moved} agents to move"
    say(f"plan {plan.number} of study {study.name!r}{to_move}")
    if out is None:
        shown = [[row["station"], row["context"], _amount(row), _change(row)] for row in rows]
        print_table("", ["station", "context", "agents", "change"], shown)
    else:
        say(f"written: {out}")
    say(f"then: mfbo study tell {quote(study.name)} --plan {plan.number} --payoff …")


def _counted(study: Study, placed: Path, *, yes: bool) -> dict[str, Any]:
    faults = Faults()
    counts = read_placement(placed, study.population, faults)
    faults.report()
    return _confirmed(study, counts, yes=yes)


def _confirmed(study: Study, counts: Any, *, yes: bool) -> dict[str, Any]:
    return {"placed": counts, "allow_misfit": confirm_misfit(study.misfit(counts), yes=yes)}


def _gaps(moves: Moves, plan: Plan, population: Population) -> list[str]:
    """Say in plain words why the changes do not add up to 0, or are more than the budget allows."""
    fleet = 0 if plan.allocation is None else int(plan.allocation.sum())
    lines = []
    if moves.missing:
        lines.append(
            f"{moves.missing} of {fleet} agents are missing from the last count: bring them along, or tell"
            " what is really placed with --placed"
        )
    if moves.surplus:
        lines.append(f"{moves.surplus} agents more than the fleet of {fleet} were last counted: take them away")
    budget = None if population.limits is None else population.limits.move_budget
    if budget is not None and moves.moved > budget:
        lines.append(
            f"{moves.moved} agents are to move, more than the move budget of {budget}: from where they were last"
            " counted fewer moves do not lead to this plan"
        )
    return lines


def plan_rows(study: Study, plan: Plan) -> list[dict[str, Any]]:
    """Return one record for each cell: station, context, agents (or share), change against the current placement."""
    population, moves = study.population, study.moves(plan)
    rows = []
    for c, context in enumerate(population.contexts):
        for a, action in enumerate(population.actions):
            row: dict[str, Any] = {"station": action, "context": context}
            if plan.allocation is None:
                rows.append({**row, "share": float(plan.distribution[c, a]), "change": None})
                continue
            count = int(plan.allocation[c, a])
            rows.append({**row, "agents": count, "change": None if moves is None else int(moves.change[c, a])})
    return rows


def rows_csv(rows: list[dict[str, Any]]) -> str:
    """Return records as CSV; None is an empty cell, and no text is a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: defused(cell) for column, cell in row.items()} for row in rows)
    return text.getvalue()


def _amount(row: dict[str, Any]) -> Any:
    return row["agents"] if "agents" in row else row["share"]


def _change(row: dict[str, Any]) -> str:
    return "" if row["change"] is None else f"{row['change']:+d}" if row["change"] else "0"
