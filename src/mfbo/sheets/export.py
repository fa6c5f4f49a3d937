"""All rounds of a study in a file that other programs read: CSV, JSON or Parquet; or the study itself, .mfbo."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.records import Round
from mfbo.sheets.plan_sheets import rows_csv
from mfbo.shown_text import json_text
from mfbo.storage.recognition import refuse_store
from mfbo.study import Study, archived
from mfbo.study.round_tables import cell_rows, round_columns
from mfbo.whole_files import writable_target, write_whole_file


def export_study(study: Study, path: str | PathLike[str]) -> None:
    """Write all rounds to a file whose name ends in .csv, .json, .parquet or .mfbo; whole or not at all."""
    target = Path(path)
    content = exported(study, target.suffix.casefold())
    refuse_store(writable_target(target))
    write_whole_file(target, content)


def exported(study: Study, suffix: str) -> bytes:
    """Return the content of the file that ends in a suffix."""
    if suffix not in FORMATS:
        raise InvalidInputError(f"an export ends in {', '.join(FORMATS)}, not in {suffix!r}")
    if not study.rounds and suffix != ".mfbo":
        raise InvalidInputError(f"study {study.name!r} has no rounds yet")
    return FORMATS[suffix](study)


def study_rows(study: Study) -> list[dict[str, Any]]:
    """Return one record for each round and cell; the rounds' own columns are repeated.

    ``read_past_days`` reads the shares and payoffs of finished rounds again.
    """
    return cell_rows(study.rounds, study.population, study.history.situations)


def _number(value: float) -> float | None:
    """Return a number, or None for the NaN of a cell in which nobody was seen."""
    return None if value != value else value


def _csv(study: Study) -> bytes:
    return rows_csv(study_rows(study)).encode()


def _json(study: Study) -> bytes:
    population = study.population
    record = {
        "study": study.name,
        "strategy": study.strategy.name,
        "seed": study.seed,
        "actions": population.actions,
        "contexts": dict(zip(population.contexts, population.weights.tolist(), strict=True)),
        "agents": population.size,
        "rounds": [_round_record(one) for one in study.rounds],
    }
    return (json_text(record) + "\n").encode()


def _round_record(one: Round) -> dict[str, Any]:
    return {
        **round_columns(one),
        "distribution": one.plan.distribution.tolist(),
        "allocation": None if one.plan.allocation is None else one.plan.allocation.tolist(),
        "realized": None if one.realized is None else one.realized.tolist(),
        "start": None if one.start is None else one.start.tolist(),
        "placed": None if one.placed is None else one.placed.tolist(),
        "agents": [] if one.feedback is None else one.feedback.agents,
        "cells": _table(None if one.feedback is None else one.feedback.cells),
        "counts": _table(None if one.feedback is None else one.feedback.counts),
        **({"situation": dict(one.situation)} if one.situation else {}),
    }


def _table(values: Any) -> list[list[float | None]] | None:
    return None if values is None else [[_number(value) for value in row] for row in values.tolist()]


def _parquet(study: Study) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError('Parquet needs pyarrow: pip install "mfbo[data]"') from error
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(study_rows(study)), sink)
    return bytes(sink.getvalue().to_pybytes())


FORMATS: dict[str, Callable[[Study], bytes]] = {
    ".csv": _csv,
    ".json": _json,
    ".parquet": _parquet,
    ".mfbo": archived,  # the study itself: import makes it again
}
