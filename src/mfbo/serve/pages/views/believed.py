"""The model's hyperparameters in words: what of the payoffs is noise, and what the rest depends on."""

from typing import Any

import numpy as np

from mfbo.health import weights_of_situations
from mfbo.models.separable import Separable
from mfbo.serve.pages.views.fleet import scale_of
from mfbo.serve.pages.wording import number, percent
from mfbo.study import Study

FAR = 0.5  # Hellinger distance of plans that differ a lot, up to √2


def believed(study: Study) -> list[tuple[str, str]]:
    """Return (what, in words) for each thing fitted; empty for a strategy whose model says nothing of itself."""
    strategy: Any = study.strategy
    if not hasattr(strategy, "belief"):
        return []
    with study.lock:
        belief = strategy.belief(strategy.as_modeled(study.history))
    process = getattr(belief, "process", None)
    fit, kernel = getattr(process, "fit", None), getattr(process, "kernel", None)
    if fit is None or kernel is None or not hasattr(kernel, "terms"):
        return []
    kernel = kernel.with_further(fit.further)
    values, scale = kernel.values(fit.theta), scale_of(study) * belief.note.fit.scale
    noise = scale * float(belief.noise_variance) ** 0.5
    words = [("Luck of one round", f"about ± {number(noise)} around what its plan earns (one standard deviation).")]
    words += [("What the payoff depends on", _parts(kernel.terms, values.weights))]
    words += _lengths(kernel.terms, values)
    memory = getattr(belief.note.fit, "memory", None)
    words.append(("Memory", _memory(memory)))
    if values.situation is not None and study.history.situations is not None:
        words.append(("Situations", _situations(study, process)))
    return words


def _parts(terms: Any, weights: Any) -> str:
    """Say which kinds of terms carry how much of the prior variance; the constant is only the level."""
    named: dict[str, float] = {}
    for term, weight in zip(terms, np.asarray(weights).tolist(), strict=True):
        if term.role != "constant":
            cells = term.radial.embedding.blocks if isinstance(term, Separable) else 1  # each cell has the weight
            named[_kind(term)] = named.get(_kind(term), 0.0) + weight * cells
    total = sum(named.values())
    if total <= 0:
        return "nothing stands out yet."
    order = sorted(named, key=lambda kind: -named[kind])
    return "; ".join(f"{percent(named[kind] / total)} {kind}" for kind in order) + "."


def _kind(term: Any) -> str:
    if isinstance(term, Separable):
        return "how full each single station is"
    if term.role == "distribution":
        return "the placement as a whole"
    if term.role == "actions":
        return "which station it is"
    if term.role == "contexts":
        return "which kind of agent it is"
    return "how full each station and its neighbors are"


def _lengths(terms: Any, values: Any) -> list[tuple[str, str]]:
    """Say over which distance placements still have to do with one another."""
    found = [
        float(length) * float(term.radial.norm) ** 0.5  # a length is fitted in typical distances of two plans
        for term, length in zip(terms, values.lengths, strict=True)
        if term.name == "hellinger"
    ]
    if not found:
        return []
    which = "plans that differ a lot still" if found[0] > FAR else "only similar plans"
    return [("Reach", f"{which} tell of one another (length {number(found[0])}; two plans are at most 1.41 apart).")]


def _memory(memory: Any) -> str:
    if memory is None:
        return "all rounds count alike: no drift is seen."
    return f"older rounds count less: payoffs drift over about {number(float(memory))} rounds."


def _situations(study: Study, process: Any) -> str:
    situations = study.history.situations
    if situations is None:
        raise AssertionError("asked for only if situations are known")
    weights = weights_of_situations(process)
    order = sorted(weights, key=lambda place: -weights[place])
    listed = ", ".join(f"{situations.variables[place].name} {percent(weights[place])}" for place in order)
    return f"how unlike two usual rounds are that differ in one thing alone: {listed}."
