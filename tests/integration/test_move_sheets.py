"""Move sheets on the command line follow the bikes: what was counted is where the next sheet starts."""

import csv
import json

import pytest

STATIONS = ("Main St", "Harbor", "Old Town", "Campus")
DOCKS = (200, 200, 200, 200)


@pytest.fixture
def run(mfbo_command, tmp_path):
    rows = [f"{name},{docks}" for name, docks in zip(STATIONS, DOCKS, strict=True)]
    (tmp_path / "stations.csv").write_text("name,docks\n" + "\n".join(rows))
    return lambda *arguments: mfbo_command("study", *arguments)


def placed(name, counts):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([("station", "agents"), *zip(STATIONS, counts, strict=True)])
    return name


def created(run, *options):
    code, _, err = run("create", "s", "--actions", "stations.csv", "--agents", 500, "--capacity", "docks", *options)
    assert code == 0, err


def asked(run, *options):
    code, out, err = run("ask", "s", "--json", *options)
    assert code == 0, err
    return json.loads(out)


def stands(record):
    """Where the bikes stand by a sheet: what is planned minus what is brought."""
    return [row["agents"] - row["change"] for row in record["rows"]]


def test_after_494_of_500_bikes_the_next_sheet_starts_from_those(run):
    created(run)
    run("ask", "s")
    counts = [30, 190, 190, 84]
    placed("placed.csv", counts)
    code, _, err = run("tell", "s", "--plan", 0, "--payoff", 1, "--placed", "placed.csv")
    assert code == 2
    assert "placed must have 500 agents, not 494: 6 are missing" in err
    assert "--yes" in err
    assert run("tell", "s", "--plan", 0, "--payoff", 1, "--placed", "placed.csv", "--yes")[0] == 0
    sheet = asked(run)
    assert stands(sheet) == counts
    assert sum(row["change"] for row in sheet["rows"]) == sheet["missing"] == 6
    code, out, _ = run("ask", "s")
    assert "6 of 500 agents are missing" in out
    run("export", "s", "--out", "all.json")
    with open("all.json") as file:
        assert json.load(file)["rounds"][0]["placed"] == [counts]


def test_more_bikes_than_docks_are_refused_or_confirmed(run):
    created(run)
    run("ask", "s")
    placed("placed.csv", [250, 50, 100, 100])
    code, _, err = run("tell", "s", "--plan", 0, "--payoff", 1, "--placed", "placed.csv")
    assert code == 2
    assert "250 agents at 'Main St', which holds at most 200" in err
    assert json.loads(run("show", "s", "--json")[1])["told"] == 0
    assert run("tell", "s", "--plan", 0, "--payoff", 1, "--placed", "placed.csv", "--yes")[0] == 0
    assert stands(asked(run)) == [250, 50, 100, 100]


def test_a_failed_round_moved_its_bikes(run):
    created(run, "--placed", placed("now.csv", [200, 200, 100, 0]))
    plan = asked(run)
    assert run("tell", "s", "--plan", 0, "--failed", "heavy rain")[0] == 0
    sheet = asked(run)
    assert stands(sheet) == [row["agents"] for row in plan["rows"]]
    placed("placed.csv", [100, 100, 150, 150])
    assert run("tell", "s", "--plan", 1, "--failed", "rain again", "--placed", "placed.csv")[0] == 0
    assert stands(asked(run)) == [100, 100, 150, 150]


def test_riders_moved_bikes_overnight(run):
    created(run, "--move-budget", 20, "--placed", placed("now.csv", [200, 200, 100, 0]))
    first = asked(run)
    assert stands(first) == [200, 200, 100, 0]
    assert first["moved"] <= 20
    placed("night.csv", [190, 200, 105, 5])
    again = asked(run, "--placed", "night.csv")
    if again["plan"] == first["plan"]:
        assert again["rows"][0]["agents"] == first["rows"][0]["agents"]
    assert stands(again) == [190, 200, 105, 5]
    assert again["moved"] <= 20
    placed("far.csv", [50, 100, 150, 200])
    moved_on = asked(run, "--placed", "far.csv")
    assert moved_on["abandoned"][0]["plan"] == again["plan"]
    assert "20 may be moved" in moved_on["abandoned"][0]["reason"]
    assert stands(moved_on) == [50, 100, 150, 200]
    assert moved_on["moved"] <= 20
    assert asked(run) == {**moved_on, "abandoned": []}
    assert "20 may be moved" in run("show", "s")[1]


def test_another_workers_sheet_starts_from_the_newest_count_too(run):
    created(run, "--placed", placed("now.csv", [200, 200, 100, 0]))
    truck = asked(run, "--worker", "truck-7")
    asked(run, "--placed", placed("night.csv", [100, 200, 100, 100]))
    again = asked(run, "--worker", "truck-7")
    assert again["plan"] == truck["plan"]
    assert stands(again) == [100, 200, 100, 100]


@pytest.mark.parametrize("counts", [[200, 200, 94, 0], [300, 200, 0, 0]])
def test_a_start_that_does_not_fit_is_refused_or_confirmed(run, counts):
    placed("now.csv", counts)
    options = [
        "create",
        "s",
        "--actions",
        "stations.csv",
        "--agents",
        500,
        "--capacity",
        "docks",
        "--placed",
        "now.csv",
    ]
    code, _, err = run(*options)
    assert code == 2
    assert "--yes" in err
    assert run(*options, "--yes")[0] == 0
    assert stands(asked(run)) == counts


def test_shares_stay_shares_without_a_fleet(run):
    assert run("create", "s", "--actions", "stations.csv", "--agents", "inf")[0] == 0
    run("ask", "s")
    placed("placed.csv", [1, 1, 1, 1])
    assert run("tell", "s", "--plan", 0, "--payoff", 1, "--placed", "placed.csv")[0] == 0
    assert all(row["change"] is None for row in asked(run)["rows"])
    assert "leave out --placed" in run("tell", "s", "--plan", 1, "--failed", "rain", "--placed", "placed.csv")[2]
