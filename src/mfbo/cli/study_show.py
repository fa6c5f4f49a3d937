"""`mfbo study show`: rounds, the best plan, the model's health, what to try."""

from shlex import quote
from typing import Any

from mfbo.cli.change_words import change_words
from mfbo.cli.output import counted, print_json, print_table, say
from mfbo.cli.study_ask import GUARDED
from mfbo.cli.study_commands import ShowStudy
from mfbo.cli.study_correct import said
from mfbo.errors import InvalidInputError
from mfbo.health import HealthCheck, health
from mfbo.records import Round, told_payoff
from mfbo.sheets import plan_rows
from mfbo.strategies.default.seen import replicates_disagree
from mfbo.strategies.default.wrong_days import wrong_days
from mfbo.study import Explanation, Study, load_study
from mfbo.study.guard_words import guard_word

TRIES = 5
MARKS = {True: "ok", False: "look", None: "-"}


def show(options: ShowStudy) -> None:
    """Gather everything first, then print it."""
    study = load_study(options.name, options.storage)
    record = gathered(study, max(options.rounds, 0))
    if options.json:
        print_json(record)
        return
    agents = "shares" if study.population.size is None else counted(study.population.size, "agent")
    stations = study.population.shape[1] - len(study.population.closed)
    title = f"study {study.name!r}: {agents}, {counted(stations, 'station')}, strategy {study.strategy.name}, "
    say(f"{title}{counted(len(study.rounds), 'round')}, {len(study.history.told)} told, {len(study.history.open)} open")
    if len(record["changes"]) > TRIES:
        earlier = counted(len(record["changes"]) - TRIES, "earlier change")
        say(f"{earlier}: mfbo study log {quote(study.name)} lists all")
    for change in record["changes"][-TRIES:]:
        say(f"changed before plan {change['before plan']}: {change['change']}")
    if record["rounds"]:
        rows = [[_shown(row[key]) for key in row] for row in record["rounds"]]
        print_table("\nlatest rounds", list(record["rounds"][0]), rows)
    for number in record["left_out"]:
        say(f"plan {number}: the payoff is far from those around it, and the model leaves it out; was it told wrongly?")
    if record["best"] is not None:
        _print_best(record)
        _print_recommended(record)
    checks = [[check["name"], MARKS[check["ok"]], check["message"]] for check in record["health"]]
    print_table("\nhealth", ["check", "", "finding"], checks)
    if record["try"]:
        moved = "a hundredth of the agents" if study.population.size is None else "one agent"
        rows = [[*list(row.values())[:-1], 2.0 * row["gain_sd"]] for row in record["try"]]
        rows = [["" if value is None else value for value in row] for row in rows]
        columns = [*list(record["try"][0])[:-1], "± 2 sd"]
        print_table(f"what to try: {moved} more at … (gain: {record['unit']})", columns, rows)


def gathered(study: Study, latest: int) -> dict[str, Any]:
    """Return all that is shown, in plain values."""
    told = bool(study.history.told)
    explanation = _explained(study) if told else None
    return {
        "study": study.name,
        "strategy": study.strategy.name,
        "told": len(study.history.told),
        "open": [one.number for one in study.history.open],
        "stations": [name for name in study.population.actions if name not in study.population.closed],
        "closed": list(study.population.closed),
        "changes": _changes(study),
        "rounds": _latest(study, latest),
        "left_out": _left_out(study),
        "best": _best(study) if told else None,
        "expected": None if explanation is None else _expected(study, explanation),
        "recommended": _recommended(study) if told else None,
        "health": [_check(check) for check in health(study)],
        "unit": None if explanation is None else explanation.unit + ", of all agents together" * _is_total(study),
        "try": [] if explanation is None else _tries(explanation, _scale(study)),
    }


def _changes(study: Study) -> list[dict[str, Any]]:
    """Return what changed from when on, in words: everything that was said, by whom, why."""
    found, asked = [], 0
    for entry in study.log() if study.history.corrections else ():
        asked += entry.kind in ("asked", "added")
        if entry.kind == "changed":
            author = f" ({entry.by})" * bool(entry.by)
            found.append({"before plan": asked, "change": said(entry) + author})
    return found


def _recommended(study: Study) -> list[dict[str, Any]]:
    plan = study.recommend()
    return plan_rows(plan, study.population, study.moves(plan))


def _left_out(study: Study) -> list[int]:
    """Return the rounds of an earning study whose payoffs were probably told wrongly."""
    told = study.history.told
    noisy = study.history.situations is not None or replicates_disagree(told)
    if study.history.aim != "earn" or not noisy:
        return []
    return [told[place].number for place in wrong_days(told)]


