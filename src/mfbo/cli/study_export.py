"""`mfbo study export`: all rounds in a file that other programs read."""

import json as jsonlib
from pathlib import Path
from typing import Any

from mfbo.cli.output import print_json
from mfbo.cli.study_ask import rows_csv
from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.records import Round
from mfbo.study import Study, load_study
from mfbo.whole_files import write_whole_file

SUFFIXES = (".csv", ".json", ".parquet")


def export(name: str, out: Path, storage: str, *, quiet: bool, json: bool) -> None:
    """Choose the format by the file's ending."""
    if out.suffix not in SUFFIXES:
        raise InvalidInputError(f"--out must end in .csv, .json or .parquet, not {str(out)!r}")
    study = load_study(name, storage)
    if not study.rounds:
        raise InvalidInputError(f"study {name!r} has no rounds yet")
    contents = {".csv": _csv, ".json": _json, ".parquet": _parquet}[out.suffix](study)
    write_whole_file(out, contents)
    if json:
        print_json({"study": name, "rounds": len(study.rounds), "file": str(out)})
    elif not quiet:
        print(f"{len(study.rounds)} rounds written to {out}")


def long_rows(study: Study) -> list[dict[str, Any]]:
    """Return one record for each round and cell; the rounds' own columns are repeated.

    `import` reads the shares and payoffs of finished rounds again.
    """
    rows = []
    population = study.population
    for each in study.rounds:
        played = each.played
        for c, context in enumerate(population.contexts):
            for a, action in enumerate(population.actions):
                cell = {
                    "station": action,
                    "context": context,
                    "planned_agents": None if each.plan.allocation is None else int(each.plan.allocation[c, a]),
                    "share": float(played[c, a]),
                    "cell_payoff": _cell_payoff(each, c, a),
                }
                rows.append({**_round_columns(each), **cell})
    return rows


def _round_columns(each: Round) -> dict[str, Any]:
    return {
        "round": each.number,
        "state": each.state,
        "told": each.told,
        "payoff": each.payoff,
        "late": each.late,
        "past_day": each.added,
        "worker": each.lease.worker,
        "error": each.error or None,
    }


def _cell_payoff(each: Round, context: int, action: int) -> float | None:
    """Return the mean payoff seen in a cell, of cells or of single agents."""
    feedback = each.feedback
    if feedback is None:
        return None
    if feedback.cells is not None:
        value = float(feedback.cells[context, action])
        return None if value != value else value
    seen = [payoff for c, a, payoff in feedback.agents if (c, a) == (context, action)]
    return sum(seen) / len(seen) if seen else None


def _csv(study: Study) -> bytes:
    return rows_csv(long_rows(study)).encode()


def _json(study: Study) -> bytes:
    population = study.population
    record = {
        "study": study.name,
        "strategy": study.strategy.name,
        "seed": study.seed,
        "actions": population.actions,
        "contexts": dict(zip(population.contexts, population.weights.tolist(), strict=True)),
        "agents": population.size,
        "rounds": [
            {
                **_round_columns(each),
                "distribution": each.plan.distribution.tolist(),
                "allocation": None if each.plan.allocation is None else each.plan.allocation.tolist(),
                "realized": None if each.realized is None else each.realized.tolist(),
                "agents": [] if each.feedback is None else each.feedback.agents,
                "cells": _table(None if each.feedback is None else each.feedback.cells),
                "counts": _table(None if each.feedback is None else each.feedback.counts),
            }
            for each in study.rounds
        ],
    }
    return (jsonlib.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _table(values: Any) -> list[list[float | None]] | None:
    if values is None:
        return None
    return [[None if value != value else value for value in row] for row in values.tolist()]


def _parquet(study: Study) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError('Parquet needs pyarrow: pip install "mfbo[data]"') from error
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(long_rows(study)), sink)
    return bytes(sink.getvalue().to_pybytes())
