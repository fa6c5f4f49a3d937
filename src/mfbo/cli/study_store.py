"""`mfbo study list, delete, doctor, upgrade`: the storage as a whole."""

import time
from contextlib import closing
from typing import Any

import typer

from mfbo.cli.confirming import agreed
from mfbo.cli.output import print_json, print_table, say
from mfbo.cli.study_commands import Delete, Doctor, ListStudies, Upgrade
from mfbo.errors import DamageError, InvalidInputError, UnknownNameError
from mfbo.storage import Finding, open_storage
from mfbo.storage.addresses import read_address, showable
from mfbo.storage.rules import STUDY

DAMAGED = 1


def list_studies(options: ListStudies) -> None:
    """Print all studies with their sizes."""
    with closing(open_storage(options.storage, create=False)) as storage:
        found = storage.studies()
    if options.json:
        print_json([{"study": s.name, "rounds": s.rounds, "ended": s.ended, "created": s.created} for s in found])
        return
    rows = [[s.name, s.rounds, s.rounds - s.ended, _day(s.created)] for s in found]
    print_table(f"studies in {storage.address}", ["study", "rounds", "open", "created"], rows)


def delete(options: Delete) -> None:
    """Remove a study, after a question."""
    name = options.name
    with closing(open_storage(options.storage, create=False)) as storage:
        rounds = len({event.number for event in storage.events(name)} - {STUDY})
        question = f"Delete study {name!r} with its {rounds} rounds from {storage.address}?"
        if not options.yes and not agreed(question):
            raise InvalidInputError(f"study {name!r} was not deleted; --yes deletes without asking")
        storage.delete(name)
    if options.json:
        print_json({"study": name, "deleted": True, "rounds": rounds})
    elif not options.quiet:
        say(f"study {name!r} deleted")


def doctor(options: Doctor) -> None:
    """Say what is wrong; repair an SQLite file if wished; exit with 1 if damage is left.

    A storage that cannot be reached or read, or is none, is not a damaged one: that is raised.
    """
    address = options.storage
    findings, sound = _findings(address)
    repaired: dict[str, Any] = {}
    file = None if address == "memory" else read_address(address).file
    if findings and file is not None and (options.yes or (not options.json and _agreed_after(findings))):
        from mfbo.storage.repair import repair

        outcome = repair(file)
        repaired = {"backup": str(outcome.backup), "done": outcome.done, "lost": outcome.lost}
        findings, sound = _findings(address)
    if options.json:
        listed = [{"study": finding.study, "problem": finding.problem} for finding in findings]
        print_json({"storage": showable(address), "ok": not findings, "findings": listed, "repair": repaired or None})
    else:
        _say(showable(address), findings, repaired, sound)
    if findings:
        raise typer.Exit(DAMAGED)


def upgrade(options: Upgrade) -> None:
    """Bring the tables up to date."""
    with closing(open_storage(options.storage, create=False)) as storage:
        newer = getattr(storage, "upgrade", None)
        backup = None if newer is None else newer()
    if options.json:
        print_json({"storage": storage.address, "backup": None if backup is None else str(backup)})
    elif not options.quiet:
        say(f"{storage.address} is up to date" + (f"; backup: {backup}" if backup else ""))


def _findings(address: str) -> tuple[list[Finding], str]:
    """Return what is wrong, in the file, in its records, and in what they say together; or else what is there."""
    from mfbo.study.settings import stored_rounds  # loads a study's whole machinery, which a list does without

    try:
        storage = open_storage(address, create=False)
    except DamageError as error:
        return [Finding(None, str(error))], ""
    with closing(storage):
        findings = storage.check()
        sound = [] if findings else storage.studies()
        for study in sound:
            try:
                stored_rounds(study.name, storage)
            except DamageError as error:
                findings.append(Finding(study.name, str(error)))
            except UnknownNameError:  # another process has just deleted it
                continue
    return findings, f"{len(sound)} studies, {sum(study.rounds for study in sound)} rounds"


def _say(address: str, findings: list[Finding], repaired: dict[str, Any], sound: str) -> None:
    if repaired:
        say(f"backup: {repaired['backup']}")
        for line in [*repaired["done"], *repaired["lost"]]:
            say(f"repair: {line}")
    for finding in findings:
        say(f"damage: {finding.study + ': ' if finding.study else ''}{finding.problem}")
    if findings:
        say(f"{address} is damaged; mfbo study doctor --yes repairs what can be repaired, after a backup")
    else:
        say(f"{address} is sound: {sound}")


def _agreed_after(findings: list[Finding]) -> bool:
    for finding in findings:
        say(f"damage: {finding.problem}", error=True)
    return agreed("Repair what can be repaired? A backup is kept.")


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
