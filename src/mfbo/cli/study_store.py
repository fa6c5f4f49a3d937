"""`mfbo study list, delete, doctor, upgrade`: the storage as a whole."""

import sys
import time
from typing import Any

import typer

from mfbo.cli.output import print_json, print_table
from mfbo.errors import InvalidInputError, MfboError
from mfbo.storage import Finding, Storage, open_storage
from mfbo.study import load_study

DAMAGED = 1


def list_studies(address: str, *, json: bool) -> None:
    """Print all studies with their sizes."""
    storage = open_storage(address, create=False)
    found = storage.studies()
    if json:
        print_json([{"study": s.name, "rounds": s.rounds, "ended": s.ended, "created": s.created} for s in found])
        return
    rows = [[s.name, s.rounds, s.rounds - s.ended, _day(s.created)] for s in found]
    print_table(f"studies in {storage.address}", ["study", "rounds", "open", "created"], rows)


def delete(name: str, address: str, *, yes: bool, quiet: bool, json: bool) -> None:
    """Remove a study, after a question."""
    storage = open_storage(address, create=False)
    rounds = len({event.number for event in storage.events(name)})
    question = f"Delete study {name!r} with its {rounds} rounds from {storage.address}?"
    if not yes and not _agreed(question):
        raise InvalidInputError(f"study {name!r} was not deleted; --yes deletes without asking")
    storage.delete(name)
    if json:
        print_json({"study": name, "deleted": True, "rounds": rounds})
    elif not quiet:
        print(f"study {name!r} deleted")


def doctor(address: str, *, yes: bool, json: bool) -> None:
    """Say what is wrong; repair an SQLite file if wished; exit with 1 if damage is left."""
    findings, storage = _findings(address)
    repaired: dict[str, Any] = {}
    if findings and _can_repair(address) and (yes or (not json and _agreed_after(findings))):
        from mfbo.storage.repair import repair

        outcome = repair(_file_of(address))
        repaired = {"backup": str(outcome.backup), "done": outcome.done, "lost": outcome.lost}
        findings, storage = _findings(address)
    if json:
        listed = [{"study": each.study, "problem": each.problem} for each in findings]
        print_json({"storage": address, "ok": not findings, "findings": listed, "repair": repaired or None})
    else:
        _say(address, findings, repaired, storage)
    if findings:
        raise typer.Exit(DAMAGED)


def upgrade(address: str, *, quiet: bool, json: bool) -> None:
    """Bring the tables up to date."""
    storage = open_storage(address, create=False)
    newer = getattr(storage, "upgrade", None)
    backup = None if newer is None else newer()
    if json:
        print_json({"storage": storage.address, "backup": None if backup is None else str(backup)})
    elif not quiet:
        print(f"{storage.address} is up to date" + (f"; backup: {backup}" if backup else ""))


def _findings(address: str) -> tuple[list[Finding], Storage | None]:
    """Return what is wrong: in the file, in its records, and in what they say together."""
    try:
        storage = open_storage(address, create=False)
        findings = storage.check()
        if findings:
            return findings, storage
        for each in storage.studies():
            try:
                load_study(each.name, storage)
            except MfboError as error:  # an unknown strategy is none of the store's business
                if "strategy" not in str(error):
                    findings.append(Finding(each.name, str(error)))
        return findings, storage
    except InvalidInputError:
        raise
    except MfboError as error:
        if "does not exist" in str(error):
            raise
        return [Finding(None, str(error))], None


def _say(address: str, findings: list[Finding], repaired: dict[str, Any], storage: Storage | None) -> None:
    if repaired:
        print(f"backup: {repaired['backup']}")
        for line in [*repaired["done"], *repaired["lost"]]:
            print(f"repair: {line}")
    for each in findings:
        print(f"damage: {each.study + ': ' if each.study else ''}{each.problem}")
    if not findings and storage is not None:
        known = storage.studies()
        print(f"{storage.address} is sound: {len(known)} studies, {sum(each.rounds for each in known)} rounds")
    elif findings:
        print(f"{address} is damaged; mfbo study doctor --yes repairs what can be repaired, after a backup")


def _can_repair(address: str) -> bool:
    return address.startswith("sqlite:///")


def _file_of(address: str) -> str:
    return address.removeprefix("sqlite:///")


def _agreed_after(findings: list[Finding]) -> bool:
    for each in findings:
        print(f"damage: {each.problem}", file=sys.stderr)
    return _agreed("Repair what can be repaired? A backup is kept.")


def _agreed(question: str) -> bool:
    return sys.stdin.isatty() and typer.confirm(question)


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
