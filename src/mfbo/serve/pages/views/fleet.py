"""What several pages say of a study's fleet: stations, where they are, in which unit payoffs are shown."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.records import Round, told_payoff
from mfbo.serve.pages.wording import number
from mfbo.situations import SituationValue, SituationVariable
from mfbo.study import Study

STATES = {
    "open": "open",
    "done": "told",
    "failed": "failed",
    "abandoned": "abandoned",
    "withdrawn": "withdrawn",
}


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Where stations are, (A, 2); geographic: in degrees of longitude and latitude."""

    values: FloatArray
    geographic: bool


def coordinates(study: Study) -> Coordinates | None:
    """Return where stations are, if the study knows it."""
    labels = study.population.labels
    return None if labels.places is None else Coordinates(labels.places, labels.geographic)


def summary(study: Study) -> dict[str, Any]:
    """Return what the head of every page of a study says."""
    population = study.population
    return {
        "name": study.name,
        "events": events_seen(study),
        "size": population.size,
        "stations": len(population.actions) - len(population.closed),
        "contexts": list(population.contexts) if len(population.contexts) > 1 else [],
        "strategy": study.strategy.name,
        "aim": study.history.aim,
        "told": len(study.history.told),
        "open": [asked.number for asked in study.history.open],
        "payoff_is": study.payoff_is,
        "unit": "payoff of the whole fleet" if study.payoff_is == "total" else "payoff per agent",
    }


def events_seen(study: Study) -> int:
    """Return how many events the study's log has, so that a page can ask for the later ones alone."""
    if study.storage is None:
        return 0
    ended = sum(one.state != "open" and not one.added for one in study.rounds)
    least = len(study.rounds) + ended  # each was asked or added, and ended: only what comes on top is read
    return least + len(study.storage.events(study.name, least))


def shown_payoff(study: Study, done: Round) -> float:
    """Return a round's payoff as it was told; of agents and cells their mean, or what that makes for all of them."""
    return scale_of(study, done) * told_payoff(done) if done.as_told is None else done.as_told


def scale_of(study: Study, done: Round | None = None) -> float:
    """Return what payoffs per agent are multiplied by to be shown: the agents of a round, if totals are told."""
    if study.payoff_is != "total":
        return 1.0
    if done is not None and done.placed is not None:
        return float(max(int(done.placed.sum()), 1))
    own = None if done is None else done.size
    return float(own or study.population.size or 1)


def has_model(study: Study) -> bool:
    """Tell whether the strategy has a model that can be asked; one without told rounds has nothing to say yet."""
    if not study.history.told:
        return False
    try:
        study.predict(study.history.told[-1].played)
    except InvalidInputError:  # a strategy without a model has no opinion
        return False
    return True


def status_quo(study: Study) -> FloatArray | None:
    """Return what gains are counted from: the plan named, or else the first that was told; None before that."""
    history = study.history
    if history.status_quo is not None:
        return history.status_quo
    return history.told[0].played if history.told else None


def situation_fields(study: Study, when: str, said: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the variables of situations as fields of a form; when: "before" leaves out what is known afterwards."""
    situations = study.history.situations
    if situations is None:
        return []
    values = said or {}
    return [
        {
            "name": variable.name,
            "kind": variable.kind,
            "categories": list(variable.categories),
            "value": variable.shown(values[variable.name]).removesuffix(".0") if variable.name in values else "",
        }
        for variable in situations.variables
        if when == "after" or variable.known == "before"
    ]


def situation_words(study: Study, done: Round) -> str:
    """Return what is known of a round, in words."""
    situations = study.history.situations
    if situations is None:
        return ""
    known = [variable for variable in situations.variables if variable.name in done.situation]
    return ", ".join(f"{variable.name} {_shown(variable, done.situation[variable.name])}" for variable in known)


def _shown(variable: SituationVariable, value: SituationValue) -> str:
    return number(float(value)) if variable.kind == "number" else variable.shown(value)


def by_station(values: Any) -> FloatArray:
    """Return a table (C, A) summed over contexts, (A,)."""
    return np.asarray(np.asarray(values).sum(axis=0))
