"""Names as people write them again: which of the known ones a text means."""

import difflib
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial

from mfbo.csv_reader.faults import Reason
from mfbo.shown_text import LONGEST_SHOWN, shortened


class NamedPositions:
    """The positions of names in a list, for texts that may differ from them by case, blanks or the coding of accents.

    A text means the name that is written exactly so; if there is none, the only one that differs by no more than that.
    Texts of a file come without blanks around them: names that differ by those alone cannot be told apart.
    """

    def __init__(self, names: Sequence[str], kind: str) -> None:
        """Take the names, and what they are names of ("station")."""
        self._names = names
        self._kind = kind
        self._exact = {name: (position,) for position, name in enumerate(names)}
        self._by_blanks = _alike(names, str.strip)
        self._by_spelling = _alike(names, _spelled)
        self._by_case = _alike(names, lambda name: _spelled(name).casefold())
        self._unclear: dict[str, Reason] = {}

    def meant(self, text: str) -> tuple[int, ...]:
        """Return the positions that a text may mean."""
        by_blanks = self._by_blanks.get(text, ())
        if len(by_blanks) > 1:
            return by_blanks
        spelled = _spelled(text)
        return (
            self._exact.get(text)
            or by_blanks
            or self._by_spelling.get(spelled)
            or self._by_case.get(spelled.casefold(), ())
        )

    def unclear(self, text: str) -> Reason:
        """Return what says that a text means none or several; one for all its lines, as looking for it takes time."""
        return self._unclear.setdefault(text, partial(self._said, text))

    def _said(self, text: str) -> str:
        shown = repr(shortened(text))
        meant = self.meant(text)
        if meant:
            return f"{self._kind} {shown} may be " + " or ".join(repr(self._names[position]) for position in meant)
        close = difflib.get_close_matches(text[:LONGEST_SHOWN], self._names, n=1)
        return f"unknown {self._kind} {shown}" + (f"; did you mean {close[0].strip()!r}?" if close else "")


def _spelled(name: str) -> str:
    """Return a name with single blanks between its words, and accents coded in one way: spreadsheets change both."""
    return unicodedata.normalize("NFC", " ".join(name.split()))


def _alike(names: Sequence[str], folded: Callable[[str], str]) -> dict[str, tuple[int, ...]]:
    """Return the positions of the names that look the same once folded."""
    positions: dict[str, tuple[int, ...]] = {}
    for position, name in enumerate(names):
        positions[folded(name)] = (*positions.get(folded(name), ()), position)
    return positions
