"""A whole study in a file, and back: its description and all events of its log, to the bit."""

import json
from typing import Any

from mfbo.errors import InvalidInputError
from mfbo.records import History
from mfbo.storage import Draft, Event, Storage, codec, open_storage
from mfbo.storage.codec import checksum
from mfbo.storage.replay import replayed
from mfbo.study.opening import load_study
from mfbo.study.settings import read_description
from mfbo.study.study import Study
from mfbo.validation import plain_text, said

FORMAT = "mfbo study 1"
COPIED = ("number", "kind", "body", "at")


def archived(study: Study) -> bytes:
    """Return a stored study as lines of JSON: what it was created with, then every event of its log."""
    if study.storage is None:
        raise InvalidInputError(
            "a study without a storage keeps no log to export: give create_study(…, storage=, name=)"
        )
    lines = [_line(event) for event in study.storage.events(study.name)]
    description = study.storage.description(study.name)
    head = {"format": FORMAT, "study": study.name, "description": description, "events": len(lines)}
    whole = {**head, "checksum": checksum(description, *lines)}
    return "".join(f"{line}\n" for line in [codec.to_text(whole), *lines]).encode()


def is_archive(content: bytes) -> bool:
    """Tell whether a file holds a whole study, from its first bytes."""
    return content[:200].lstrip().startswith(b'{"format":"mfbo study')


def restored(content: bytes, storage: Any, name: str | None = None) -> Study:
    """Make a study from its archive, under its old name or another one, and return it."""
    head, events = _read_archive(content)
    store = open_storage(storage)
    return _written(store, str(head["study"]) if name is None else name, head["description"], events)


def copy_study(name: str, new: str, storage: Any, *, until: float | None = None, to: Any = None) -> Study:
    """Copy a stored study under a new name, in its storage or another one (``to``), and return the copy.

    until: seconds since 1970; only what was said up to then, the events before the first later one.
    """
    store = open_storage(storage, create=False)
    events = store.events(plain_text(name, "name"))
    later = (event.sequence for event in events if until is not None and event.at > until)
    events = events[: next(later, len(events))]
    return _written(store if to is None else open_storage(to), new, store.description(name), events)


def _written(store: Storage, name: str, description: str, events: list[Event]) -> Study:
    """Write a study after replaying it; a description alone that a stopped copy left behind is taken up."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(f"the study needs a name, not {said(name)}")
    described = read_description(name, description)
    replayed(History(described.population, situations=described.settings.situations), events)
    half_done = any(found.name == plain_text(name, "name") and found.rounds == 0 for found in store.studies())
    if not half_done or store.description(name) != description or store.events(name):
        store.create(name, description)
    drafts = [Draft(event.kind, event.number, event.body, event.at) for event in events]
    if drafts:
        store.extend(name, drafts, 0)
    return load_study(name, store)


def _read_archive(content: bytes) -> tuple[dict[str, Any], list[Event]]:
    try:
        first, *lines = content.decode("utf-8").split("\n")
        head = json.loads(first)
        lines = [line for line in lines if line]
        if head["format"] != FORMAT:
            raise InvalidInputError(f"the archive has the format {head['format']!r}: a newer mfbo wrote it")
        if len(lines) != head["events"] or head["checksum"] != checksum(head["description"], *lines):
            raise InvalidInputError("the archive is not whole: lines are missing or were changed; export it again")
        events = [Event(sequence, **json.loads(line)) for sequence, line in enumerate(lines)]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"this is not an archive of a study: {error}") from error
    return head, events


def _line(event: Event) -> str:
    return codec.to_text({key: getattr(event, key) for key in COPIED})
