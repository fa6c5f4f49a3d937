"""CSV files as people have them, and all their faults at once."""

import numpy as np
import pytest

from mfbo import Population
from mfbo.csv_reader import read_sheet
from mfbo.errors import FaultyFileError
from mfbo.sheets import Faults, read_agents, read_cells, read_past_days, read_placed, read_population

STATIONS = Population(["Main St", "Harbor", "Old Town"], size=30)
TWO = Population(["Main St", "Harbor"], {"day": 0.5, "night": 0.5}, size=30)


@pytest.fixture
def write(tmp_path):
    def written(text, name="sheet.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return written


def faults_of(call):
    with pytest.raises(FaultyFileError) as raised:
        call()
    return raised.value.lines


def placement(path, population=STATIONS):
    faults = Faults()
    table = read_placed(path, population, faults)
    faults.report()
    return table.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "station,agents\nMain St,10\nHarbor,15\nOld Town,5\n",
        "agents,station\n5,Old Town\n15,Harbor\n10,Main St",
        "\ufeffstation;agents\r\nMain St;10\r\nHarbor;15\r\nOld Town;5\r\n",
        "Station\tAgents\tremark\nmain st\t10\t\nHARBOR\t15\tfull\nOld Town\t5\t\n\n",
        'agents, station\n10, "Main St"\n15, Harbor\n"5", Old Town\n',
        "name;context;count\nMain St;all;10,0\nHarbor;all;15,0\nOld Town;all;5\n",
        "station,agents,,\nMain St,10,,\nHarbor,15,,\nOld Town,5,,\n".replace(",,", ""),
    ],
)
def test_columns_separators_and_marks_as_they_come(write, text):
    assert placement(write(text)) == [[10.0, 15.0, 5.0]]


def test_contexts_are_read_by_name(write):
    text = "context,station,agents\nnight,Harbor,4\nday,Main St,1\nday,Harbor,2\nnight,Main St,3\n"
    assert placement(write(text), TWO) == [[1, 2], [3, 4]]


def test_five_different_faults_are_reported_at_once_by_line_and_column(write):
    text = "station;agents;remark\nMain St;ten;\nHarbour;15;\nHarbor;-3;\nMain St;2,5;x;y\n"
    lines = faults_of(lambda: placement(write(text)))
    for line, column, said in [
        (2, "agents", "'ten' is not a number"),
        (3, "station", "unknown station 'Harbour'; did you mean 'Harbor'?"),
        (4, "agents", "-3 is below 0"),
        (5, "agents", "2,5 is not a whole number"),
    ]:
        assert any(f"line {line}, column {column!r}: {said}" in each for each in lines), (line, lines)
    assert any("line 5: 4 fields, but the header has 3" in each for each in lines)
    assert any("line 5: station 'Main St' is already on line 2" in each for each in lines)
    assert any("no row for station 'Old Town'" in each for each in lines)
    assert len(lines) == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("station,agents\n", "no rows"),
        ("where,agents\nMain St,3\n", "column 'station' is missing"),
        ("station,station,agents\nMain St,x,3\n", "is there twice"),
        ("station,agents\nMain St,nan\nHarbor,1\nOld Town,2\n", "'nan' is not finite"),
        ("station,agents\nMain St,\nHarbor,1\nOld Town,2\n", "line 2, column 'agents': is empty"),
        ("station,agents\nMain St,1_0\nHarbor,1\nOld Town,2\n", "is not a number"),
        ("station,agents\nMain St,0\nHarbor,0\nOld Town,0\n", "nobody is placed"),
        ("station;agents\nMain St;1,250\nHarbor;1\nOld Town;2\n", "thousands or a decimal comma"),
    ],
)
def test_what_is_wrong_is_said(write, text, said):
    assert any(said in each for each in faults_of(lambda: placement(write(text))))


def test_files_that_are_not_text_or_not_there(write, tmp_path):
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    assert "is not text" in faults_of(lambda: placement(tmp_path / "bytes.csv"))[0]
    assert "cannot be read" in faults_of(lambda: placement(tmp_path / "nosuch.csv"))[0]
    assert "is a folder" in faults_of(lambda: placement(tmp_path))[0]


def test_a_line_number_counts_lines_of_the_file_not_rows(write):
    text = 'station,agents\n\n"Mane\nSt",3\nHarbor,x\n'
    lines = faults_of(lambda: placement(write(text)))
    assert any("line 3" in each and "unknown station" in each for each in lines)
    assert any("line 5, column 'agents': 'x' is not a number" in each for each in lines)


