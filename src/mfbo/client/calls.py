"""Calls of a service over HTTP with the standard library: one connection for each thread, kept open.

A call that never reached the service is made again for as long as the caller has patience; one whose answer was lost is
made again only if that changes nothing.
"""

import http.client
import json
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from mfbo.errors import (
    ConflictError,
    DamageError,
    FaultyFileError,
    InvalidInputError,
    MfboError,
    MissingExtraError,
    NumericalError,
    RoundStateError,
    ServiceError,
    StorageError,
    UnknownNameError,
)

_log = logging.getLogger(__package__)
PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds between two attempts, doubled every time
ANSWER_SECONDS = 600.0  # for one answer: a model of thousands of rounds takes its time
IDLE_SECONDS = 30.0  # after which a connection may have been closed at the other end
BUSY = (429, 503)

_ERRORS: dict[str, Callable[[str], MfboError]] = {
    "missing": UnknownNameError,
    "unknown-name": UnknownNameError,
    "exists": InvalidInputError,
    "doubtful": InvalidInputError,
    "invalid-input": InvalidInputError,
    "no-json": InvalidInputError,
    "missing-extra": MissingExtraError,
    "numerical": NumericalError,
    "state": RoundStateError,
    "conflict": ConflictError,
    "storage": StorageError,
    "damage": DamageError,
}


class LostAnswerError(ServiceError):
    """The connection broke after the call was sent: whether it was carried out is not known."""


class Calls:
    """Calls of one service, from any thread."""

    def __init__(self, url: str, token: str | None, patience: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise InvalidInputError("connect needs the address of a service, as http://127.0.0.1:8765")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self.patience = patience
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._prefix = f"{parts.path.rstrip('/')}/api/v1"
        self._token = token
        self._local = threading.local()
        self._open: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close, self._open)

    def call(self, method: str, path: str, words: Mapping[str, Any] | None = None, *, again: bool = True) -> Any:
        """Return what the service answers; again: whether the call may be made again if its answer was lost."""
        return json.loads(self.content(method, path, words, again=again))

    def content(self, method: str, path: str, words: Mapping[str, Any] | None = None, *, again: bool = True) -> bytes:
        """Return the answer as it comes."""
        body = None if words is None else _json(words)
        deadline, pause = time.monotonic() + self.patience, PAUSE
        while True:
            failed: MfboError
            try:
                status, content = self._attempt(method, path, body)
            except ServiceError as error:
                if isinstance(error, LostAnswerError) and not again:
                    raise
                failed = error
            else:
                if status not in BUSY:
                    return _checked(status, content)
                failed = _error(status, content)
            if time.monotonic() + pause > deadline:
                raise failed
            _log.info("%s %s is asked again in %.1f s", method, path, pause)
            time.sleep(pause)
            pause = min(2.0 * pause, LONGEST_PAUSE)

    @contextmanager
    def opened(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """Give the answer to a call that is read while it comes, on a connection of its own."""
        connection = None
        try:
            connection = self._connected()
            connection.request("GET", self._prefix + path, headers={**self._headers(None), "Connection": "close"})
            with connection.getresponse() as answer:
                if answer.status != 200:
                    _checked(answer.status, answer.read())
                yield answer
        except MfboError:  # what the service answered
            raise
        except (OSError, http.client.HTTPException) as error:
            raise ServiceError(f"the stream of {self.url} broke: {error or type(error).__name__}") from error
        finally:
            if connection is not None:
                connection.close()

    def _attempt(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        connection, sent = getattr(self._local, "connection", None), False
        try:
            if connection is None or time.monotonic() - self._local.used > IDLE_SECONDS:
                connection = self._fresh(connection)
            self._local.used = time.monotonic()
            connection.request(method, self._prefix + path, body, self._headers(body))
            sent = True
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._drop(connection)
            why = f"the service at {self.url} cannot be reached: {error or type(error).__name__}"
            raise (LostAnswerError if sent else ServiceError)(why) from error

    def close(self) -> None:
        """Close the connections of all threads; the next call opens one again."""
        _close(self._open)

    def _fresh(self, old: http.client.HTTPConnection | None) -> http.client.HTTPConnection:
        self._drop(old)
        connection = self._local.connection = self._connected()
        self._open.append(connection)
        return connection

    def _drop(self, connection: http.client.HTTPConnection | None) -> None:
        self._local.connection = None
        if connection is not None:
            connection.close()
            if connection in self._open:
                self._open.remove(connection)

    def _connected(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=ANSWER_SECONDS)
        connection.connect()
        return connection

    def _headers(self, body: bytes | None) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers


def _close(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()


def _json(words: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(words, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"something given cannot be sent to a service: {error}") from error


def _checked(status: int, content: bytes) -> bytes:
    if 200 <= status < 300:
        return content
    raise _error(status, content)


def _error(status: int, content: bytes) -> MfboError:
    """Return the library's own error that a problem tells of."""
    try:
        problem = json.loads(content)
        kind, detail = str(problem["type"]).removeprefix("urn:mfbo:"), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"this is not an mfbo service: it answered {status}")
    if kind == "faulty-file":
        return FaultyFileError(tuple(problem.get("lines", ())))
    return _ERRORS.get(kind, ServiceError)(detail)
