"""`mfbo problems` and `mfbo strategies`."""

from typing import Any

from mfbo.catalogue import listed_problems, listed_strategies, make_problem
from mfbo.cli.commands import Problems, Strategies
from mfbo.cli.output import print_json, print_table


def problems(options: Problems) -> None:
    """List the problems."""
    records: list[dict[str, Any]] = []
    for name in listed_problems():
        problem = make_problem(name)
        contexts, actions = problem.population.shape
        records.append(
            {
                "name": name,
                "agents": problem.population.size,
                "actions": actions,
                "contexts": contexts,
                "feedback": list(problem.feedback),
                "optimum": None if problem.optimum is None else problem.optimum.value,
                "source": problem.source,
                "license": problem.license,
                "summary": problem.summary,
            }
        )
    if options.json:
        print_json(records)
        return
    columns = ["name", "agents", "actions", "contexts", "feedback", "optimum", "source", "summary"]
    shown = [{**row, "agents": row["agents"] or "inf", "feedback": ", ".join(row["feedback"])} for row in records]
    print_table("Problems", columns, [[row[key] for key in columns] for row in shown])


def strategies(options: Strategies) -> None:
    """List the strategies."""
    records = [
        {
            "name": name,
            "searches": entry.searches,
            "library": entry.library,
            "license": entry.license,
            "resumes": entry.resumes,
            "summary": entry.summary,
        }
        for name, entry in listed_strategies().items()
    ]
    if options.json:
        print_json(records)
        return
    rows = [
        ["exactly" if value is True else "no" if value is False else value for value in row.values()] for row in records
    ]
    print_table("Strategies", list(records[0]), rows)
