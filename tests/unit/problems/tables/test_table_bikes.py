"""Bike tables: Bay Area and LouVelo layouts, relocated stations, chosen Saturdays, and every refusal."""

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.problems.tables import build_bikes, sidecar_json, table_csv

BAY_TRIPS = "trip_id,duration,start_date,start_station,start_terminal,end_date,zip_code"
BAY_STATIONS = [
    "station_id,name,lat,long,dock_count,landmark,install_date",
    "50,Harry Bridges Plaza,37.1,-122.1,23,San Francisco,2013-08-20",
    "9,Japantown,37.3,-121.9,15,San Jose,2013-08-05",
    "50,Harry Bridges Plaza,37.795392,-122.394203,25,San Francisco,2013-08-20",
    "6,Market at 10th,37.776619,-122.417385,27,San Francisco,2013-08-20",
    "70,Never used,37.77,-122.4,19,San Francisco,2013-08-20",
]
LOUVELO = (
    "X,Y,Closed_Status,Duration,Start_Station_Id,Start_Date,Start_Latitude,Start_Longitude,End_Station_Id,"
    "End_Latitude,End_Longitude,Bike_Barcode,Bike_Model,Product_Name,ObjectId"
)


def _bay(*trips):
    return [BAY_TRIPS, *(f"1,2,{time},x,{station},y,94107" for time, station in trips)]


def _louvelo(*trips):
    return [
        LOUVELO,
        *(f"0,0,N,5,{station},{time},{north},{east},2,0,0,7,B,P,1" for time, station, north, east in trips),
    ]


def _skipped(table):
    return {reason: count for reason, count in table.details["counts"]["skipped"].items() if count}


@pytest.fixture
def stations(write):
    return write("stations.csv", BAY_STATIONS)


def test_bay_area_is_the_mean_of_the_normalized_saturdays(write, stations):
    trips = _bay(
        ("2014-05-03 10:00", 50),
        ("2014-05-03 23:59", 50),
        ("2014-05-03 11:00", 50),
        ("2014-05-03 12:00", 6),
        ("2014-05-10 00:00", 6),
        ("2014-05-10 08:00", 9),
        ("2014-05-10 08:00", 99),
        ("2014-05-10 08:00", ""),
        ("2014-05-11 08:00", 6),
        ("May 2014", 6),
        ("2014-05-17 08:00", 6),
        ("2014-04-26 08:00", 6),
    )
    table = build_bikes(
        write("trips.csv", [*trips, "1,2"]), stations, city="San Francisco", first_day="2014-05-03", weeks=2
    )
    assert table.names == ("Market at 10th", "Harry Bridges Plaza")  # by id; the one never used is left out
    np.testing.assert_allclose(table.demand, [(1 / 4 + 1) / 2, (3 / 4 + 0) / 2])
    assert table.extras["pickups"].tolist() == [2, 3]
    assert table.extras["docks"].tolist() == [27, 25]  # of the station that moved, the last row holds
    assert table.features[1].tolist() == [-122.394203, 37.795392]
    assert table.details["period"] == {
        "first_day": "2014-05-03",
        "last_day": "2014-05-10",
        "days": 2,
        "days_without_pickups": [],
    }
    assert _skipped(table) == {
        "incomplete row": 1,
        "unreadable date": 1,
        "on other weekdays": 1,
        "without a station id": 1,
        "at an unknown station": 1,
        "in another city": 1,
        "outside the weeks": 2,
    }
    pooled = build_bikes(write("trips.csv", trips), stations, first_day="2014-05-03", weeks=1, method="pooled")
    np.testing.assert_allclose(pooled.demand, [0.25, 0.75])


def test_older_bay_area_spellings(write):
    stations = write("s.csv", ["station_id,name,lat,long,dockcount,landmark", *BAY_STATIONS[1:]])
    trips = ["Trip ID,Duration,Start Date,Start Station,Start Terminal,End Date", "4,63,8/31/2013 9:05,x,6,y"]
    table = build_bikes(write("t.csv", trips), stations, weeks=1)
    assert table.names == ("Market at 10th",)
    assert table.details["period"]["first_day"] == "2013-08-31"


