"""A connection to a service: its studies listed, made, opened and deleted."""

from typing import Any, overload
from urllib.parse import quote

from mfbo.client import wire
from mfbo.client.calls import Calls
from mfbo.client.remote_study import RemoteStudy
from mfbo.client.saying import said
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.storage import StudySummary
from mfbo.validation import known_name, plain_text, positive

PATIENCE = 60.0  # seconds for which a service that is busy or being started again is waited for
_SETTINGS = ("seed", "noise", "allocation", "context_allocation", "lease_seconds", "placed", "allow_misfit", "aim")
SETTINGS = (*_SETTINGS, "start", "risk", "situations", "payoff_is")


@overload
def connect(url: str, *, token: str | None = None, patience: float = PATIENCE) -> "Service": ...
@overload
def connect(url: str, study: str, *, token: str | None = None, patience: float = PATIENCE) -> RemoteStudy: ...
def connect(
    url: str, study: str | None = None, *, token: str | None = None, patience: float = PATIENCE
) -> "Service | RemoteStudy":
    """Return a service, or one of its studies, that `mfbo serve` runs at an address such as http://127.0.0.1:8765.

    study: its name; then the study is returned, with the same ``ask``, ``tell``, ``recommend`` … as a local one.
    token: what the service wants to be shown. patience: for how many seconds a call that does not get through is
    repeated.
    """
    if token is not None:
        token = plain_text(token, "token")
        if not token.isascii() or not token.isprintable():
            raise InvalidInputError("token must be a line of ASCII letters")
    service = Service(Calls(plain_text(url, "url"), token, positive(patience, "patience")))
    return service if study is None else service.load_study(study)


class Service:
    """The studies of a service."""

    def __init__(self, calls: Calls) -> None:
        """Use ``mfbo.connect``."""
        self._calls = calls

    def studies(self) -> list[StudySummary]:
        """List all studies by name."""
        found: list[StudySummary] = []
        after = ""
        while True:
            page = self._calls.call("GET", f"/studies{after}")
            found += [StudySummary(**summary) for summary in page["studies"]]
            if page["after"] is None:
                return found
            after = f"?after={quote(page['after'], safe='')}"

    def load_study(self, name: str) -> RemoteStudy:
        """Return a study."""
        return RemoteStudy(plain_text(name, "name"), self._calls)

    def create_study(
        self, population: Population, strategy: str = "default", *, name: str, **settings: Any
    ) -> RemoteStudy:
        """Start a study, as ``mfbo.create_study``, which explains the settings."""
        for key in settings:
            known_name(key, "setting", SETTINGS)
        started = said(population, placed=settings.pop("placed", None), start=settings.pop("start", None))
        record = wire.population_record(population)
        words = {"name": plain_text(name, "name"), "population": record, "strategy": strategy, **settings, **started}
        self._calls.call("POST", "/studies", words, again=False)
        return self.load_study(name)

    def delete_study(self, name: str) -> None:
        """Delete a study with all its rounds, for ever."""
        quoted = quote(plain_text(name, "name"), safe="")
        self._calls.call("DELETE", f"/studies/{quoted}?confirm={quoted}", again=False)
