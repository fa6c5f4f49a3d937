"""Names and reasons that would act on a terminal, in a spreadsheet, in Markdown or in HTML, as commands show them."""

import contextlib
import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbo import Population, create_study
from mfbo.cli import main
from mfbo.experiments.tables import Table, in_markdown
from mfbo.plotting.figures import words
from mfbo.problems.tables import DemandTable, read_demand, write_table
from mfbo.sheets import Faults, read_past_days, read_placed, rows_csv, study_rows
from mfbo.shown_text import as_written, defused, json_text, visible

RED = "\x1b[31m"
HOSTILE = f"A{RED}\x07B\x9b2J\u202ec\x7f|`<b>"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "''+x", "'quoted", "＝1", "plain", "-5", "007"]
TEXTS = st.text(st.sampled_from("=+-@'ab \t＝é"), min_size=1).filter(str.strip)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments)])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return command


def is_harmless(text):
    return not any(letter in text for letter in "\x1b\x07\x9b\x7f\u202e\r")


def test_no_command_lets_a_name_or_a_reason_act_on_the_terminal(run):
    Path("stations.csv").write_text(f'name,x,y\n"{HOSTILE}",0,0\nHarbor,1,0\n')
    name, place = f"s{RED}", f"out{RED}.csv"
    commands = [
        ("create", name, "--actions", "stations.csv", "--agents", 9),
        ("ask", name, "--worker", f"w{RED}\nforged: line"),
        ("tell", name, "--plan", 0, "--failed", f"rain{RED}\nforged: line"),
        ("ask", name, "--out", place),
        ("tell", name, "--plan", 1, "--payoff", 1),
        ("show", name),
        ("show", name, "--json"),
        ("export", name, "--out", place),
        ("export", name, "--out", place, "--json"),
        ("plot", name, "--out", f"drawn{RED}"),
        ("list",),
        ("list", "--json"),
        ("doctor",),
        ("ask", name, "--json"),
        ("tell", name, "--plan", 77, "--payoff", 1),
        ("tell", name, "--plan", 2, "--cells", f"none{RED}"),
        ("ask", f"other{RED}"),
        ("ask", name, f"--nosuch{RED}"),
        ("delete", name, "--yes"),
    ]
    for command in commands:
        code, out, err = run("study", *command)
        assert code in (0, 2), (command, err)
        assert is_harmless(out + err), command
        assert "\nforged" not in out + err
        if "--json" in command:
            json.loads(out)
    code, _, err = run("run", f"swarm{RED}")
    assert code == 2
    assert is_harmless(err)


def test_a_terminal_gets_no_escape_of_a_name_in_a_table_or_a_plan(tmp_path):
    """On a real terminal, where tables have colors of their own."""
    create_study(Population([HOSTILE, "b"], size=3), "random", storage=f"sqlite:///{tmp_path}/mfbo.db", name="s")
    code = (
        "import contextlib; from mfbo.cli import main\n"
        "for more in ([], ['--out', '-'], ['--json']):\n"
        "    with contextlib.suppress(SystemExit): main(['study', 'ask', 's', *more])"
    )
    shown, terminal = pty.openpty()
    done = subprocess.Popen([sys.executable, "-c", code], stdout=terminal, stderr=terminal, cwd=tmp_path)
    os.close(terminal)
    text = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while block := os.read(shown, 65536):
            text += block
    assert done.wait() == 0
    os.close(shown)
    assert text.count(b"31m") == 3, text
    assert RED.encode() not in text
    assert b"\x07" not in text


def test_visible_leaves_names_of_all_scripts_alone():
    for name in ("Café", "Köln ", "北京", "Αθήνα", "نیم\u200cفاصله", "👩\u200d🚀", "a b"):
        assert visible(name) == name
    assert visible("a\x1b[0m\nb\u202e\x85\udc80") == r"a\x1b[0m\nb\u202e\x85\udc80"


@given(st.recursive(st.text(), lambda inner: st.dictionaries(st.text(), inner, max_size=3), max_leaves=5))
def test_json_reads_back_and_shows_nothing_that_acts(record):
    text = json_text(record)
    assert json.loads(text) == record
    assert is_harmless(text)


