"""`mfbo study export`: all rounds in a file that other programs read."""

from pathlib import Path
from typing import Any

from mfbo.cli.output import STANDARD_OUTPUT, check_out, print_json, say, write_out
from mfbo.cli.study_ask import rows_csv
from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.records import Round
from mfbo.shown_text import json_text
from mfbo.study import Study, load_study

SUFFIXES = (".csv", ".json", ".parquet")


def export(name: str, out: Path, storage: str, *, quiet: bool, json: bool) -> None:
    """Choose the format by the file's ending; on standard output CSV, or JSON if that is wished."""
    to_standard_output = out == STANDARD_OUTPUT
    suffix = out.suffix.casefold() if not to_standard_output else ".json" if json else ".csv"
    if suffix not in SUFFIXES:
        raise InvalidInputError(
            f"--out must end in .csv, .json or .parquet, or be - for standard output, not {str(out)!r}"
        )
    check_out(out)
    study = load_study(name, storage)
    if not study.rounds:
        raise InvalidInputError(f"study {name!r} has no rounds yet")
    write_out(out, {".csv": _csv, ".json": _json, ".parquet": _parquet}[suffix](study))
    if to_standard_output:
        return
    if json:
        print_json({"study": name, "rounds": len(study.rounds), "file": str(out)})
    elif not quiet:
        say(f"{len(study.rounds)} rounds written to {out}")


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
                    "placed_agents": None if each.placed is None else int(each.placed[c, a]),
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
                "start": None if each.start is None else each.start.tolist(),
                "placed": None if each.placed is None else each.placed.tolist(),
                "agents": [] if each.feedback is None else each.feedback.agents,
                "cells": _table(None if each.feedback is None else each.feedback.cells),
                "counts": _table(None if each.feedback is None else each.feedback.counts),
            }
            for each in study.rounds
        ],
    }
    return (json_text(record) + "\n").encode()


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
