"""The whole loop in one call: ask, evaluate, tell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mfbo.population import Population
from mfbo.records import Feedback, Plan, Round
from mfbo.study.opening import create_study
from mfbo.study.study import Study
from mfbo.validation import known_name, whole_number


@dataclass(frozen=True, eq=False)
class Result:
    """What ``maximize`` found: the study, its best round, and the plan to keep."""

    study: Study
    best: Round
    recommended: Plan


def maximize(
    payoff: Callable[[Plan], "float | Feedback"],
    population: Population,
    rounds: int,
    *,
    on_error: Literal["stop", "continue"] = "stop",
    progress: Callable[[Round], None] | None = None,
    **study_options: Any,
) -> Result:
    """Ask, call ``payoff(plan)``, tell, ``rounds`` times; options are those of ``create_study``.

    A payoff that raises marks its round failed; then the error is raised ("stop") or the next round asked. A raised
    error, Ctrl-C included, carries the study in its attribute ``study``: nothing told is lost.
    """
    whole_number(rounds, "rounds", least=1)
    known_name(on_error, "on_error", ("stop", "continue"))
    study = create_study(population, **study_options)
    try:
        for _ in range(rounds):
            finished = run_round(study, payoff, on_error=on_error)
            if progress is not None:
                progress(finished)
        return Result(study, study.best, study.recommend())
    except BaseException as error:
        error.study = study  # type: ignore[attr-defined]
        raise


def run_round(
    study: Study,
    payoff: Callable[[Plan], "float | Feedback"],
    *,
    on_error: Literal["stop", "continue"] = "stop",
    situation: Any = None,
) -> Round:
    """Play one round of a study: ask in a situation, call, tell."""
    plan = study.ask(situation=situation)
    try:
        return study.tell(plan, payoff(plan))
    except Exception as error:
        failed = study.fail(plan, f"{type(error).__name__}: {error}")
        if on_error == "stop":
            raise
        return failed
