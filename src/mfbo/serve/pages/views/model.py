"""What the model believes: the value of one more agent, slices, its numbers in words, its health, the outlook."""

from typing import Any

import numpy as np

from mfbo.errors import InvalidInputError
from mfbo.health import health
from mfbo.serve.pages.drawing import Bar, Chart, Series, bar_chart, line_chart
from mfbo.serve.pages.views.believed import believed
from mfbo.serve.pages.views.fleet import has_model, scale_of, situation_fields, summary
from mfbo.serve.pages.views.why import changes_from
from mfbo.simplex import with_share
from mfbo.study import Explanation, Study

BARS = 14
SLICES = 3
STEPS = 24  # points of a slice, at most


def model(study: Study, station: str = "", situation: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return everything of the page but the outlook; station: whose slice is shown first; situation: that of it all."""
    stated = read_situation(study, situation or {})
    found: dict[str, Any] = {
        "study": summary(study),
        "health": [(check.name, check.ok, check.message) for check in health(study)],
        "known": has_model(study),
        "stations": list(study.population.actions),
        "station": station,
        "situation": situation_fields(study, "after", stated),
    }
    if not found["known"]:
        return found
    explanation = study.explain(situation=stated or None)
    order = _slice_order(explanation, study, station)
    return found | {
        "expected": scale_of(study) * explanation.mean,
        "half": 2.0 * scale_of(study) * explanation.sd,
        "value": _value(study, explanation),
        "slices": [_slice(study, explanation, place, stated) for place in order],
        "believed": believed(study),
    }


def outlook(study: Study, rounds: int, situation: dict[str, Any] | None = None) -> dict[str, Any]:
    """Play rounds to come against what the model believes, and draw what they gain."""
    stated = read_situation(study, situation or {})
    found = study.outlook(rounds, situation={name: value for name, value in stated.items() if _before(study, name)})
    scale = scale_of(study)
    low, high = found.between()
    middle, half = scale * (low + high) / 2, scale * (high - low) / 2
    x = [float(place) for place in range(1, rounds + 1)]
    chart = line_chart(
        f"The next {rounds} rounds, if what is believed is true",
        [
            Series("eight of ten simulations lie within", "soft", x, middle.tolist(), half.tolist()),
            Series("expected gain", "model", x, (scale * found.mean).tolist()),
        ],
        x_label="round from now",
        y_label="gain a round, against the status quo",
    )
    return {"chart": chart, "noise": scale * found.noise, "dominated": found.dominated_by_noise}


def read_situation(study: Study, stated: dict[str, Any]) -> dict[str, Any]:
    """Return what a form says of a situation, without what it leaves empty."""
    situations = study.history.situations
    if situations is None:
        return {}
    said: dict[str, Any] = {}
    for variable in situations.variables:
        text = str(stated.get(variable.name, "")).strip()
        if text:
            said[variable.name] = _number(text, variable.name) if variable.kind == "number" else text
    return dict(situations.values(said, when="after"))


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInputError(f"situation {name!r} must be a number, not {text!r}") from None


def _before(study: Study, name: str) -> bool:
    situations = study.history.situations
    return situations is not None and situations.by_name[name].known == "before"


def _value(study: Study, explanation: Explanation) -> Chart:
    """Draw what one more agent would change, most gainful first."""
    several = len(study.population.contexts) > 1
    scale = scale_of(study)
    rows = [row for row in explanation.rows() if row["gain"] is not None]
    bars = [
        Bar(
            f"{row['action']} ({row['context']})" if several else row["action"],
            scale * row["gain"],
            2.0 * scale * row["gain_sd"],
            f"from {row['source']}" if row["source"] else "",
        )
        for row in rows
    ]
    one = "a hundredth of the agents" if study.population.size is None else "one agent"
    return bar_chart(
        f"What {one} more would change",
        bars,
        label=f"change of the {summary(study)['unit']}",
        shown=BARS,
        columns=("station", "change", "± 2 sd", "taken from"),
    )


def _slice_order(explanation: Explanation, study: Study, station: str) -> list[int]:
    """Return the stations whose slices are shown: the one asked for, then those where most is to gain or to learn."""
    reach = np.nan_to_num(np.abs(explanation.gain) + 2.0 * explanation.gain_sd).max(axis=0)
    order = [int(place) for place in np.argsort(-reach, kind="stable") if _open(study, int(place))]
    if station in study.population.actions:
        chosen = study.population.actions.index(station)
        order = [chosen, *(place for place in order if place != chosen)]
    return order[:SLICES]


def _open(study: Study, place: int) -> bool:
    return study.population.actions[place] not in study.population.closed


def _slice(study: Study, explanation: Explanation, place: int, situation: dict[str, Any]) -> Chart:
    """Draw the expected payoff against what stands at one station, all others in proportion."""
    plan = explanation.distribution
    here = float(study.population.joint_shares(plan)[:, place].sum())
    shares = _shares(study, place, here)
    plans = np.stack([with_share(plan, study.population.weights, place, share) for share in shares])
    mean, sd = changes_from(study, plan, plans, situation)
    scale, size = scale_of(study), study.population.size
    unit = 1.0 if size is None else float(size)
    payoff = scale * (explanation.mean + mean)
    x = [unit * share for share in shares]
    return line_chart(
        study.population.actions[place],
        [Series("expected payoff", "model", x, payoff.tolist(), (2.0 * scale * sd).tolist())],
        x_label="share here" if size is None else "agents here",
        y_label=summary(study)["unit"],
        marked_x=unit * here,
        whole_x=size is not None,
        height=260.0,
    )


def _shares(study: Study, place: int, here: float) -> list[float]:
    """Return shares of all agents from nobody to three times what the plan has, within the docks."""
    limits, size = study.population.limits, study.population.size
    most = min(max(3.0 * here, 3.0 / len(study.population.actions)), 1.0)
    if limits is not None and size is not None:
        most = min(most, max(float(limits.most[place]) / size, 1.0 / size))
    steps = STEPS if size is None else int(min(STEPS, max(round(most * size), 1)))
    shares = np.linspace(0.0, most, steps + 1)
    return [float(share) for share in (shares if size is None else np.unique(np.rint(shares * size)) / size)]
