"""The client: studies that a service keeps, used like studies of one's own; it needs no other library."""

from mfbo.client.async_study import AsyncStudy
from mfbo.client.connecting import Service, connect
from mfbo.client.remote_study import RemoteStudy

__all__ = ["AsyncStudy", "RemoteStudy", "Service", "connect"]
