"""Option types that several commands share."""

from typing import Annotated

import typer

from mfbo.errors import InvalidInputError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Seed = Annotated[int, typer.Option(help="Seed of every random draw.")]
StrategyName = Annotated[str, typer.Option(help="A name from `mfbo strategies`, settings in parentheses.")]


def parse_agents(text: str | None) -> "int | str | None":
    """Read "inf" or a whole number of at least 1."""
    if text is None or text == "inf":
        return text
    try:
        number = int(text)
    except ValueError:
        raise InvalidInputError(f"agents must be a whole number or inf, not {text!r}") from None
    if number < 1:
        raise InvalidInputError(f"agents must be at least 1 or inf, not {number}")
    return number
