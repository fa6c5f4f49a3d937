"""Addresses as outputs and errors may show them: without their secrets."""

import re
from urllib.parse import unquote

HIDDEN = "***"
SECRET = re.compile(r"pass|pwd|secret|token", re.IGNORECASE)
_USER = re.compile(r"^([^:@/?]*):.*@", re.DOTALL)
_NO_PORT = re.compile(r"^([^:@/?\[]*):(?!\d+(?:[/?]|$))[^@/?]+$")  # a password whose host was forgotten
_SETTING = re.compile(r"""([\w%.+\-]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|"[^"]*"|[^&;\s]*)""")


def showable(address: object) -> str:
    """Return an address as outputs and errors may show it, however it is written: what may be a password is hidden.

    Rather too much is hidden than too little: an address that cannot be read has its password anywhere.
    """
    text = str(address)
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "", text
    if scheme.casefold() != "sqlite" or not rest.startswith("/"):  # a file's name may hold any character
        rest = _USER.sub(rf"\1:{HIDDEN}@", rest)  # up to the last @: a password may hold any character
        rest = _NO_PORT.sub(rf"\1:{HIDDEN}", rest)
    return scheme + mark + _SETTING.sub(_hidden, rest)


def _hidden(setting: re.Match[str]) -> str:
    return f"{setting[1]}{setting[2]}{HIDDEN}" if SECRET.search(unquote(setting[1])) else setting[0]
