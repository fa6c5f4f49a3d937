"""GBFS feeds of all versions, from folders, files and addresses; and everything that is no feed."""

import json
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mfbo.errors import InvalidInputError
from mfbo.gbfs import read_gbfs
from mfbo.population import Population

PLACES = {"7": ("Depot", -85.7, 38.2, 11, 4), "8": ("Depot", -85.71, 38.21, 9, 2), "x": ("Square", -85.72, 38.22, 5, 1)}


def information(version: str) -> dict:
    def name(text):
        if version.startswith("3"):
            return [{"text": "Platz", "language": "de"}, {"text": text, "language": "en"}]
        return text

    stations = [
        {"station_id": key, "name": name(text), "lat": north, "lon": east, "capacity": docks}
        for key, (text, east, north, docks, _) in PLACES.items()
    ]
    return {"last_updated": 1, "ttl": 0, "version": version, "data": {"stations": stations}}


def status(version: str) -> dict:
    yes, no = (1, 0) if version == "1.1" else (True, False)
    available = "num_vehicles_available" if version.startswith("3") else "num_bikes_available"
    stations = [
        {"station_id": key, available: bikes, "is_installed": yes, "is_renting": no if key == "x" else yes}
        for key, (*_, bikes) in PLACES.items()
    ]
    return {"last_updated": 1, "ttl": 0, "version": version, "data": {"stations": stations}}


@pytest.fixture
def folder(tmp_path):
    def write(version="2.3"):
        (tmp_path / "station_information.json").write_text(json.dumps(information(version)))
        (tmp_path / "station_status.json").write_text(json.dumps(status(version)))
        return tmp_path

    return write


@pytest.fixture
def served(tmp_path):
    servers = []

    def start(handler):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check(feed, version):
    assert feed.version == version
    assert feed.columns["name"] == ["Depot (7)", "Depot (8)", "Square"]
    assert feed.columns["longitude"] == [-85.7, -85.71, -85.72]
    assert feed.capacity == {"Depot (7)": 11, "Depot (8)": 9, "Square": 5}
    assert feed.placed == {"Depot (7)": 4, "Depot (8)": 2, "Square": 1}
    assert feed.closed == {"Square": 1}
    assert feed.skipped == 0


@pytest.mark.parametrize("version", ["1.1", "2.3", "3.0"])
def test_every_version_from_a_folder_and_a_file(folder, version):
    path = folder(version)
    check(read_gbfs(path), version)
    check(read_gbfs(path / "station_information.json"), version)
    check(read_gbfs(str(path / "station_status.json")), version)


@pytest.mark.parametrize("version", ["2.3", "3.0"])
def test_an_address_of_the_discovery_file_or_of_the_stations(folder, served, version):
    path = folder(version)
    address = served(partial(Silent, directory=str(path)))
    feeds = [{"name": name, "url": f"{address}/{name}.json"} for name in ("station_information", "station_status")]
    data = {"feeds": feeds} if version == "3.0" else {"fr": {"feeds": []}, "en": {"feeds": feeds}}
    (path / "gbfs.json").write_text(json.dumps({"version": version, "data": data}))
    check(read_gbfs(f"{address}/gbfs.json"), version)
    check(read_gbfs(f"{address}/station_information.json"), version)
    with pytest.raises(InvalidInputError, match="404"):
        read_gbfs(f"{address}/nothing.json")


def test_a_population_can_be_made_of_a_feed(folder):
    feed = read_gbfs(folder())
    population = Population(feed.columns, size=7, capacity=feed.capacity, fixed=feed.closed, placed=feed.placed)
    assert population.limits.placed.tolist() == [[4, 2, 1]]
    assert population.limits.most.tolist() == [11, 9, 5]
    assert population.limits.upper[0, 2] == population.limits.lower[0, 2] == 1


def test_without_a_status_nothing_is_said_of_bikes(folder):
    path = folder()
    (path / "station_status.json").unlink()
    feed = read_gbfs(path)
    assert feed.placed is None
    assert feed.closed == {}


def test_stations_without_a_place_are_counted_and_an_overfull_one_holds_its_bikes(folder):
    path = folder()
    content = information("2.3")
    content["data"]["stations"][0] |= {"lat": "north"}
    content["data"]["stations"][1] |= {"capacity": 1}
    content["data"]["stations"].append({"name": "no id", "lat": 1, "lon": 1})
    (path / "station_information.json").write_text(json.dumps(content))
    feed = read_gbfs(path)
    assert feed.skipped == 2
    assert feed.capacity == {"Depot": 2, "Square": 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "not a feed"),
        ('{"data": {}}', "no list data.stations"),
        ('{"data": {"stations": {}}}', "no list data.stations"),
        ('{"data": {"stations": []}}', "lists no station"),
        ('{"data": {"stations": [5, {"station_id": "1", "lat": NaN, "lon": 2}]}}', "lists no station"),
        ("\x00\x01", "is not"),
    ],
)
def test_what_is_no_feed_is_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "station_information.json").write_text(text)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_gbfs(tmp_path)
    assert "\n" not in str(caught.value)


def test_wrong_places_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist"):
        read_gbfs(tmp_path / "there")
    with pytest.raises(InvalidInputError, match="no station_information"):
        read_gbfs(tmp_path)
    with pytest.raises(InvalidInputError, match="http://"):
        read_gbfs("file:///etc/passwd")
    with pytest.raises(InvalidInputError, match="timeout"):
        read_gbfs(tmp_path, timeout=0)


def test_a_feed_that_never_ends_is_given_up(served):
    class Dripping(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b" " * 70_000)
                    time.sleep(0.05)
            except OSError:
                pass

        def log_message(self, *_):
            pass

    address = served(Dripping)
    begun = time.monotonic()
    with pytest.raises(InvalidInputError, match="too long"):
        read_gbfs(f"{address}/gbfs.json", timeout=0.3)
    assert time.monotonic() - begun < 3


def test_wrong_numbers_are_told_and_not_silently_dropped(folder):
    path = folder()
    stations, states = information("2.3"), status("2.3")
    listed = stations["data"]["stations"]
    listed[0]["capacity"] = -3
    listed.append({"station_id": "far", "name": "Far", "lat": 38.2, "lon": 500})
    listed.append({"station_id": "new", "name": "New", "lat": 38.2, "lon": -85.7})
    states["data"]["stations"][1]["num_bikes_available"] = "many"
    states["data"]["stations"][2]["is_renting"] = "no"
    (path / "station_information.json").write_text(json.dumps(stations))
    (path / "station_status.json").write_text(json.dumps(states))
    feed = read_gbfs(path)
    assert feed.skipped == 1
    assert list(feed.capacity) == ["Depot (8)", "Square"]
    assert feed.faults == (
        "'Depot' has capacity -3, which is not a whole number from 0; it counts as unknown",
        "'Depot' has num_bikes_available 'many', which is not a whole number from 0; it counts as unknown",
        "'Square' has is_renting 'no', which is neither true nor false; it counts as true",
        "'Far' lies at longitude 500, latitude 38.2; it is left out",
        "'New' has no status; it counts as open and without bikes",
    )


def test_more_bikes_than_docks_are_named(folder):
    path = folder()
    states = status("2.3")
    states["data"]["stations"][2]["num_bikes_available"] = 8
    (path / "station_status.json").write_text(json.dumps(states))
    feed = read_gbfs(path)
    assert feed.overfull == {"Square": (8, 5)}
    assert feed.capacity["Square"] == 8