def _best(study: Study) -> dict[str, Any]:
    """Return the best round and what it is the best of: payoffs as told, or, for agents and cells, as expected.

    Payoffs told on different days do not compare, so in a study with situations it is what is expected as well.
    """
    best = study.best
    of = "expected payoff" if best.payoff is None or study.history.situations is not None else "told payoff"
    return {"plan": best.number, "payoff": _payoff(study, best), "of": of, "per agent": best.payoff}


def _expected(study: Study, recommended: Explanation) -> dict[str, Any]:
    scale = _scale(study)
    return {
        "plan": study.best_expected.number,
        "mean": scale * recommended.mean,
        "sd": scale * recommended.sd,
    }


def _is_total(study: Study) -> bool:
    return study.payoff_is == "total"


def _scale(study: Study, one: Round | None = None) -> int:
    """Return what a payoff per agent is multiplied by to be shown: the agents of today, or of a round, for totals."""
    agents = study.population.size if one is None else one.agents(study.population)
    return (agents or 1) if _is_total(study) else 1


def _latest(study: Study, latest: int) -> list[dict[str, Any]]:
    """Return the latest rounds; with situations, what is known of each and what it would be on a usual day."""
    rounds = study.rounds[len(study.rounds) - min(latest, len(study.rounds)) :]
    situations = study.history.situations
    if situations is None:
        return [_row(study, one) for one in rounds]
    above = _above_usual(study)
    rows = []
    for one in rounds:
        row, level = _row(study, one), above.get(one.number)
        row["on a usual day"] = None if row["payoff"] is None or level is None else row["payoff"] - level
        row["situation"] = ", ".join(f"{name}={value}" for name, value in situations.in_words(one.situation).items())
        rows.append(row)
    return rows


def _above_usual(study: Study) -> dict[int, float]:
    """Return by told round how much more its day brings than a usual one, whatever the plan; empty without a model."""
    try:
        levels = study.day_levels() if study.history.told else None
    except InvalidInputError:
        return {}
    if levels is None:
        return {}
    above = _scale(study) * (levels - levels.mean())
    return {done.number: float(level) for done, level in zip(study.history.told, above, strict=True)}


def _row(study: Study, one: Round) -> dict[str, Any]:
    state = "past day" if one.added else one.state
    return {
        "plan": one.number,
        "state": state + ", late" * one.late,
        "payoff": _payoff(study, one),
        "worker": one.lease.worker,
        "note": one.correction or one.error or change_words(one.today) or GUARDED.get(guard_word(study, one.number)),
    }


def _payoff(study: Study, one: Round) -> float | None:
    """Return the told payoff; of agents and cells their mean, or what that makes for all in a study of totals."""
    if one.state != "done":
        return None
    return _scale(study, one) * told_payoff(one) if one.as_told is None else one.as_told


def _check(check: HealthCheck) -> dict[str, Any]:
    return {"name": check.name, "ok": check.ok, "message": check.message, "value": check.value}


def _explained(study: Study) -> Explanation | None:
    try:
        return study.explain()
    except InvalidInputError:  # a strategy without a model has no opinion
        return None


def _tries(explanation: Explanation, scale: int) -> list[dict[str, Any]]:
    """Return the moves that are expected to gain most: possible ones, and only where a gain is expected.

    scale: what payoffs per agent are multiplied by to be shown.
    """
    gainful = [row for row in explanation.rows() if row["gain"] is not None and row["gain"] > 0][:TRIES]
    return [
        {
            "station": row["action"],
            "context": row["context"],
            "share": row["share"],
            "from": row["source"],
            "gain": scale * row["gain"],
            "gain_sd": scale * row["gain_sd"],
        }
        for row in gainful
    ]


def _print_best(record: dict[str, Any]) -> None:
    best, expected = record["best"], record["expected"]
    if best["of"] == "told payoff":
        total = best["payoff"] != best["per agent"]
        words = f"best told payoff{' per agent' * total}: plan {best['plan']}, {_shown(best['per agent'])}"
        say(f"{words} ({_shown(best['payoff']) + ' in all; ' if total else ''}luck included)")
    if expected is not None:
        band = f"{_shown(expected['mean'])} ± {2.0 * expected['sd']:.3g} (2 sd)"
        say(f"highest expected payoff: plan {expected['plan']}, {band}")


def _print_recommended(record: dict[str, Any]) -> None:
    amount = "agents" if "agents" in record["recommended"][0] else "share"
    largest = sorted(record["recommended"], key=lambda row: -row[amount])[:TRIES]
    places = ", ".join(f"{row['station']} {_shown(row[amount])}" for row in largest)
    say(f"recommended, largest first: {places} … (all: --json, or mfbo study plot)")


def _shown(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value
