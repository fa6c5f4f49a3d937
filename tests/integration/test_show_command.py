"""`mfbo show` and `mfbo run --data` as a user meets them: real processes, pictures on disk, plans of all forms."""

import json
import resource
import subprocess
import sys

import numpy as np
import pytest

from mfbo.catalogue import make_problem
from mfbo.problems import demand_problem
from mfbo.sheets import read_plan

DRAWN = ("arena", "louvelo", "nyc-12x20", "maritime")  # the unit tests draw the others

OWN_TABLE = "name,longitude,latitude,demand\nDepot,13.40,52.50,6\nMarket,13.45,52.52,3\nPark,13.38,52.51,1\n"

IN_ONE_PROCESS = """
import contextlib, io, json, sys
from mfbo.cli import main
answers = {}
for key, arguments in json.load(sys.stdin).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as exit:
            code = exit.code
    answers[key] = (code, out.getvalue(), err.getvalue())
print(json.dumps(answers))
"""


def mfbo(*arguments, cwd=None, **options):
    return subprocess.run(
        [sys.executable, "-m", "mfbo", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        **options,
    )


def together(commands, cwd=None):
    """Run commands {key: arguments} in one process, as starting Python takes longest: {key: (code, out, err)}."""
    texts = {key: [str(word) for word in arguments] for key, arguments in commands.items()}
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE_PROCESS],
        input=json.dumps(texts), capture_output=True, text=True, timeout=120, check=True, cwd=cwd,
    )  # fmt: skip
    return json.loads(done.stdout)


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG\r\n")


def is_svg(path):
    text = path.read_text(encoding="utf-8")
    return text.startswith("<?xml") and text.rstrip().endswith("</svg>")


