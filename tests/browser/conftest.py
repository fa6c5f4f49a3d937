"""A real service, a real browser, and an eye on everything that goes wrong inside it."""

import contextlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HOW_TO = "the pages are tested in Chromium: apt-get install chromium, and pip install playwright (part of mfbo[test])"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Service:
    """Where a service listens, where it keeps its studies, and the folder it runs in."""

    address: str
    storage: str
    folder: Path

    def at(self, path):
        return self.address.rstrip("/") + path


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """`mfbo serve` as a process of its own, on a free port."""
    with _served(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def guarded(tmp_path):
    """The same with a token, and the token."""
    token = "a-token-of-enough-letters"
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    with _served(tmp_path, "--token-file", "token") as made:
        yield made, token


@contextlib.contextmanager
def _served(folder, *options):
    command = [sys.executable, "-m", "mfbo", "serve", "--port", "0", "--storage", "sqlite:///studies.db", *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = process.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found, f"the service does not say where it listens: {said}"
        yield Service(found.group(), f"sqlite:///{folder}/studies.db", folder)
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium, driven by Playwright; a machine without them is told what to install."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        pytest.fail(HOW_TO, pytrace=False)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page in which no script fails and nothing is refused by the content security policy."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, timezone_id="Asia/Kolkata")
    shown = context.new_page()
    shown.set_default_timeout(20_000)
    wrong = []
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    shown.wrong = wrong
    yield shown
    context.close()
    refused = [text for text in wrong if "Failed to load resource" not in text]  # answers of 4xx are part of the story
    assert not refused
