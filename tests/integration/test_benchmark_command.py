"""Benchmarks as a user runs them: real processes, killed, continued, on one machine and on a Dask cluster."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TINY = """
summary = "small enough for a test"
[[runs]]
problems = ["swarm", "arena"]
strategies = ["default", "mf-gp-ucb", "random"]
seeds = 2
rounds = 10
"""
LONGER = TINY.replace("rounds = 10", "rounds = 40")
TIMES = ("seconds", "ask_seconds")


def command(*arguments):
    return [sys.executable, "-m", "mfbo", *map(str, arguments)]


def mfbo(*arguments, cwd=None):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=400, check=False, cwd=cwd)


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture
def longer(tmp_path):
    path = tmp_path / "longer.toml"
    path.write_text(LONGER, encoding="utf-8")
    return path


def values(folder):
    """Return everything but times, by file name."""
    found = {}
    for path in (folder / "runs").glob("*.json"):
        record = json.loads(path.read_text())["record"]
        result = {key: value for key, value in record.get("result", {}).items() if key not in TIMES}
        found[path.name] = (record["state"], result)
    return found


def wait_for(condition, seconds=120.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def runs_in(folder):
    return len(list((folder / "runs").glob("*.json")))


def children_of(pid):
    """Return the worker processes under a benchmark (loky's resource tracker does no work)."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                line = Path(f"/proc/{entry}/cmdline").read_text()
                if int(fields[1]) == pid and "resource_tracker" not in line:
                    found.append(int(entry))
    return found


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Results of the longer suite by one process, without any accident."""
    folder = tmp_path_factory.mktemp("unbroken")
    (folder / "longer.toml").write_text(LONGER, encoding="utf-8")
    done = mfbo("benchmark", "--suite", folder / "longer.toml", "--out", folder / "results", "--jobs", 1, "--json")
    assert done.returncode == 0, done.stderr
    return values(folder / "results")


@pytest.mark.slow
def test_a_benchmark_runs_reports_and_does_nothing_twice(suite, tmp_path):
    out = tmp_path / "results"
    done = mfbo("benchmark", "--suite", suite, "--out", out, "--jobs", 2, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    record = json.loads(done.stdout)
    assert (record["runs"], record["found"], record["played"], record["failed"]) == (12, 0, 12, [])
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    again = mfbo("benchmark", "--suite", suite, "--out", out, "--jobs", 2)
    assert again.returncode == 0
    assert "12 of 12 runs found finished" in again.stderr
    assert before == {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}

    reported = mfbo("report", out)
    assert reported.returncode == 0, reported.stderr
    page = (out / "report" / "report.html").read_text(encoding="utf-8")
    for figure in ("best-so-far-swarm", "best-so-far-arena", "arena-histogram-arena-default", "regret-swarm"):
        assert f'alt="{figure}"' in page
    for table in ("final-values", "paired-tests", "rounds-needed", "run-times", "regret", "regret-bound", "provenance"):
        assert f'id="table-{table}"' in page
        assert (out / "report" / f"{table}.csv").read_text().count("\n") >= 2
    assert page.count("data:image/svg+xml;base64,") == page.count("<img")
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "https://" not in page
    assert "@import" not in page
    markdown = (out / "report" / "report.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", markdown):
        assert (out / "report" / target).exists()
    assert not list((out / "report").glob(".mfbo-*"))

    again = mfbo("report", out / "report", "--out", tmp_path / "again")  # a report brings along what it is made of
    assert again.returncode == 0, again.stderr
    for path in (out / "report").glob("*.csv"):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_part_of_a_suite_may_be_run_first_and_the_rest_later(suite, tmp_path):
    out = tmp_path / "results"
    part = mfbo("benchmark", "--suite", suite, "--out", out, "--strategies", "random", "--problems", "arena", "--json")
    assert json.loads(part.stdout)["runs"] == 2
    rest = mfbo("benchmark", "--suite", suite, "--out", out, "--strategies", "random,mf-gp-ucb", "--json")
    record = json.loads(rest.stdout)
    assert (record["runs"], record["found"]) == (8, 2)
    assert mfbo("report", out, "--quiet").returncode == 0
    assert "4 not run yet" in (out / "report" / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_damaged_run_is_run_again_and_the_others_are_not(suite, tmp_path):
    out = tmp_path / "results"
    arguments = ("benchmark", "--suite", suite, "--out", out, "--strategies", "random", "--json")
    mfbo(*arguments)
    expected = values(out)
    victim = next((out / "runs").glob("swarm-random-*seed1*.json"))
    victim.write_bytes(victim.read_bytes()[:300])
    record = json.loads(mfbo(*arguments).stdout)
    assert (record["found"], record["played"]) == (3, 1)
    assert values(out) == expected


@pytest.mark.slow
def test_a_failed_run_is_a_row_with_its_error_and_the_rest_goes_on(tmp_path):
    suite = tmp_path / "failing.toml"
    broken = '[[runs]]\nproblems = ["louvelo"]\nstrategies = ["random"]\nseeds = 2\nrounds = 3\ndata = "broken.csv"\n'
    suite.write_text(TINY + broken, encoding="utf-8")
    (tmp_path / "broken.csv").write_text("this,is\nno,demand\n", encoding="utf-8")
    out = tmp_path / "results"
    arguments = ("benchmark", "--suite", suite, "--out", out, "--strategies", "random", "--jobs", 1)
    done = mfbo(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert len(record["failed"]) == 2
    assert record["runs"] == 6
    assert "broken.csv" in record["failed"][0]["error"]
    assert "--retry-failed" in mfbo(*arguments).stdout
    assert json.loads(mfbo(*arguments, "--json").stdout)["played"] == 0
    assert json.loads(mfbo(*arguments, "--json", "--retry-failed").stdout)["played"] == 2
    assert mfbo("report", out).returncode == 0
    assert "Runs that failed" in (out / "report" / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_killed_in_the_middle_and_run_again_equals_unbroken(longer, tmp_path, unbroken, started):
    out = tmp_path / "results"
    arguments = command("benchmark", "--suite", longer, "--out", out, "--jobs", 2)
    with started(arguments) as process:
        wait_for(lambda: runs_in(out) >= 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        left = runs_in(out)
    assert 3 <= left < 12
    done = mfbo("benchmark", "--suite", longer, "--out", out, "--jobs", 2, "--json")
    assert json.loads(done.stdout)["found"] >= left
    assert values(out) == unbroken


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_worker_changes_nothing(longer, tmp_path, unbroken, started, jobs):
    out = tmp_path / "results"
    with started(command("benchmark", "--suite", longer, "--out", out, "--jobs", jobs)) as process:
        wait_for(lambda: runs_in(out) >= 2)
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        assert process.wait(timeout=300) == 0
    assert values(out) == unbroken


@pytest.mark.slow
def test_workers_of_a_killed_benchmark_end_soon(longer, tmp_path, started):
    out = tmp_path / "results"
    with started(command("benchmark", "--suite", longer, "--out", out, "--jobs", 2)) as process:
        wait_for(lambda: runs_in(out) >= 1)
        workers = children_of(process.pid)
        assert workers
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any(os.path.exists(f"/proc/{worker}") for worker in workers), 60)


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_continue(longer, tmp_path):
    out = tmp_path / "results"
    process = subprocess.Popen(
        command("benchmark", "--suite", longer, "--out", out, "--jobs", 2),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: runs_in(out) >= 2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "the same command continues" in errors
    assert "Traceback" not in errors
    assert runs_in(out) >= 2


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_values(longer, tmp_path, unbroken, cluster):
    done = mfbo("benchmark", "--suite", longer, "--out", tmp_path / "results", "--dask", cluster.address, "--json")
    assert done.returncode == 0, done.stderr
    assert values(tmp_path / "results") == unbroken


@pytest.mark.slow
def test_a_dask_worker_killed_on_the_way_changes_nothing(longer, tmp_path, unbroken, cluster, started):
    out = tmp_path / "results"
    with started(command("benchmark", "--suite", longer, "--out", out, "--dask", cluster.address)) as process:
        wait_for(lambda: runs_in(out) >= 2)
        os.killpg(cluster.workers[0].pid, signal.SIGKILL)
        assert process.wait(timeout=300) == 0
    assert values(out) == unbroken


@pytest.mark.slow
def test_bad_usage_of_benchmark_and_report_gives_one_line(suite, tmp_path):
    (tmp_path / "other").mkdir()
    for arguments, named in (
        (("benchmark", "--suite", "qick"), "'quick'"),
        (("benchmark", "--suite", tmp_path / "none.toml"), "none.toml"),
        (("benchmark", "--suite", suite, "--jobs", "0"), "jobs"),
        (("benchmark", "--suite", suite, "--strategies", "random,defualt"), "'default'"),
        (("report", tmp_path / "other"), "no benchmark results"),
    ):
        done = mfbo(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert named in done.stderr


@pytest.mark.slow
def test_another_suite_into_the_same_folder_is_refused(suite, longer, tmp_path):
    arguments = ("--out", tmp_path / "results", "--strategies", "random", "--problems", "swarm", "--json")
    assert mfbo("benchmark", "--suite", suite, *arguments).returncode == 0
    done = mfbo("benchmark", "--suite", longer, *arguments)
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_a_suite_is_printed_as_toml_that_can_be_run(tmp_path):
    import tomllib

    done = mfbo("benchmark", "--suite", "paper", "--print")
    assert done.returncode == 0
    assert tomllib.loads(done.stdout)["runs"][0]["rounds"] == [250]
