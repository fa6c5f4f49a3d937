"""The family of errors: each is also a built-in error, and its message names the bad value and the way out.

Beside them the one kind of warning: something was done, and the user should know of it.
"""

import sys
import warnings


class MfboError(Exception):
    """Anything that mfbo itself refuses or cannot do."""

    def __str__(self) -> str:
        """Give the message itself (``KeyError`` would put it in quotes)."""
        return str(self.args[0]) if self.args else ""


class InvalidInputError(MfboError, ValueError):
    """A value, a shape or a sum that cannot be right."""


class UnreadableFileError(InvalidInputError):
    """A file that cannot be read at all; reason: why, without the name of the file."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file} {reason}")
        self.reason = reason


class FaultyFileError(InvalidInputError):
    """A file with faults, all of them at once; lines: one for each."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines


class UnknownNameError(MfboError, KeyError):
    """A name that is in no table: an action, a context, a strategy, a problem, a plan."""


class RoundStateError(MfboError, RuntimeError):
    """A round that is not in the state the call needs (told twice, abandoned, nothing told yet)."""


class NumericalError(MfboError, RuntimeError):
    """A computation that bounded jitter could not save."""


class StorageError(MfboError, RuntimeError):
    """A store that cannot be read or written, or whose content is not what was written."""


class DamageError(StorageError):
    """A store that can be read, but whose content is not what was written."""


class ConflictError(StorageError):
    """Another process was first; read what it did and try again."""


class MissingExtraError(MfboError, ImportError):
    """An optional library that is not installed; the message says what to install."""


class ServiceError(MfboError, ConnectionError):
    """A service that cannot be reached, refuses the caller, or does not answer as one."""


class MfboWarning(UserWarning):
    """Something that mfbo did, and that may not be what was meant."""


def warn(message: str) -> None:
    """Warn, and name the line outside of mfbo that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mfbo":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, MfboWarning, stacklevel=level)


def never_asked(number: object, rounds: int) -> str:
    """Return what to say of a plan that a study of so many rounds does not have."""
    return f"plan {number} was never asked; the study has {rounds} plan{'s' * (rounds != 1)}"
