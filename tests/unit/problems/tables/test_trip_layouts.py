"""The same trips in every published layout and container give the same table; every trap of the real files."""

import gzip
import zipfile
from datetime import datetime, timedelta

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.problems.tables import build_bikes, parse_columns, read_trips, sidecar_json, table_csv
from mfbo.problems.tables.trip_files import told_record
from mfbo.problems.tables.zones import taxi_zones

STATIONS = {
    "3202": ("Newport PATH", -74.0337589, 40.7272235),
    "3203": ("Hamilton Park", -74.044247311, 40.727595966),
    "3185": ("City Hall", -74.043845, 40.7177325),
}
STATION_FILE = ["station_id,name,lat,long,dock_count", *(f"{k},{n},{y},{x},10" for k, (n, x, y) in STATIONS.items())]
FIRST = datetime(2020, 11, 14, 0, 11, 0)


def journeys():
    """Return (number, start, end, from, to): one starts at midnight, one crosses midnight, all minutes even."""
    ids = list(STATIONS)
    rides = []
    for k in range(60):
        start = FIRST + timedelta(minutes=97 * k)
        rides.append((k, start, start + timedelta(minutes=7 + k % 50), ids[k % 3], ids[(k * k) % 3]))
    return rides


def american(moment, seconds=True):
    text = f"{moment.month}/{moment.day}/{moment.year} {moment.hour:02}:{moment.minute:02}"
    return f"{text}:{moment.second:02}" if seconds else text


def citi_bike(header, show):
    def lines():
        yield header
        for k, start, end, a, b in journeys():
            (m, x, y), (n, u, v) = STATIONS[a], STATIONS[b]
            yield f'389,"{show(start)}","{show(end)}",{a},"{m}",{y},{x},{b},"{n}",{v},{u},{4000 + k},"Customer",1992,1'

    return list(lines())


def lyft(show):
    header = (
        "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,"
        "end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual"
    )
    rows = [
        f"ID{k:04},docked_bike,{show(s)},{show(e)},{STATIONS[a][0]},{a},{STATIONS[b][0]},{b},"
        f"{STATIONS[a][2]},{STATIONS[a][1]},{STATIONS[b][2]},{STATIONS[b][1]},member"
        for k, s, e, a, b in journeys()
    ]
    return [header, *rows]


OLD = (
    '"tripduration","starttime","stoptime","start station id","start station name","start station latitude",'
    '"start station longitude","end station id","end station name","end station latitude","end station longitude",'
    '"bikeid","usertype","birth year","gender"'
)
DIVVY = (
    "trip_id,start_time,end_time,bikeid,tripduration,from_station_id,from_station_name,to_station_id,to_station_name"
)
DIVVY_2019Q2 = (
    '"01 - Rental Details Rental ID","01 - Rental Details Local Start Time","01 - Rental Details Local End Time",'
    '"01 - Rental Details Bike ID","01 - Rental Details Duration In Seconds Uncapped","03 - Rental Start Station ID",'
    '"03 - Rental Start Station Name","02 - Rental End Station ID","02 - Rental End Station Name","User Type"'
)
CAPITAL = (
    "Duration,Start date,End date,Start station number,Start station,End station number,End station,Bike number,"
    "Member type"
)
BAY = (
    "trip_id,duration,start_date,start_station,start_terminal,end_date,end_station,end_terminal,bike_id,"
    "subscription_type,zip_code"
)


def named(header, row):
    return [header, *(row(k, s, e, a, STATIONS[a][0], b, STATIONS[b][0]) for k, s, e, a, b in journeys())]


