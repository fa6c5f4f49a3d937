"""Taxi tables: every official layout, every filter, every reason for skipping a row, and every refusal."""

import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbo.errors import InvalidInputError
from mfbo.problems.tables import MANHATTAN, Box, build_taxi, parse_grid, sidecar_json, table_csv
from mfbo.problems.tables.grid import Grid
from mfbo.problems.tables.taxi import build_taxi_grids, taxi_filter

TAXI_2015 = "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,pickup_longitude,pickup_latitude,RateCodeID"
LAYOUTS = {
    "2009": "vendor_name,Trip_Pickup_DateTime,Trip_Dropoff_DateTime,Start_Lon,Start_Lat,Rate_Code",
    "2010": "vendor_id, pickup_datetime, dropoff_datetime, pickup_longitude, pickup_latitude, rate_code",
    "2015": TAXI_2015,
    "green": "VendorID,lpep_pickup_datetime,Lpep_dropoff_datetime,Pickup_longitude,Pickup_latitude,RateCodeID",
}


def _skipped(table):
    return {reason: count for reason, count in table.details["counts"]["skipped"].items() if count}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_official_layout_gives_the_same_table(write, taxi_lines, layout):
    blank = [""] if layout == "2010" else []  # those files have an empty line below the header
    table = build_taxi(write("t.csv", [LAYOUTS[layout], *blank, *taxi_lines[1:]]))
    assert table.names == ("r00c00", "r19c11")
    assert table.feature_names == ("longitude", "latitude")
    np.testing.assert_allclose(table.features, [[-74.0125, 40.707], [-73.9575, 40.783]], atol=1e-9)
    assert {name: values.tolist() for name, values in table.extras.items()} == {
        "row": [0, 19],
        "column": [0, 11],
        "pickups": [2, 1],
    }
    np.testing.assert_allclose(table.demand, [2 / 3, 1 / 3], rtol=1e-15)
    assert table.details["counts"]["kept"] == table.details["counts"]["rows"] == 3
    assert table.details["period"]["first_day"] == "2015-01-05"
    assert table.details["period"]["last_day"] == "2015-01-09"


def test_every_container_gives_the_same_table(write, taxi_lines, tmp_path):
    plain = write("t.csv", taxi_lines)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(plain, "t.csv")
    for path in (write("t.csv.gz", taxi_lines), tmp_path / "t.zip"):
        assert table_csv(build_taxi(path)) == table_csv(build_taxi(plain))


