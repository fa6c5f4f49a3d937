"""SHA-256 over all fields of a record, so that a change of any of them shows."""

import hashlib
from typing import Any


def checksum(*fields: Any) -> str:
    """Return the checksum of fields, each written as ``repr`` with its length before it."""
    digest = hashlib.sha256()
    for each in fields:
        text = each.encode() if isinstance(each, str) else repr(each).encode()
        digest.update(b"%d:" % len(text))
        digest.update(text)
    return digest.hexdigest()
