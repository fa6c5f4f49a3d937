"""One HTML page with all tables and figures inside it; it needs no network and no other file."""

import base64
import html
from collections.abc import Sequence
from urllib.parse import quote

from mfbo.experiments.results import Results
from mfbo.experiments.tables import Table, in_markdown
from mfbo.plotting.report_figures import ReportFigure

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: .3rem; }
table { border-collapse: collapse; font-size: 14px; } th, td { padding: .25rem .6rem; text-align: left; }
th { border-bottom: 2px solid #999; vertical-align: bottom; } td { border-bottom: 1px solid #eee; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } .note, figcaption { color: #555; font-size: 14px; }
figure { margin: 1rem 0; } figure img { max-width: 100%; height: auto; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; } .figures figure { flex: 1 1 480px; }
.figures figure.whole { flex-basis: 100%; }
@media (max-width: 600px) { h1 { font-size: 1.5rem; } .wide td { white-space: nowrap; } }
@media (max-width: 600px) { .figures figure { flex-basis: 100%; } }
"""


def report_page(results: Results, tables: Sequence[Table], pictures: Sequence[ReportFigure]) -> str:
    """Return the whole page; figures are embedded as SVG."""
    suite = results.suite
    title = html.escape(f"Benchmark: {suite.name}")
    parts = [
        f"<h1>{title}</h1>",
        f"<p>{html.escape(suite.summary)}</p>",
        f"<p>{html.escape(counted(results))}</p>",
        *(f"<p>{html.escape(note)}</p>" for note in problem_notes(results)),
    ]
    if suite.protocol:
        parts += ["<h2>Protocol</h2>", f"<p>{html.escape(suite.protocol)}</p>"]
    for section in dict.fromkeys(picture.section for picture in pictures):
        figures = [embedded_figure(picture) for picture in pictures if picture.section == section]
        parts += [f"<h2>{html.escape(section)}</h2>", '<div class="figures">', *figures, "</div>"]
    parts += ["<h2>Tables</h2>", *(table.to_html() for table in tables)]
    return whole_page(title, parts)


def whole_page(title: str, parts: Sequence[str]) -> str:
    """Return a page of parts, which are HTML as the title is; it reads well on a phone too."""
    width = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{width}<title>{title}</title><style>{STYLE}</style>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def report_markdown(results: Results, tables: Sequence[Table], pictures: Sequence[ReportFigure], folder: str) -> str:
    """Return the same as Markdown; figures are files in ``folder``, relative to the text."""
    suite = results.suite
    notes = (in_markdown(note) for note in problem_notes(results))
    summary, protocol = in_markdown(suite.summary), in_markdown(suite.protocol)
    parts = [f"# Benchmark: {in_markdown(suite.name)}", summary, in_markdown(counted(results)), *notes]
    if protocol:
        parts += ["## Protocol", protocol]
    for section in dict.fromkeys(picture.section for picture in pictures):
        parts.append(f"## {in_markdown(section)}")
        for picture in pictures:
            if picture.section == section:
                address = f"{folder}/{quote(picture.name)}.svg"
                parts += [f"![{in_markdown(picture.name)}]({address})", in_markdown(picture.caption)]
    parts += ["## Tables", *(table.to_markdown().strip() for table in tables)]
    return "\n\n".join(part for part in parts if part) + "\n"


def counted(results: Results) -> str:
    """Say how much of the suite is there."""
    done = len(results.records) - len(results.failed)
    text = f"Suite {results.suite.hash}: {done} of {len(results.suite.runs)} runs finished"
    text += f", {len(results.failed)} failed" if results.failed else ""
    return text + (f", {results.missing} not run yet." if results.missing else ".")


def problem_notes(results: Results) -> list[str]:
    """Return what a reader must know of the problems, such as a stand-in for data that do not come with mfbo."""
    notes = {case.problem: case.problem_data.note for case in results.cases if case.problem_data is not None}
    return [f"{problem}: {note}" for problem, note in notes.items() if note]


def embedded_figure(picture: ReportFigure) -> str:
    """Return a figure of a page, the picture inside it."""
    data = base64.b64encode(picture.svg).decode()
    image = f'<img alt="{html.escape(picture.name)}" src="data:image/svg+xml;base64,{data}">'
    kind = ' class="whole"' if picture.whole_width else ""
    return f"<figure{kind}>{image}<figcaption>{html.escape(picture.caption)}</figcaption></figure>"
