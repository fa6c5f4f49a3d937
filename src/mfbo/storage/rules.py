"""Which event may follow which: the same rules for every storage, checked inside the transaction that writes."""

from collections.abc import Sequence

from mfbo.errors import ConflictError, RoundStateError, UnknownNameError
from mfbo.storage.contract import EventKind

END = 1_000_000  # step of the event that ends a round; steps between 0 and it are leases

_STATES = {"told": "done", "added": "done", "failed": "failed", "abandoned": "abandoned"}


def next_step(kind: EventKind, number: int, rounds: int, earlier: Sequence[tuple[int, str]]) -> int:
    """Return the step of a new event within its round, or refuse it.

    rounds: how many rounds the study has. earlier: (step, kind) of this round's events so far. (study, number, step)
    is unique: two processes that would take the same step cannot both succeed.
    """
    if kind in ("asked", "added"):
        if number != rounds:
            raise ConflictError(f"round {number} cannot be added: the study has {rounds} rounds")
        return 0
    if not earlier:
        raise UnknownNameError(f"plan {number} was never asked; the study has {rounds} plans")
    step, last = max(earlier)
    if last in _STATES:
        raise RoundStateError(f"plan {number} is already {_STATES[last]}; ask for a new plan to tell more")
    return step + 1 if kind == "leased" else END


def check_expected(expected: int | None, sequence: int) -> None:
    """Refuse an event that was made without knowing all earlier ones, where it matters to the writer."""
    if expected is not None and expected != sequence:
        raise ConflictError(f"another process was first: the next record is {sequence}, not {expected}")
