"""The command line as a user meets it: exit codes, what goes to which stream, real processes where they matter."""

import json
import signal
import subprocess
import sys

import pytest


def mfbo(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "mfbo", *arguments], capture_output=True, text=True, timeout=240, check=False, cwd=cwd
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("run", "swarm", "--rounds", "0"), "0"),
        (("run", "swarm", "--rounds", "many"), "'--rounds'"),
        (("run", "swarm", "--agents", "-3"), "-3"),
        (("run", "swarm", "--agents", "some"), "'some'"),
        (("run", "swarm", "--feedback", "agents:0"), "'agents:0'"),
        (("run", "swarm", "--strategy", "defualt"), "'default'"),
        (("run", "swarm", "--allocation", "dice"), "'dice'"),
        (("run", "swarm", "--noise", "-1"), "-1"),
        (("run", "swarm", "--known-noise"), "--noise"),
        (("run", "swarm", "--nosuch"), "--nosuch"),
        (("nosuch",), "nosuch"),
        (("bounds", "--rounds", "0"), "0"),
        (("bounds", "--a", "0.001"), "larger a"),
    ],
)
def test_bad_usage_gives_one_line_on_standard_error_and_exit_code_2(mfbo_command, arguments, named):
    code, out, err = mfbo_command(*arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert named in err


def test_a_process_ends_with_the_exit_code_and_the_line():
    done = mfbo("run", "nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mfbo: unknown problem 'nosuch'")


def test_run_with_json_prints_one_object_and_nothing_else():
    done = mfbo("run", "swarm", "--rounds", "6", "--agents", "inf", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    record = json.loads(done.stdout)
    expected = (
        "problem strategy rounds seed agents actions contexts feedback optimum best_value regret recommended_value "
        "trace cumulative_regret seconds ask_seconds"
    )
    assert set(expected.split()) <= set(record)
    assert record["agents"] == "inf"
    assert len(record["trace"]) == 6
    assert record["trace"] == sorted(record["trace"])
    assert record["regret"] == pytest.approx(record["optimum"] - record["best_value"])


def test_run_is_reproducible():
    first, second = (json.loads(mfbo("run", "arena", "--rounds", "5", "--json").stdout) for _ in range(2))
    for record in (first, second):
        del record["seconds"], record["ask_seconds"]
    assert first == second


def test_progress_goes_to_standard_error_and_quiet_silences_it():
    talking = mfbo("run", "swarm", "--rounds", "4", "--strategy", "random")
    silent = mfbo("run", "swarm", "--rounds", "4", "--strategy", "random", "--quiet")
    assert "round 4 of 4" in talking.stderr
    assert "optimum" in talking.stdout
    assert silent.stderr == ""
    assert silent.stdout == talking.stdout or "optimum" in silent.stdout


@pytest.mark.parametrize("command", ["problems", "strategies", "bounds"])
def test_listings_come_as_a_table_and_as_json(mfbo_command, command):
    code, table, _ = mfbo_command(command)
    assert code == 0
    assert table
    assert json.loads(mfbo_command(command, "--json")[1])


def test_bounds_prints_the_pinned_numbers(mfbo_command):
    record = json.loads(mfbo_command("bounds", "--actions", 30, "--contexts", 2, "--rounds", 250, "--json")[1])
    assert record["beta_T"] == pytest.approx(2037.573980)
    assert record["corrected_B"] == pytest.approx(382.8527108)
    assert [row["algorithm"] for row in record["regret_orders"]] == [
        "GP-UCB",
        "Add-GP-UCB",
        "MF-GP-UCB",
        "MF-GP-UCB (additive)",
    ]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_no_numeric_module(option):
    script = f"""
import sys
from mfbo.cli import main
try:
    main([{option!r}])
except SystemExit as exit:
    assert exit.code == 0
loaded = [name for name in ("numpy", "scipy", "matplotlib", "pandas") if name in sys.modules]
sys.exit(", ".join(loaded) or 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_demo_prints_the_table_and_writes_the_pictures(tmp_path):
    done = mfbo("demo", "--rounds", "8", "--out", str(tmp_path / "pictures"), "--quiet")
    assert done.returncode == 0
    assert "regret" in done.stdout
    for name in ("swarm-curves", "arena-curves", "arena-histogram"):
        assert (tmp_path / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "pictures" / f"{name}.svg").read_text()


def test_demo_without_matplotlib_says_what_to_install(tmp_path):
    script = """
import sys
sys.modules["matplotlib"] = None
from mfbo.cli import main
main(["demo", "--rounds", "3", "--quiet", "--out", sys.argv[1]])
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'pip install "mfbo[plot]"' in done.stdout


def test_interrupt_ends_with_exit_code_130_and_no_traceback():
    arguments = [sys.executable, "-m", "mfbo", "run", "swarm", "--strategy", "random", "--rounds", "20000"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert "swarm, random" in running.stderr.readline()  # under way, however busy the machine
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors.strip().splitlines()[-1] == "mfbo: interrupted"
    assert "Traceback" not in errors
