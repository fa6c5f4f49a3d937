"""`mfbo show`: a problem and a plan as pictures."""

from pathlib import Path
from typing import Any

from mfbo.arrays import FloatArray
from mfbo.catalogue import make_problem
from mfbo.cli.commands import Show
from mfbo.cli.output import print_json, print_note, say
from mfbo.problems import Problem
from mfbo.sheets import read_plan


def show(options: Show) -> None:
    """Check the plan first, then draw, and say what the plan is worth."""
    problem = make_problem(options.problem, options.data)
    plan = None if options.plan is None else read_plan(options.plan, problem.population, problem=problem.name)
    print_note(problem.note, silent=options.quiet or options.json)
    pictures = _draw(options.out, problem, plan)
    values: dict[str, Any] = {"optimum": None if problem.optimum is None else problem.optimum.value}
    if plan is not None:
        values["payoff"] = problem.mean_field_value(plan)
        values["regret"] = None if problem.optimum is None else problem.optimum.value - values["payoff"]
    if options.json:
        print_json({"problem": problem.name, **values, "pictures": [str(path) for path in pictures]})
        return
    if plan is not None:
        numbers = [f"{key} {values[key]:.6g}" for key in ("payoff", "optimum", "regret") if values[key] is not None]
        say(f"the plan in the mean-field limit: {', '.join(numbers)}")
    for path in pictures:
        say(f"picture: {path}")


def _draw(out: Path, problem: Problem, plan: FloatArray | None) -> list[Path]:
    from mfbo.plotting import (  # takes a second: a plan that is refused need not wait for it
        problem_figures,
        save_figure,
    )

    figures = problem_figures(problem, plan)
    return [file for name, figure in figures.items() for file in save_figure(figure, out / name)]
