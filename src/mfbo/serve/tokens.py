"""The token that callers show: read from a file, compared in constant time, kept out of logs and answers."""

import hashlib
import hmac
from pathlib import Path

from mfbo.errors import InvalidInputError
from mfbo.given_files import given_text

COOKIE = "mfbo-session"
SHORTEST = 16  # letters: shorter ones can be guessed


class Token:
    """What a caller must know; it is never shown, not even in errors."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self.session = self._digest(b"mfbo session of a browser").hex()  # what the cookie holds instead of the token

    @staticmethod
    def read(file: Path) -> "Token":
        """Read the token of a file: its first line."""
        lines = given_text(file, 10_000).splitlines()
        secret = lines[0].strip() if lines else ""
        if len(secret) < SHORTEST or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise InvalidInputError(
                f"{file} must hold a token of at least {SHORTEST} ASCII letters without spaces in its first line;"
                ' python -c "import secrets; print(secrets.token_urlsafe(32))" makes one'
            )
        return Token(secret)

    def is_secret(self, said: str) -> bool:
        """Tell whether a text is the token; how long that takes says nothing of it."""
        mine, theirs = self._digest(self._secret), self._digest(said.encode("utf-8", "replace"))
        return hmac.compare_digest(mine, theirs)

    def is_session(self, said: str) -> bool:
        """Tell whether a cookie was given by this service to someone who knew the token."""
        return hmac.compare_digest(self.session.encode(), said.encode("utf-8", "replace"))

    def _digest(self, text: bytes) -> bytes:
        return hmac.new(self._secret, text, hashlib.sha256).digest()
