"""`mfbo report`: tables and figures of a results folder."""

import re
from json import dumps as dump_json
from json import loads as load_json
from pathlib import Path
from tempfile import TemporaryDirectory

from mfbo.cli.output import print_json, print_table
from mfbo.errors import InvalidInputError
from mfbo.experiments import ResultStore
from mfbo.experiments.report import tables as make_tables
from mfbo.experiments.results import Results, load_results
from mfbo.experiments.tables import Table

FIGURES = "figures"
LISTING = "files.json"  # what the report consists of
OWN_FILE = re.compile(rf"(?:{FIGURES}/)?[\w.-]+\.(?:csv|svg)")


def report(folder: Path, out: Path | None, *, quiet: bool, json: bool) -> None:
    """Read, compute, draw, and say where everything is."""
    results = load_results(ResultStore(folder))
    if not results.records:
        raise InvalidInputError(f"{folder} holds no finished run yet: mfbo benchmark --out {folder} makes some")
    tables = make_tables(results)
    target = out or folder / "report"
    written = _write(target, results, tables)
    if json:
        print_json({"report": [str(path) for path in written]})
        return
    if not quiet:
        for table in tables:
            if table.name in ("final-values", "run-times", "failed"):
                print_table(table.title, table.columns, [["–" if v is None else v for v in row] for row in table.rows])
    for path in written:
        if path.suffix in (".html", ".md"):
            print(f"report: {path}")


def _write(target: Path, results: Results, tables: list[Table]) -> list[Path]:
    from mfbo.plotting.page import report_markdown, report_page  # matplotlib takes a second
    from mfbo.plotting.report_figures import draw_all

    try:
        (target / FIGURES).mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".mfbo-", dir=target) as drawing:
            pictures = draw_all(Path(drawing), results)
            texts = {
                "report.html": report_page(results, tables, pictures),
                "report.md": report_markdown(results, tables, pictures, FIGURES),
                **{f"{table.name}.csv": table.to_csv() for table in tables},
            }
            figures = [picture.svg.replace(target / FIGURES / picture.svg.name) for picture in pictures]
        for name, text in texts.items():
            (target / name).write_text(text, encoding="utf-8")
        written = [*(target / name for name in texts), *figures]
        _remove_older(target, [path.relative_to(target).as_posix() for path in written])
    except OSError as error:
        raise InvalidInputError(f"no report can be written into {target}: {error.strerror}") from error
    return written


def _remove_older(target: Path, names: list[str]) -> None:
    """Remove the files of an earlier report that this one does not have, and nothing else."""
    listing = target / LISTING
    try:
        earlier = [str(name) for name in load_json(listing.read_bytes())]
    except (OSError, ValueError, TypeError, RecursionError):
        earlier = []
    for name in earlier:
        if OWN_FILE.fullmatch(name) and name not in names:
            (target / name).unlink(missing_ok=True)
    listing.write_text(dump_json(names, indent=1) + "\n", encoding="utf-8")
