"""Many clients, and a server that is killed three times: benchmarks/serve_soak.py in small; it has the full size."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "benchmarks" / "serve_soak.py"
SMALL = ["--clients", "12", "--rounds", "6", "--studies", "4", "--kills", "3", "--strategy", "random"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_round_is_lost_or_doubled_and_no_answer_is_a_fault(kind, tmp_path, postgres_database):
    storage = f"sqlite:///{tmp_path}/studies.db" if kind == "sqlite" else postgres_database()
    command = [sys.executable, SOAK, "--storage", storage, *SMALL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(done.stdout)
    assert (record["told"], record["lost"], record["doubled"]) == (72, 0, 0)
    assert max(map(int, record["statuses"])) < 500