def uniform_plan(name):
    return np.full((shape := make_problem(name).population.shape), 1.0 / shape[1]).tolist()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Problems drawn with a uniform plan beside the optimum: (folder, answers)."""
    folder = tmp_path_factory.mktemp("pictures")
    for name in DRAWN:
        (folder / f"{name}.json").write_text(json.dumps(uniform_plan(name)))
    commands = {name: ("show", name, "--plan", f"{name}.json", "--out", "drawn") for name in DRAWN}
    return folder / "drawn", together(commands, cwd=folder)


@pytest.mark.parametrize("name", DRAWN)
def test_a_problem_is_drawn_with_a_plan_beside_its_optimum(name, pictures):
    folder, answers = pictures
    code, output, errors = answers[name]
    assert code == 0, errors
    assert is_png(folder / f"{name}-plan.png")
    assert is_svg(folder / f"{name}-plan.svg")
    assert f"picture: drawn/{name}-plan.png" in output
    problem = make_problem(name)
    value = problem.mean_field_value(np.array(uniform_plan(name)))
    assert f"payoff {value:.6g}, optimum {problem.optimum.value:.6g}" in output
    assert ("stand-in" in errors) == (name == "louvelo")


def test_no_temporary_folder_is_left(pictures):
    folder, _ = pictures
    names = {f"{name}-plan" for name in DRAWN} | {"arena"}  # the arena's optimum has a picture of its own
    assert {path.name for path in folder.iterdir()} == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}


@pytest.mark.slow
def test_without_a_plan_the_optimum_is_drawn_the_same_each_time(tmp_path):
    done = mfbo("show", "swarm", "--json", cwd=tmp_path)
    assert done.stderr == ""
    record = json.loads(done.stdout)
    names = ["mfbo-show/swarm.png", "mfbo-show/swarm.svg"]
    assert record == {"problem": "swarm", "optimum": pytest.approx(18.01344186), "pictures": names}
    first = [(tmp_path / name).read_bytes() for name in names]
    assert mfbo("show", "swarm", "--quiet", cwd=tmp_path).returncode == 0
    assert [(tmp_path / name).read_bytes() for name in names] == first


@pytest.mark.slow
def test_the_output_of_a_run_is_a_plan(tmp_path):
    run = mfbo("run", "louvelo", "--rounds", "3", "--agents", "inf", "--json")
    assert run.stderr == ""
    (tmp_path / "run.json").write_text(run.stdout)
    done = mfbo("show", "louvelo", "--plan", "run.json", "--json", cwd=tmp_path)
    assert done.stderr == ""
    record = json.loads(done.stdout)
    assert record["payoff"] == pytest.approx(json.loads(run.stdout)["best_value"], abs=1e-12)
    assert record["regret"] == pytest.approx(-record["payoff"])


@pytest.mark.parametrize(
    "text",
    [
        "[[0.5, 0.25, 0.25]]",
        " [0.5, 0.25, 0.25]",
        '{"distribution": [[0.5, 0.25, 0.25]]}',
        '{"problem": "demand", "best_distribution": [[0.5, 0.25, 0.25]]}',
        "action,share\nPark,0.25\nDepot,0.5\nMarket,0.25\n",
        "action,share\nPark,0.24999\nDepot,0.49998\nMarket,0.24999\n",
        "\ufeffcontext, Action, agents\nall, Depot, 150\nall, Market, 75\n\nall, Park, 75\n",
    ],
)
def test_all_forms_of_a_plan_mean_the_same(text, tmp_path):
    (tmp_path / "plan").write_text(text, encoding="utf-8")
    problem = demand_problem(["Depot", "Market", "Park"], [6, 3, 1])
    np.testing.assert_allclose(read_plan(tmp_path / "plan", problem.population), [[0.5, 0.25, 0.25]], rtol=1e-12)


def test_cells_left_out_of_a_csv_are_empty_and_contexts_are_kept_apart(tmp_path):
    problem = make_problem("arena")
    seats = problem.population.actions
    (tmp_path / "plan.csv").write_text(f"action,context,agents\n{seats[3]},hosts,7\n{seats[18]},visitors,2\n")
    plan = np.zeros((2, 30))
    plan[problem.population.context_index("hosts"), 3] = plan[problem.population.context_index("visitors"), 18] = 1
    np.testing.assert_array_equal(read_plan(tmp_path / "plan.csv", problem.population), plan)


PLAN_FAULTS = {
    "short.json": ("[[0.5, 0.5]]", "(1, 3)"),
    "text.json": ('[["a", "b", "c"]]', "1 rows of 3 numbers"),
    "ragged.json": ("[[1, 2], [3]]", "1 rows of 3 numbers"),
    "null.json": ('{"distribution": null}', "(1, 3)"),
    "broken.json": ("[[1, 2", "not readable as JSON"),
    "deep.json": ("[" * 100_000, "not readable as JSON"),
    "keyless.json": ('{"trace": [1]}', "distribution or best_distribution; it has trace"),
    "other.json": ('{"problem": "arena", "best_distribution": [[1, 0, 0]]}', "for the problem 'arena'"),
    "sum.json": ("[[0.5, 0.25, 0.5]]", "sums to 1.25"),
    "negative.json": ("[[1.5, -0.25, -0.25]]", "at least 0"),
    "nan.json": ("[[NaN, 0.5, 0.5]]", "finite"),
    "empty.csv": ("", "is empty"),
    "header.csv": ("action,share\n", "no rows"),
    "columns.csv": ("place,share\nDepot,1\n", "'action' is missing"),
    "values.csv": ("action,weight\nDepot,1\n", "'share' or 'agents' is missing"),
    "action.csv": ("action,share\nDepott,1\n", "line 2, column 'action': unknown action 'Depott'; did you mean 'Depot"),
    "context.csv": ("action,context,share\nDepot,night,1\n", "line 2, column 'context': unknown context 'night'"),
    "twice.csv": ("action,share\nDepot,0.5\nDepot,0.5\n", "line 3: action 'Depot' is already on line 2"),
    "below.csv": ("action,share\nDepot,-1\n", "line 2, column 'share'"),
    "nan.csv": ("action,agents\nDepot,nan\n", "line 2, column 'agents'"),
    "half.csv": ("action,share\nDepot,0.5\n", "sums to 0.5"),
    "nobody.csv": ("action,agents\nDepot,0\n", "sums to 0"),
    "infinite.csv": ("action,agents\nDepot,1e308\nPark,1e308\n", "sums to inf"),
    "cells.csv": ("action,share\nDepot\n", "line 2: 1 field, but the header has 2"),
    "bytes.csv": (b"\x81\x00\x01", "is not text in UTF-8"),
}
FAULTS = {
    "missing plan": (("show", "swarm", "--plan", "nosuch.json"), "nosuch.json cannot be read"),
    "folder as plan": (("show", "swarm", "--plan", "."), "is a folder, not a file"),
    "contexts missing": (("show", "arena", "--plan", "shares.csv"), "'context' is missing"),
    "unknown problem": (("show", "nyc-12x21"), "'nyc-12x20'"),
    "file as folder": (("show", "swarm", "--out", "own.csv"), "own.csv is a file, not a folder"),
    "no data taken": (("show", "maritime", "--data", "own.csv"), "'maritime' takes no data file"),
    "missing data": (("show", "louvelo", "--data", "nosuch.csv"), "nosuch.csv does not exist"),
    "run: missing data": (("run", "louvelo", "--data", "nosuch.csv"), "nosuch.csv does not exist"),
    "run: no data taken": (("run", "swarm", "--data", "own.csv"), "'swarm' takes no data file"),
    "run: unknown columns": (("run", "louvelo", "--data", "odd.csv"), "neither a demand table"),
    "run: ports as demand": (("run", "louvelo", "--data", "ports.csv"), "holds port table"),
    "run: no coordinates": (("run", "taxi-dispatch", "--data", "plain.csv"), "needs coordinates"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What all the faulty commands answer; none of them draws anything."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "own.csv").write_text(OWN_TABLE)
    (folder / "odd.csv").write_text("a,b\n1,2\n")
    (folder / "plain.csv").write_text("name,demand\nA,1\nB,2\n")
    (folder / "ports.csv").write_text("name,longitude,latitude,region,size,capacity\nA,1,2,R,Large,2\n")
    (folder / "shares.csv").write_text("action,share\n0.0000,1\n")
    commands = {key: arguments for key, (arguments, _) in FAULTS.items()}
    for name, (content, _) in PLAN_FAULTS.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        commands[name] = ("show", "louvelo", "--data", "own.csv", "--plan", name)
    found = together(commands, cwd=folder)
    assert not list(folder.rglob("*.png"))
    return found


@pytest.mark.parametrize("fault", [*FAULTS, *PLAN_FAULTS])
def test_a_fault_is_one_line_on_standard_error_and_exit_code_2(fault, answers):
    code, output, errors = answers[fault]
    assert code == 2
    assert output == ""
    assert len(errors.strip().splitlines()) == 1, errors
    assert (FAULTS | PLAN_FAULTS)[fault][1] in errors


def test_a_disk_that_is_full_leaves_no_half_picture(tmp_path):
    def almost_full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))

    done = mfbo("show", "swarm", "--out", "drawn", cwd=tmp_path, preexec_fn=almost_full)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "drawn/swarm.png cannot be written: File too large" in done.stderr.splitlines()[-1]
    assert list((tmp_path / "drawn").iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(tmp_path):
    script = "import sys; sys.modules['matplotlib'] = None\nfrom mfbo.cli import main\nmain(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, "show", "swarm"],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == 'mfbo: pictures need matplotlib: pip install "mfbo[plot]"\n'


def test_run_uses_the_user_s_table_and_says_when_a_stand_in_is_used(tmp_path):
    (tmp_path / "own.csv").write_text(OWN_TABLE)
    run = ("run", "louvelo", "--rounds", "2", "--strategy", "random")
    found = together(
        {
            "own": (*run, "--data", "own.csv", "--json"),
            "stand-in": run,
            "quiet": (*run, "--quiet"),
            "json": (*run, "--json"),
        },
        cwd=tmp_path,
    )
    assert json.loads(found["own"][1])["actions"] == 3
    assert found["own"][2] == ""
    notes = [line for line in found["stand-in"][2].splitlines() if line.startswith("note: ")]
    assert len(notes) == 1
    assert "Bay Area" in notes[0]
    assert found["quiet"][2] == found["json"][2] == ""
    assert json.loads(found["json"][1])["actions"] == 35
