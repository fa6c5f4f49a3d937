"""Two million taxi rows: read in memory that does not grow with the file."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

WRITE_TRIPS = runpy.run_path(str(Path(__file__).parents[4] / "benchmarks" / "read_trips.py"))["write_trips"]
MEASURE = """
import re, sys
from mfbo.problems.tables import build_taxi
table = build_taxi(sys.argv[1])
status = open("/proc/self/status").read()  # getrusage counts the parent's memory at the fork too
print(table.details["counts"]["rows"], len(table), int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1024)
"""


@pytest.mark.slow
def test_two_million_rows_in_500_mb(tmp_path):
    pytest.importorskip("resource", reason="peak memory is measured on Unix only")
    path = tmp_path / "yellow.csv"
    WRITE_TRIPS(path)
    run = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
    count, cells, megabytes = (int(number) for number in run.stdout.split())
    assert count == 2_000_000
    assert cells == 10
    assert megabytes < 500
