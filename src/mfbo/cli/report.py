"""`mfbo report`: tables and figures of a results folder."""

import re
from json import dumps as dump_json
from json import loads as load_json
from pathlib import Path

from mfbo.cli.commands import Report
from mfbo.cli.output import print_json, print_table, say
from mfbo.errors import InvalidInputError
from mfbo.experiments import ResultStore
from mfbo.experiments.report_tables import tables as make_tables
from mfbo.experiments.results import Results, load_results
from mfbo.experiments.store import ARCHIVE, SUITE, archived
from mfbo.experiments.tables import Table
from mfbo.given_files import given_bytes
from mfbo.whole_files import make_folder, write_whole_file, write_whole_files, writing

FIGURES = "figures"
LISTING = "files.json"  # what the report consists of
OWN_FILE = re.compile(rf"(?:{FIGURES}/)?[\w.-]+\.(?:csv|svg)")


def report(options: Report) -> None:
    """Read, compute, draw, and say where everything is."""
    folder = options.folder
    results = load_results(ResultStore(folder))
    if not results.records:
        raise InvalidInputError(f"{folder} holds no finished run yet: mfbo benchmark --out {folder} makes some")
    tables = make_tables(results)
    target = options.out or folder / "report"
    written = _write(target, results, tables)
    if options.json:
        print_json({"report": [str(path) for path in written]})
        return
    if not options.quiet:
        for table in tables:
            if table.name in ("final-values", "run-times", "failed"):
                print_table(table.title, table.columns, [["–" if v is None else v for v in row] for row in table.rows])
    for path in written:
        if path.suffix in (".html", ".md"):
            say(f"report: {path}")


def _write(target: Path, results: Results, tables: list[Table]) -> list[Path]:
    from mfbo.plotting.page import report_markdown, report_page  # matplotlib takes a second
    from mfbo.plotting.report_figures import report_figures

    make_folder(target / FIGURES)
    pictures = report_figures(results)
    texts = {
        "report.html": report_page(results, tables, pictures),
        "report.md": report_markdown(results, tables, pictures, FIGURES),
        **{f"{table.name}.csv": table.to_csv() for table in tables},
    }
    contents = {target / name: text.encode() for name, text in texts.items()}
    contents |= {target / FIGURES / f"{picture.name}.svg": picture.svg for picture in pictures}
    contents[target / SUITE] = results.suite.to_json()  # from these two the report can be made again …
    contents[target / ARCHIVE] = archived(results.records)  # … and the benchmark continued
    write_whole_files(contents)
    with writing(target):
        _remove_older(target, [path.relative_to(target).as_posix() for path in contents])
    return list(contents)


def _remove_older(target: Path, names: list[str]) -> None:
    """Remove the files of an earlier report that this one does not have, and nothing else."""
    listing = target / LISTING
    try:
        earlier = [str(name) for name in load_json(given_bytes(listing))]
    except (OSError, ValueError, TypeError, RecursionError):
        earlier = []
    for name in earlier:
        if OWN_FILE.fullmatch(name) and name not in names:
            (target / name).unlink(missing_ok=True)
    write_whole_file(listing, (dump_json(names, indent=1) + "\n").encode())
