"""What a card says of a study and of a result: from what was told alone, without a model."""

from collections.abc import Callable
from functools import partial

import numpy as np

from mfbo.cards import Card, CardTable, amount, in_short, payoff_points
from mfbo.cards.card import ROWS
from mfbo.records import History, Plan, Round, told_payoff
from mfbo.records.placement_card import placement_drawings, placement_table, spread


def study_card(name: str, strategy: str, seed: int, history: History) -> Card:
    """Return the card of a study."""
    told = history.told
    facts = [("strategy", strategy), ("aim", history.aim), ("seed", str(seed))]
    facts.append(("rounds", f"{len(told):,} told, {len(history.open):,} open, {len(history.rounds):,} in all"))
    if history.situations is not None:
        facts.append(("situations", ", ".join(variable.name for variable in history.situations.variables)))
    payoffs = np.array([told_payoff(done) for done in told])
    if told:
        best = told[int(payoffs.argmax())]
        facts.append(("highest told", f"{_paid(best)} in round {best.number}"))
    title = f"Study {in_short(name)!r}" if name else "Study"
    drawings = (partial(payoff_points, payoffs),)
    return Card(f"{title}: {history.population.spoken}", tuple(facts), drawings, _last_rounds(history.rounds))


def result_card(history: History, best: Round, recommended: Plan, stopped: str) -> Card:
    """Return the card of what ``maximize`` found."""
    amounts = (recommended.labels, recommended.realized, recommended.allocation)
    facts = [("best", f"{_paid(best)} in round {best.number}"), ("recommended", spread(*amounts))]
    facts += [("stopped", stopped)] * bool(stopped)
    curve: Callable[[], str] = partial(payoff_points, np.array([told_payoff(done) for done in history.told]))
    drawings = (curve, *placement_drawings(*amounts))
    return Card(f"Result of {len(history.rounds):,} rounds", tuple(facts), drawings, placement_table(*amounts))


def _last_rounds(rounds: tuple[Round, ...]) -> CardTable | None:
    """Return the last rounds, the newest first."""
    if not rounds:
        return None
    rows = [
        (one.number, one.state, _paid(one), ", ".join(f"{name} {value}" for name, value in one.situation.items()))
        for one in rounds[: -ROWS - 1 : -1]
    ]
    if not any(row[3] for row in rows):
        return CardTable(("round", "state", "payoff"), tuple(row[:3] for row in rows), len(rounds) - len(rows))
    return CardTable(("round", "state", "payoff", "situation"), tuple(rows), len(rounds) - len(rows))


def _paid(one: Round) -> str:
    if one.feedback is None:
        return "–"
    return amount(told_payoff(one) if one.as_told is None else one.as_told)
