"""Stations that are called 1, 2, 3 on the command line: what is told of one lands there and nowhere else."""

import json

import pytest


@pytest.fixture
def run(mfbo_command):
    """Run a command that must succeed; return what it prints."""

    def command(*arguments):
        code, out, err = mfbo_command(*arguments)
        assert code == 0, err
        return out

    return command


def exported(run):
    run("study", "export", "s", "--out", "all.json")
    with open("all.json") as file:
        return json.load(file)


def test_a_row_of_an_agents_file_lands_at_the_station_it_names(run, tmp_path):
    (tmp_path / "stations.csv").write_text("name\n2\n3\n1\n01\n")
    run("study", "create", "s", "--actions", "stations.csv", "--agents", 40)
    run("study", "ask", "s")
    (tmp_path / "trips.csv").write_text("station,payoff\n2,100\n1,5\n01,6\n")
    run("study", "tell", "s", "--plan", 0, "--agents-file", "trips.csv")
    record = exported(run)
    told = {record["actions"][action]: payoff for _, action, payoff in record["rounds"][0]["agents"]}
    assert told == {"2": 100.0, "1": 5.0, "01": 6.0}


def test_past_days_and_cells_land_at_the_stations_they_name(run, tmp_path):
    (tmp_path / "stations.csv").write_text("name\n1\n0\n2\n")
    run("study", "create", "s", "--actions", "stations.csv", "--agents", 10)
    (tmp_path / "past.csv").write_text("day,station,agents,payoff\nd,2,5,1\nd,1,1,1\nd,0,4,1\n")
    run("study", "import", "s", "past.csv")
    run("study", "ask", "s")
    (tmp_path / "day.csv").write_text("station,payoff\n0,10\n2,12\n1,11\n")
    run("study", "tell", "s", "--plan", 1, "--cells", "day.csv")
    rounds = exported(run)["rounds"]
    assert rounds[0]["realized"] == [[0.1, 0.4, 0.5]]
    assert rounds[1]["cells"] == [[11.0, 10.0, 12.0]]


def test_a_run_on_numbered_places_equals_one_on_places_with_words(run, tmp_path):
    """Agents are observed by position: with names that are shuffled numbers they would land elsewhere."""
    rows = [(40, 0.0), (5, 1.0), (30, 2.5), (25, 3.0)]
    results = []
    for names in (["a", "b", "c", "d"], ["3", "0", "1", "2"]):
        lines = [f"{name},{demand},{x},{x * x}" for name, (demand, x) in zip(names, rows, strict=True)]
        (tmp_path / "table.csv").write_text("name,demand,x,y\n" + "\n".join(lines))
        options = ["--data", "table.csv", "--rounds", 14, "--feedback", "agents:3", "--agents", 40, "--json"]
        results.append(json.loads(run("run", "taxi-dispatch", *options))["cumulative_regret"])
    assert results[0] == results[1]