def test_louvelo_stations_come_from_the_trips(write):
    trips = _louvelo(
        ("2018/06/02 10:15:00+00", 12, 38.25, -85.75),
        ("2018/06/02 10:30:00+00", "12.0", 38.27, -85.77),
        ("2018/06/02 10:30:00+00", 12, 0, 0),
        ("2018/06/02 10:30:00+00", 7, 38.2, -85.7),
        ("2018/06/02 10:30:00+00", 8, 0, 0),
        ("2018/06/02 10:30:00+00", "", 38.2, -85.7),
        ("2018/06/09 10:30", 7, 38.2, -85.7),
    )
    table = build_bikes(write("louvelo.csv", trips), weeks=2)
    assert table.names == ("station 7", "station 12")
    np.testing.assert_allclose(table.demand, [(1 / 4 + 1) / 2, 3 / 8])
    np.testing.assert_allclose(table.features, [[-85.7, 38.2], [-85.76, 38.26]])
    assert "docks" not in table.extras
    assert _skipped(table) == {"without a station id": 1, "at a station without coordinates": 1}


def test_any_weekday_and_number_of_weeks(write):
    trips = _louvelo(*((f"2018/06/{day:02} 08:00", day % 3 + 1, 38.2, -85.7) for day in range(1, 29)))
    path = write("louvelo.csv", trips)
    assert build_bikes(path, weekdays="tue", weeks=3).details["period"]["last_day"] == "2018-06-19"
    assert build_bikes(path, weekdays="mon-fri", weeks=None).details["period"]["days"] == 20
    with pytest.raises(InvalidInputError, match=r"20 weeks from 2018-06-02 end on 2018-10-19.*4 of 20 days"):
        build_bikes(path)


def test_a_day_without_pickups_is_named_and_left_out_of_the_mean(write):
    trips = _louvelo(
        ("2018/06/02 10:15", 1, 38.2, -85.7), ("2018/06/10 10:15", 1, 38.2, -85.7), ("2018/06/16 10:15", 2, 38.2, -85.8)
    )
    table = build_bikes(write("louvelo.csv", trips), weeks=3)
    assert table.details["period"]["days_without_pickups"] == ["2018-06-09"]
    assert table.demand.tolist() == [0.5, 0.5]


def test_stations_of_the_same_name_get_their_ids(write):
    stations = write("s.csv", [BAY_STATIONS[0], "1,Depot,37,-122,9,SF,x", "2,Depot,37,-122.1,9,SF,x"])
    trips = write("t.csv", _bay(("2014-05-03 10:00", 1), ("2014-05-03 10:00", 2)))
    assert build_bikes(trips, stations, weeks=1).names == ("Depot (1)", "Depot (2)")


def test_wrong_files_and_cities_are_refused(write, stations):
    trips = write("trips.csv", _bay(("2014-05-03 10:00", 50)))
    with pytest.raises(InvalidInputError, match="no start coordinates; give the station file"):
        build_bikes(trips)
    with pytest.raises(InvalidInputError, match="needs the station file"):
        build_bikes(trips, city="San Francisco")
    with pytest.raises(UnknownNameError, match="did you mean 'San Francisco'"):
        build_bikes(trips, stations, city="San Fransisco")
    with pytest.raises(InvalidInputError, match="not a bike trip file"):
        build_bikes(stations, stations)
    with pytest.raises(InvalidInputError, match="not a bike station file"):
        build_bikes(trips, trips)
    with pytest.raises(InvalidInputError, match=r"no pickups left of 1 rows in trips.csv .1 in another city."):
        build_bikes(trips, stations, city="San Jose", weeks=1)
    cityless = write("s.csv", ["station_id,name,lat,long", "50,A,37,-122"])
    with pytest.raises(InvalidInputError, match="does not say the city"):
        build_bikes(trips, cityless, city="San Jose")
    with pytest.raises(InvalidInputError, match="lists no station"):
        build_bikes(trips, write("none.csv", ["station_id,name,lat,long", "50,A,0,0"]))


def test_two_builds_in_two_folders_give_the_same_bytes(write, stations, tmp_path):
    trips = write("trips.csv", _bay(("2014-05-03 10:00", 50), ("2014-05-03 10:00", 6)))
    first = build_bikes(trips, stations, weeks=1)
    (tmp_path / "there").mkdir()
    moved = [path.rename(tmp_path / "there" / path.name) for path in (trips, stations)]
    second = build_bikes(*moved, weeks=1)
    assert (table_csv(first), sidecar_json(first)) == (table_csv(second), sidecar_json(second))
