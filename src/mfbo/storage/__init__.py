"""Where studies live between ask and tell: in memory, in an SQLite file, on a PostgreSQL server.

``open_storage`` makes one from an address; ``Storage`` is the contract; ``codec`` turns records into text and back.
"""

from mfbo.storage.choice import open_storage
from mfbo.storage.contract import Draft, Event, EventKind, Finding, Storage, StudySummary

__all__ = ["Draft", "Event", "EventKind", "Finding", "Storage", "StudySummary", "open_storage"]
