"""The embedded tables: the figures they must show, and equal to the byte to a rebuild from the official files."""

import json
from importlib import resources

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.problems.tables import (
    EMBEDDED,
    RECIPES,
    build_named,
    embedded,
    embedded_demand,
    embedded_ports,
    sidecar_json,
    table_csv,
)

DATA = resources.files("mfbo.problems").joinpath("data")
RAW_FILES = {
    "nyc": ["nyc_yellow_sample_2016H1.csv.gz"],
    "bay-area-bike": ["bay_area_bike_stations.csv", "bay_area_bike_trips_2014.csv.gz"],
    "ports": ["UpdatedPub150.csv.gz"],
    "ports-30": ["UpdatedPub150.csv.gz"],
}


@pytest.mark.parametrize(("name", "cells"), [("nyc-12x20", 158), ("nyc-15x26", 244), ("nyc-20x36", 409)])
def test_new_york(name, cells):
    table = embedded_demand(name)
    assert len(table) == cells
    assert table.extras["pickups"].sum() == 5946
    np.testing.assert_allclose(table.demand, table.extras["pickups"] / 5946, rtol=1e-15)
    longitude, latitude = table.coordinates.T
    assert -74.015 < longitude.min() < longitude.max() < -73.955
    assert 40.705 < latitude.min() < latitude.max() < 40.785


def test_bay_area():
    table = embedded_demand("bay-area-bike")
    assert len(table) == 35
    assert table.extras["pickups"].sum() == 7655
    assert abs(table.demand.sum() - 1) < 1e-12
    assert (table.details["period"]["first_day"], table.details["period"]["last_day"]) == ("2014-05-03", "2014-09-13")
    assert table.details["period"]["days"] == 20


def test_ports():
    table = embedded_ports("ports")
    assert len(table) == 537
    assert (table.sizes.count("Large"), table.sizes.count("Medium")) == (171, 366)
    assert {region: table.regions.count(region) for region in table.region_names} == {
        "North Atlantic": 330,
        "South Atlantic": 20,
        "North Pacific": 102,
        "South Pacific": 20,
        "Indian": 65,
    }
    few = embedded_ports("ports-30")
    assert len(few) == 30
    assert len(few.region_names) == 5
    assert all(few.regions.count(region) >= 2 for region in few.region_names)
    assert set(few.names) <= set(table.names)


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_table_names_its_source_and_its_making(name):
    details = embedded(name).details
    assert {"source", "license", "files", "period", "filter", "command", "counts"} <= set(details)
    assert details["command"].startswith(f"mfbo data build {name} ")
    assert "/" not in json.dumps(details["files"])
    counts = details["counts"]
    assert counts["kept"] + sum(counts["skipped"].values()) == counts["rows"]
    assert name in RECIPES


OTHERS = ("arena-30.json", "jersey-city.json", "taxi-zones.csv", "taxi-zones.json")


def test_all_files_together_are_small_and_nothing_else_is_there():
    files = [file for file in DATA.iterdir() if not file.name.startswith("__")]
    tables = {f"{name}.{kind}" for name in EMBEDDED for kind in ("csv", "json")}
    assert {file.name for file in files} == {*tables, *OTHERS}
    assert sum(len(file.read_bytes()) for file in files) < 200_000


@pytest.mark.parametrize("name", RAW_FILES)
def test_a_rebuild_gives_the_same_bytes(raw, name):
    built = build_named(name, [raw / file for file in RAW_FILES[name]])
    assert set(built) == ({"nyc-12x20", "nyc-15x26", "nyc-20x36"} if name == "nyc" else {name})
    for each, table in built.items():
        assert table_csv(table).encode() == DATA.joinpath(f"{each}.csv").read_bytes()
        assert sidecar_json(table).encode() == DATA.joinpath(f"{each}.json").read_bytes()


def test_one_grid_alone_is_the_same_as_all_three(raw):
    (table,) = build_named("nyc-15x26", raw / "nyc_yellow_sample_2016H1.csv.gz").values()
    assert sidecar_json(table).encode() == DATA.joinpath("nyc-15x26.json").read_bytes()


def test_unknown_names_and_wrong_files_are_refused(write):
    with pytest.raises(UnknownNameError, match="did you mean 'nyc-12x20'"):
        embedded("nyc-12x2")
    with pytest.raises(UnknownNameError, match="unknown table 'paris'"):
        build_named("paris", "x.csv")
    with pytest.raises(InvalidInputError, match="is a table of ports"):
        embedded_demand("ports")
    with pytest.raises(InvalidInputError, match="is a table of demand"):
        embedded_ports("nyc-12x20")
    trips = write("trips.csv", ["start_date,start_terminal", "2014-05-03 10:00,1"])
    with pytest.raises(InvalidInputError, match=r"needs trip files and one station file .*, not 1 and 0"):
        build_named("bay-area-bike", trips)
