"""`mfbo show`: a problem and a plan as pictures."""

from pathlib import Path
from typing import Any

from mfbo.arrays import FloatArray
from mfbo.catalogue import make_problem
from mfbo.cli.output import print_json, print_note, say
from mfbo.cli.plan_files import read_plan
from mfbo.problems import Problem


def show(name: str, plan_file: Path | None, data: Path | None, out: Path, *, quiet: bool, json: bool) -> None:
    """Check the plan first, then draw, and say what the plan is worth."""
    problem = make_problem(name, data)
    plan = None if plan_file is None else read_plan(plan_file, problem)
    print_note(problem.note, silent=quiet or json)
    pictures = _draw(out, problem, plan)
    values: dict[str, Any] = {"optimum": None if problem.optimum is None else problem.optimum.value}
    if plan is not None:
        values["payoff"] = problem.mean_field_value(plan)
        values["regret"] = None if problem.optimum is None else problem.optimum.value - values["payoff"]
    if json:
        print_json({"problem": problem.name, **values, "pictures": [str(path) for path in pictures]})
        return
    if plan is not None:
        known = {key: values[key] for key in ("payoff", "optimum", "regret") if values[key] is not None}
        say("the plan in the mean-field limit: " + ", ".join(f"{key} {value:.6g}" for key, value in known.items()))
    for path in pictures:
        say(f"picture: {path}")


def _draw(out: Path, problem: Problem, plan: FloatArray | None) -> list[Path]:
    from mfbo.plotting import draw_problem  # takes a second: a plan that is refused need not wait for it

    return draw_problem(out, problem, plan)
