"""The whole loop in one call: ask, evaluate, tell."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mfbo.cards import Card, Shown
from mfbo.parallel import ON_ERROR, ended
from mfbo.population import Population
from mfbo.records import Feedback, Plan, Round
from mfbo.study.opening import create_study
from mfbo.study.stopping import StopWhen
from mfbo.study.study import Study
from mfbo.study.study_card import result_card
from mfbo.validation import known_name, whole_number


@dataclass(frozen=True, eq=False, repr=False)
class Result(Shown):
    """What ``maximize`` found: the study, its best round, and the plan to keep; stopped: why it ended early, if so."""

    study: Study
    best: Round
    recommended: Plan
    stopped: str = ""

    def _card(self) -> Card:
        return result_card(self.study.history, self.best, self.recommended, self.stopped)


def maximize(
    payoff: Callable[[Plan], "float | Feedback"],
    population: Population,
    rounds: int,
    *,
    on_error: Literal["stop", "continue"] = "stop",
    progress: Callable[[Round], None] | None = None,
    callback: Callable[[Study, Round], object] | None = None,
    stop_when: StopWhen | Callable[[Study], object] | None = None,
    **study_options: Any,
) -> Result:
    """Ask, call ``payoff(plan)``, tell, ``rounds`` times; options are those of ``create_study``.

    A payoff that raises marks its round failed; then the error is raised ("stop") or the next round asked. A raised
    error, Ctrl-C included, carries the study in its attribute ``study``: nothing told is lost.
    After every round ``progress(round)`` and ``callback(study, round)`` are called. stop_when: what ends it before all
    rounds are played, ``StopWhen(target=, no_gain=, seconds=)`` or a function of the study that returns something true.
    """
    whole_number(rounds, "rounds", least=1)
    known_name(on_error, "on_error", ON_ERROR)
    study, stopped, began = create_study(population, **study_options), "", time.monotonic()
    try:
        for _ in range(rounds):
            finished = run_round(study, payoff, on_error=on_error)
            if progress is not None:
                progress(finished)
            if callback is not None:
                callback(study, finished)
            stopped = _stopped(stop_when, study, time.monotonic() - began)
            if stopped:
                break
        return Result(study, study.best, study.recommend(), stopped)
    except BaseException as error:
        error.study = study  # type: ignore[attr-defined]
        raise


def _stopped(rule: StopWhen | Callable[[Study], object] | None, study: Study, seconds: float) -> str:
    """Say why to stop; empty to go on."""
    if rule is None:
        return ""
    if isinstance(rule, StopWhen):
        return rule.reason(study.history.told, seconds)
    return "stop_when was true" if rule(study) else ""


def run_round(
    study: Study,
    payoff: Callable[[Plan], "float | Feedback"],
    *,
    on_error: Literal["stop", "continue"] = "stop",
    situation: Any = None,
) -> Round:
    """Play one round of a study: ask in a situation, call, tell."""
    plan = study.ask(situation=situation)
    return ended(study, plan, lambda: payoff(plan), stop=on_error == "stop")
