"""An operator's days in a browser: a study made, plans asked for, told by form and by file, corrected, looked at."""

import re

import numpy as np
import pytest

import mfbo

pytestmark = pytest.mark.slow

STATIONS = "name,longitude,latitude,docks\nHarbor,-122.40,37.80,30\nMarket,-122.41,37.78,30\nCampus,-122.42,37.79,30\n"
NAME = 'Port & <b>bay</b> "1/2"'


def _stand_on(page, wanted):
    """Press Tab until the focus is where the words are; nothing is clicked."""
    for _ in range(150):
        page.keyboard.press("Tab")
        words = page.evaluate(
            "(() => { const e = document.activeElement; return [e.getAttribute('aria-label') ?? '',"
            " e.labels?.[0]?.textContent ?? '', e.tagName == 'INPUT' ? '' : e.textContent, e.value ?? '']"
            ".map(text => text.trim().replace(/\\s+/g, ' ')) })()"
        )
        if any(word.startswith(wanted) for word in words if word):
            return
    raise AssertionError(f"no way by Tab to {wanted!r}")


def _file(page, label, path):
    _stand_on(page, label)
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files(path)


def _press(page, wanted):
    _stand_on(page, wanted)
    page.keyboard.press("Enter")


def test_the_operators_days_by_keyboard_alone(service, page, tmp_path):
    stations = tmp_path / "stations.csv"
    stations.write_text(STATIONS)
    page.on("filechooser", lambda _: None)  # always listened for: to begin with it takes a moment that Space may win
    page.goto(service.at("/"))
    _press(page, "New study")
    page.wait_for_url("**/new")
    _stand_on(page, "Name")
    page.keyboard.type(NAME)
    _stand_on(page, "Agents in the fleet")
    page.keyboard.type("60")
    _file(page, "Stations", stations)
    _stand_on(page, "Column of the file")
    page.keyboard.type("docks")
    _stand_on(page, "One on each line")
    page.keyboard.type("day: weekday, weekend")
    _press(page, "Make the study")
    page.wait_for_url("**/studies/**")
    assert page.inner_text("h1") == NAME

    _stand_on(page, "day")  # the plan of the first day
    page.keyboard.type("week")
    _press(page, "Make the plan")
    page.wait_for_url("**?plan=0")
    assert "day weekday" in page.inner_text(".chips")
    assert page.locator("svg.map .stop").count() == 3
    _stand_on(page, "Harbor")  # the map by arrows
    first = page.inner_text(".readout")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout") != first

    _press(page, "Tell the result")  # one number
    page.wait_for_url("**/tell?plan=0")
    _stand_on(page, "Payoff per agent")
    page.keyboard.type("3,25")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tell?done=0#rounds")
    assert re.search(r"0\s+3\.25\s+told", page.inner_text("table"))

    _press(page, "Today")  # a plan told by a file, with faults at first
    page.wait_for_url(re.compile(r"/studies/[^/]+$"))
    _press(page, "Make the plan")
    page.wait_for_url("**?plan=1")
    faulty, sound = tmp_path / "faulty.csv", tmp_path / "sound.csv"
    faulty.write_text("station,payoff\nHarbor,much\nNowhere,2\nMarket,1\nCampus,1\n")
    sound.write_text("station,payoff,agents\nHarbor,3.5,20\nMarket,2.5,20\nCampus,1.5,20\n")
    _press(page, "Tell the result")
    page.wait_for_url("**/tell?plan=1")
    _stand_on(page, "One number")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    _file(page, "Drop a CSV file", faulty)
    page.keyboard.press("Shift+Tab")
    _press(page, "Tell")
    page.wait_for_selector(".trouble:not([hidden]) li")
    faults = page.locator(".trouble li").all_inner_texts()
    assert len(faults) == 2
    assert any("line 2" in fault and "much" in fault for fault in faults)
    assert any("line 3" in fault and "Nowhere" in fault for fault in faults)
    page.keyboard.press("Home")
    page.goto(page.url)
    _stand_on(page, "One number")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    _file(page, "Drop a CSV file", sound)
    _press(page, "Tell")
    page.wait_for_url("**/tell?done=1#rounds")
    assert re.search(r"1\s+2\.5\s+told", page.inner_text("table"))

    page.goto(service.at(f"/studies/{_segment(NAME)}/tell"))  # corrected, withdrawn, and back
    _press(page, "Correct plan 0")
    page.wait_for_url("**/tell?plan=0")
    _stand_on(page, "Payoff per agent")
    page.keyboard.press("Control+A")
    page.keyboard.type("2.25")
    _stand_on(page, "Why")
    page.keyboard.type("a digit was wrong")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tell?done=0#rounds")
    assert "a digit was wrong" in page.inner_text("table")
    _press(page, "Correct plan 0")
    page.wait_for_url("**/tell?plan=0")
    _press(page, "It never happened")
    _press(page, "Withdraw")
    page.wait_for_url("**/tell?done=0#rounds")
    _press(page, "Reinstate plan 0")
    page.wait_for_url("**/tell?plan=0")
    _press(page, "Reinstate")
    page.wait_for_url("**/tell?done=0#rounds")
    study = mfbo.load_study(NAME, service.storage)
    assert [done.payoff for done in study.history.told] == [2.25, None]
    assert [entry.kind for entry in study.log()][-3:] == ["amended", "withdrawn", "reinstated"]

    _press(page, "Progress")  # and looked at
    page.wait_for_selector("svg.lines")
    _press(page, "Model")
    page.wait_for_selector("svg.bars")
    assert page.locator("svg.lines").count() == 3
    assert not page.locator("h1 b").count()


