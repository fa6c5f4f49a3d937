"""What a command imports is what it costs: the frequent ones load neither solvers nor models they do not need."""

import subprocess
import sys

import pytest

from mfbo import Population, create_study

HEAVY = ("scipy.linalg", "scipy.optimize", "scipy.special", "scipy.sparse", "matplotlib", "pandas", "narwhals", "torch")


@pytest.fixture
def folder(tmp_path):
    for name in ("new", "open"):
        study = create_study(Population(["a", "b", "c"], size=30), storage=f"sqlite:///{tmp_path}/mfbo.db", name=name)
    study.ask("operator")
    study.storage.close()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["list"], (*HEAVY, "mfbo.study", "mfbo.models", "psycopg")),
        (["ask", "new"], (*HEAVY, "psycopg")),
        (["ask", "open"], (*HEAVY, "psycopg")),
    ],
)
def test_a_frequent_command_loads_only_what_it_needs(folder, arguments, unwanted):
    script = f"""
import sys
from mfbo.cli import main
try:
    main({["study", *arguments]!r})
except SystemExit as end:
    assert end.code == 0
sys.exit(", ".join(name for name in {unwanted!r} if name in sys.modules) or 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
