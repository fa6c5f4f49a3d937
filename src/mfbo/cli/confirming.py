"""Questions before a command does what cannot be meant without saying so."""

import sys

import typer

from mfbo.errors import InvalidInputError


def agreed(question: str) -> bool:
    """Ask on a terminal; without one nobody can agree."""
    return sys.stdin.isatty() and typer.confirm(question)


def confirm_misfit(wrong: str, *, yes: bool) -> bool:
    """Return whether a counted placement is taken though it does not fit; refuse it if nobody confirms.

    wrong: why it does not fit, empty if it does.
    """
    if wrong and not yes and not agreed(f"{wrong}. Was it counted so?"):
        raise InvalidInputError(f"{wrong}; if it was counted so, --yes keeps it as it is")
    return bool(wrong)


def confirm_counts(wrong: str, *, yes: bool) -> None:
    """Refuse counts by station that contradict what was placed, if nobody confirms them; wrong: as above."""
    if wrong and not yes and not agreed(f"{wrong}. Were so many seen?"):
        raise InvalidInputError(f"{wrong}; tell what was really placed with --placed, or --yes takes it as it is")


def confirm_payoff(doubt: str, *, yes: bool) -> None:
    """Refuse a payoff in doubt if nobody confirms it; doubt: why, empty if there is none."""
    if doubt and not yes and not agreed(f"{doubt}. Is it right?"):
        raise InvalidInputError(f"{doubt}; if it is right, --yes takes it as it is")
