"""The desk in this very process: who waits for whom, how much is taken, and what is refused."""

import asyncio
import json
import threading

import pytest

from mfbo import Population, create_study
from mfbo.client import wire
from mfbo.errors import InvalidInputError
from mfbo.serve import lanes
from mfbo.serve.api import answers
from mfbo.serve.application import create_app
from mfbo.serve.desk import KEPT_OPEN, Desk
from mfbo.serve.hosts import Hosts, is_own_origin
from mfbo.serve.rates import Rate
from mfbo.serve.refusals import BusyError, ExistsError, MissingError
from mfbo.serve.tokens import Token
from mfbo.storage import open_storage


async def called(app, method, path, body=None, kind="application/json"):
    """Call an application without a network; return status and JSON."""
    path, _, query = path.partition("?")
    headers = [(b"host", b"localhost"), (b"content-type", kind.encode())]
    address = {"path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": ""}
    scope = {"type": "http", "method": method, "headers": headers, "client": ("127.0.0.1", 1), "scheme": "http"}
    content, sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode(), []

    bodies = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive():
        return bodies.pop() if bodies else await asyncio.Event().wait()  # a body comes once, as from a network

    async def send(message):
        sent.append(message)

    await app({**scope, **address, "server": ("127.0.0.1", 80), "http_version": "1.1"}, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


def made(storage, name, size=4):
    return create_study(Population(["a", "b"], size=size), "random", storage=storage, name=name)


@pytest.mark.parametrize(
    ("path", "body", "kind", "expected"),
    [
        ("/plans", b"{", "application/json", 400),
        ("/plans", b"", "application/json", 422),
        ("/plans", b"null", "application/json", 422),
        ("/plans", b'{"worker": NaN}', "application/json", 400),
        ("/plans", b'{"worker": "w", "odd": 1}', "application/json", 422),
        ("/plans", b'{"worker": "w"}', "text/plain", 422),
        ("/plans", b'{"worker": "w"}', "application/json; charset=utf-8", 200),
        ("/plans/-1/result", b'{"payoff": 1}', "application/json", 422),
    ],
)
def test_an_odd_call_of_a_light_route_is_answered_too(path, body, kind, expected):
    storage = open_storage("memory")
    made(storage, "town")

    async def answered():
        call = called(create_app(storage), "POST", f"/api/v1/studies/town{path}", body, kind)
        return (await asyncio.wait_for(call, 30))[0]

    assert asyncio.run(answered()) == expected


def test_a_slow_ask_holds_up_neither_other_studies_nor_the_tells_of_its_own():
    storage = open_storage("memory")
    made(storage, "slow").ask("before")
    made(storage, "quick")
    begun, go_on = threading.Event(), threading.Event()

    def slow(study):
        begun.set()
        go_on.wait(60)
        return study.ask("slow").number

    async def story():
        app = create_app(storage)
        waiting = [asyncio.create_task(app.state.desk.look("slow", slow)) for _ in range(20)]
        await asyncio.to_thread(begun.wait, 60)
        asked = await called(app, "POST", "/api/v1/studies/quick/plans", {"worker": "w"})
        told = await called(app, "POST", "/api/v1/studies/slow/plans/0/result", {"payoff": 1.0})
        seen = await called(app, "GET", "/api/v1/studies/slow/history")
        assert not any(task.done() for task in waiting)
        go_on.set()
        numbers = await asyncio.gather(*waiting)
        app.state.desk.close()
        return asked[0], told[0], seen[1]["rounds"][0]["state"], numbers

    assert asyncio.run(story()) == (200, 201, "done", [1] * 20)


def test_too_many_calls_of_one_study_are_refused_not_queued(monkeypatch):
    monkeypatch.setattr(lanes, "WAITING", 2)
    storage = open_storage("memory")
    made(storage, "s")
    go_on = threading.Event()

    async def story():
        desk = Desk(storage)
        waiting = [asyncio.create_task(desk.look("s", lambda study: go_on.wait(60))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="try again"):
            await desk.look("s", lambda study: None)
        go_on.set()
        await asyncio.gather(*waiting)
        desk.close()

    asyncio.run(story())


def test_ten_thousand_studies_are_listed_in_pages_and_found_by_name():
    storage = open_storage("memory")
    description = made(storage, "study 0").storage.description("study 0")
    for number in range(1, 10_000):
        storage.create(f"study {number}", description)

    async def story():
        app = create_app(storage)
        first = (await called(app, "GET", "/api/v1/studies?limit=25"))[1]
        after = first["after"].replace(" ", "%20")
        second = (await called(app, "GET", f"/api/v1/studies?limit=25&after={after}"))[1]
        found = (await called(app, "GET", "/api/v1/studies?search=9999"))[1]
        desk = app.state.desk
        for number in range(KEPT_OPEN + 10):
            await desk.read(f"study {number}", lambda study: study.name)
        kept = len(desk._drawers)
        desk.close()
        return first, second, found, kept

    first, second, found, kept = asyncio.run(story())
    assert (first["total"], len(first["studies"])) == (10_000, 25)
    assert second["studies"][0]["name"] > first["studies"][-1]["name"]
    assert [one["name"] for one in found["studies"]] == ["study 9999"]
    assert kept <= KEPT_OPEN + 1


def test_a_strategy_by_import_path_is_never_imported():
    async def story():
        app = create_app("memory")
        words = {"name": "x", "actions": ["a", "b"], "strategy": "os:abort"}
        answer = await called(app, "POST", "/api/v1/studies", words)
        with pytest.raises(MissingError):
            await app.state.desk.read("x", lambda study: None)
        app.state.desk.close()
        return answer

    status, problem = asyncio.run(story())
    assert (status, problem["type"]) == (422, "urn:mfbo:invalid-input")


def test_a_caller_who_asks_too_much_waits_until_drops_come_back(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("mfbo.serve.rates.time.monotonic", lambda: clock[0])
    rate = Rate(2.0, 3.0)
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    assert rate.allows("b")
    clock[0] += 0.5
    assert [rate.allows("a"), rate.allows("a")] == [True, False]


@pytest.mark.parametrize(
    ("listens", "names", "header", "is_ours"),
    [
        ("127.0.0.1", (), "127.0.0.1:8765", True),
        ("127.0.0.1", (), "[::1]:8765", True),
        ("127.0.0.1", (), "LOCALHOST.", True),
        ("127.0.0.1", (), "192.168.0.7", False),
        ("127.0.0.1", ("bikes.example",), "bikes.example", True),
        ("0.0.0.0", (), "192.168.0.7:80", True),
        ("0.0.0.0", (), "bikes.example", False),
        ("127.0.0.1", (), "127.0.0.1:port", False),
        ("127.0.0.1", (), "localhost/x", False),
    ],
)
def test_a_host_is_ours_by_number_or_by_a_name_that_was_given(listens, names, header, is_ours):
    assert Hosts(listens, names).knows(header) == is_ours


def test_only_our_own_pages_may_send_a_cross_site_header():
    assert is_own_origin("https://Bikes.example", None, "bikes.example", "POST")
    assert not is_own_origin("https://bikes.example:444", None, "bikes.example", "POST")
    assert not is_own_origin("file://bikes.example", None, "bikes.example", "GET")
    assert is_own_origin(None, "cross-site", "bikes.example", "GET")


def test_a_short_token_is_refused_and_a_good_one_is_known(tmp_path):
    (tmp_path / "token").write_text("short")
    with pytest.raises(InvalidInputError, match="at least 16"):
        Token.read(tmp_path / "token")
    (tmp_path / "token").write_text("0123456789abcdef\n")
    token = Token.read(tmp_path / "token")
    assert token.is_secret("0123456789abcdef")
    assert not token.is_secret("0123456789abcdeF")
    assert not token.is_session("0123456789abcdef")
    assert "0123456789abcdef" not in repr(vars(token)["session"])


def test_what_is_sent_unchecked_is_what_the_description_says():
    study = made(open_storage("memory"), "described")
    plan = study.ask("worker")
    records = [(answers.PlanAnswer, wire.plan_record(plan))]
    records += [(answers.RoundAnswer, wire.round_record(one)) for one in (study.rounds[0], study.tell(plan, 1.0))]
    for model, record in records:
        assert set(record) == set(model.model_fields)
        assert model.model_validate(record, strict=True).model_dump(mode="json") == json.loads(json.dumps(record))


def test_an_odd_call_of_a_light_route_is_refused_as_everywhere(tmp_path):
    app = create_app(open_storage("memory"))
    made(app.state.desk.storage, "study")

    async def story():
        return [
            await called(app, "POST", "/api/v1/studies/study/plans", {"worker": 3}),
            await called(app, "POST", "/api/v1/studies/study/plans/-1/result", {"payoff": 1.0}),
            await called(app, "POST", "/api/v1/studies/study/plans"),
            await called(app, "POST", "/api/v1/studies/study/plans", {"unknown": 1}),
        ]

    refused = asyncio.run(story())
    assert [status for status, _ in refused] == [422, 422, 422, 422]
    assert refused[0][1]["detail"] == "worker: Input should be a valid string"
    assert "number" in refused[1][1]["detail"]


def test_closing_does_not_wait_for_ever_for_work_that_nobody_wants_any_more():
    storage = open_storage("memory")
    made(storage, "study")
    begun, go_on = threading.Event(), threading.Event()

    def endless(study):
        begun.set()
        go_on.wait(60)

    async def story():
        desk = Desk(storage)
        outlook = asyncio.create_task(desk.simulate("study", endless))
        await asyncio.to_thread(begun.wait, 60)
        desk.close(0.05)
        stuck = desk.is_stuck
        go_on.set()
        await outlook
        desk.close()
        return stuck, desk.is_stuck

    assert asyncio.run(story()) == (True, False)


def test_one_name_made_twice_at_once_is_taken_for_one_of_them():
    async def story():
        app = create_app(open_storage("memory"))
        desk = app.state.desk

        def made_by_another():
            made(desk.storage, "study")
            return made(desk.storage, "study")

        with pytest.raises(ExistsError):
            await desk.create("study", made_by_another)
        with pytest.raises(InvalidInputError, match="size"):
            await desk.create("other", lambda: made(desk.storage, "other", size=-1))

    asyncio.run(story())
