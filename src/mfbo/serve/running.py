"""The service runs: it listens, says where, and stops in good order."""

import os
import socket
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from mfbo.errors import InvalidInputError
from mfbo.serve.application import create_app
from mfbo.serve.desk import Desk
from mfbo.serve.hosts import is_loopback
from mfbo.serve.tokens import Token
from mfbo.validation import whole_number

KEEP_SECONDS = 75  # for the next call on a connection; clients of ours close idle ones sooner
STOP_SECONDS = 30  # for calls that have begun; what is not done by then is not stored


def run_service(
    storage: Any,
    *,
    host: str,
    port: int,
    token_file: Path | None = None,
    host_names: Iterable[str] = (),
    ready: Callable[[str, str], None],
) -> None:
    """Serve until a signal stops it; ``ready(address of the service, address of the storage)`` when it can be called.

    host: anything but this machine's own address needs a token.
    """
    whole_number(port, "port", least=0)
    if token_file is None and not is_loopback(host):
        raise InvalidInputError(
            f"anybody in the network could call {host}: give --token-file FILE, or serve at 127.0.0.1 only"
        )
    token = None if token_file is None else Token.read(token_file)
    with _listening(host, port) as listener:
        app = create_app(storage, host=host, token=token, host_names=host_names)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}/"
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # addresses hold names of studies
            server_header=False,
            timeout_keep_alive=KEEP_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        desk: Desk = app.state.desk
        _Server(config, lambda: ready(address, desk.address)).run(sockets=[listener])
        if desk.is_stuck:
            _leave()


class _Server(uvicorn.Server):
    """A server that says when it can be called, and ends the streams when it is to stop."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: streams would never end by themselves."""
        app: Any = self.config.app
        app.state.watch.stop()
        super().handle_exit(sig, frame)


def _leave() -> None:
    """End this process although it still computes: nobody waits for that, and nothing is ever half stored."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, number)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InvalidInputError(f"there is no such address as {host!r}, port {port}: {error}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise InvalidInputError(
            f"{host}, port {port} cannot be used: {error.strerror}; choose another --port"
        ) from error
    return listener
