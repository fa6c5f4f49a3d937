"""SHA-256 over all fields of a record, so that a change of any of them shows."""

import hashlib
from typing import Any


def checksum(*fields: Any) -> str:
    """Return the checksum of fields, each written as ``repr`` with its length before it."""
    digest = hashlib.sha256()
    for field in fields:
        text = field.encode() if isinstance(field, str) else repr(field).encode()
        digest.update(b"%d:" % len(text))
        digest.update(text)
    return digest.hexdigest()
