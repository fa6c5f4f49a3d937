"""Changes and corrections survive kill -9 at any moment, and give the plans of a life that was not killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "seed"), [(20, 1), (100, 3)], ids=["20 kills", "100 kills"])
def test_a_killed_life_equals_an_unbroken_one(tmp_path, kills, seed):
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("killed_living_study.py"), tmp_path, str(kills), str(seed)],
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "child:" not in done.stderr
    result = json.loads(done.stdout)
    assert result["ended by themselves"] == 0
    assert result["acknowledged"] > kills / 5  # the kills left it time to do something
    assert (result["lost"], result["different"], result["doctor"]) == ([], [], [])
