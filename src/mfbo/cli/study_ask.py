"""`mfbo study ask`: the plan to try next, as a table, a file, or JSON."""

import csv
import io
from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.output import print_json, print_table
from mfbo.records import Plan
from mfbo.study import Study, load_study
from mfbo.whole_files import write_whole_file


def ask(name: str, out: Path | None, worker: str, storage: str, *, quiet: bool, json: bool) -> None:
    """Ask, and write the file whole; the plan stays open if the file cannot be written, and asking again gives it."""
    study = load_study(name, storage)
    plan = study.ask(worker=worker)
    rows = plan_rows(study, plan)
    if out is not None:
        write_whole_file(out, rows_csv(rows).encode())
    if json:
        print_json({"study": name, "plan": plan.number, "worker": worker, "rows": rows, "file": out and str(out)})
    elif not quiet or out is None:
        moved = sum(max(row["change"], 0) for row in rows if row["change"] is not None)
        print(f"plan {plan.number} of study {name!r}" + f", {moved} agents to move" * (study.placed is not None))
        if out is None:
            shown = [[row["station"], row["context"], _amount(row), _change(row)] for row in rows]
            print_table("", ["station", "context", "agents", "change"], shown)
        else:
            print(f"written: {out}")
        print(f"then: mfbo study tell {quote(name)} --plan {plan.number} --payoff …")


def plan_rows(study: Study, plan: Plan) -> list[dict[str, Any]]:
    """Return one record for each cell: station, context, agents (or share), change against the current placement."""
    population, placed = study.population, study.placed
    rows = []
    for c, context in enumerate(population.contexts):
        for a, action in enumerate(population.actions):
            row: dict[str, Any] = {"station": action, "context": context}
            if plan.allocation is None:
                rows.append({**row, "share": float(plan.distribution[c, a]), "change": None})
                continue
            count = int(plan.allocation[c, a])
            rows.append({**row, "agents": count, "change": None if placed is None else count - int(placed[c, a])})
    return rows


def rows_csv(rows: list[dict[str, Any]]) -> str:
    """Return records as CSV; None is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _amount(row: dict[str, Any]) -> Any:
    return row["agents"] if "agents" in row else row["share"]


def _change(row: dict[str, Any]) -> str:
    return "" if row["change"] is None else f"{row['change']:+d}" if row["change"] else "0"
