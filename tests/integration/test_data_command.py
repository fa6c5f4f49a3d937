"""`mfbo data` as a user meets it: real processes, files on disk, exit codes, what goes to which stream."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

RAW = Path(__file__).resolve().parents[3] / "shared" / "data" / "raw"
EMBEDDED = resources.files("mfbo.problems").joinpath("data")
TABLES = ("nyc-12x20", "nyc-15x26", "nyc-20x36", "bay-area-bike", "bay-area-week", "ports", "ports-30")

TAXI = """VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,pickup_longitude,pickup_latitude
2,2015-01-05 15:00:00,x,-74.0149,40.7051
2,2015-01-06 17:59:59,x,-74.0149,40.7051
2,2015-01-09 16:30:00,x,-73.9551,40.7849
2,2015-01-10 16:30:00,x,-73.9551,40.7849
2,2015-01-12 16:30:00,x,0,0
2,2015-01-13 09:30:00,x,-73.99,40.75
2,never,x,-73.99,40.75
"""
TRIPS = """trip_id,start_date,start_station,start_terminal
1,2014-05-03 10:00:00,A,1
2,2014-05-03 11:00:00,A,1
3,2014-05-03 12:00:00,B,2
4,2014-05-10 12:00:00,B,2
5,2014-05-04 12:00:00,B,2
6,2014-05-10 12:00:00,C,3
"""
STATIONS = """station_id,name,lat,long,dockcount,landmark
1,Alpha,37.78,-122.40,15,San Francisco
2,Beta,37.79,-122.39,19,San Francisco
3,Gamma,37.33,-121.89,11,San Jose
"""
LOUVELO = """Start_Station_Id,Start_Date,Start_Latitude,Start_Longitude
7,2019/05/04 10:00,38.25,-85.75
9,2019/05/04 11:15,38.26,-85.74
9,2019/05/11 11:15,38.26,-85.74
"""
OCEANS = ("North Atlantic Ocean", "South Atlantic Ocean", "North Pacific Ocean", "South Pacific Ocean", "Indian Ocean")
PORTS = "Main Port Name,Country Code,World Water Body,Harbor Size,Longitude,Latitude\n" + "".join(
    f"Port {ocean[:9]} {k},XX,Some Sea; {ocean},{'Large' if k else 'Medium'},{10 * k + n + 1},{5 * n}\n"
    for n, ocean in enumerate(OCEANS)
    for k in range(3)
)


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


def together(commands, cwd=None):
    """Run commands {key: arguments} in one process, as starting Python takes longest: {key: (code, out, err)}."""
    texts = {key: [str(word) for word in arguments] for key, arguments in commands.items()}
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE_PROCESS],
        input=json.dumps(texts), capture_output=True, text=True, timeout=120, check=True, cwd=cwd,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A folder with tiny raw files of each kind."""
    folder = tmp_path_factory.mktemp("raw")
    (folder / "taxi.csv").write_text(TAXI)
    (folder / "trips.csv.gz").write_bytes(gzip.compress(TRIPS.encode()))
    (folder / "stations.csv").write_text(STATIONS)
    (folder / "louvelo.csv").write_text(LOUVELO)
    (folder / "wpi.csv").write_text(PORTS)
    (folder / "zones.csv").write_text("VendorID,tpep_pickup_datetime,PULocationID\n1,2019-01-01 15:00:00,4\n")
    return folder


@pytest.fixture
def official():
    """The folder of official raw files; tests that need it are skipped without it."""
    if not RAW.is_dir():
        pytest.skip(f"no official raw files at {RAW}")
    return RAW


def sidecar(path):
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_list_tells_size_period_source_and_license_of_every_embedded_table():
    found = together({"json": ("data", "list", "--json"), "table": ("data", "list")})
    records = json.loads(found["json"][1])
    assert [record["name"] for record in records] == list(TABLES)
    for record in records:
        files = [EMBEDDED.joinpath(f"{record['name']}.{kind}") for kind in ("csv", "json")]
        assert record["bytes"] == sum(len(file.read_bytes()) for file in files)
        assert record["source"]
        assert record["license"]
    assert sum(record["bytes"] for record in records) < 200_000
    assert {record["name"]: record["places"] for record in records}["nyc-20x36"] == 409
    assert records[3]["period"] == "2014-05-03 to 2014-09-13, 20 days"
    code, table, errors = found["table"]
    assert (code, errors) == (0, "")
    assert all(name in table for name in TABLES)