LOCATED = {
    "Citi Bike": citi_bike(OLD, lambda t: f"{t}.4390"),
    "Citi Bike 2014": citi_bike(OLD, american),
    "Citi Bike title case": citi_bike(
        "Trip Duration,Start Time,Stop Time,Start Station ID,Start Station Name,Start Station Latitude,"
        "Start Station Longitude,End Station ID,End Station Name,End Station Latitude,End Station Longitude,"
        "Bike ID,User Type,Birth Year,Gender",
        str,
    ),
    "Citi Bike start_time": citi_bike(OLD.replace("starttime", "start_time").replace(" ", "_"), str),
    "Lyft": lyft(str),
    "Lyft 2021-02": lyft(lambda t: american(t, seconds=False)),
    "Lyft milliseconds": lyft(lambda t: f"{t}.123"),
    "Bay Wheels": named(
        "duration_sec,start_time,end_time,start_station_id,start_station_name,start_station_latitude,"
        "start_station_longitude,end_station_id,end_station_name,end_station_latitude,end_station_longitude,bike_id",
        lambda k, s, e, a, m, b, n: (
            f"9,{s}.4390,{e}.1,{a}.0,{m},{STATIONS[a][2]},{STATIONS[a][1]},{b}.0,{n},{STATIONS[b][2]},{STATIONS[b][1]},{k}"
        ),
    ),
}
UNLOCATED = {
    "Divvy": named(DIVVY, lambda k, s, e, a, m, b, n: f"{k},{s},{e},{k},9,{a},{m},{b},{n}"),
    "Divvy 2014": named(
        DIVVY.replace("start_time", "starttime").replace("end_time", "stoptime"),
        lambda k, s, e, a, m, b, n: f"{k},{american(s, False)},{american(e, False)},{k},9,{a},{m},{b},{n}",
    ),
    "Divvy 2019 Q2": named(
        DIVVY_2019Q2, lambda k, s, e, a, m, b, n: f'{k},{s},{e},{k},"1,020.0",{a},{m},{b},{n},Customer'
    ),
    "Capital Bikeshare": named(
        CAPITAL, lambda k, s, e, a, m, b, n: f'"552","{s}","{e}","{a}","{m}","{b}","{n}","W0{k}","Member"'
    ),
    "Bay Area": named(
        BAY, lambda k, s, e, a, m, b, n: f"{k},9,{str(s)[:16]},{m},{a},{str(e)[:16]},{n},{b},{k},S,94107"
    ),
    "own": named("Begin;Dock;Finish;Target;x", lambda k, s, e, a, m, b, n: f"{s};{a};{e};{b};{k}"),
}
COLUMNS = {"own": {"start": "Begin", "station": "dock", "end": "FINISH", "to": "Target"}}


def all_columns(trips):
    return trips.days, np.floor(trips.starts / 60), trips.origins, np.floor(trips.ends / 60), trips.destinations