@pytest.mark.parametrize("as_text", [True, False])
def test_parquet_with_coordinates_gives_the_same_table(write, taxi_lines, tmp_path, as_text):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [line.split(",") for line in taxi_lines[1:]]
    times = arrow.array([row[1] for row in rows])
    columns = {
        "Trip_Pickup_DateTime": times if as_text else times.cast(arrow.timestamp("us")),
        "Start_Lon": [float(row[3]) for row in rows],
        "Start_Lat": [float(row[4]) for row in rows],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    assert table_csv(build_taxi(tmp_path / "t.parquet")) == table_csv(build_taxi(write("t.csv", taxi_lines)))


def test_files_of_several_layouts_are_counted_together(write, taxi_lines):
    paths = [write("a.csv", taxi_lines), write("b.csv.gz", [LAYOUTS["2009"], *taxi_lines[1:]])]
    table = build_taxi(paths)
    assert table.extras["pickups"].tolist() == [4, 2]
    assert table.details["files"] == [{"name": path.name, "bytes": path.stat().st_size} for path in paths]


def test_every_skipped_row_is_counted_under_one_reason(write, taxi_lines):
    odd = [
        "2,2015-01-05 15:00:00",
        "2,someday,x,-74,40.72,1",
        "2,2015-02-30 15:00:00,x,-74,40.72,1",
        "2,2015-01-05 15:00:00,x,0,0,1",
        "2,2015-01-05 15:00:00,x,-740,40.72,1",
        "2,2015-01-05 15:00:00,x,,,1",
        "2,2015-01-05 15:00:00,x,nan,40.72,1",
        "2,2015-01-04 15:00:00,x,-74,40.72,1",
        "2,2015-01-05 14:59:59,x,-74,40.72,1",
        "2,2015-01-05 18:00:00,x,-74,40.72,1",
        "2,2015-01-05 15:00:00,x,-73.955,40.72,1",
        "2,2015-01-05 15:00:00,x,-74,40.785,1",
    ]
    table = build_taxi(write("t.csv", [*taxi_lines, *odd]))
    assert _skipped(table) == {
        "incomplete row": 1,
        "unreadable date": 2,
        "coordinates off the map": 4,
        "on other weekdays": 1,
        "at other hours": 2,
        "outside the box": 2,
    }
    assert table.details["counts"]["rows"] == 15
    assert table.details["counts"]["kept"] == 3
    assert table_csv(table) == table_csv(build_taxi(write("clean.csv", taxi_lines)))


def test_any_box_grid_weekdays_and_hours(write):
    lines = [TAXI_2015, "1,2012-06-02 23:10:00,x,2.31,48.85,1", "1,2012-06-03 00:10:00,x,2.39,48.89,1"]
    table = build_taxi(
        write("t.csv", lines), box=Box(2.2, 48.8, 2.4, 48.9), grid=(2, 1), weekdays="sat,sun", hours="22-2"
    )
    assert table.names == ("r00c01",)
    assert table.extras["pickups"].tolist() == [2]


def test_weeks_are_consecutive_and_the_rest_is_counted(write, taxi_lines):
    path = write("t.csv", [*taxi_lines, "2,2015-01-20 15:00:00,x,-74.0149,40.7051,1"])
    first = build_taxi(path, weeks=1)
    assert first.extras["pickups"].tolist() == [2, 1]
    assert _skipped(first) == {"outside the weeks": 1}
    assert first.details["period"]["days_without_pickups"] == ["2015-01-07", "2015-01-08"]
    later = build_taxi(path, first_day="2015-01-06")
    assert later.extras["pickups"].tolist() == [2, 1]
    with pytest.raises(InvalidInputError, match="2015-01-05 to 2015-01-20"):
        build_taxi(path, weeks=3)
    with pytest.raises(InvalidInputError, match="no pickups left of 4 rows"):
        build_taxi(path, first_day="2016-01-01")


def test_the_papers_way_is_the_mean_of_the_normalized_days(write):
    lines = [
        TAXI_2015,
        *["1,2015-01-05 15:00:00,x,-74.0149,40.7051,1"] * 3,
        *["1,2015-01-05 15:00:00,x,-73.9551,40.7849,1"],
    ]
    path = write("t.csv", [*lines, "1,2015-01-06 15:00:00,x,-73.9551,40.7849,1"])
    np.testing.assert_allclose(build_taxi(path, method="daily").demand, [0.375, 0.625])
    np.testing.assert_allclose(build_taxi(path).demand, [0.6, 0.4])
    with pytest.raises(InvalidInputError, match="'pooled' or 'daily', not 'mean'"):
        build_taxi(path, method="mean")


def test_several_grids_in_one_reading_equal_one_by_one(write, taxi_lines):
    path = write("t.csv", taxi_lines)
    grids = [(12, 20), (15, 26), (1, 1)]
    together = build_taxi_grids(path, grids, taxi_filter(), commands=[None] * 3)
    for table, grid in zip(together, grids, strict=True):
        alone = build_taxi(path, grid=grid)
        assert (table_csv(table), sidecar_json(table)) == (table_csv(alone), sidecar_json(alone))


def test_the_sidecar_says_how_to_build_the_table_again(write, taxi_lines):
    path = write("t.csv", taxi_lines)
    assert build_taxi(path, command="mfbo data build nyc t.csv").details["command"] == "mfbo data build nyc t.csv"
    command = build_taxi(path, weeks=1, first_day="2015-01-05").details["command"]
    assert command.startswith("mfbo.problems.tables.build_taxi(['t.csv'], grid=(12, 20), box=Box(west=-74.015,")
    assert "first_day='2015-01-05', weeks=1" in command


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["VendorID,tpep_pickup_datetime,PULocationID", "1,2019-01-01 15:00:00,4"],
            "zone ids .pulocationid. and no coord",
        ),
        (["a,b", "1,2"], "not a taxi trip file.*the pickup time.*starts with the columns a, b"),
        (["pickup_datetime,pickup_longitude", "x,1"], "no column for the pickup latitude"),
        ([TAXI_2015], "no pickups left of 0 rows in t.csv .no rows."),
        (
            [TAXI_2015, "1,2015-01-04 15:00:00,x,-74,40.72,1"],
            "no pickups left of 1 rows in t.csv .1 on other weekdays.",
        ),
    ],
)
def test_files_without_usable_pickups_are_refused(write, lines, message):
    with pytest.raises(InvalidInputError, match=message):
        build_taxi(write("t.csv", lines))


def test_wrong_boxes_and_grids_are_refused():
    for box in ((1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 200, 1), (float("nan"), 0, 1, 1)):
        with pytest.raises(InvalidInputError, match="not a box"):
            Box(*box)
    for grid in ((0, 5), (5, 1.5), (2000, 2000)):
        with pytest.raises(InvalidInputError):
            Grid(MANHATTAN, *grid)
    assert parse_grid("12X20") == (12, 20)
    for text in ("12", "12x", "axb", "-1x4"):
        with pytest.raises(InvalidInputError, match="not a grid"):
            parse_grid(text)


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True), st.integers(1, 40), st.integers(1, 40))
def test_every_point_of_the_box_lies_in_a_square_near_its_center(across, up, columns, rows):
    grid = Grid(MANHATTAN, columns, rows)
    east = min(MANHATTAN.west + across * 0.06, np.nextafter(MANHATTAN.east, -100))
    north = min(MANHATTAN.south + up * 0.08, np.nextafter(MANHATTAN.north, 0))
    squares = grid.squares(np.array([east]), np.array([north]))
    assert 0 <= squares[0] < columns * rows
    center = grid.centers(squares)[0]
    assert abs(center[0] - east) <= 0.03 / columns + 2e-6
    assert abs(center[1] - north) <= 0.04 / rows + 2e-6


def test_the_official_heads_are_read_as_they_are(raw):
    paths = [raw / "yellow_tripdata_2015-01.head.csv.gz", raw / "yellow_tripdata_2016-01.head.csv.gz"]
    table = build_taxi(paths, weekdays="mon-sun", hours="0-24", grid=(15, 26))
    counts = table.details["counts"]
    assert counts["rows"] > 3900
    assert counts["kept"] == table.extras["pickups"].sum() > 2000
    assert counts["kept"] + sum(counts["skipped"].values()) == counts["rows"]
    assert counts["skipped"]["coordinates off the map"] > 0
