"""The pages as they are sent: names are never HTML, controls have labels, nothing is inline, odd addresses refused."""

import contextlib
import http.client
import socket
import threading
import time
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
import uvicorn

import mfbo
from mfbo.serve.application import create_app

HOSTILE = "\"><script>alert(1)</script> ' & {{ 7*7 }} / ünï?#%2F"
CONTROLS = ("input", "select", "textarea")


@dataclass(frozen=True)
class _Answer:
    status_code: int
    headers: dict
    content: bytes

    @property
    def text(self):
        return self.content.decode()


@dataclass(frozen=True)
class _Client:
    """Asks a service for addresses exactly as they are written."""

    port: int

    def get(self, address):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request("GET", address)
            answer = connection.getresponse()
            return _Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())


@contextlib.contextmanager
def _served(store):
    """Serve in a thread of this process, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(store), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield _Client(listener.getsockname()[1])
        server.should_exit = True
        thread.join()


class _Reader(HTMLParser):
    """What a page holds: scripts, controls without words, attributes that a policy would forbid."""

    def __init__(self, text):
        super().__init__()
        self.open, self.unlabeled, self.scripts, self.inline, self.ids, self.headings = [], [], [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        labeled = "label" in self.open or "aria-label" in given or given.get("type") == "hidden"
        self.unlabeled += [given] if tag in CONTROLS and not labeled else []
        self.scripts += [given.get("src")] if tag == "script" else []
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        self.ids += [given["id"]] if "id" in given else []
        self.headings += tag == "h1"
        self.open += [tag] if tag == "label" else []

    def handle_endtag(self, tag):
        if tag == "label":
            self.open.remove(tag)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    store = f"sqlite:///{tmp_path_factory.mktemp('pages')}/studies.db"
    stations = {"name": [HOSTILE, "b", "c"], "longitude": [-122.4, -122.3, -122.2], "latitude": [37.7, 37.8, 37.9]}
    population = mfbo.Population(stations, contexts=["x", HOSTILE], size=60, placed=[[10] * 3] * 2)
    study = mfbo.create_study(population, storage=store, name=HOSTILE, situations={HOSTILE: [HOSTILE, "other"]})
    for _ in range(2):
        study.tell(study.ask(worker=HOSTILE, situation={HOSTILE: HOSTILE}), payoff=1.0)
    study.withdraw(0, by=HOSTILE, reason=HOSTILE)
    study.ask(worker=HOSTILE)
    with _served(store) as made:
        yield made


HERE = f"/studies/{quote(HOSTILE, safe='')}"
ADDRESSES = [
    *(HERE + page for page in ("", "?van=3", "/tell", "/tell?plan=0", "/tell?plan=1", "/progress", "/model", "/pulse")),
    f"{HERE}/model?station={quote(HOSTILE)}&s.{quote(HOSTILE)}={quote(HOSTILE)}",
    f"{HERE}/progress?optimum=2&situation={quote(f'{HOSTILE}={HOSTILE}')}",
    *("/", f"/?find={quote('script')}", "/new", "/login?next=//evil.example", "/benchmarks"),
    f"/compare?study={quote(HOSTILE)}",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_hostile_name_is_only_a_text(client, address):
    answer = client.get(address)
    assert answer.status_code == 200
    page = _Reader(answer.text)
    assert page.scripts in ([], ["/static/pages.js"])
    assert page.inline == []
    assert page.unlabeled == []
    assert len(set(page.ids)) == len(page.ids)
    assert page.headings == (0 if address.endswith("/pulse") else 1)
    assert "evil.example" not in answer.text
    assert ">49<" not in answer.text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/studies/none", 404),
        (f"{HERE}?plan=99", 422),
        (f"{HERE}?van=0", 422),
        (f"{HERE}/plan.csv?plan=99", 422),
        (f"{HERE}/progress?optimum=much", 422),
        (f"{HERE}/model?outlook=10000", 422),
        ("/benchmarks/figure?folder=..&name=suite.svg", 404),
        ("/static/../routes.py", 404),
        ("/static/%2e%2e/routes.py", 404),
        ("/nothing", 404),
    ],
)
def test_an_odd_address_is_refused_in_words(client, address, status):
    answer = client.get(address)
    assert answer.status_code == status
    assert _Reader(answer.text).headings == 1
    assert "Traceback" not in answer.text


def test_the_sheet_of_a_plan_is_that_of_the_command_line(client):
    answer = client.get(f"{HERE}/plan.csv?plan=2")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.text.splitlines()[0] == "station,context,agents,change"


def test_a_day_of_three_hundred_stations_weighs_less_than_200_kb(tmp_path):
    """Page, style sheet, scripts and icon together, uncompressed."""
    columns = {"name": [f"Station number {n}" for n in range(300)], "longitude": [n % 17 for n in range(300)]}
    columns["latitude"] = [n // 17 for n in range(300)]
    population = mfbo.Population(columns, size=3000, placed=[10] * 300)
    store = f"sqlite:///{tmp_path}/studies.db"
    mfbo.create_study(population, storage=store, name="large", strategy="random").ask()
    with _served(store) as client:
        files = ("mfbo.css", "pages.js", "charts.js", "forms.js", "news.js", "icon.svg")
        weight = sum(len(client.get(f"/static/{name}").content) for name in files)
        assert weight + len(client.get("/studies/large").content) < 200_000
