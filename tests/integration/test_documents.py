"""README blocks and examples are executed; links between documents lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def python_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_python_blocks_of_the_readme_run_in_order(tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(python_blocks(ROOT / "README.md")), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "[[75 75 75 75]]" in done.stdout


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda path: path.stem)
def test_python_blocks_of_the_how_to_pages_run(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(python_blocks(page)), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
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
