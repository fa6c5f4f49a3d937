"""What the records after a damaged one still show of a change that it held: how many actions opened, not which.

Actions stand in the order of their appearance, so those of a lost change stand where its record was. If other actions
opened between two damaged records, nobody knows on which side of them the lost ones stand: then nothing is guessed.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from mfbo.errors import MfboError
from mfbo.population import Population
from mfbo.storage import codec
from mfbo.storage.contract import Event
from mfbo.storage.rules import STUDY

LOST = "the record of a change was damaged"
UNREADABLE = (MfboError, KeyError, TypeError, ValueError, AttributeError, IndexError)


def lost_actions(population: Population, events: Sequence[Event]) -> int | None:
    """Return how many actions a lost record before these events opened, as far as the next plan shows it.

    None: some, and nobody knows at which positions.
    """
    missing = opened = 0
    known, last = set(population.actions), events[0].sequence
    opened_before_a_gap = False
    for event in events:
        opened_before_a_gap = opened_before_a_gap or (opened > 0 and event.sequence > last + 1)
        last = event.sequence
        if event.kind == "changed":
            new = [name for name in _change(event).get("open", ()) if name not in known]
            opened += len(new)
            known.update(new)
        missing = max(missing, _columns(event) - len(population.actions) - opened)
        if event.kind in ("asked", "added"):  # these know all changes before them; a tell need not
            break
    return None if missing and opened_before_a_gap else missing


def stand_in(population: Population, count: int, at: float) -> Event:
    """Return a change that opens so many actions and closes them: their names are lost, and where they are."""
    names: list[str] = []
    number = 0
    while len(names) < count:
        number += 1
        names += [f"lost station {number}"] * (f"lost station {number}" not in population.actions)
    middle = None if population.features is None else population.features.mean(axis=0).tolist()
    change: dict[str, Any] = {"open": dict.fromkeys(names, middle), "close": names}
    return Event(0, STUDY, "changed", codec.to_text(codec.change_record("", LOST, change)), at)


def parts(event: Event) -> Iterable[Event]:
    """Return a change as several, one for each thing that it changes; nothing if it cannot be read."""
    try:
        record = codec.from_text(event.body)
        for key, value in record["change"].items():
            body = codec.to_text({**record, "change": {key: value}})
            yield Event(event.sequence, event.number, event.kind, body, event.at)
    except UNREADABLE:
        return


def _change(event: Event) -> dict[str, Any]:
    try:
        return dict(codec.from_text(event.body)["change"])
    except UNREADABLE:
        return {}


def _columns(event: Event) -> int:
    """Return how many actions a record knows of; 0 if it does not say."""
    if event.kind not in ("asked", "added", "told"):
        return 0
    try:
        return int(codec.from_text(event.body)["realized" if event.kind == "told" else "distribution"]["shape"][1])
    except UNREADABLE:
        return 0
