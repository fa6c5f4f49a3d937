"""Where built tables go: targets checked before the long reading, files written whole or not at all."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mfbo.errors import InvalidInputError
from mfbo.problems.tables import Table, sidecar_json, table_csv
from mfbo.whole_files import writable_target, write_whole_files


def table_targets(name: str, tables: Sequence[str], out: Path | None) -> dict[str, Path]:
    """Return the CSV path of each table: NAME.csv here, or ``out``; several tables add their grid to ``out``."""
    if out is None:
        return {table: Path(f"{table}.csv") for table in tables}
    if out.suffix != ".csv":
        raise InvalidInputError(f"--out must be a file that ends in .csv, not {str(out)!r}")
    if len(tables) == 1:
        return {tables[0]: out}
    return {table: out.with_name(f"{out.stem}{table.removeprefix(name)}.csv") for table in tables}


def check_targets(targets: Sequence[Path], raw: Sequence[Path], *, force: bool) -> None:
    """Refuse, before anything is read, what could not be written or must not be overwritten."""
    read = {path.resolve() for path in raw}
    for target in targets:
        if not target.parent.is_dir():
            raise InvalidInputError(f"the folder {target.parent} does not exist; make it first")
        for path in (target, target.with_suffix(".json")):
            if writable_target(path) in read:
                raise InvalidInputError(f"{path} is one of the raw files; choose another name by --out")
            if path.exists() and not force:
                raise InvalidInputError(f"{path} is already there; overwrite it by --force or choose another by --out")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise InvalidInputError(f"no permission to write into the folder {target.parent}")


def write_whole(tables: Mapping[str, Table], targets: Mapping[str, Path]) -> dict[str, tuple[Path, Path]]:
    """Write CSV and sidecar of each table; an error leaves the files that were there as they were."""
    contents: dict[Path, bytes] = {}
    for name, table in tables.items():
        contents[targets[name]] = table_csv(table).encode()
        contents[targets[name].with_suffix(".json")] = sidecar_json(table).encode()
    write_whole_files(contents)
    return {name: (targets[name], targets[name].with_suffix(".json")) for name in tables}
