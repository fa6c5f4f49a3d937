"""Which event may follow which: the same rules for every storage, checked inside the transaction that writes."""

from collections.abc import Sequence

from mfbo.errors import ConflictError, RoundStateError, UnknownNameError, never_asked
from mfbo.storage.contract import EventKind

END = 1_000_000  # step of the event that ends a round; steps between 0 and it are leases, those above it corrections
STUDY = -1  # the number of events that concern the whole study; their steps count from 1, for step 0 begins a round
CORRECTIONS = ("amended", "withdrawn", "reinstated")
UNSETTLING = (*CORRECTIONS, "changed")  # an ask that was made without knowing one of these is refused

_STATES = {"told": "done", "added": "done", "failed": "failed", "abandoned": "abandoned", "withdrawn": "withdrawn"}
_CORRECTABLE = {"amended": ("done",), "withdrawn": ("done", "failed"), "reinstated": ("withdrawn",)}
_WAYS_OUT = {
    "amended": "only a told plan can be amended",
    "withdrawn": "only a plan that was told or failed can be withdrawn",
    "reinstated": "only a withdrawn plan can be reinstated",
}


def next_step(kind: EventKind, number: int, rounds: int, earlier: Sequence[tuple[int, str]]) -> int:
    """Return the step of a new event within its round, or refuse it.

    rounds: how many rounds the study has. earlier: (step, kind) of this round's events so far. (study, number, step)
    is unique: two processes that would take the same step cannot both succeed.
    """
    if kind == "changed" or number == STUDY:
        return _change_step(kind, number, earlier)
    if kind in ("asked", "added"):
        if number != rounds:
            raise ConflictError(f"round {number} cannot be added: the study has {rounds} rounds")
        return 0
    if not earlier:
        raise UnknownNameError(never_asked(number, rounds))
    step, state = max(earlier)[0], state_after(earlier)
    if kind in CORRECTIONS:
        require_correctable(kind, number, state)
        return max(step, END) + 1
    if state != "open":
        raise RoundStateError(f"plan {number} is already {state}; ask for a new plan to tell more")
    return step + 1 if kind == "leased" else END


def require_correctable(kind: str, number: int, state: str) -> None:
    """Refuse a correction that the state of its round does not allow."""
    if state not in _CORRECTABLE[kind]:
        raise RoundStateError(f"plan {number} is {state}: {_WAYS_OUT[kind]}")


def state_after(earlier: Sequence[tuple[int, str]]) -> str:
    """Return the state of a round after its events, (step, kind) each; corrections included."""
    state = before = "open"
    for _, kind in sorted(earlier):
        if kind == "reinstated":
            state = before
        elif kind in _STATES:
            state, before = _STATES[kind], state
    return state


def check_expected(expected: int | None, sequence: int) -> None:
    """Refuse an event that was made without knowing all earlier ones, where it matters to the writer."""
    if expected is not None and expected != sequence:
        raise ConflictError(f"another process was first: the next record is {sequence}, not {expected}")


def check_known(known: int | None, unsettling: int) -> None:
    """Refuse a draft whose writer does not know the last change or correction; unsettling: its sequence, −1 if none."""
    if known is not None and unsettling >= known:
        raise ConflictError(f"the study was changed or corrected meanwhile, by record {unsettling}")


def _change_step(kind: EventKind, number: int, earlier: Sequence[tuple[int, str]]) -> int:
    if kind != "changed" or number != STUDY:
        raise UnknownNameError(f"an event of kind {kind!r} cannot concern round {number}")
    return 1 + max((step for step, _ in earlier), default=0)
