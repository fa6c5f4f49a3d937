"""`mfbo study ask --situations week.csv`: the plans of several days to come, one for each row, open all at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.output import STANDARD_OUTPUT, check_out, counted, print_json, print_table, say, write_out
from mfbo.cli.study_commands import Ask
from mfbo.errors import InvalidInputError
from mfbo.records import Plan, Round
from mfbo.sheets import plan_rows, read_coming_days, rows_csv
from mfbo.simplex import Moves
from mfbo.situations import Situation, Situations
from mfbo.study import Study, load_study
from mfbo.whole_files import make_folder


@dataclass(frozen=True, eq=False)
class _PlannedDay:
    """One of the days: its plan, what is known of it in words, its sheet, and what leads there from the day before."""

    plan: Plan
    situation: dict[str, str]
    rows: list[dict[str, Any]]
    moves: Moves | None


def ask_week(options: Ask, file: Path) -> None:
    """Ask for all days; asking again with the same file gives the same open plans."""
    _require_nothing_else(options)
    study = load_study(options.name, options.storage)
    situations = study.history.situations
    if situations is None:
        raise InvalidInputError(f"study {options.name!r} knows no situations: declare them when it is created")
    limits = study.population.limits
    if limits is not None and limits.move_budget is not None:
        raise InvalidInputError(
            "a study with a move budget asks day by day: where agents will stand next week is not known yet"
        )
    coming = read_coming_days(file, situations, new_categories=options.new_categories)
    if options.out is not None and _is_one_sheet(options.out):
        check_out(options.out)
    told = [_told(study, situations, options.worker, day) for day in coming]
    coming = [day for day, done in zip(coming, told, strict=True) if done is None]
    if not coming:
        raise InvalidInputError(f"all days of {file} were told already: write the days to come into it")
    open_before = study.history.open
    days = _planned(study, situations, coming, options)
    now = [study.rounds[before.number] for before in open_before]
    abandoned = [f"plan {asked.number} is abandoned: {asked.error}" for asked in now if asked.state == "abandoned"]
    files = _written(options.out, days)
    if options.json:
        over = [done.number for done in told if done is not None]
        print_json({**_record(options.name, days, files, abandoned), "told": over})
        return
    quietly = options.quiet or options.out == STANDARD_OUTPUT
    left_out = [f"plan {done.number} was told: its day is left out" for done in told if done is not None]
    for line in [*left_out, *abandoned]:
        say(line, error=quietly)
    if options.out is None or not quietly:
        _print(study, days, files)


def _planned(study: Study, situations: Situations, coming: Sequence[Situation], options: Ask) -> list[_PlannedDay]:
    """Return a plan for each of the days, which is asked for or open already."""
    days: list[_PlannedDay] = []
    for day, worker in zip(coming, _workers(study, situations, options.worker, coming), strict=True):
        plan = study.ask(worker, situation=day, new_categories=options.new_categories)
        moves = study.moves(plan, after=days[-1].plan if days else None)
        words = (study.history.situations or situations).in_words(study.rounds[plan.number].situation)
        days.append(_PlannedDay(plan, words, plan_rows(plan, study.population, moves), moves))
    return days


def _told(study: Study, situations: Situations, worker: str, day: Situation) -> Round | None:
    """Return the round of a day that was told or failed already: days are the same by their dates and categories."""
    if situations.moment(day) is None:
        return None
    same = [variable.name for variable in situations.variables if variable.kind != "number" and variable.name in day]
    for asked in reversed(study.rounds):
        is_over = asked.state in ("done", "failed") and (asked.lease.worker == worker or _is_of_week(asked, worker))
        if is_over and all(asked.situation.get(name) == day[name] for name in same):
            return asked
    return None


def _workers(study: Study, situations: Situations, worker: str, coming: Sequence[Situation]) -> list[str]:
    """Return by which name each day is asked for: that of its open plan, wherever its row stood, or else a free one.

    The plan of a day that is no longer in the file stays open: it is still to be told.
    """
    held = {str(asked.lease.worker): asked.situation for asked in study.history.open if _is_of_week(asked, worker)}
    names: dict[int, str] = {}
    for row, day in enumerate(coming, start=1):
        as_before = (name for name, known in held.items() if known == day and name not in names.values())
        if (found := next(as_before, None)) is not None:
            names[row] = found
    for row, day in enumerate(coming, start=1):
        taken = {*names.values()}
        rows = (f"{worker}, row {number}" for number in count(row))
        free = next(name for name in rows if name not in taken and name not in held)
        untaken = {name: situations.moment(known) for name, known in held.items() if name not in taken}
        of_day = [name for name, moment in untaken.items() if moment == situations.moment(day)]
        own = [name for name in of_day if name == f"{worker}, row {row}"]
        names.setdefault(row, next(iter([*own, *of_day]), free))
    return [names[row] for row in sorted(names)]


def _is_of_week(asked: Round, worker: str) -> bool:
    """Tell whether a plan is of a row of a sheet that somebody asked with."""
    return asked.lease.worker is not None and asked.lease.worker.startswith(f"{worker}, row ")


def _require_nothing_else(options: Ask) -> None:
    """Refuse what is said of one day alone."""
    if options.json and options.out == STANDARD_OUTPUT:
        raise InvalidInputError("--json and --out - both write to standard output: leave one of them out")
    of_one_day = {
        "--situation": options.situation,
        "--best": options.best or None,
        "--plan": options.plan,
        "--placed": options.placed,
        "--gbfs": options.gbfs,
        "--size": options.size,
        "--closed": options.closed or None,
        "--capacity": options.capacity or None,
    }
    for option, value in of_one_day.items():
        if value is not None:
            raise InvalidInputError(f"--situations is for several days, {option} for one: leave one of them out")


def _is_one_sheet(out: Path) -> bool:
    """Tell whether all days go into one file and not, each in its own, into a folder."""
    return out == STANDARD_OUTPUT or out.suffix.casefold() == ".csv"


def _written(out: Path | None, days: list[_PlannedDay]) -> list[Path]:
    """Write one sheet with all days, or a folder with a sheet for each; return the files."""
    if out is None:
        return []
    if _is_one_sheet(out):
        names = list(dict.fromkeys(name for day in days for name in day.situation))
        rows = []
        for day in days:
            of_day = {f"situation_{name}": day.situation.get(name) for name in names}
            rows += [{"plan": day.plan.number, **of_day, **row} for row in day.rows]
        write_out(out, rows_csv(rows).encode())
        return [out]
    make_folder(out)
    files = []
    for day in days:
        files.append(out / f"plan-{day.plan.number}.csv")
        write_out(files[-1], rows_csv(day.rows).encode())
    return files


def _record(name: str, days: list[_PlannedDay], files: list[Path], abandoned: list[str]) -> dict[str, Any]:
    plans = [
        {
            "plan": day.plan.number,
            "situation": day.situation,
            "rows": day.rows,
            "moved": None if day.moves is None else day.moves.moved,
        }
        for day in days
    ]
    return {"study": name, "plans": plans, "files": [str(path) for path in files], "abandoned": abandoned}


def _print(study: Study, days: list[_PlannedDay], files: list[Path]) -> None:
    """Print the days, and without files a table of all plans side by side."""
    names = list(dict.fromkeys(name for day in days for name in day.situation))
    listed = [
        [
            day.plan.number,
            *(day.situation.get(name, "") for name in names),
            "" if day.moves is None else day.moves.moved,
        ]
        for day in days
    ]
    print_table(f"{counted(len(days), 'plan')} of study {study.name!r}", ["plan", *names, "to move"], listed)
    if not files:
        amount = "share" if study.population.size is None else "agents"
        by_cell: dict[tuple[str, str], dict[int, Any]] = {}
        for day in days:
            for row in day.rows:
                by_cell.setdefault((row["station"], row["context"]), {})[day.plan.number] = row[amount]
        numbers = [day.plan.number for day in days]
        table = [[*cell, *(found.get(number, 0) for number in numbers)] for cell, found in by_cell.items()]
        print_table(amount, ["station", "context", *(f"plan {number}" for number in numbers)], table)
    for path in files:
        say(f"written: {path}")
    say(f"then, every evening: mfbo study tell {quote(study.name)} --plan {days[0].plan.number} --payoff …")
