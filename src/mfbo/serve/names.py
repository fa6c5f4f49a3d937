"""Names of studies in addresses: paths are matched before they are decoded, so a name may hold a slash."""

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Path
from pydantic import AfterValidator

StudyName = Annotated[str, Path(description="The study's name, percent-encoded, slashes too."), AfterValidator(unquote)]
"""A study's name as a parameter of a path."""


def in_path(name: str) -> str:
    """Return a name as one segment of a path."""
    return quote(name, safe="")