def _segment(name):
    from urllib.parse import quote

    return quote(name, safe="")


@pytest.fixture
def stored(service, request):
    population = mfbo.Population({"name": ["a", "b", "c"], "x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 0.0]}, size=30)
    study = mfbo.create_study(population, storage=service.storage, name=request.node.name, payoff_is="total")
    for _ in range(6):
        plan = study.ask()
        study.tell(plan, payoff=float(np.sqrt(plan.realized[0]).sum()))
    return study


def test_a_doubtful_payoff_is_asked_about(service, page, stored):
    plan = stored.ask()
    page.goto(service.at(f"/studies/{_segment(stored.name)}/tell?plan={plan.number}"))
    page.get_by_label("Payoff of the whole fleet").fill("8120")
    page.get_by_role("button", name="Tell", exact=True).click()
    page.wait_for_selector(".trouble:not([hidden])")
    assert "is far outside what was told so far" in page.inner_text(".trouble")
    stored.refresh()
    assert stored.rounds[plan.number].state == "open"
    page.get_by_role("button", name="It is right: send it").click()
    page.wait_for_url(f"**/tell?done={plan.number}#rounds")
    stored.refresh()
    assert stored.rounds[plan.number].as_told == 8120


def test_what_is_otherwise_today_makes_another_plan(service, page, stored):
    first = stored.ask(worker="van 7")
    page.goto(service.at(f"/studies/{_segment(stored.name)}"))
    page.get_by_text("Something is different today").click()
    page.get_by_label("Agents out of order").fill("4")
    page.locator("#otherwise").get_by_label("b", exact=True).check()
    page.get_by_role("button", name="Ask anew").click()
    page.wait_for_url(f"**?plan={first.number + 1}")
    assert "b closed" in page.inner_text(".chips")
    stored.refresh()
    again = stored.rounds[first.number + 1]
    assert again.plan.allocation.sum() == 26
    assert again.plan.allocation[0, 1] == 0
    assert stored.rounds[first.number].state == "abandoned"
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    assert saved.value.path().read_text().startswith("station,context,agents,change\n")


def test_what_was_really_placed_and_payoffs_by_station_are_told_from_the_table(service, page, stored):
    plan = stored.ask()
    page.goto(service.at(f"/studies/{_segment(stored.name)}/tell?plan={plan.number}"))
    page.get_by_label("By station", exact=True).check()
    sent_to = np.flatnonzero(plan.allocation[0])  # payoffs are told of stations that the plan has somebody at
    payoffs = np.full((1, 3), np.nan)
    for place, typed, meant in zip(sent_to, ("0,75", "0.5"), (0.75, 0.5), strict=False):
        page.get_by_label(f"Payoff per agent at {'abc'[place]}", exact=True).fill(typed)
        payoffs[0, place] = meant
    page.get_by_text("Something else was placed than planned").click()
    for station, count in (("a", 9), ("b", 9), ("c", 11)):
        page.get_by_label(f"Really placed at {station}", exact=True).fill(str(count))
    tell = page.get_by_role("button", name="Tell", exact=True)
    tell.click()
    page.wait_for_selector(".trouble:not([hidden])")
    assert "29" in page.inner_text(".trouble")  # of 30: it does not fit the fleet
    page.get_by_label("Really placed at c", exact=True).fill("12")
    tell.click()
    page.wait_for_url("**#rounds")
    stored.refresh()
    told = stored.rounds[plan.number]
    assert told.placed.tolist() == [[9, 9, 12]]
    np.testing.assert_array_equal(told.feedback.cells, payoffs)


def test_a_page_sees_what_another_process_does(service, page, stored):
    page.goto(service.at(f"/studies/{_segment(stored.name)}/tell"))
    rows = page.locator("#rounds ~ .wide tbody tr")
    before = rows.count()
    stored.ask()
    rows.nth(before).wait_for()
    page.get_by_label("Payoff of the whole fleet").fill("1")  # while somebody types, the page only says so
    stored.abandon(stored.rounds[-1].number)
    page.wait_for_selector("#news:not([hidden])")
    assert "given up" in page.inner_text("#news")
    assert page.get_by_label("Payoff of the whole fleet").input_value() == "1"


def test_times_are_in_the_readers_zone(service, page, stored):
    page.goto(service.at("/"))
    page.wait_for_selector("time[title*='GMT+5:30']")
    titles = page.locator("time").evaluate_all("times => times.map(time => time.title)")
    assert all("GMT+5:30" in title for title in titles), titles


def test_a_token_is_asked_for_once(guarded, page):
    service, token = guarded
    page.goto(service.at("/compare"))
    assert page.url == service.at("/login?next=%2Fcompare")
    for typed in ("a wrong token, quite long", token):
        page.get_by_label("Token").fill(typed)
        page.get_by_role("button", name="Enter").click()
        if typed != token:
            page.wait_for_selector(".trouble:not([hidden])")
    page.wait_for_url(service.at("/compare"))
    page.goto(service.at("/new"))
    assert page.inner_text("h1") == "New study"