@pytest.fixture
def expected():
    """The trips, put together by hand."""
    order = {"3185": 0, "3202": 1, "3203": 2}
    rows = []
    for _, start, end, a, b in journeys():
        midnight = datetime(start.year, start.month, start.day)
        minutes = [(moment - midnight).total_seconds() // 60 for moment in (start, end)]
        rows.append((start.toordinal(), minutes[0], order[a], minutes[1], order[b]))
    return np.array(rows).T


@pytest.mark.parametrize("layout", [*LOCATED, *UNLOCATED])
def test_the_same_trips_in_every_layout_are_the_same_record(write, expected, layout):
    lines = (LOCATED | UNLOCATED)[layout]
    stations = write("stations.csv", STATION_FILE) if layout in UNLOCATED else None
    trips = read_trips(write("trips.csv", lines), stations, columns=COLUMNS.get(layout))
    assert trips.stations == ("City Hall", "Newport PATH", "Hamilton Park")
    for column, wanted in zip(all_columns(trips), expected, strict=True):
        np.testing.assert_array_equal(column, wanted)
    np.testing.assert_allclose(trips.coordinates, [STATIONS[key][1:] for key in ("3185", "3202", "3203")], atol=1e-12)
    assert trips.details["counts"]["kept"] == trips.details["counts"]["rows"] == 60
    assert told_record(trips.details) == [("rows read", 60), ("trips", 60)]


@pytest.mark.parametrize("layout", [*LOCATED, *UNLOCATED])
def test_the_same_trips_in_every_layout_are_the_same_demand(write, layout):
    stations = write("stations.csv", STATION_FILE)
    options = {"weekdays": "mon-sun", "weeks": None, "command": "x"}
    usual = build_bikes(write("usual.csv", LOCATED["Citi Bike"]), **options)
    lines = (LOCATED | UNLOCATED)[layout]
    table = build_bikes(
        write("t.csv", lines), stations if layout in UNLOCATED else None, columns=COLUMNS.get(layout), **options
    )
    assert table.names == usual.names
    np.testing.assert_array_equal(table.demand, usual.demand)
    np.testing.assert_allclose(table.features, usual.features, atol=1e-12)


def test_louvelo_and_its_missing_ends(write):
    header = (
        "X,Y,Closed_Status,Duration,Start_Station_Id,Start_Date,Start_Latitude,Start_Longitude,End_Station_Id,"
        "End_Latitude,End_Longitude,Bike_Barcode,Bike_Model,Product_Name,ObjectId"
    )
    rows = [
        f"0,0,N,5,{a},{str(s).replace('-', '/')}+00,{STATIONS[a][2]},{STATIONS[a][1]},{b},{STATIONS[b][2]},"
        f"{STATIONS[b][1]},7,B,P,{k}"
        for k, s, _, a, b in journeys()
    ]
    trips = read_trips(write("louvelo.csv", [header, *rows]))
    assert trips.stations == ("station 3185", "station 3202", "station 3203")
    assert np.isnan(trips.ends).all()
    assert trips.details["notes"] == {"trips without the time of their end": 60}


def test_every_container_and_many_files_hold_the_same(write, tmp_path, expected):
    lines = LOCATED["Lyft"]
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(write("all.csv", lines), dtype={"start_station_id": str})
    frame["started_at"] = pandas.to_datetime(frame["started_at"])
    frame.to_parquet(tmp_path / "all.parquet")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("1.csv", "\n".join(lines[:31]))
        archive.writestr("2.csv", "\n".join([lines[0], *lines[31:]]))
    with zipfile.ZipFile(tmp_path / "year.zip", "w") as archive:
        archive.write(tmp_path / "all.zip", "months/all.zip")
    halves = [write("a.csv.gz", [lines[0], *lines[31:]]), write("b.csv", lines[:31])]
    for paths in (tmp_path / "all.parquet", tmp_path / "all.zip", tmp_path / "year.zip", halves):
        trips = read_trips(paths)
        for column, wanted in zip(all_columns(trips), expected, strict=True):
            np.testing.assert_array_equal(column, wanted)


def test_a_readme_beside_the_tables_of_an_archive_is_passed_over(write, tmp_path, expected):
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.txt", "These data are published under a licence.\n")
        archive.writestr("__MACOSX/._trips.csv", "\0\1")
        archive.writestr("trips.csv", "\n".join(LOCATED["Lyft"]))
    np.testing.assert_array_equal(np.array(all_columns(read_trips(path))), expected)


def test_day_first_is_read_where_only_that_parses(write):
    rows = ["start time,start station id,end time,end station id"]
    rows += [f"{day:02}/11/2020 10:00,5,{day:02}/11/2020 10:20,6" for day in (3, 12, 13, 30)]
    trips = read_trips(write("t.csv", rows))
    assert [day - datetime(2020, 11, 1).toordinal() for day in trips.dates] == [2, 11, 12, 29]
    assert (trips.ends - trips.starts == 1200).all()
    assert trips.details["notes"]["tables with the day before the month"] == 1
    both = read_trips(write("u.csv", [*rows, "11/25/2020 10:00,5,11/25/2020 10:20,6"]))  # a month first: then for all
    assert both.details["counts"]["skipped"]["unreadable date"] == 2
    points = read_trips(write("w.csv", [rows[0], "01.12.2020 10:00,5,01.12.2020 10:20,6"]))
    assert points.dates == (datetime(2020, 12, 1).toordinal(),)
    located = [rows[0] + ",start lat,start lng", *(f"{row},40,-74" for row in rows[1:])]
    table = build_bikes(write("v.csv", located), weekdays="mon-sun", weeks=None)
    assert table.details["period"]["last_day"] == "2020-11-30"


def test_a_bike_that_starts_at_one_station_on_many_days_is_not_read_twice_for_its_dates(write):
    rows = [f"{day}/11/2020 10:00:00,{day}/11/2020 10:20:00,7,Dock,8" for day in range(1, 31)]
    trips = read_trips(write("trips.csv", ["starttime,stoptime,start station id,start station name,bikeid", *rows]))
    assert len(trips) == 30
    assert len(trips.dates) == 30


def test_a_station_without_a_name_is_called_by_its_id(write):
    lines = ["started_at,start_station", "2020-11-03 10:00,Dock", "2020-11-03 10:00,JC005", "2020-11-03 10:00,7"]
    assert read_trips(write("t.csv", lines)).stations == ("station 7", "Dock", "JC005")
    named = [lines[0] + "_name", *lines[1:3]]
    assert read_trips(write("u.csv", named)).stations == ("Dock", "JC005")


def test_the_same_month_twice_is_counted_once(write, tmp_path):
    lines = LOCATED["Lyft"]
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive:
        archive.writestr("202011.csv", "\n".join(lines))
        archive.writestr("again/202011-copy.csv", "\n".join(lines))
        archive.writestr("part.csv", "\n".join(lines[:11]))
    trips = read_trips(tmp_path / "y.zip")
    assert len(trips) == 60
    assert trips.details["counts"]["skipped"]["read twice"] == 70
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("a.csv", "\n".join(lines))
        archive.writestr("b.csv", "\n".join(lines))
    table = build_bikes(tmp_path / "z.zip", weekdays="mon-sun", weeks=None)
    assert table.extras["pickups"].sum() == 60
    assert table.details["counts"]["skipped"]["read twice"] == 60


def test_riders_who_look_the_same_are_two_unless_their_file_is_read_twice(write):
    lines = ["start time,start station id,end time,end station id", *["2020-11-03 10:00,5,2020-11-03 10:15,6"] * 2]
    assert len(read_trips(write("t.csv", lines))) == 2
    assert len(read_trips([write("t.csv", lines), write("u.csv", lines)])) == 2


def lines_at(*rows):
    header = "ride_id,started_at,start_station_id,start_station_name,start_lat,start_lng"
    return [header, *(f"{k},2020-11-{day:02} 10:00,{row}" for k, (day, row) in enumerate(rows))]


def test_an_id_given_to_another_dock_is_another_station(write):
    trips = read_trips(write("t.csv", lines_at((1, "5,Old Dock,40.70,-74.00"), (20, "5,New Plaza,40.75,-74.05"))))
    assert trips.stations == ("Old Dock", "New Plaza")


def test_a_station_that_moved_is_one_and_lies_where_it_was_last(write):
    trips = read_trips(write("t.csv", lines_at((20, "5,Dock,40.75,-74.05"), (1, "5,Dock,40.70,-74.00"))))
    assert trips.stations == ("Dock",)
    np.testing.assert_allclose(trips.coordinates, [[-74.05, 40.75]])


def test_a_renamed_and_a_renumbered_station_are_one(write):
    rows = [(1, "5,Dock,40.70,-74.00"), (2, "5,Dock & Main,40.7001,-74.00"), (3, "JC005,Dock & Main,40.7,-74.00")]
    trips = read_trips(write("t.csv", lines_at(*rows)))
    assert trips.stations == ("Dock & Main",)
    assert len(trips) == 3


def test_two_stations_of_one_name_far_apart_stay_two(write):
    trips = read_trips(write("t.csv", lines_at((1, "5,Dock,40.70,-74.00"), (2, "6,Dock,40.75,-74.05"))))
    assert trips.stations == ("Dock (5)", "Dock (6)")


def test_trips_without_an_end_and_ends_elsewhere_are_kept_and_told(write):
    lines = [
        "ride_id,started_at,ended_at,start_station_id,end_station_id",
        "1,2020-11-03 10:00,,5,",
        "2,2020-11-03 10:00,2020-11-03 10:10,5,99",
        "3,2020-11-03 10:30,2020-11-03 10:10,5,5",
        "4,,2020-11-03 10:10,5,5",
        "5,2020-11-03 10:00,2020-11-03 10:10,,5",
        "6,2020",
    ]
    trips = read_trips(write("t.csv", lines))
    assert len(trips) == 3
    assert trips.coordinates is None
    assert trips.details["notes"] == {
        "trips without the time of their end": 1,
        "trips that end before they start": 1,
        "trips that end at no station of the table": 2,
    }
    skipped = {reason: count for reason, count in trips.details["counts"]["skipped"].items() if count}
    assert skipped == {"incomplete row": 1, "unreadable date": 1, "without a station id": 1}


TAXI = (
    "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,RatecodeID,store_and_fwd_flag,"
    "PULocationID,DOLocationID,payment_type,fare_amount"
)


def test_taxi_zones_are_places_and_unknown_ones_are_dropped_and_counted(write):
    zones = [("43", "236"), ("264", "43"), ("236", "265"), ("265", "1"), ("56", "57"), ("57", "56")]
    rows = [f"2,2020-11-03 15:0{k}:00,2020-11-03 15:20:00,1,2,1,N,{a},{b},1,9" for k, (a, b) in enumerate(zones)]
    path = write("yellow.csv", [TAXI, *rows])
    trips = read_trips(path)
    assert trips.stations == ("43 Central Park", "56 Corona", "57 Corona", "236 Upper East Side North")
    assert trips.details["counts"]["skipped"]["in an unknown zone (264, 265)"] == 2
    assert trips.destinations.tolist() == [3, -1, 2, 1]
    table = build_bikes(path, weekdays="mon-fri", hours="15-18", weeks=None, method="pooled")
    assert table.names == trips.stations
    np.testing.assert_allclose(table.features[0], [-73.9656, 40.7825])
    assert table.details["filter"]["hours"] == [15, 16, 17]
    with pytest.raises(InvalidInputError, match="has stations, the files before it taxi zones"):
        read_trips([path, write("bikes.csv", LOCATED["Lyft"])])


def test_there_are_263_zones_within_new_york():
    zones = taxi_zones()
    assert [zone.id for zone in zones] == [str(number) for number in range(1, 264)]
    assert len({zone.name for zone in zones}) == 263
    assert all(-74.3 < zone.longitude < -73.6 and 40.4 < zone.latitude < 41.0 for zone in zones)


def test_columns_can_be_named(write):
    assert parse_columns("start=Begin, station=Dock") == {"start": "Begin", "station": "Dock"}
    for text in ("start", "start=", "=x", ""):
        with pytest.raises(InvalidInputError, match="write start=…"):
            parse_columns(text)
    with pytest.raises(InvalidInputError, match="given twice"):
        parse_columns("start=a,start=b")
    with pytest.raises(UnknownNameError, match="did you mean 'start'"):
        parse_columns("strat=a")
    with pytest.raises(InvalidInputError, match="no column 'Beginn' for start"):
        read_trips(write("t.csv", UNLOCATED["own"]), columns={"start": "Beginn", "station": "Dock"})
    with pytest.raises(InvalidInputError, match=r"no column for the start time and the start station.*name them"):
        read_trips(write("t.csv", UNLOCATED["own"]))


def test_taxi_trips_with_points_are_sent_to_the_grid(write, taxi_lines):
    with pytest.raises(InvalidInputError, match="on a grid: mfbo data build nyc"):
        read_trips(write("t.csv", taxi_lines))


def test_bikes_that_stand_anywhere_do_not_fill_the_memory(write, monkeypatch):
    from mfbo.problems.tables import trip_spots

    monkeypatch.setattr(trip_spots, "MOST_SPOTS", 20)
    rng = np.random.default_rng(0)
    rows = [
        (1 + k % 28, f"5,Dock,{40.7 + 1e-4 * rng.random():.7f},{-74 + 1e-4 * rng.random():.7f}") for k in range(300)
    ]
    trips = read_trips(write("t.csv", lines_at(*rows)))
    assert len(trips) == 300
    assert trips.stations == ("Dock",)
    np.testing.assert_allclose(trips.coordinates, [[-74, 40.7]], atol=2e-4)


def test_the_shared_files_are_read(raw):
    names = ["JC-202003", "JC-202011", "JC-202012", "JC-202102"]
    paths = [raw / f"{name}-citibike-tripdata.csv.gz" for name in names]
    assert [len(read_trips(path)) for path in paths] == [17_719, 21_275, 11_694, 4_881]
    together = read_trips(paths[2:])
    assert len(together.stations) < 60  # ids changed from 3185 to JC003 at new year; the stations did not


def test_two_readings_give_the_same_bytes(write):
    path = write("t.csv.gz", LOCATED["Lyft"])
    first, second = (build_bikes(path, weekdays="mon-sun", weeks=None) for _ in range(2))
    assert (table_csv(first), sidecar_json(first)) == (table_csv(second), sidecar_json(second))


def malformed():
    good = "\n".join(LOCATED["Citi Bike"]).encode()
    lyft_text = "\n".join(LOCATED["Lyft"]).encode()
    header = good.split(b"\n")[0]
    packed = gzip.compress(good)
    swapped = "\n".join(LOCATED["Lyft"]).replace("started_at", "x").replace("start_station_id", "started_at").encode()
    cases = {
        "empty": b"",
        "blank": b"\n\n\n",
        "spaces": b"   \n  \n",
        "header only": header,
        "header and newline": header + b"\n",
        "byte order mark only": b"\xef\xbb\xbf",
        "null bytes": b"\x00" * 500,
        "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4,
        "pdf": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n",
        "program": b"\x7fELF\x02\x01\x01" + b"\x00" * 200,
        "sqlite": b"SQLite format 3\x00" + b"\x00" * 200,
        "web page": b"<!DOCTYPE html><html><body>404</body></html>",
        "xml": b'<?xml version="1.0"?><trips/>',
        "json": b'{"trips": []}',
        "json list": b'[{"ride_id": 1}]',
        "prose": b"These are not the trips you are looking for.\n" * 20,
        "swapped columns": swapped,
        "no station column": lyft_text.replace(b"start_station_id", b"a").replace(b"start_station_name", b"b"),
        "no time column": lyft_text.replace(b"started_at", b"when"),
        "no header": b"\n".join(good.split(b"\n")[1:]),
        "dates of no calendar": lyft_text.replace(b"2020-11-", b"2020-31-"),
        "dates as words": lyft_text.replace(b"2020-11-1", b"Nov 1"),
        "dates only": lyft_text.replace(b":", b"."),
        "all rows short": header + b"\n" + b"1,2\n" * 30,
        "one column": b"started_at\n2020-11-03 10:00\n",
        "other delimiter": lyft_text.replace(b",", b"|"),
        "no stations in rows": header + b'\n389,"2020-11-01 00:11:32","2020-11-01 00:24:09",,"",,,,"",,,1,"S",1,1\n',
        "gzip cut": packed[: len(packed) // 2],
        "gzip header only": packed[:12],
        "gzip damaged": packed[:60] + b"\xff" * 40 + packed[100:],
        "gzip of nothing": gzip.compress(b""),
        "gzip of noise": gzip.compress(bytes(range(256)) * 30),
        "gzip in gzip": gzip.compress(packed),
        "zip cut": b"PK\x03\x04" + b"\x00" * 100,
        "zip of nothing": b"PK\x05\x06" + b"\x00" * 18,
        "parquet cut": b"PAR1" + b"\x00" * 100,
        "parquet marks only": b"PAR1PAR1",
        "utf-16 cut": "\n".join(LOCATED["Lyft"]).encode("utf-16")[:1],
        "utf-32": "\n".join(LOCATED["Lyft"]).encode("utf-32"),
        "ebcdic": "\n".join(LOCATED["Lyft"]).encode("cp500"),
        "one endless line": b"a," * 600_000,
        "endless header": b"x" * 1_100_000,
        "unclosed quote": b'"started_at,start_station_id\n' + b"2020-11-03 10:00,5\n" * 50,
        "demand table": b"name,demand\na,1\nb,2\n",
        "station file": "\n".join(STATION_FILE).encode(),
        "taxi points": b"pickup_datetime,pickup_longitude,pickup_latitude\n2015-01-05 15:00:00,-74,40.7\n",
        "only unknown zones": (TAXI + "\n2,2020-11-03 15:00:00,2020-11-03 15:20:00,1,2,1,N,264,265,1,9\n").encode(),
        "zones as words": (TAXI + "\n2,2020-11-03 15:00:00,2020-11-03 15:20:00,1,2,1,N,Soho,Noho,1,9\n").encode(),
        "status file": b"station_id,bikes_available,docks_available,time\n2,2,25,2013/08/29 12:06:01\n",
        "years of five digits": lyft_text.replace(b"2020-11", b"12020-11"),
        "hours past midnight": lyft_text.replace(b" 0", b" 4").replace(b" 1", b" 4").replace(b" 2", b" 4"),
    }
    assert len(cases) >= 50
    return cases


@pytest.mark.parametrize("case", malformed())
@pytest.mark.filterwarnings("ignore::mfbo.errors.MfboWarning")  # a guess at the encoding, before it is refused
def test_a_malformed_file_is_one_clear_line(tmp_path, case):
    path = tmp_path / "trips.csv"
    path.write_bytes(malformed()[case])
    for read in (read_trips, build_bikes):
        with pytest.raises(InvalidInputError) as caught:
            read(path)
        message = str(caught.value)
        assert "\n" not in message
        assert "trips.csv" in message
        assert len(message) < 700
    assert [file.name for file in tmp_path.iterdir()] == ["trips.csv"]
