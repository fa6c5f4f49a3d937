"""Contract suites for those who write their own parts: subclass one, and pytest runs it."""

from mfbo.testing.storages import StorageContract

__all__ = ["StorageContract"]
