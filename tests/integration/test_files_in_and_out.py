"""Files that commands read and write, as careless and as hostile people give them."""

import csv
import gzip
import json
import os
import socket
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from mfbo import load_study
from mfbo.cli import main
from mfbo.given_files import SMALL, given_text
from mfbo.whole_files import write_whole_file, write_whole_files

STATIONS = "name,x,y\nMain St,0,0\nHarbor,1,0\nOld Town,0,2\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Run a command in a folder of its own; return exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    Path("stations.csv").write_text(STATIONS)

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments)])
        said = capsysbinary.readouterr()
        return end.value.code, said.out.decode(), said.err.decode()

    return command


@pytest.fixture
def study(run):
    assert run("study", "create", "s", "--actions", "stations.csv", "--agents", 30)[0] == 0
    assert run("study", "ask", "s")[0] == 0
    assert run("study", "tell", "s", "--plan", 0, "--payoff", 1)[0] == 0
    return run


def make_special(kind, name):
    """Make a pipe, a socket, a link to an endless device, or a folder."""
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
    elif kind == "device":
        os.symlink("/dev/zero", name)
    else:
        os.mkdir(name)


SPECIAL = ("pipe", "socket", "device", "folder")


@pytest.mark.parametrize("kind", SPECIAL)
def test_only_regular_files_are_written_and_nothing_is_asked_before(study, kind):
    make_special(kind, "out.csv")
    before = os.lstat("out.csv")
    for command in (("study", "ask", "s", "--out", "out.csv"), ("study", "export", "s", "--out", "out.csv")):
        code, out, err = study(*command)
        assert (code, out) == (2, "")
        assert f"out.csv is a {kind}" in err
        assert "--out" in err
    assert os.lstat("out.csv") == before
    assert not load_study("s", "sqlite:///mfbo.db").history.open


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_folders_for_pictures_and_reports_are_folders(run, kind):
    make_special(kind, "out")
    for command in (("demo", "--rounds", 1), ("show", "swarm"), ("benchmark", "--suite", "quick")):
        code, out, err = run(*command, "--out", "out")
        assert (code, out) == (2, "")
        assert f"out is a {kind}, not a folder" in err


def test_a_picture_replaces_no_pipe_and_follows_links(run):
    Path("drawn").mkdir()
    Path("elsewhere.svg").write_text("old")
    os.symlink("../elsewhere.svg", "drawn/swarm.svg")
    assert run("show", "swarm", "--out", "drawn")[0] == 0
    assert Path("drawn/swarm.svg").is_symlink()
    assert "<svg" in Path("elsewhere.svg").read_text()
    Path("drawn/swarm.svg").unlink()
    os.mkfifo("drawn/swarm.svg")
    code, _, err = run("show", "swarm", "--out", "drawn")
    assert code == 2
    assert "swarm.svg is a pipe" in err
    assert stat.S_ISFIFO(os.stat("drawn/swarm.svg").st_mode)


def test_a_built_table_is_written_to_no_device(run):
    os.symlink("/dev/null", "ports.csv")
    Path("raw.csv").write_text("Main Port Name,Country Code,World Water Body,Harbor Size,Latitude,Longitude\n")
    code, _, err = run("data", "build", "ports", "raw.csv", "--force")
    assert code == 2
    assert "ports.csv is a device" in err


def test_links_are_followed_and_modes_kept(study):
    Path("real").mkdir()
    Path("real/plan.csv").write_text("old")
    os.chmod("real/plan.csv", 0o640)
    os.symlink("real/plan.csv", "plan.csv")
    os.symlink("real/new.csv", "new.csv")
    old = os.umask(0o077)
    try:
        assert study("study", "ask", "s", "--out", "plan.csv")[0] == 0
        assert study("study", "ask", "s", "--out", "new.csv")[0] == 0
    finally:
        os.umask(old)
    assert Path("plan.csv").is_symlink()
    assert Path("new.csv").is_symlink()
    assert Path("real/plan.csv").read_text() == Path("real/new.csv").read_text() != "old"
    assert stat.S_IMODE(os.stat("real/plan.csv").st_mode) == 0o640
    assert stat.S_IMODE(os.stat("real/new.csv").st_mode) == 0o600
    assert not list(Path().rglob("*.part"))


