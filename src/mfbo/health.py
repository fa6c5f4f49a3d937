"""Is a study still to be trusted? Numbers only; printing them is the command line's job."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mfbo.arrays import BoolArray, FloatArray
from mfbo.population import Limits, Population
from mfbo.records import Round, told_payoff
from mfbo.situations import Situations
from mfbo.study import Study

FEWEST = 8  # told rounds from which errors and trends mean something
POOR = 1.0  # leave-one-out error, in standard deviations of the payoffs, from which the model knows nothing
DRIFT = 4.0  # t value of a trend in the errors that is not an accident
LATEST = 10  # rounds that are looked at for repeats and tight limits …
REPEATS = 0.3  # … and the share of them that may repeat earlier ones
RARE = 3  # rounds of a category below which little is known of it


@dataclass(frozen=True)
class HealthCheck:
    """One thing looked at; ok: None if there is too little to say; value: the number behind it."""

    name: str
    ok: bool | None
    message: str
    value: float | None = None


def health(study: Study) -> list[HealthCheck]:
    """Return all checks of a study, in a fixed order."""
    with study.lock:
        errors = _errors(study)
    checks = [_model_error(study, errors), _drift(errors), _repeats(study.rounds), _tight_limits(study)]
    situations = study.history.situations
    return checks if situations is None else [*checks, _situations(study, situations)]


@dataclass(frozen=True, eq=False)
class _Errors:
    """Told payoffs minus what other rounds predict, in the order of tells, and how they were predicted."""

    values: FloatArray
    how: str


def _errors(study: Study) -> _Errors | None:
    """Return the model's errors on rounds it has not seen; None without a model or with too few rounds."""
    told = study.history.told
    if len(told) < FEWEST:
        return None
    posterior: Any = study.strategy.posterior(study.history)
    if posterior is None:
        return None
    found = getattr(posterior, "leave_one_out", lambda: None)()
    if found is not None:
        return _Errors(np.asarray(found[0]), "each payoff predicted from the others")
    split = len(told) - max(len(told) // 5, 3)
    earlier = replace(study.history, rounds=tuple(replace(played, notes={}) for played in told[:split]))
    predicted = []
    for later in told[split:]:
        posterior = study.strategy.posterior(earlier.in_situation(later.situation))
        predicted.append(posterior.population(later.played).mean)
    paid = [told_payoff(later) for later in told[split:]]
    return _Errors(np.subtract(paid, predicted), f"the last {len(paid)} rounds predicted from the earlier ones")


def _model_error(study: Study, errors: _Errors | None) -> HealthCheck:
    name = "model error"
    if errors is None:
        return HealthCheck(name, None, f"known from {FEWEST} told rounds on, for strategies with a model")
    spread = float(np.std([told_payoff(told) for told in study.history.told]))
    error = float(np.sqrt(np.mean(errors.values**2)))
    if spread == 0.0:
        return HealthCheck(name, None, "all told payoffs are equal", error)
    message = f"{errors.how}: off by {error:.3g}, payoffs spread by {spread:.3g}"
    message += " (per agent)" * (study.payoff_is == "total")
    if error >= POOR * spread:
        message += "; the model knows little yet, or payoffs are mostly noise"
    return HealthCheck(name, error < POOR * spread, message, error)


def _drift(found: _Errors | None) -> HealthCheck:
    """Look for a straight line in the errors over time: payoffs that change though plans do not."""
    name = "drift"
    if found is None or len(found.values) < FEWEST:
        return HealthCheck(name, None, "too few rounds to see a trend")
    errors = found.values
    time = np.arange(len(errors)) - (len(errors) - 1) / 2
    slope = float(time @ errors / (time @ time))
    rest = errors - errors.mean() - slope * time
    deviation = float(np.sqrt(rest @ rest / (len(errors) - 2) / (time @ time)))
    value = slope / deviation if deviation > 0 else 0.0
    if abs(value) < DRIFT:
        return HealthCheck(name, True, "payoffs do not drift", value)
    way = "rise" if slope > 0 else "fall"
    message = f"payoffs {way} by {abs(slope):.3g} a round beyond what plans explain; consider a new study from now on"
    return HealthCheck(name, False, message, value)


def _situations(study: Study, situations: Situations) -> HealthCheck:
    """Say which variables make rounds differ, and which categories were seen too rarely to know."""
    name = "situations"
    told = study.history.told
    strategy: Any = study.strategy
    if len(told) < FEWEST or not hasattr(strategy, "belief"):
        return HealthCheck(name, None, f"known from {FEWEST} told rounds on, for strategies with a model")
    with study.lock:
        process = strategy.belief(strategy.as_modeled(study.history)).process
        matters, lengths = weights_of_situations(process), lengths_of_situations(process, situations)
        share = level_share(study)
    order = sorted(matters, key=lambda variable: -matters[variable])
    listed = ", ".join(
        f"{situations.variables[place].name} {100 * matters[place]:.0f} %{lengths[place]}" for place in order
    )
    message = f"the day's level is {100 * share:.0f} % of the variance; unlikeness of usual rounds: {listed}"
    rare = _rare(told, situations)
    if rare:
        message += f"; seen fewer than {RARE} times: {', '.join(rare)}"
    return HealthCheck(name, not rare, message, max(matters.values()))


def _rare(told: tuple[Round, ...], situations: Situations) -> list[str]:
    """Return the categories that few rounds had, and the numbers and times that few rounds said."""
    rare = []
    for variable in situations.variables:
        said = [done.situation[variable.name] for done in told if variable.name in done.situation]
        if variable.kind == "category":
            rare += [f"{variable.name}={one}" for one in variable.categories if said.count(one) < RARE]
        elif len(said) < RARE:
            rare.append(variable.name)
    return rare


def level_share(study: Study) -> float:
    """Return which share of the variance of told payoffs the days' levels are, whatever the plans, 0 … 1."""
    payoffs, levels = np.array([told_payoff(done) for done in study.history.told]), study.day_levels()
    if levels is None:
        return 0.0
    by_level, rest = float(np.var(levels)), float(np.var(payoffs - levels))
    return by_level / (by_level + rest) if by_level > 0 else 0.0


def lengths_of_situations(process: Any, situations: Situations) -> dict[int, str]:
    """Return by variable the learned length in words: over which distance days cease to be alike; its position → that.

    In the unit of a number, in months for a time; nothing for a category.
    """
    scale = process.situation_scale()
    lengths = process.kernel.with_further(process.fit.further).values(process.fit.theta).situation.lengths
    words = {}
    for place, variable in enumerate(situations.variables):
        length = float(lengths[place]) * float(scale.unit[place])
        month = " months" if variable.kind == "time" else ""
        words[place] = "" if variable.kind == "category" else f" (length {length:.2g}{month})"
    return words


def weights_of_situations(process: Any) -> dict[int, float]:
    """Return by variable how unlike two usual rounds are that differ in it alone, 0 … 1; its position → that.

    For a category, two different ones; for a number or a time, two values one standard deviation apart.
    """
    model, scale = process.kernel.situation, process.situation_scale()
    lengths = process.kernel.with_further(process.fit.further).values(process.fit.theta).situation.lengths
    found = {}
    for place, count in enumerate(model.categories):
        apart = 2.0 if count else float(scale.spread[place]) ** 2
        found[place] = 1.0 - float(np.exp(-apart / (2.0 * float(lengths[place]) ** 2)))
    return found


def _repeats(rounds: tuple[Round, ...]) -> HealthCheck:
    """Look for plans that were played before, but for those repeated on purpose: the first one, and doubted ones."""
    name = "repeats"
    seen: set[bytes] = set()
    repeated = []
    for played in rounds:
        plan = played.plan.distribution if played.plan.allocation is None else played.plan.allocation
        repeated.append(plan.tobytes() in seen and played.number != 1 and "repeats" not in played.notes)
        seen.add(plan.tobytes())
    latest = repeated[-LATEST:]
    if len(rounds) < FEWEST:
        return HealthCheck(name, None, "too few rounds to see repeats")
    share = sum(latest) / len(latest)
    if share <= REPEATS:
        return HealthCheck(name, True, "plans differ", share)
    message = f"{sum(latest)} of the last {len(latest)} plans were played before; the best plan is probably found"
    return HealthCheck(name, False, message, share)


def _tight_limits(study: Study) -> HealthCheck:
    """Look for actions that were full in every late plan: there the limit decides, not the model."""
    name = "tight limits"
    limits = study.population.limits
    if limits is None:
        return HealthCheck(name, True, "no limits are given")
    filled = [
        played.plan.allocation.sum(axis=0) for played in study.rounds[-LATEST:] if played.plan.allocation is not None
    ]
    if len(filled) < FEWEST:
        return HealthCheck(name, None, "too few rounds to see limits that are always reached")
    full = np.all(np.stack(filled) >= limits.most, axis=0) & _by_capacity(study.population, limits)
    if not full.any():
        return HealthCheck(name, True, "no limit is always reached", 0.0)
    names = [study.population.actions[index] for index in np.flatnonzero(full)]
    listed = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    return HealthCheck(name, False, f"always full: {listed}; more room there may pay", float(full.sum()))


def _by_capacity(population: Population, limits: Limits) -> BoolArray:
    """Return at which actions (A,) the capacity alone keeps more agents away: they are open, and not fixed."""
    wanted = np.minimum(limits.upper, population.context_totals[:, None]).sum(axis=0)
    return np.asarray((limits.most > limits.least) & (limits.most < wanted))
