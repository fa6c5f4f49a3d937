"""Every page, in light, dark and on a phone: labels, landmarks, weight, nothing wider than the screen."""

from urllib.parse import quote

import numpy as np
import pytest

import mfbo
from mfbo.catalogue import make_problem

pytestmark = pytest.mark.slow

PAGES = ("", "/tell", "/tell?plan=3", "/progress", "/model")
UNLABELED = """
[...document.querySelectorAll('input, select, textarea, button, a[href], [role=region], svg, img')].filter((e) => {
  if (e.type === 'hidden') return false;
  const words = [e.getAttribute('aria-label'), e.title, e.textContent];
  if (e.tagName === 'IMG') return !e.hasAttribute('alt');
  if (['INPUT', 'SELECT', 'TEXTAREA'].includes(e.tagName)) return !e.labels?.length && !e.getAttribute('aria-label');
  return !words.some((w) => w && w.trim());
}).map((e) => e.outerHTML.slice(0, 120))
"""


@pytest.fixture(scope="module")
def bay_area(service):
    """A study on the Bay Area's stations, of some days, with an open plan."""
    city = make_problem("bay-area-bike").population
    columns = dict(zip(city.feature_names, city.features.T.tolist(), strict=True))
    population = mfbo.Population({"name": list(city.actions), **columns}, size=350, placed=[10] * 35, move_budget=80)
    situations = {"day": ["weekday", "weekend"], "rain": "number"}
    study = mfbo.create_study(population, storage=service.storage, name="bay area", aim="earn", situations=situations)
    worth = np.linspace(1, 3, 35)
    for number in range(8):
        plan = study.ask(situation={"day": "weekend" if number % 3 == 2 else "weekday", "rain": 0.5})
        study.tell(plan, payoff=float(worth @ np.sqrt(plan.realized[0])))
    study.ask(worker="van 1", situation={"day": "weekday", "rain": 0.0})
    return f"/studies/{quote(study.name, safe='')}"


def _addresses(bay_area):
    return [*(bay_area + page for page in PAGES), "/", "/new", "/login", "/compare?study=bay%20area", "/benchmarks"]


def test_every_control_has_a_label_and_every_page_its_landmarks(service, page, bay_area):
    for address in [*_addresses(bay_area), "/studies/none"]:
        page.goto(service.at(address))
        assert page.evaluate(UNLABELED) == [], address
        assert page.locator("main h1").count() == 1, address
        assert page.locator("header nav[aria-label]").count() >= 1, address
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.evaluate("document.querySelectorAll('[style], style, script:not([src])').length") == 0, address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(service, chromium, bay_area, scheme):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    shown = context.new_page()
    for address in _addresses(bay_area):
        shown.goto(service.at(address))
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390, address
    context.close()


def test_today_weighs_less_than_200_kb_with_all_that_it_loads(service, page, bay_area):
    sizes = {}
    page.on("response", lambda answer: sizes.update({answer.url: answer}) if "/events" not in answer.url else None)
    page.goto(service.at(bay_area), wait_until="load")
    weights = {url: len(answer.body()) for url, answer in sizes.items()}
    assert len(weights) >= 5  # the page, the style sheet, the scripts
    assert sum(weights.values()) < 200_000
    assert all(url.startswith(service.address) for url in weights)  # nothing comes from elsewhere


def test_an_outlook_is_drawn(service, page, bay_area):
    page.goto(service.at(bay_area + "/model?outlook=2"))
    assert page.locator("#outlook svg.lines").count() == 1
