"""How a study goes: payoffs by round with what the model expects, gains against the status quo, regret."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import Round
from mfbo.serve.pages.drawing import Chart, Series, line_chart
from mfbo.serve.pages.views.fleet import has_model, scale_of, shown_payoff, situation_words, status_quo, summary
from mfbo.study import Study
from mfbo.validation import finite_number

LATEST = 10  # rounds that a mean of now is taken over


@dataclass(frozen=True, eq=False)
class Path:
    """What was told and expected, in the order of tells, (n,) each, as shown; without a model only what was told.

    base: what the status quo is expected to earn in the situation of every round.
    """

    rounds: tuple[Round, ...]
    told: FloatArray
    mean: FloatArray | None = None
    half: FloatArray | None = None
    base: FloatArray | None = None

    @property
    def x(self) -> list[float]:
        """Told rounds, counted from 1."""
        return [float(place) for place in range(1, len(self.rounds) + 1)]


def progress(study: Study, situation: str = "", optimum: float | None = None) -> dict[str, Any]:
    """Return everything of the page; situation: "variable=category" shows only such rounds; optimum: if known."""
    path = path_of(study)
    chosen = _chosen(study, path, situation)
    charts = [] if not path.rounds else [_payoffs(study, path, chosen)]
    if path.base is not None:
        charts.append(_gains(path))
    if optimum is not None and path.rounds:
        charts.append(_regret(path, optimum))
    return {
        "study": summary(study),
        "charts": charts,
        "figures": figures(path),
        "situation": situation,
        "situations": _choices(study),
        "optimum": optimum,
    }


def path_of(study: Study) -> Path:
    """Return what was told, and expected if there is a model."""
    rounds = study.history.told
    told = np.array([shown_payoff(study, done) for done in rounds])
    if not has_model(study):
        return Path(rounds, told)
    scales = np.array([scale_of(study, done) for done in rounds])
    mean, sd = study.expected()
    base = status_quo(study)
    earned = None if base is None else scales * _earned(study, base, rounds)
    return Path(rounds, told, scales * mean, 2.0 * scales * sd, earned)


def _earned(study: Study, base: FloatArray, rounds: tuple[Round, ...]) -> FloatArray:
    """Return what the status quo would have earned in every round, (n,)."""
    found: dict[tuple[Any, ...], float] = {}
    earned = []
    for done in rounds:
        key = tuple(sorted(done.situation.items()))
        if key not in found:
            found[key] = study.predict(base, done.situation or None).mean
        earned.append(found[key])
    return np.array(earned)


def _payoffs(study: Study, path: Path, chosen: FloatArray) -> Chart:
    shown = np.where(chosen, path.told, np.nan)
    notes = [_note(study, done) for done in path.rounds]
    series = []
    if path.mean is not None and path.half is not None:
        mean = np.where(chosen, path.mean, np.nan)
        series.append(Series("expected of the plan played, ± 2 sd", "model", path.x, mean.tolist(), path.half.tolist()))
    if path.base is not None:
        series.append(Series("status quo, as expected", "base", path.x, np.where(chosen, path.base, np.nan).tolist()))
    amended = np.array([bool(done.correction) for done in path.rounds])
    for name, tone, which in (("told", "told", ~amended), ("told, corrected later", "amended", amended)):
        told = np.where(which, shown, np.nan).tolist()
        series.append(Series(name, tone, path.x, told, kind="points", notes=notes))
    return line_chart("Payoff by round", series, x_label="told round", y_label=summary(study)["unit"])


def _gains(path: Path) -> Chart:
    if path.base is None or path.mean is None:
        raise AssertionError("drawn only with a model")
    told, expected = np.cumsum(path.told - path.base), np.cumsum(path.mean - path.base)
    return line_chart(
        "Gained since the first day, against the status quo",
        [
            Series("as the model expects", "model", path.x, expected.tolist()),
            Series("as told, luck included", "told", path.x, told.tolist()),
        ],
        x_label="told round",
        y_label="payoff gained in all",
    )


def _regret(path: Path, optimum: float) -> Chart:
    """Draw what the best plan would have brought more, by round and for the best so far."""
    series = [Series("missed in the round, as told", "told", path.x, (optimum - path.told).tolist(), kind="points")]
    if path.mean is not None:
        best = (optimum - np.maximum.accumulate(path.mean)).tolist()
        series.insert(0, Series("missed by the best plan so far, as expected", "model", path.x, best, kind="steps"))
    return line_chart("Regret: short of the best possible", series, x_label="told round", y_label="payoff missed")


def figures(path: Path) -> dict[str, Any]:
    """Return a few numbers that say it all; None where there is too little to say."""
    count = len(path.rounds)
    if not count:
        return {"rounds": 0}
    latest = float(path.told[-LATEST:].mean())
    base = None if path.base is None else float(path.base[-LATEST:].mean())
    return {
        "rounds": count,
        "best": float(path.told.max()),
        "latest": latest,
        "averaged": min(LATEST, count),
        "base": base,
        "gain": None if base is None else latest - base,
        "gain_share": None if not base or base <= 0 else latest / base - 1.0,
        "total": None if path.base is None else float((path.told - path.base).sum()),
    }


def _note(study: Study, done: Round) -> str:
    words = [f"plan {done.number}", situation_words(study, done), "late" * done.late]
    return ", ".join(word for word in [*words, done.correction] if word)


def _choices(study: Study) -> list[str]:
    """Return the situations that the chart can be limited to."""
    situations = study.history.situations
    if situations is None:
        return []
    return [f"{variable.name}={category}" for variable in situations.variables for category in variable.categories]


def _chosen(study: Study, path: Path, situation: str) -> FloatArray:
    """Return which rounds are shown, (n,)."""
    if situation not in _choices(study):
        return np.ones(len(path.rounds), dtype=np.bool_)
    name, _, category = situation.partition("=")
    return np.array([done.situation.get(name) == category for done in path.rounds], dtype=np.bool_)


def compared(study: Study) -> dict[str, Any]:
    """Return what a comparison shows of one study: its numbers, and its expected payoffs by round."""
    path = path_of(study)
    best = path.told if path.mean is None else path.mean
    return {
        "study": summary(study),
        "figures": figures(path),
        "x": path.x,
        "best": np.maximum.accumulate(best).tolist() if len(best) else [],
        "gained": [] if path.base is None else np.cumsum(path.told - path.base).tolist(),
    }


def comparison(studies: list[dict[str, Any]]) -> list[Chart]:
    """Draw several studies over one another."""
    shown = [one for one in studies if one["x"]]
    if not shown:
        return []
    best = [
        Series(one["study"]["name"], f"series-{place % 6}", one["x"], one["best"], kind="steps")
        for place, one in enumerate(shown)
    ]
    charts = [line_chart("Best plan so far, as expected", best, x_label="told round", y_label="payoff")]
    gained = [
        Series(one["study"]["name"], f"series-{place % 6}", one["x"], one["gained"])
        for place, one in enumerate(shown)
        if one["gained"]
    ]
    if gained:
        title = "Gained against each one's status quo, as told"
        charts.append(line_chart(title, gained, x_label="told round", y_label="payoff gained in all"))
    return charts


def read_optimum(text: str) -> float | None:
    """Read the best possible payoff, if somebody types one."""
    return finite_number(_as_number(text), "the best possible payoff") if text.strip() else None


def _as_number(text: str) -> Any:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