def test_a_file_put_at_the_old_temporary_name_is_not_written_through(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f".plan.csv.{os.getpid()}.part").symlink_to(victim)
    write_whole_file(tmp_path / "plan.csv", b"new")
    assert victim.read_text() == "mine"
    assert (tmp_path / "plan.csv").read_bytes() == b"new"
    assert not (tmp_path / "plan.csv").is_symlink()


def test_several_files_are_written_all_or_none(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        write_whole_files({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_dash_is_standard_output_and_nothing_else_is_there(study):
    code, out, err = study("study", "ask", "s", "--out", "-")
    assert (code, err) == (0, "")
    assert [row["station"] for row in csv.DictReader(out.splitlines())] == ["Main St", "Harbor", "Old Town"]
    code, out, err = study("study", "export", "s", "--out", "-")
    assert (code, err) == (0, "")
    assert len(list(csv.DictReader(out.splitlines()))) == 6
    code, out, err = study("study", "export", "s", "--out", "-", "--json")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["rounds"]) == 2
    assert study("study", "ask", "s", "--out", "-", "--json")[0] == 2
    assert not Path("-").exists()


@pytest.mark.parametrize("kind", SPECIAL)
def test_pipes_and_devices_are_refused_as_input_at_once(study, kind):
    make_special(kind, "in.csv")
    make_special(kind, "in.toml")
    started = time.monotonic()
    for command in (
        ("study", "import", "s", "in.csv"),
        ("study", "tell", "s", "--plan", 0, "--cells", "in.csv"),
        ("study", "create", "t", "--actions", "in.csv", "--agents", 3),
        ("show", "swarm", "--plan", "in.csv"),
        ("run", "louvelo", "--rounds", 1, "--data", "in.csv"),
        ("data", "build", "ports", "in.csv"),
        ("data", "show", "in.csv"),
        ("benchmark", "--suite", "in.toml"),
    ):
        code, out, err = study(*command)
        assert (code, out) == (2, ""), command
        assert f"is a {kind}" in err, err
    assert time.monotonic() - started < 60


def memory_of(*arguments, seconds=100):
    """Run a command in a process of its own; return exit code, standard error and the most memory it took, in MB."""
    code = (
        "import re, sys\nfrom mfbo.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "finally:\n    status = open('/proc/self/status').read()  # getrusage counts the parent's memory too\n"
        "    print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=seconds, check=False
    )
    *lines, peak = done.stderr.strip().splitlines()
    return done.returncode, "\n".join(lines), int(peak)


def bomb(kind, path, content):
    if kind == "gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(30):
                file.write(content)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("trips.csv", "w") as file:
            for _ in range(30):
                file.write(content)


@pytest.mark.parametrize(("kind", "line"), [("gz", b"0" * 100), ("zip", b"1,2,3\n" * 20)])
def test_a_small_file_that_unpacks_without_end_is_refused_in_little_memory(tmp_path, kind, line):
    path = tmp_path / f"trips.csv.{kind}"
    head = b"start_date,start_terminal,start_lng,start_lat\n"
    bomb(kind, path, head + line * 40_000)
    assert path.stat().st_size < SMALL / 20
    code, said, peak = memory_of("run", "louvelo", "--rounds", 1, "--data", path)
    assert code == 2
    assert "unpacks to more than" in said or "has a line of more than" in said
    assert peak < 400


def test_texts_held_in_memory_are_bounded_and_said(run, monkeypatch):
    with open("large.csv", "wb") as file:
        file.truncate(100_000_001)  # takes no room on the disk
    for command in (("study", "create", "t", "--agents", 3, "--actions"), ("show", "swarm", "--plan")):
        code, _, err = run(*command, "large.csv")
        assert code == 2
        assert "has more than 100,000,000 bytes" in err


@pytest.mark.slow
@pytest.mark.parametrize("unknown", [False, True])
def test_twenty_thousand_past_days_are_read_in_a_minute_of_processor_time(study, tmp_path, unknown):
    with open("days.csv", "w") as file:
        file.write("day,station,agents,payoff\n")
        for day in range(20_000):
            file.writelines(f"d{day},{f'Nowhere {day % 500} {n}' if unknown else 'Harbor'},{n},1\n" for n in range(35))
    started = time.process_time()
    code, _, err = study("study", "import", "s", "days.csv")
    assert time.process_time() - started < 60
    assert code == 2
    assert err.count("\n") == 41
    assert ("unknown station" if unknown else "is already on line") in err


@pytest.mark.parametrize(("encoding", "said"), [("cp1252", "Windows-1252"), ("utf-16", "UTF-16"), ("utf-8", None)])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_windows_files_are_read_and_the_guess_is_said(run, encoding, said, mark):
    def write(name, text):
        Path(name).write_bytes(text.replace("|", mark).encode(encoding))

    write("cafés.csv", "name|x|y\nCafé|0|0\nMünster|1|0\n")
    write("day.csv", "station|payoff\nCafé|1\nMünster|2\n")
    write("demand.csv", "name|demand|x|y\nCafé|1|0|0\nMünster|2|1|0\n")
    write("plan.csv", "action|share\nCafé|0.5\nMünster|0.5\n")
    commands = (
        ("study", "create", "t", "--actions", "cafés.csv", "--agents", 4),
        ("study", "ask", "t"),
        ("study", "tell", "t", "--plan", 0, "--cells", "day.csv"),
        ("show", "louvelo", "--data", "demand.csv", "--plan", "plan.csv"),
    )
    heard = []
    for command in commands:
        code, _, err = run(*command)
        assert code == 0, err
        heard += err.splitlines()
    assert load_study("t", "sqlite:///mfbo.db").population.actions == ("Café", "Münster")
    guesses = [line for line in heard if "is not UTF-8" in line]
    assert len(guesses) == (0 if said is None else 4)
    assert all(said in line for line in guesses)


def test_a_text_with_bytes_of_no_encoding_is_refused(tmp_path):
    (tmp_path / "bytes").write_bytes(b"name\n\x81\x02")
    with pytest.raises(ValueError, match="is not text in UTF-8, UTF-16 or Windows-1252"):
        given_text(tmp_path / "bytes")


def test_a_missing_name_column_is_said_first_with_the_way_out(run):
    Path("mine.csv").write_text("Haltestelle,x,y,docks\nMain St,0,0,9\nHarbor,1,zero,9\nOld Town,0,2,9\n")
    create = ("study", "create", "t", "--actions", "mine.csv", "--agents", 3, "--capacity", "docks")
    code, _, err = run(*create)
    assert code == 2
    first, second = err.splitlines()
    assert "the column 'name' is missing; the file has haltestelle, x, y, docks" in first
    assert "--name-column" in first
    assert "line 3, column 'y'" in second
    Path("mine.csv").write_text(Path("mine.csv").read_text().replace("zero", "0"))
    Path("types.csv").write_text("type,weight\nday,1\nnight,2\n")
    assert run(*create, "--name-column", "Haltestelle", "--contexts", "types.csv")[0] == 0
    population = load_study("t", "sqlite:///mfbo.db").population
    assert population.actions == ("Main St", "Harbor", "Old Town")
    assert population.contexts == ("day", "night")
    assert "'nosuch' is missing" in run(*create, "--name-column", "nosuch")[2]


@pytest.mark.parametrize("missing", ["station", "agents", "payoff", "day"])
def test_what_follows_from_a_missing_column_is_not_listed(study, missing):
    columns = ["day", "station", "agents", "payoff"]
    columns[columns.index(missing)] = "other"
    rows = ["1,Main St,10,2", "1,Harbor,10,2", "1,Old Town,10,2", "2,Harbor,30,1"]
    Path("days.csv").write_text("\n".join([",".join(columns), *rows]))
    code, _, err = study("study", "import", "s", "days.csv")
    assert code == 2
    assert err.count("\n") == 1
    assert f"the column {missing!r} is missing" in err
