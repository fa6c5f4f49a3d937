"""`mfbo study show`: rounds, the best plan, the model's health, what to try."""

from typing import Any

from mfbo.cli.output import print_json, print_table
from mfbo.cli.study_ask import plan_rows
from mfbo.errors import InvalidInputError
from mfbo.health import HealthCheck, health
from mfbo.records import Round, told_payoff
from mfbo.study import Study, load_study

TRIES = 5
MARKS = {True: "ok", False: "look", None: "-"}


def show(name: str, rounds: int, storage: str, *, json: bool) -> None:
    """Gather everything first, then print it."""
    study = load_study(name, storage)
    record = gathered(study, max(rounds, 0))
    if json:
        print_json(record)
        return
    agents = "shares" if study.population.size is None else f"{study.population.size} agents"
    title = f"study {name!r}: {agents}, {study.population.shape[1]} stations, strategy {study.strategy.name}, "
    print(f"{title}{len(study.rounds)} rounds, {len(study.history.told)} told, {len(study.history.open)} open")
    if record["rounds"]:
        rows = [[_shown(row[key]) for key in row] for row in record["rounds"]]
        print_table("\nlatest rounds", list(record["rounds"][0]), rows)
    if record["best"] is not None:
        print(f"best: plan {record['best']['plan']}, payoff {_shown(record['best']['payoff'])}")
        _print_recommended(record)
    checks = [[each["name"], MARKS[each["ok"]], each["message"]] for each in record["health"]]
    print_table("\nhealth", ["check", "", "finding"], checks)
    if record["try"]:
        print_table(
            "what to try: one agent more at …", list(record["try"][0]), [list(r.values()) for r in record["try"]]
        )


def gathered(study: Study, latest: int) -> dict[str, Any]:
    """Return all that is shown, in plain values."""
    told = bool(study.history.told)
    tries = _tries(study) if told else []
    return {
        "study": study.name,
        "strategy": study.strategy.name,
        "told": len(study.history.told),
        "open": [each.number for each in study.history.open],
        "rounds": [_row(each) for each in study.rounds[len(study.rounds) - min(latest, len(study.rounds)) :]],
        "best": {"plan": study.best.number, "payoff": _payoff(study.best)} if told else None,
        "recommended": plan_rows(study, study.recommend()) if told else None,
        "health": [_check(each) for each in health(study)],
        "try": tries,
    }


def _row(each: Round) -> dict[str, Any]:
    state = "past day" if each.added else each.state
    return {
        "plan": each.number,
        "state": state + ", late" * each.late,
        "payoff": _payoff(each),
        "worker": each.lease.worker,
        "note": each.error or None,
    }


def _payoff(each: Round) -> float | None:
    """Return the told payoff; for agents and cells, the mean of what agents got."""
    return told_payoff(each) if each.state == "done" else None


def _check(each: HealthCheck) -> dict[str, Any]:
    return {"name": each.name, "ok": each.ok, "message": each.message, "value": each.value}


def _tries(study: Study) -> list[dict[str, Any]]:
    try:
        rows = study.explain().rows()[:TRIES]
    except InvalidInputError:  # a strategy without a model has no opinion
        return []
    return [{"station": row["action"], **{key: row[key] for key in ("context", "share", "gain")}} for row in rows]


def _print_recommended(record: dict[str, Any]) -> None:
    amount = "agents" if "agents" in record["recommended"][0] else "share"
    largest = sorted(record["recommended"], key=lambda row: -row[amount])[:TRIES]
    places = ", ".join(f"{row['station']} {_shown(row[amount])}" for row in largest)
    print(f"recommended, largest first: {places} … (all: --json, or mfbo study plot)")


def _shown(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value
