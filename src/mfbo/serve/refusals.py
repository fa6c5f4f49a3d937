"""What the service itself refuses, beside what the library refuses."""

from mfbo.errors import MfboError


class BusyError(MfboError, RuntimeError):
    """Too much is asked at a time; the same call succeeds later."""


class MissingError(MfboError, KeyError):
    """The study, or the plan, that an address names is not there."""


class ExistsError(MfboError, ValueError):
    """A study of this name is there already."""


class DoubtfulError(MfboError, ValueError):
    """A payoff far outside what was told so far; it is taken if the caller insists."""


class WrongTokenError(MfboError, ValueError):
    """A token that is not the service's."""
