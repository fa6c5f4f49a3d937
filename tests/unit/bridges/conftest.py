"""Import torch's libraries once, without the warnings of their own that the tests would take for errors."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import botorch  # noqa: F401
    import optuna.testing.pytest_samplers  # noqa: F401
    import optunahub  # noqa: F401
