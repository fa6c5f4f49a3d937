"""The page of the day: the plan as a map and as a driver's list, why it is this one, and what is otherwise today."""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import UnknownNameError, never_asked
from mfbo.population import Change
from mfbo.records import Round
from mfbo.serve.pages.drawing import Chart, Stop, station_map
from mfbo.serve.pages.views.driving import Place, tour
from mfbo.serve.pages.views.fleet import by_station, coordinates, situation_fields, situation_words, summary
from mfbo.serve.pages.views.why import why
from mfbo.sheets import plan_rows, rows_csv
from mfbo.simplex import Moves
from mfbo.study import Study

VEHICLE = 20  # agents that a van holds, if nobody says otherwise


def today(study: Study, plan: int | None = None, vehicle: int = VEHICLE) -> dict[str, Any]:
    """Return everything of the page; plan: which of the open ones, the latest by default."""
    history = study.history
    asked = open_round(study, plan)
    latest = {} if asked is None else asked.situation
    return {
        "study": summary(study),
        "plan": None if asked is None else _plan(study, asked, vehicle),
        "vehicle": vehicle,
        "others": [_other(one) for one in history.open if asked is None or one.number != asked.number],
        "situation": situation_fields(study, "before", dict(latest)),
        "stations": [_station(study, place) for place in range(len(study.population.actions))],
        "size": study.population.size,
        "day": {} if asked is None else dict(asked.today),
    }


def plan_csv(study: Study, plan: int) -> str:
    """Return an open or ended plan as the sheet that the command line writes."""
    asked = _round(study, plan)
    return rows_csv(plan_rows(asked.plan, study.population, study.moves(asked.plan)))


def open_round(study: Study, plan: int | None) -> Round | None:
    """Return an open round by its number, or the latest one; None if none is open."""
    if plan is None:
        return study.history.open[-1] if study.history.open else None
    return _round(study, plan)


def _round(study: Study, plan: int) -> Round:
    if not 0 <= plan < len(study.rounds):
        raise UnknownNameError(never_asked(plan, len(study.rounds)))
    return study.rounds[plan]


def _plan(study: Study, asked: Round, vehicle: int) -> dict[str, Any]:
    moves = study.moves(asked.plan) if asked.state == "open" else None
    amounts = amounts_of(study, asked)
    change = None if moves is None else by_station(moves.change)
    return {
        "number": asked.number,
        "state": asked.state,
        "worker": asked.lease.worker,
        "expires": asked.lease.expires,
        "situation": situation_words(study, asked),
        "otherwise": otherwise(asked.today),
        "moved": None if moves is None else moves.moved,
        "missing": 0 if moves is None else moves.missing,
        "surplus": 0 if moves is None else moves.surplus,
        "budget": None if study.population.limits is None else study.population.limits.move_budget,
        "map": _map(study, asked, amounts, change),
        "visits": [] if moves is None else _visits(study, moves, vehicle),
        "contexts": len(study.population.contexts) > 1,
        "rows": plan_rows(asked.plan, study.population, moves),
        "why": why(study, asked),
    }


def amounts_of(study: Study, asked: Round) -> FloatArray:
    """Return whole agents at every station (A,), or shares in the mean-field limit."""
    if asked.plan.allocation is not None:
        return by_station(asked.plan.allocation).astype(np.float64)
    return by_station(study.population.joint_shares(asked.plan.distribution))


def _map(study: Study, asked: Round, amounts: FloatArray, change: Any) -> Chart | None:
    """Draw the plan; None if nobody said where stations are."""
    where = coordinates(study)
    if where is None:
        return None
    closed = {*study.population.closed, *asked.today.get("close", ())}
    stops = [
        Stop(
            name,
            float(where.values[place, 0]),
            float(where.values[place, 1]),
            float(amounts[place]),
            None if change is None else int(change[place]),
            name in closed,
        )
        for place, name in enumerate(study.population.actions)
    ]
    return station_map(f"Plan {asked.number}", stops, geographic=where.geographic)


def _visits(study: Study, moves: Moves, vehicle: int) -> list[dict[str, Any]]:
    """Return the tour; a study with contexts has one tour, each stop says how many of which."""
    where = coordinates(study)
    squeeze = 1.0
    if where is not None and where.geographic:
        squeeze = float(np.cos(np.radians(where.values[:, 1].mean())))
    spots = np.zeros((len(study.population.actions), 2)) if where is None else where.values * (squeeze, 1.0)
    change = by_station(moves.change)
    places = [
        Place(name, float(spots[place, 0]), float(spots[place, 1]), int(change[place]))
        for place, name in enumerate(study.population.actions)
    ]
    position = {place: number for number, place in enumerate(places)}
    return [
        {
            "name": None if visit.place is None else visit.place.name,
            "station": None if visit.place is None else position[visit.place],
            "change": visit.change,
            "load": visit.load,
        }
        for visit in tour(places, vehicle)
    ]


def _other(asked: Round) -> dict[str, Any]:
    return {"number": asked.number, "worker": asked.lease.worker}


def _station(study: Study, place: int) -> dict[str, Any]:
    name = study.population.actions[place]
    return {"name": name, "closed": name in study.population.closed}


def otherwise(day: Change) -> list[str]:
    """Say what is otherwise on a day, in short texts."""
    words = [f"{day['size']} agents"] if "size" in day else []
    words += [f"{name} closed" for name in day.get("close", ())]
    most = day.get("capacity", {})
    return words + [f"{name} holds {'any number' if held is None else held}" for name, held in most.items()]
