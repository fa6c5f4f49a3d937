"""README blocks and examples are executed; links between documents lead somewhere."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICE = "http://127.0.0.1:8765"


def run_as_tests(paths):
    """Those that import other people's large libraries take longer than the everyday run has time for."""
    return [pytest.param(path, marks=[pytest.mark.slow] * ("bridges" in path.stem), id=path.stem) for path in paths]


EXAMPLES = run_as_tests(sorted((ROOT / "examples").glob("[0-9]*.py")))
HOW_TO_PAGES = run_as_tests(sorted((ROOT / "docs" / "how-to").glob("*.md")))


def python_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_python_blocks_of_the_readme_run_in_order(tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(python_blocks(ROOT / "README.md")), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "[[75 75 75 75]]" in done.stdout


@pytest.mark.parametrize("page", HOW_TO_PAGES)
def test_python_blocks_of_the_how_to_pages_run(page, tmp_path, serve):
    code = "\n".join(python_blocks(page))
    if SERVICE in code:  # it speaks of one that runs
        code = code.replace(SERVICE, serve("memory").url)
    script = tmp_path / "page.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("tutorials/developer"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("tutorials/operator", "tutorials/researcher", "gallery")
        ),
    ],
)
def test_pages_that_the_build_runs_do_run(page, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    shown = importlib.import_module("page_runner").run_page((ROOT / "docs" / f"{page}.md").read_text("utf-8"), tmp_path)
    assert sum(bool(block.text or block.figures) for block in shown) >= 5
    assert all(figure.exists() for block in shown for figure in block.figures)


def test_commands_of_the_readme_exist():
    help_text = subprocess.run(
        [sys.executable, "-m", "mfbo", "--help"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    commands = re.findall(r"^\$ mfbo (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert commands
    for command in commands:
        assert f"  {command}" in help_text


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8"))):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example, tmp_path):
    done = subprocess.run(
        [sys.executable, example], capture_output=True, text=True, timeout=240, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("document", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda p: p.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_equations_cited_in_the_code_stand_in_the_theory():
    theory = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    tags = {int(number) for number in re.findall(r"\\tag\{(\d+)\}", theory)}
    for path in (ROOT / "src").rglob("*.py"):
        for citation in re.findall(r"eqs?\. ((?:\(\d+\)(?:,? and |, | to )?)+)", path.read_text(encoding="utf-8")):
            for number in re.findall(r"\d+", citation):
                assert int(number) in tags, f"{path.name} cites eq. ({number})"


def test_every_equation_of_the_theory_is_cited_in_the_code():
    theory = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    citations = re.findall(r"eqs?\.\s+((?:\(\d+\)(?:,? and |, | to )?)+)", code)
    cited = {number for citation in citations for number in re.findall(r"\d+", citation)}
    for low, high in re.findall(r"\((\d+)\) to \((\d+)\)", " ".join(citations)):
        cited |= {str(number) for number in range(int(low), int(high) + 1)}
    assert [tag for tag in re.findall(r"\\tag\{(\d+)\}", theory) if tag not in cited] == []


def test_equations_stand_in_their_order():
    tags = re.findall(r"\\tag\{(\d+)\}", (ROOT / "docs" / "theory.md").read_text(encoding="utf-8"))
    assert [int(tag) for tag in tags] == list(range(1, len(tags) + 1))


DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_named_in_a_document_are_in_the_repository(document):
    """Paths in backticks, as `benchmarks/walk.py`: from the root, from the package, or a result's own file."""
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|db|csv|json))\b", text)
    for name in named:
        places = (ROOT, ROOT / "src" / "mfbo", document.parent)
        assert any((place / name).exists() for place in places), f"{document.name} names {name}"
    assert not re.search(r"`?(?:\.\./)?shared/\w+\.md", text), f"{document.name} names a folder that is not here"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("0*.md")), ids=lambda path: path.stem)
def test_decisions_have_the_same_headings(page):
    headings = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [heading for heading in headings if heading != "Limits"] == [
        "Situation",
        "Decision",
        "Measurement",
        "Rejected",
    ]


def test_the_paper_is_named():
    for name in ("README.md", "CITATION.cff", "docs/theory.md", "docs/reproduction.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "Mean-Field Bayesian Optimisation" in text
        assert "2502.12315" in text


def test_names_of_modules_do_not_repeat():
    names = [path.name for path in (ROOT / "src").rglob("*.py") if path.name != "__init__.py"]
    assert [name for name in names if names.count(name) > 1] == []


def test_names_in_the_notation_are_those_of_the_code():
    table = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    columns = [row.split("|")[2] for row in table.splitlines() if row.startswith("|") and row.count("|") > 4]
    names = {name for column in columns for name in re.findall(r"`([A-Za-z_]\w+)`", column)} - {"d_x"}
    assert len(names) > 80
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", code)) == []
