"""How an operator's earning study is said on the command line: aim, starting plan, risk."""

from typing import Any

import typer

from mfbo.cli.options import typed_number
from mfbo.errors import InvalidInputError
from mfbo.records import RISK
from mfbo.study.settings import AIMS
from mfbo.validation import known_name


def read_risk_option(text: str | None) -> float | None:
    """Read 5%, 0.05 or none; None by default means the usual risk."""
    if text is None:
        return RISK
    bare = text.strip().casefold()
    if bare == "none":
        return None
    try:
        return typed_number(bare.removesuffix("%")) / (100.0 if bare.endswith("%") else 1.0)
    except typer.BadParameter:
        raise InvalidInputError(f"risk must be a share such as 5% or 0.05, or none, not {text!r}") from None


def chosen_aim(aim: str | None, *, knows_start: bool) -> Any:
    """Return the aim asked for; without one, a study that knows where the fleet is or begins is there to earn."""
    if aim is None:
        return "earn" if knows_start else "find"
    return known_name(aim, "aim", AIMS)


def earning_line(risk: float | None, *, started: bool, placed: bool) -> str:
    """Say what an earning study does."""
    begins = "the starting plan" if started else "where the agents are" if placed else "the first plan"
    risked = "any loss is risked" if risk is None else f"a round risks at most {100.0 * risk:.3g} % of what that earns"
    return f"aim: earn, from {begins} on; {risked} (--aim find explores freely)"
