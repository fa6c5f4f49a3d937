"""Why a plan: what it is expected to gain, what it risks, and what is being tried."""

import math
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import Round
from mfbo.serve.pages.views.fleet import has_model, scale_of, status_quo
from mfbo.strategies.default.guard import GUARD_WORDS
from mfbo.study import Study
from mfbo.study.guard_words import guard_word

NAMED = 3  # stations that are named each way
GUARDED = {"free": "It passed the guard as the strategy wanted it.", **GUARD_WORDS}


def why(study: Study, asked: Round) -> dict[str, Any]:
    """Return what is said about an open plan; without a model, only why there is little to say."""
    history = study.history
    if not history.told:
        return {"known": False, "reason": _first_words(study), "guard": ""}
    if not has_model(study):
        return {"known": False, "reason": f"Strategy {study.strategy.name} has no model to explain with.", "guard": ""}
    scale = scale_of(study, asked)
    said = study.predict(asked.plan.realized, asked.situation)
    found: dict[str, Any] = {
        "known": True,
        "expected": scale * said.mean,
        "half": 2.0 * scale * said.sd,
        "guard": GUARDED.get(guard_word(study, asked.number), ""),
        "risk": history.risk if history.aim == "earn" else None,
        "tried": _tried(study, asked),
        "gain": None,
    }
    base = status_quo(study)
    if base is not None:
        found |= _gain(study, base, asked, scale)
    return found


def _gain(study: Study, base: FloatArray, asked: Round, scale: float) -> dict[str, Any]:
    """Return what the plan brings against the status quo, with its band, and how likely it brings less."""
    means, sds = changes_from(study, base, asked.plan.realized[None], asked.situation)
    mean, sd = float(means[0]), float(sds[0])
    chance = 0.5 * math.erfc(mean / (sd * math.sqrt(2.0))) if sd > 0 else float(mean < 0)
    same = bool(np.allclose(base, asked.plan.realized))
    return {"gain": scale * mean, "gain_half": 2.0 * scale * sd, "worse": None if same else chance, "same": same}


def changes_from(study: Study, base: FloatArray, plans: FloatArray, situation: Any) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (m,) of what plans (m, C, A) bring more than one plan (C, A), per agent."""
    with study.lock:
        posterior = study.strategy.posterior(study.history.in_situation(situation or {}))
        if posterior is None:
            raise AssertionError("asked for only if the strategy has a model")
        mean, variance = posterior.changes(base, plans)
    return mean, np.sqrt(np.maximum(variance, 0.0))


def _tried(study: Study, asked: Round) -> dict[str, Any]:
    """Say how the plan differs from the best one known, and whether it is a step or a test."""
    best = study.recommend(asked.situation or None)
    names = study.population.actions
    change = study.population.joint_shares(asked.plan.realized - best.realized).sum(axis=0)
    size = study.population.size
    amounts = change if size is None else np.rint(change * (asked.size or size))
    order = np.argsort(-amounts, kind="stable")
    more = [(names[place], float(amounts[place])) for place in order[:NAMED] if amounts[place] > 0]
    fewer = [(names[place], float(-amounts[place])) for place in order[::-1][:NAMED] if amounts[place] < 0]
    mean, sd = changes_from(study, best.realized, asked.plan.realized[None], asked.situation)
    words = _words(more, float(mean[0]), float(sd[0]))
    return {"more": more, "fewer": fewer, "words": words, "shares": size is None}


def _words(more: list[tuple[str, float]], mean: float, sd: float) -> str:
    if not more:
        return "The best plan known so far is played again: it earns, and sharpens what is known of it."
    if mean > 0:
        return "A step further: the model expects it to beat the best plan known so far."
    if mean + 2.0 * sd > 0:
        return "A test: the model is unsure here, and what is learned may beat the best plan known so far."
    return "A look at something little known: it is not expected to win today, but says how the others behave."


def _first_words(study: Study) -> str:
    if study.history.aim == "earn":
        return "Nothing has been told yet: the first plan is where the fleet starts, to know what it earns."
    return "Nothing has been told yet: the first plans are spread out, to learn where to look."
