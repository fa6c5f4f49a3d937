"""Under which names the service may be called, and from which pages: against rebound names and posts of other sites."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from mfbo.errors import InvalidInputError

SAFE = ("GET", "HEAD", "OPTIONS")
_OWN_SITE = ("same-origin", "none")  # Sec-Fetch-Site of our own pages, and of what a person typed


class Hosts:
    """The names that the Host header may hold: loopback, or the address listened at, numbers, and names given."""

    def __init__(self, host: str, names: tuple[str, ...] = ()) -> None:
        self.is_loopback = is_loopback(host)
        self._names = {_plain(name) for name in (host, "localhost", *names)}

    def knows(self, header: str) -> bool:
        """Tell whether a Host header is one of ours; a name that another site made point here is not."""
        host = host_of(header)
        if host is None:
            return False
        if host in self._names:
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or not self.is_loopback  # a name can be rebound, a number cannot


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return ip_address(_plain(host)).is_loopback
    except ValueError:
        return _plain(host) == "localhost"


def is_own_origin(origin: str | None, site: str | None, host: str, method: str) -> bool:
    """Tell whether a request comes from our own pages, or from no page at all (a program, an address typed)."""
    if origin is not None:
        try:
            came_from = urlsplit(origin)
        except ValueError:
            return False
        return came_from.scheme in ("http", "https") and came_from.netloc.casefold() == host.casefold()
    return method in SAFE or site is None or site in _OWN_SITE


def host_of(header: str) -> str | None:
    """Return the host in a Host header, without its port; None if it is not a host."""
    try:
        parts = urlsplit(f"//{header}")
        parts.port  # noqa: B018 (raises if it is none)
    except ValueError:
        return None
    if parts.netloc != header or "@" in header or not parts.hostname:
        return None
    return _plain(parts.hostname)


def read_host_name(name: str) -> str:
    """Check a name under which the service is to be called."""
    if host_of(name) is None or host_of(name) != _plain(name):
        raise InvalidInputError(f"{name!r} is not the name of a host; give it without http:// and without a port")
    return name


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").casefold()
