"""A user's file of any kind: told apart by its columns, and made a demand table where it holds demand."""

import pytest

from mfbo.errors import InvalidInputError
from mfbo.problems.tables import build_named, file_kind, load_demand

LOUVELO = "Start_Station_Id,Start_Date,Start_Latitude,Start_Longitude"


def _saturdays():
    days = [f"2018/{month:02}/{day:02}" for month in range(6, 11) for day in range(1, 31)]
    return [LOUVELO, *(f"{index % 4},{day} 10:15,38.2,-85.{index % 4 + 1}" for index, day in enumerate(days))]


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("name,x,y,demand", "demand table"),
        ("name,longitude,latitude,region,size,capacity", "port table"),
        ("vendor_id, pickup_datetime, pickup_longitude, pickup_latitude", "taxi trips"),
        ("VendorID,tpep_pickup_datetime,PULocationID", "taxi trips"),
        (LOUVELO, "bike trips"),
        ("trip_id,start_date,start_terminal", "bike trips"),
        ("station_id,name,lat,long,landmark", "bike stations"),
        (
            "OID_,Main Port Name,Country Code,World Water Body,Harbor Size,Latitude,Longitude",
            "world port index",
        ),
    ],
)
def test_kinds(write, header, kind):
    assert file_kind(write("f.csv.gz", [header])) == kind


OFFICIAL = {
    "UpdatedPub150.csv.gz": "world port index",
    "bay_area_bike_stations.csv": "bike stations",
    "bay_area_bike_trips_2014.csv.gz": "bike trips",
    "nyc_yellow_sample_2016H1.csv.gz": "taxi trips",
    "yellow_tripdata_2015-01.head.csv.gz": "taxi trips",
    "yellow_tripdata_2016-01.head.csv.gz": "taxi trips",
}


def test_the_official_files_are_told_apart(raw):
    assert {name: file_kind(raw / name) for name in OFFICIAL} == OFFICIAL


def test_tables_and_trips_become_demand(write, taxi_lines):
    assert load_demand(write("city.csv", ["name,demand", "a,1", "b,3"])).demand.tolist() == [0.25, 0.75]
    assert load_demand(write("taxi.csv", taxi_lines)).extras["pickups"].tolist() == [2, 1]
    louvelo = load_demand(write("louvelo.csv.gz", _saturdays()))
    assert louvelo.details["period"]["days"] == 150  # every day there is; the named table has twenty Saturdays
    assert len(louvelo) == 4
    (named,) = build_named("louvelo", write("louvelo.csv.gz", _saturdays())).values()
    assert named.details["period"]["days"] == 20
    assert named.names == louvelo.names
    assert named.details["source"].startswith("LouVelo")


def test_other_files_are_refused(write):
    with pytest.raises(InvalidInputError, match="holds bike stations, not demand"):
        load_demand(write("s.csv", ["station_id,name,lat,long", "1,a,2,3"]))
    with pytest.raises(InvalidInputError, match=r"neither a demand table.*columns latitude, longitude"):
        load_demand(write("c.csv", ["latitude,longitude", "1,2"]))
