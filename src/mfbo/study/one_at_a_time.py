"""Threads that share an object call its methods one after another."""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

Locked = TypeVar("Locked", bound="Shared")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Shared:
    """An object with a lock that is not copied or sent along with it."""

    def __init__(self) -> None:
        self.lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock behind."""
        return {key: value for key, value in self.__dict__.items() if key != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a new lock."""
        self.__dict__.update(state, lock=RLock())


def one_at_a_time(
    method: Callable[Concatenate[Locked, Arguments], Answer],
) -> Callable[Concatenate[Locked, Arguments], Answer]:
    """Let threads wait for one another around a method."""

    @wraps(method)
    def serialized(shared: Locked, /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Answer:
        with shared.lock:
            return method(shared, *arguments, **options)

    return serialized