def test_show_prints_the_sidecar_and_the_first_rows(tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("name,demand\n[bold]7,1\n[/],3\n")
    found = together(
        {
            "people": ("data", "show", "bay-area-bike", "--rows", 2),
            "programs": ("data", "show", "ports-30", "--rows", 1, "--json"),
            "own": ("data", "show", own),
        }
    )
    for text in ("CC0", "2014-09-13", "7,655", "in another city", "Powell Street BART", "First 2 of 35 rows"):
        assert text in found["people"][1]
    record = json.loads(found["programs"][1])
    assert record["places"] == 30
    assert record["rows"] == [
        {"name": "Agadir", "longitude": -9.6333, "latitude": 30.4333, "region": "North Atlantic", "size": "Large",
         "capacity": 2}
    ]  # fmt: skip
    assert record["details"] == json.loads(EMBEDDED.joinpath("ports-30.json").read_text(encoding="utf-8"))
    assert found["own"][0] == 0
    assert "[bold]7" in found["own"][1]
    assert "[/]" in found["own"][1]


def test_nyc_writes_three_grids_with_a_summary_and_plain_progress_lines(raw, tmp_path):
    done = mfbo("data", "build", "nyc", raw / "taxi.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"nyc-{grid}.{kind}" for grid in ("12x20", "15x26", "20x36") for kind in ("csv", "json")
    )
    lines = (tmp_path / "nyc-12x20.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["name", "r00c00", "r19c11"]
    summary = " ".join(done.stdout.split())
    for text in ("nyc-20x36 2 2015-01-05 to 2015-01-09", "rows read 7", "pickups kept 3", "on other weekdays 1",
                 "unreadable date 1", "coordinates off the map 1", "at other hours 1"):  # fmt: skip
        assert text in summary
    assert done.stderr.splitlines()[-1].startswith("nyc: read 0.0 of 0.0 MB")
    assert sidecar(tmp_path / "nyc-15x26.csv")["command"] == "mfbo data build nyc-15x26 taxi.csv"


def test_a_terminal_gets_a_bar(raw, tmp_path):
    ours, theirs = os.openpty()
    arguments = [sys.executable, "-m", "mfbo", "data", "build", "nyc", str(raw / "taxi.csv")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=theirs, cwd=tmp_path) as running:
        output, _ = running.communicate(timeout=60)
    os.close(theirs)
    seen = os.read(ours, 100_000).decode()
    os.close(ours)
    assert running.returncode == 0
    assert "nyc" in seen
    assert "bytes" in seen
    assert "━" in seen
    assert b"pickups kept" in output


def test_options_of_a_taxi_table_are_followed_and_recorded(raw, tmp_path):
    options = ("--box", "-74.02,40.7,-73.95,40.79", "--grid", "4x3", "--weekdays", "sat,sun", "--hours", "16",
               "--first-day", "2015-01-05", "--weeks", "1", "--method", "daily")  # fmt: skip
    done = mfbo("data", "build", "nyc", raw / "taxi.csv", *options, "--json", cwd=tmp_path)
    assert done.stderr == ""
    (record,) = json.loads(done.stdout)["tables"]
    assert (record["name"], record["places"], record["kept"], record["rows"]) == ("nyc-4x3", 1, 1, 7)
    assert record["files"] == ["nyc-4x3.csv", "nyc-4x3.json"]
    details = sidecar(tmp_path / "nyc-4x3.csv")
    assert (
        details["command"]
        == record["command"]
        == (
            "mfbo data build nyc taxi.csv --box=-74.02,40.7,-73.95,40.79 --grid 4x3 --weekdays sat,sun --hours 16 "
            "--first-day 2015-01-05 --weeks 1 --method daily"
        )
    )
    assert details["filter"]["box"]["north"] == 40.79
    assert details["filter"]["hours"] == [16]
    assert details["filter"]["weekdays"] == ["saturday", "sunday"]
    assert details["filter"]["method"] == "daily"


def test_the_recorded_command_gives_the_same_bytes_again(raw, tmp_path):
    first = mfbo("data", "build", "nyc", raw / "taxi.csv", "--hours", "15-18", "--out", tmp_path / "my city.csv", "-q")
    assert first.returncode == 0
    assert first.stderr == ""
    again = tmp_path / "again"
    again.mkdir()
    command = sidecar(tmp_path / "my city-15x26.csv")["command"].split()
    assert command == ["mfbo", "data", "build", "nyc-15x26", "taxi.csv", "--hours", "15-18"]
    arguments = [raw / "taxi.csv" if word == "taxi.csv" else word for word in command[1:]]
    assert mfbo(*arguments, cwd=again).returncode == 0
    for kind in ("csv", "json"):
        assert (again / f"nyc-15x26.{kind}").read_bytes() == (tmp_path / f"my city-15x26.{kind}").read_bytes()


def test_bikes_with_their_options(raw, tmp_path):
    trips, stations = raw / "trips.csv.gz", raw / "stations.csv"
    build = ("data", "build", "bay-area-bike", trips)
    others = (stations, "--city", "all", "--weekdays", "sun", "--weeks", "all", "--out", "all.csv", "--json")
    found = together({"one": (*build, "--stations", stations, "--weeks", "2"), "all": (*build, *others)}, cwd=tmp_path)
    assert found["one"][0] == 0
    details = sidecar(tmp_path / "bay-area-bike.csv")
    assert details["command"] == "mfbo data build bay-area-bike trips.csv.gz --weeks 2 --stations stations.csv"
    assert details["filter"]["city"] == "San Francisco"
    assert details["counts"]["kept"] == 4
    assert details["counts"]["skipped"]["in another city"] == 1
    (record,) = json.loads(found["all"][1])["tables"]
    assert (record["places"], record["kept"], record["files"][0]) == (1, 1, "all.csv")
    assert sidecar(tmp_path / "all.csv")["filter"]["city"] is None


def test_louvelo_from_trips_with_coordinates_is_built_and_run(raw, tmp_path):
    found = together(
        {
            "build": ("data", "build", "louvelo", raw / "louvelo.csv", "--weeks", "2"),
            "run": ("run", "louvelo", "--data", "louvelo.csv", "--rounds", "3", "--strategy", "random"),
            "raw": ("run", "louvelo", "--data", raw / "louvelo.csv", "--rounds", "3", "--strategy", "random"),
            "weeks": ("run", "louvelo", "--data", raw / "louvelo.csv", "--rounds", "3", "--weeks", "20"),
            "table": ("run", "louvelo", "--data", "louvelo.csv", "--rounds", "3", "--weeks", "2"),
            "none": ("run", "louvelo", "--rounds", "3", "--weeks", "2"),
            "bikes": ("data", "build", "bikes", raw / "louvelo.csv", "--hours", "0-24", "-q"),
        },
        cwd=tmp_path,
    )
    assert found["build"][0] == 0, found["build"]
    code, output, errors = found["run"]
    assert code == 0, errors
    assert "2 × 1" in output
    assert "note" not in errors
    assert found["raw"][0] == 0, found["raw"]  # all days there are, unless the options say otherwise
    assert found["weeks"][0] == 2
    assert "20 weeks from 2019-05" in found["weeks"][2]
    assert "--weeks chooses among trips" in found["table"][2]
    assert "give one with --data" in found["none"][2]
    assert found["bikes"][0] == 0, found["bikes"]
    assert (tmp_path / "bikes.csv").is_file()


def test_ports_and_a_choice_of_them(raw, tmp_path):
    build = ("data", "build", "ports", raw / "wpi.csv", "-q")
    found = together(
        {
            "all": build,
            "few": (*build, "--count", "11", "--seed", "4"),
            "other": (*build, "--count", "11", "--seed", "5", "--out", "other.csv"),
        },
        cwd=tmp_path,
    )
    assert [code for code, _, _ in found.values()] == [0, 0, 0]
    assert len((tmp_path / "ports.csv").read_text().splitlines()) == 16
    assert "ports kept 15" in " ".join(found["few"][1].split())
    assert len((tmp_path / "ports-11.csv").read_text().splitlines()) == 12
    details = sidecar(tmp_path / "ports-11.csv")
    assert details["filter"]["choice"] == {"count": 11, "least_per_region": 2, "seed": 4}
    assert details["command"] == "mfbo data build ports wpi.csv --count 11 --seed 4"
    assert (tmp_path / "other.csv").read_bytes() != (tmp_path / "ports-11.csv").read_bytes()


@pytest.mark.slow
def test_parquet_is_read_and_named_when_pyarrow_is_missing(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "tpep_pickup_datetime": ["2015-01-05 15:00:00"],
        "pickup_longitude": [-74.0],
        "pickup_latitude": [40.75],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "taxi.parquet")
    done = mfbo("data", "build", "nyc-12x20", "taxi.parquet", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["tables"][0]["kept"] == 1
    script = "import sys; sys.modules['pyarrow'] = None\nfrom mfbo.cli import main\nmain(sys.argv[1:])"
    without = subprocess.run(
        [sys.executable, "-c", script, "data", "build", "nyc-15x26", "taxi.parquet"],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert without.returncode == 2
    assert 'pip install "mfbo[data]"' in without.stderr
    assert len(without.stderr.splitlines()) == 1


FAULTS = {
    "nothing to build": (("build",), "name"),
    "no raw file": (("build", "nyc"), "raw"),
    "unknown table": (("build", "nycc", "taxi.csv"), "'nyc'"),
    "missing file": (("build", "nyc", "nosuch.csv"), "nosuch.csv does not exist"),
    "folder": (("build", "nyc", "."), "is a folder"),
    "twice": (("build", "nyc", "taxi.csv", "taxi.csv"), "twice"),
    "zones only": (("build", "nyc", "zones.csv"), "zone ids"),
    "wrong kind": (("build", "ports", "taxi.csv"), "not a World Port Index file"),
    "nothing left": (("build", "nyc", "taxi.csv", "--hours", "3"), "no pickups left of 7 rows"),
    "grid for bikes": (("build", "louvelo", "louvelo.csv", "--grid", "3x3"), "--grid does not fit louvelo"),
    "box for ports": (("build", "ports", "wpi.csv", "--box", "1,2,3,4"), "--box does not fit ports"),
    "city for taxis": (("build", "nyc", "taxi.csv", "--city", "all"), "--city does not fit nyc"),
    "count for taxis": (("build", "nyc", "taxi.csv", "--count", "3"), "--count does not fit nyc"),
    "grid for a grid": (("build", "nyc-12x20", "taxi.csv", "--grid", "3x3"), "names its grid itself"),
    "count for thirty": (("build", "ports-30", "wpi.csv", "--count", "12"), "names its number"),
    "seed alone": (("build", "ports", "wpi.csv", "--seed", "3"), "needs --count"),
    "count too small": (("build", "ports", "wpi.csv", "--count", "3"), "between 10"),
    "negative seed": (("build", "ports-30", "wpi.csv", "--seed", "-1"), "seed"),
    "three numbers": (("build", "nyc", "taxi.csv", "--box", "1,2,3"), "west,south,east,north"),
    "box inside out": (("build", "nyc", "taxi.csv", "--box", "3,2,1,4"), "is not a box"),
    "grid": (("build", "nyc", "taxi.csv", "--grid", "3"), "is not a grid"),
    "weekdays": (("build", "nyc", "taxi.csv", "--weekdays", "someday"), "'someday' is not a weekday"),
    "hours": (("build", "nyc", "taxi.csv", "--hours", "25"), "'25' is not a span of hours"),
    "first day": (("build", "nyc", "taxi.csv", "--first-day", "5 May"), "'5 May'"),
    "weeks": (("build", "nyc", "taxi.csv", "--weeks", "-2"), "'-2'"),
    "too many weeks": (("build", "nyc", "taxi.csv", "--weeks", "9"), "9 weeks from"),
    "method": (("build", "nyc", "taxi.csv", "--method", "guess"), "'guess'"),
    "no stations": (("build", "bay-area-bike", "trips.csv.gz", "--weeks", "2"), "one station file"),
    "no such stations": (
        ("build", "louvelo", "louvelo.csv", "--stations", "gone.csv", "--out", "x.csv"),
        "gone.csv does not exist",
    ),
    "city": (("build", "bay-area-bike", "trips.csv.gz", "stations.csv", "--city", "San Jos"), "'San Jose'"),
    "not a csv": (("build", "nyc", "taxi.csv", "--out", "x.parquet"), "ends in .csv"),
    "no such folder": (("build", "nyc", "taxi.csv", "--out", "nosuch/x.csv"), "folder nosuch does not exist"),
    "onto a raw file": (("build", "nyc-12x20", "taxi.csv", "--out", "taxi.csv", "--force"), "one of the raw files"),
    "onto the stations": (
        ("build", "louvelo", "louvelo.csv", "--stations", "stations.csv", "--out", "stations.csv", "--force"),
        "one of the raw files",
    ),
    "already there": (("build", "nyc-12x20", "taxi.csv", "--out", "stations.csv"), "--force"),
    "unknown to show": (("show", "nyc-12x21"), "'nyc-12x20'"),
    "missing to show": (("show", "nosuch.csv"), "nosuch.csv does not exist"),
    "raw to show": (("show", "taxi.csv"), "taxi trips"),
    "negative rows": (("show", "ports", "--rows", "-1"), "-1"),
}


@pytest.fixture(scope="module")
def answers(raw):
    """What all the faulty commands answer; they leave every file as it was."""
    commands = {
        key: ["data", *arguments, *["-q"] * (arguments[0] == "build")] for key, (arguments, _) in FAULTS.items()
    }
    before = {path: path.read_bytes() for path in raw.iterdir()}
    found = together(commands, cwd=raw)
    assert {path: path.read_bytes() for path in raw.iterdir()} == before
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_on_standard_error_and_exit_code_2(fault, answers):
    code, output, errors = answers[fault]
    assert code == 2
    assert output == ""
    assert len(errors.strip().splitlines()) == 1, errors
    assert FAULTS[fault][1] in errors


def test_data_alone_explains_itself():
    done = mfbo("data")
    assert done.returncode == 2
    assert done.stdout == ""
    for command in ("list", "show", "build"):
        assert f"  {command} " in done.stderr


def test_an_existing_file_stays_unless_forced(raw, tmp_path):
    (tmp_path / "nyc-12x20.json").write_text("mine")
    build = ("data", "build", "nyc-12x20", raw / "taxi.csv", "-q")
    refused = mfbo(*build, cwd=tmp_path)
    assert refused.returncode == 2
    assert "nyc-12x20.json is already there" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["nyc-12x20.json"]
    assert (tmp_path / "nyc-12x20.json").read_text() == "mine"
    assert mfbo(*build, "--force", cwd=tmp_path).returncode == 0
    assert sidecar(tmp_path / "nyc-12x20.csv")["counts"]["kept"] == 3


def test_a_disk_that_is_full_leaves_the_old_files_and_no_new_ones(raw, tmp_path):
    (tmp_path / "nyc-12x20.csv").write_text("old")

    def almost_full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))  # the CSV fits, its sidecar does not

    done = mfbo("data", "build", "nyc-12x20", raw / "taxi.csv", "--force", "-q", cwd=tmp_path, preexec_fn=almost_full)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip().splitlines() == ["mfbo: nyc-12x20.json cannot be written: File too large"]
    assert [path.name for path in tmp_path.iterdir()] == ["nyc-12x20.csv"]
    assert (tmp_path / "nyc-12x20.csv").read_text() == "old"


def test_an_interrupted_build_leaves_nothing_behind(tmp_path):
    raw = tmp_path / "big.csv"
    row = "2,2015-01-05 15:00:00,x,-74.0149,40.7051\n"
    raw.write_text(TAXI.splitlines()[0] + "\n" + row * 800_000)
    out = tmp_path / "out"
    out.mkdir()
    arguments = [sys.executable, "-m", "mfbo", "data", "build", "nyc", str(raw)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=out) as running:
        assert "nyc: read" in running.stderr.readline()
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors.strip().splitlines()[-1] == "mfbo: interrupted"
    assert "Traceback" not in errors
    assert list(out.iterdir()) == []


@pytest.mark.slow
def test_the_official_files_give_the_embedded_tables_to_the_byte(official, tmp_path):
    sources = {
        "nyc": ["nyc_yellow_sample_2016H1.csv.gz"],
        "bay-area-bike": ["bay_area_bike_trips_2014.csv.gz", "bay_area_bike_stations.csv"],
        "bay-area-week": ["bay_area_bike_trips_2014.csv.gz", "bay_area_bike_stations.csv"],
        "ports": ["UpdatedPub150.csv.gz"],
        "ports-30": ["UpdatedPub150.csv.gz"],
    }
    builds = {name: ("data", "build", name, *(official / file for file in files)) for name, files in sources.items()}
    for code, _, errors in together(builds, cwd=tmp_path).values():
        assert code == 0, errors
    for name in TABLES:
        for kind in ("csv", "json"):
            built = (tmp_path / f"{name}.{kind}").read_bytes()
            assert built == EMBEDDED.joinpath(f"{name}.{kind}").read_bytes(), f"{name}.{kind}"
