"""`mfbo study list, delete, doctor, upgrade`: the storage as a whole."""

import time
from contextlib import closing
from typing import Any

import typer

from mfbo.cli.confirming import agreed
from mfbo.cli.output import print_json, print_table, say
from mfbo.errors import DamageError, InvalidInputError, UnknownNameError
from mfbo.storage import Finding, open_storage
from mfbo.storage.addresses import read_address
from mfbo.storage.showing import showable

DAMAGED = 1


def list_studies(address: str, *, json: bool) -> None:
    """Print all studies with their sizes."""
    with closing(open_storage(address, create=False)) as storage:
        found = storage.studies()
    if json:
        print_json([{"study": s.name, "rounds": s.rounds, "ended": s.ended, "created": s.created} for s in found])
        return
    rows = [[s.name, s.rounds, s.rounds - s.ended, _day(s.created)] for s in found]
    print_table(f"studies in {storage.address}", ["study", "rounds", "open", "created"], rows)


def delete(name: str, address: str, *, yes: bool, quiet: bool, json: bool) -> None:
    """Remove a study, after a question."""
    with closing(open_storage(address, create=False)) as storage:
        rounds = len({event.number for event in storage.events(name)})
        question = f"Delete study {name!r} with its {rounds} rounds from {storage.address}?"
        if not yes and not agreed(question):
            raise InvalidInputError(f"study {name!r} was not deleted; --yes deletes without asking")
        storage.delete(name)
    if json:
        print_json({"study": name, "deleted": True, "rounds": rounds})
    elif not quiet:
        say(f"study {name!r} deleted")


def doctor(address: str, *, yes: bool, json: bool) -> None:
    """Say what is wrong; repair an SQLite file if wished; exit with 1 if damage is left.

    A store that cannot be reached or read, or is none, is no damaged store: that is raised.
    """
    findings, sound = _findings(address)
    repaired: dict[str, Any] = {}
    file = None if address == "memory" else read_address(address).file
    if findings and file is not None and (yes or (not json and _agreed_after(findings))):
        from mfbo.storage.repair import repair

        outcome = repair(file)
        repaired = {"backup": str(outcome.backup), "done": outcome.done, "lost": outcome.lost}
        findings, sound = _findings(address)
    if json:
        listed = [{"study": each.study, "problem": each.problem} for each in findings]
        print_json({"storage": showable(address), "ok": not findings, "findings": listed, "repair": repaired or None})
    else:
        _say(showable(address), findings, repaired, sound)
    if findings:
        raise typer.Exit(DAMAGED)


def upgrade(address: str, *, quiet: bool, json: bool) -> None:
    """Bring the tables up to date."""
    with closing(open_storage(address, create=False)) as storage:
        newer = getattr(storage, "upgrade", None)
        backup = None if newer is None else newer()
    if json:
        print_json({"storage": storage.address, "backup": None if backup is None else str(backup)})
    elif not quiet:
        say(f"{storage.address} is up to date" + (f"; backup: {backup}" if backup else ""))


def _findings(address: str) -> tuple[list[Finding], str]:
    """Return what is wrong, in the file, in its records, and in what they say together; or else what is there."""
    from mfbo.study.description import stored_rounds  # loads a study's whole machinery, which a list does without

    try:
        storage = open_storage(address, create=False)
    except DamageError as error:
        return [Finding(None, str(error))], ""
    with closing(storage):
        findings = storage.check()
        known = [] if findings else storage.studies()
        for each in known:
            try:
                stored_rounds(each.name, storage)
            except DamageError as error:
                findings.append(Finding(each.name, str(error)))
            except UnknownNameError:  # another process has just deleted it
                continue
    return findings, f"{len(known)} studies, {sum(each.rounds for each in known)} rounds"


def _say(address: str, findings: list[Finding], repaired: dict[str, Any], sound: str) -> None:
    if repaired:
        say(f"backup: {repaired['backup']}")
        for line in [*repaired["done"], *repaired["lost"]]:
            say(f"repair: {line}")
    for each in findings:
        say(f"damage: {each.study + ': ' if each.study else ''}{each.problem}")
    if findings:
        say(f"{address} is damaged; mfbo study doctor --yes repairs what can be repaired, after a backup")
    else:
        say(f"{address} is sound: {sound}")


def _agreed_after(findings: list[Finding]) -> bool:
    for each in findings:
        say(f"damage: {each.problem}", error=True)
    return agreed("Repair what can be repaired? A backup is kept.")


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