def test_decimal_commas_where_the_file_shows_that_they_are_meant(write):
    sheet = read_sheet(write("x;y\n-122,395;37,7765\n-0,5;2\n"), Faults())
    assert sheet.numbers("x") == [-122.395, -0.5]
    assert sheet.numbers("y") == [37.7765, 2.0]


def test_stations_with_coordinates_capacity_and_types_of_agents(write):
    stations = write("docks;lat;lon;name\n10;37,5;-122,25;Main St\n20;37,75;-122,5;Harbor\n")
    types = write("name,agents\nmember,30\nguest,10\n", "types.csv")
    options = {"features": None, "capacity": None, "move_budget": None}
    population = read_population(stations, types, 40, **options)
    assert population.actions == ("Main St", "Harbor")
    assert population.feature_names == ("longitude", "latitude")
    assert population.features.tolist() == [[-122.25, 37.5], [-122.5, 37.75]]
    assert dict(zip(population.contexts, population.weights.tolist(), strict=True)) == {"member": 0.75, "guest": 0.25}
    chosen = read_population(stations, None, 40, **{**options, "features": "docks"})
    assert chosen.feature_names == ("docks",)


def test_faults_of_several_files_come_together(write):
    stations = write("name,lat,lon\nMain St,x,1\nMain St,2,3\n", "stations.csv")
    types = write("name,weight\nmember,0\n", "types.csv")
    lines = faults_of(lambda: read_population(stations, types, 3, features=None, capacity="docks", move_budget=None))
    assert len([each for each in lines if "stations.csv" in each]) == 3
    assert len([each for each in lines if "types.csv" in each]) == 1


def test_a_day_has_payoffs_where_the_plan_has_agents(write):
    day = write("station,payoff,agents\nMain St,1.5,4\nHarbor,,\n")
    faults = Faults()
    seen = read_cells(day, STATIONS, np.array([[4, 2, 0]]), faults)
    faults.report()
    assert seen.payoffs == {(0, 0): 1.5}
    assert seen.counts == {(0, 0): 4}
    read_cells(day, STATIONS, np.array([[4, 2, 1]]), faults)
    assert any("no row for station 'Old Town' where the plan has agents" in each for each in faults_of(faults.report))


def test_trips_are_rows_of_single_agents(write):
    faults = Faults()
    trips = read_agents(write("payoff,station,context\n1,Harbor,night\n2.5,Harbor,night\n"), TWO, faults)
    faults.report()
    assert trips == [(1, 1, 1.0), (1, 1, 2.5)]


def test_past_days(write):
    text = "day,station,agents,payoff\nmon,Main St,1,\nmon,Harbor,2,0.5\nmon,Old Town,1,0.5\n"
    text += "tue,Main St,3,7\ntue,Harbor,0,\ntue,Old Town,1,\n"
    faults = Faults()
    days = read_past_days(write(text), STATIONS, faults)
    faults.report()
    assert [(day.label, day.distribution.tolist(), day.payoff) for day in days] == [
        ("mon", [[0.25, 0.5, 0.25]], 0.5),
        ("tue", [[0.75, 0.0, 0.25]], 7.0),
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("mon,Main St,1,1\nmon,Harbor,1,2\nmon,Old Town,1,", "2 different payoffs"),
        ("mon,Main St,1,\nmon,Harbor,1,\nmon,Old Town,1,", "has no payoff"),
        ("mon,Main St,1,1\nmon,Harbor,1,1", "no row for station 'Old Town' on day 'mon'"),
        ("mon,Main St,1,1\nmon,Harbor,1,1\nmon,Harbor,1,1\nmon,Old Town,2,1", "already on line 3"),
        ("mon,Main St,0,1\nmon,Harbor,0,1\nmon,Old Town,0,1", "nobody placed"),
    ],
)
def test_faults_of_past_days(write, rows, said):
    faults = Faults()
    read_past_days(write("day,station,agents,payoff\n" + rows), STATIONS, faults)
    assert any(said in each for each in faults_of(faults.report))


def test_very_many_faults_are_cut_short(write):
    rows = "\n".join(f"nowhere {n},x" for n in range(500))
    lines = faults_of(lambda: placement(write("station,agents\n" + rows)))
    assert len(lines) == 41
    assert "more faults" in lines[-1]
