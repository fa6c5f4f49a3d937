"""The service for real: a process of its own, called by our client and by plain HTTP."""

import asyncio
import http.client
import json
import math
import signal
import socket
from urllib.parse import urlsplit

import numpy as np
import pytest

import mfbo
from mfbo import Population, create_study, load_study
from mfbo.cli import main
from mfbo.errors import FaultyFileError, InvalidInputError, RoundStateError, ServiceError, UnknownNameError
from mfbo.study import restored

TOKEN = "a-token-nobody-would-guess"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def service(serve, folder):
    return serve(f"sqlite:///{folder}/studies.db")


@pytest.fixture(scope="module")
def guarded(serve, folder):
    (folder / "token").write_text(TOKEN + "\n")
    return serve("memory", "--token-file", str(folder / "token"))


def called(url, method, path, body=None, headers=None):
    """Call a service without any client of ours; return status, headers and JSON."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    content = json.dumps(body).encode() if isinstance(body, dict) else body
    kind = {"Content-Type": "application/json"} if content is not None else {}
    connection.request(method, path, content, {**kind, **(headers or {})})
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    is_json = "json" in answer.headers.get("Content-Type", "")
    return answer.status, answer.headers, json.loads(read) if is_json else read


def payoff(plan):
    shares = plan.realized
    return float(-((shares - np.linspace(0.0, 1.0, shares.size).reshape(shares.shape) / 3.0) ** 2).sum())


def lived(study, weekend):
    """Live a few days and return all plans, with what is recommended in the end."""
    plans = []
    for number in range(5):
        plan = study.ask("depot", situation=weekend if number % 3 == 2 else None)
        plans.append(plan)
        if number == 3:
            cells = np.full(plan.distribution.shape, np.nan)
            cells[:, :2] = [[0.1, 0.2], [1 / 3, 2 / 3]]
            study.tell(plan, payoff(plan), cells=cells, agents=[("van", "b", 0.7)])
        else:
            study.tell(plan, payoff(plan), placed=plan.allocation)
    study.amend(1, 0.1 + 0.2, by="me", reason="typo")
    study.withdraw(2, reason="a strike")
    if weekend is None:  # what follows fits anew: the long test has it
        return [*plans, study.ask("depot"), study.recommend()]
    study.change(close=["c"], size=36, by="me")
    plans += [study.ask("depot"), study.ask("other", size=30, closed=["d"]), study.recommend(weekend)]
    study.fail(5, "it rained")
    study.abandon(6)
    plans.append(study.ask_best("depot"))
    plans.append(study.attach({("bike", "a"): 18, ("van", "b"): 18}))
    return plans


def fleet():
    actions = {"name": ["a", "b", "c", "d"], "x": [0.0, 0.1, 1 / 3, 2.0]}
    weights = {"bike": 0.1 + 0.2, "van": 0.7}
    return Population(actions, weights, 40, capacity={"a": 30, "b": 30}, move_budget=40)


DAYS = {"day": ["weekday", "weekend"]}


@pytest.mark.parametrize(
    ("situations", "weekend"), [(None, None), pytest.param(DAYS, {"day": "weekend"}, marks=pytest.mark.slow)]
)
def test_a_study_over_http_gives_the_plans_of_a_local_one_to_the_bit(service, situations, weekend):
    settings = {"seed": 7, "situations": situations, "lease_seconds": 3600.0, "noise": 0.01}
    remote = mfbo.connect(service.url).create_study(fleet(), name=f"same/plans ?&# {weekend}", **settings)
    local = create_study(fleet(), **settings)
    assert remote.population.weights.tobytes() == local.population.weights.tobytes()
    for theirs, mine in zip(lived(remote, weekend), lived(local, weekend), strict=True):
        assert theirs.number == mine.number
        assert theirs.distribution.tobytes() == mine.distribution.tobytes()
        assert np.array_equal(theirs.allocation, mine.allocation)
    for theirs, mine in zip(remote.rounds, local.rounds, strict=True):
        assert (theirs.state, theirs.told, theirs.as_told, theirs.situation) == (
            mine.state,
            mine.told,
            mine.as_told,
            mine.situation,
        )
    plan = local.recommend()
    assert vars(remote.predict(plan.realized))["mean"] == local.predict(plan.realized).mean
    explained, mine = remote.explain(), local.explain()
    assert explained.gain.tobytes() == mine.gain.tobytes()
    assert explained.rows() == mine.rows()
    assert np.array_equal(remote.placed, local.placed)
    assert remote.moves(plan).moved == local.moves(plan).moved
    assert remote.log()[-1].kind == "asked"
    assert [entry.reason for entry in remote.log() if entry.kind == "withdrawn"] == ["a strike"]
    assert restored(remote.export("mfbo"), "memory").recommend().distribution.tobytes() == plan.distribution.tobytes()


def test_programs_that_must_not_wait_get_the_same_plans(service):
    local = create_study(Population(["a", "b", "c"], size=9), seed=3)

    async def story(name, made):
        study = mfbo.AsyncStudy(made)
        for _ in range(3):
            plan = await study.ask("w")
            await study.tell(plan, payoff(plan))
        return await study.recommend(), await study.rounds()

    remote = mfbo.connect(service.url).create_study(Population(["a", "b", "c"], size=9), name="async", seed=3)
    theirs, rounds = asyncio.run(story("async", remote))
    assert theirs.distribution.tobytes() == asyncio.run(story("", local))[0].distribution.tobytes()
    assert [one.state for one in rounds] == ["done"] * 3
    assert remote.outlook(1, simulations=1).gains.tobytes() == local.outlook(1, simulations=1).gains.tobytes()


def test_errors_are_those_of_the_library_in_its_own_words(service):
    connected = mfbo.connect(service.url)
    study = connected.create_study(Population(["a", "b", "c"], size=9), name="errors")
    plan = study.ask("me")
    assert study.ask("me").number == plan.number
    study.tell(plan, 1.0)
    with pytest.raises(RoundStateError, match="already done; ask for a new plan"):
        study.tell(plan, 2.0)
    with pytest.raises(UnknownNameError, match="plan 99 was never asked"):
        study.tell(99, 2.0)
    with pytest.raises(UnknownNameError, match="missing"):
        connected.load_study("missing")
    with pytest.raises(InvalidInputError, match="already exists"):
        connected.create_study(Population(["a", "b"]), name="errors")
    with pytest.raises(InvalidInputError, match="sum"):
        study.predict([[0.5, 0.2, 0.1]])
    with pytest.raises(InvalidInputError, match="cannot be sent"):
        study.tell(study.ask("me"), math.nan)
    with pytest.raises(ServiceError, match="cannot be reached"):
        mfbo.connect("http://127.0.0.1:9", patience=0.1).studies()


def test_a_csv_text_is_read_like_a_file_and_its_faults_are_told_by_line(service):
    study = mfbo.connect(service.url).create_study(Population(["a", "b"], size=4), name="sheets")
    number = study.ask("me").number
    path = f"/api/v1/studies/sheets/plans/{number}/result"
    bad = "station,payoff\na,1\nzzz,2\n"
    status, _, problem = called(service.url, "POST", path, {"cells_csv": bad})
    assert (status, problem["type"]) == (422, "urn:mfbo:faulty-file")
    assert any("line 3" in line and "zzz" in line for line in problem["lines"])
    with pytest.raises(FaultyFileError):
        study._calls.call("POST", path.removeprefix("/api/v1"), {"cells_csv": bad})
    good = {"cells_csv": "station,payoff,agents\na,1.5,2\nb,0.1,2\n", "placed_csv": "station,agents\na,2\nb,2\n"}
    status, _, done = called(service.url, "POST", path, good)
    assert (status, done["feedback"]["cells"], done["placed"]) == (201, [[1.5, 0.1]], [[2, 2]])


def test_a_payoff_far_from_all_others_is_taken_only_from_those_who_insist(service):
    study = mfbo.connect(service.url).create_study(Population(["a", "b"], size=4), "random", name="doubts")
    for number in range(6):
        study.tell(study.ask("me"), float(number))
    path = f"/api/v1/studies/doubts/plans/{study.ask('me').number}/result"
    assert called(service.url, "POST", path, {"payoff": 1e6, "insist": False})[2]["type"] == "urn:mfbo:doubtful"
    assert called(service.url, "POST", path, {"payoff": 1e6})[0] == 201


def test_changes_of_other_processes_are_streamed(service, folder):
    study = mfbo.connect(service.url).create_study(Population(["a", "b"], size=4), "random", name="watched")
    stream = study.events(0)
    with study._calls.opened("/events") as everything:
        assert everything.readline() == b": alive\n"
        here = load_study("watched", f"sqlite:///{folder}/studies.db")
        here.tell(here.ask("another process"), 1.0)
        first, second = next(stream), next(stream)
        assert first == {"study": "watched", "sequence": 0, "kind": "asked", "plan": 0}
        assert second["kind"] == "told"
        line = b""
        while not line.startswith(b"data:"):
            line = everything.readline()
        assert json.loads(line[5:]) == {"study": "watched", "kind": "changed"}
    mfbo.connect(service.url).delete_study("watched")
    assert list(stream) == []


def test_a_stream_that_cannot_be_had_is_refused_with_our_own_error(service):
    there = mfbo.connect(service.url)._calls
    with pytest.raises(UnknownNameError, match="nobody"), there.opened("/studies/nobody/events"):
        pass
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        silent = mfbo.connect(f"http://127.0.0.1:{free.getsockname()[1]}")._calls
        with pytest.raises(ServiceError, match="broke"), silent.opened("/events"):
            pass


def test_a_study_that_was_made_again_under_its_name_is_the_new_one(service):
    connected = mfbo.connect(service.url)
    study = connected.create_study(Population(["a", "b"], size=4), "random", name="again")
    study.tell(study.ask("me"), 1.0)
    status = called(service.url, "DELETE", "/api/v1/studies/again?confirm=other")[0]
    assert (status, len(study.rounds)) == (422, 1)
    connected.delete_study("again")
    with pytest.raises(UnknownNameError):
        study.ask("me")
    new = connected.create_study(Population(["a", "b", "c"], size=4), "random", name="again")
    assert new.ask("me").distribution.shape == (1, 3)
    assert len(new.rounds) == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "evil.example@127.0.0.1"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 201),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({}, 201),
    ],
)
def test_rebound_names_and_other_sites_are_refused(service, headers, status):
    name = f"{status} {sorted(headers.items())}"
    body = {"name": name, "actions": ["a", "b"], "strategy": "random"}
    found, answered, said = called(service.url, "POST", "/api/v1/studies", body, headers)
    assert found == status
    assert "script-src 'self'" in answered["Content-Security-Policy"]
    assert (name in {one.name for one in mfbo.connect(service.url).studies()}) == (status == 201)
    if status != 201:
        assert said["status"] == status


def test_only_those_who_know_the_token_are_answered(guarded):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Cookie": "mfbo-session=x"}):
        status, answered, problem = called(guarded.url, "GET", "/api/v1/studies", headers=headers)
        assert (status, answered["WWW-Authenticate"]) == (401, "Bearer")
        assert TOKEN not in json.dumps(problem)
    assert called(guarded.url, "GET", "/", headers={})[0] == 303
    assert mfbo.connect(guarded.url, token=TOKEN).studies() == []
    with pytest.raises(ServiceError, match="token"):
        mfbo.connect(guarded.url, token="wrong-wrong-wrong").studies()
    assert called(guarded.url, "POST", "/api/v1/session", {"token": "wrong"})[0] == 401
    status, answered, _ = called(guarded.url, "POST", "/api/v1/session", {"token": TOKEN})
    cookie = answered["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    session = {"Cookie": cookie.partition(";")[0]}
    assert called(guarded.url, "GET", "/api/v1/studies", headers=session)[0] == 200
    for _ in range(12):
        last = called(guarded.url, "GET", "/api/v1/studies", headers={"Authorization": "Bearer guess"})[0]
    assert last == 429


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"name": "x", "actions": ["a", "b"], "noise": NaN}', 400),
        (b'{"name": "x", "name": "y", "actions": ["a", "b"]}', 400),
        (b'{"name": "x", "actions": ["a", "b"], "noise": 1e999}', 422),
        (b"[" * 100_000, 400),
        (b"\xff\xfe", 400),
        (b'{"name": "x", "actions": ["a", "b"], "seed": ' + b"9" * 5000 + b"}", 400),
        (b'{"name": "\\ud800", "actions": ["a", "b"]}', 422),
        (b'{"name": "x", "actions": ["\\ud800", "b"]}', 422),
        (b'{"name": "x", "actions": ["a", "b"], "sead": 1}', 422),
        (b'{"name": "x", "population": {"actions": 3}}', 422),
        (b"{}" + b" " * 8_000_000, 413),
    ],
)
def test_bodies_that_cannot_be_right_are_refused(service, body, status):
    found, answered, problem = called(service.url, "POST", "/api/v1/studies", body)
    assert (found, answered["Content-Type"]) == (status, "application/problem+json")
    assert problem["status"] == status
    form = {"Content-Type": "text/plain"}
    assert called(service.url, "POST", "/api/v1/studies", b'{"name": "x", "actions": ["a"]}', form)[0] == 422


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "../../etc/passwd",
    "a/b\\c%2F%252F",
    "{{7*7}}",
    "\u202eevil\u0007\x1b[31m",
    "'; DROP TABLE studies; --",
    "🚲" * 200,
    " ",
]


@pytest.mark.parametrize("name", HOSTILE[:-1])
def test_hostile_names_are_only_names(service, name):
    connected = mfbo.connect(service.url)
    study = connected.create_study(Population([name, "b"], size=3), "random", name=name)
    plan = study.ask(name)
    assert [asked.lease.worker for asked in study.open_rounds] == [name]
    study.tell(plan, 1.0)
    assert study.rounds[0].lease.worker == name
    assert [one.name for one in connected.studies() if one.name == name] == [name]
    assert b"alert(1)>" not in called(service.url, "GET", f"/{name.encode().hex()}")[2]
    connected.delete_study(name)


def test_a_blank_name_is_refused(service):
    with pytest.raises(InvalidInputError, match="name"):
        mfbo.connect(service.url).create_study(Population(["a", "b"]), name=HOSTILE[-1])


def test_the_storage_is_shown_without_its_password(service, serve):
    assert called(service.url, "GET", "/api/v1/")[2]["storage"].startswith("sqlite:///")
    assert called(service.url, "GET", "/api/v1/openapi.json")[2]["openapi"].startswith("3.")
    assert called(service.url, "GET", "/docs")[0] == 404


def test_rounds_keep_when_agents_were_counted_and_past_days_their_size(service):
    totals = mfbo.connect(service.url).create_study(
        Population(["a", "b"], size=4), "random", name="counted", payoff_is="total"
    )
    totals.ask("worker", placed=[[1, 3]])
    local = load_study("counted", service.storage)
    assert totals.rounds[0].counted == local.rounds[0].counted is not None
    totals.add_missing([([0.5, 0.5], 12.0, None, 6)])
    local.refresh()
    assert [one.size for one in local.rounds] == [None, 6]
    assert local.rounds[1].payoff == totals.rounds[1].payoff == 2.0


def test_it_stops_in_good_order_with_streams_open(serve, folder):
    stopping = serve(f"sqlite:///{folder}/stopping.db")
    study = mfbo.connect(stopping.url).create_study(Population(["a", "b"], size=3), "random", name="s")
    stream = study.events(0)
    study.ask("me")
    assert next(stream)["kind"] == "asked"
    assert stopping.stop() in (0, -signal.SIGTERM)
    assert list(stream) == []


def test_a_network_address_needs_a_token(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--host", "0.0.0.0", "--storage", "memory"])
    assert "--token-file" in capsys.readouterr().err