@given(TEXTS)
def test_a_defused_cell_is_no_formula_and_reads_back(text):
    cell = defused(text)
    assert cell[0] not in "=+-@\t\r\n＝＋－＠"
    assert as_written(cell) == text


def test_numbers_are_not_defused():
    assert [defused(each) for each in (-1, -0.5, None, True)] == [-1, -0.5, None, True]


@given(st.lists(TEXTS.map(str.strip), min_size=2, max_size=4, unique_by=lambda name: name.casefold()))
def test_plan_sheets_and_exports_hold_no_formula_and_are_read_back(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("sheets")
    study = create_study(Population(names, size=5), "random")
    plan = study.ask("-w")
    rows = [
        {"station": name, "context": "all", "agents": int(count)}
        for name, count in zip(names, plan.allocation[0], strict=True)
    ]
    (folder / "plan.csv").write_text(rows_csv(rows))
    faults = Faults()
    assert read_placed(folder / "plan.csv", study.population, faults).tolist() == plan.allocation.tolist()
    study.tell(plan, -1.5)
    (folder / "export.csv").write_text(rows_csv(study_rows(study)))
    days = read_past_days(folder / "export.csv", study.population, faults)
    faults.report()
    assert days[0].distribution.tolist() == plan.realized.tolist()
    assert days[0].payoff == -1.5
    for name in ("plan.csv", "export.csv"):
        for row in csv.DictReader(io.StringIO((folder / name).read_text())):
            assert row["station"][0] not in "=+-@＝"
            assert row.get("worker", "'-w") == "'-w"


def test_tables_are_written_without_formulas_and_read_back(tmp_path):
    table = DemandTable(tuple(FORMULAS), ("x",), [[float(n)] for n in range(len(FORMULAS))], [1.0] * len(FORMULAS))
    path, _ = write_table(table, tmp_path / "t.csv")
    assert read_demand(path).names == tuple(FORMULAS)
    assert not any(line.startswith(("=", "+", "-", "@")) for line in path.read_text().splitlines())


def test_an_exported_plan_runs_nothing_in_a_spreadsheet(run):
    Path("stations.csv").write_text('name,x\n"=HYPERLINK(""http://x"")",0\n-5,1\n')
    assert run("study", "create", "s", "--actions", "stations.csv", "--agents", 9, "--features", "x")[0] == 0
    assert run("study", "ask", "s", "--out", "plan.csv")[0] == 0
    cells = [row["station"] for row in csv.DictReader(Path("plan.csv").read_text().splitlines())]
    assert cells == ['\'=HYPERLINK("http://x")', "'-5"]
    assert run("study", "tell", "s", "--plan", 0, "--payoff", 1, "--placed", "plan.csv")[0] == 0


def test_reports_show_names_as_they_are():
    name = "a|b`c`<script>[x](http://y)*z*\n# t_u_ &amp; \\"
    table = Table("t", name, (name,), ((name,),), name)
    markdown = table.to_markdown()
    assert "<script>" not in markdown
    assert "\n# t" not in markdown
    escaped = in_markdown(name)
    assert escaped == r"a\|b\`c\`&lt;script&gt;\[x\](http://y)\*z\*\\n\# t\_u\_ &amp;amp; \\"
    assert markdown.count(escaped) == 4
    assert "<script>" not in table.to_html()
    assert next(iter(csv.reader(io.StringIO(Table("t", "", ("=c",), (("=1",), (-1,))).to_csv()))))


def test_a_name_with_dollars_is_no_formula_of_a_picture(run):
    Path("stations.csv").write_text("name,x,y\n$\\frac$,0,0\n$a^$ b,1,0\n")
    assert run("study", "create", "$\\s$", "--actions", "stations.csv", "--agents", 9)[0] == 0
    assert run("study", "ask", "$\\s$")[0] == 0
    assert run("study", "tell", "$\\s$", "--plan", 0, "--payoff", 1)[0] == 0
    assert run("study", "plot", "$\\s$", "--out", "drawn")[0] == 0
    assert words("$x\x1b$") == r"\$x\x1b\$"
