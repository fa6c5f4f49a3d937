"""The list of studies: state, last day, what waits for whom, health at a glance."""

import time
from typing import Any

from mfbo.health import health
from mfbo.serve.pages.views.fleet import STATES, shown_payoff, summary
from mfbo.study import Study

TRUSTED, DOUBTED, UNKNOWN = "healthy", "worth a look", "too early to say"


def card(study: Study) -> dict[str, Any]:
    """Return what the list says of one study; it uses no model."""
    rounds, log = study.rounds, study.log()
    now = time.time()
    done = next((one for one in reversed(study.history.told) if not one.added), None)
    return {
        "study": summary(study),
        "last": log[-1].at if log else None,
        "latest": None if done is None else {"number": done.number, "payoff": shown_payoff(study, done)},
        "waiting": [
            {
                "number": asked.number,
                "worker": asked.lease.worker,
                "expired": asked.lease.has_expired(now),
            }
            for asked in study.history.open
        ],
        "states": {STATES[state]: sum(one.state == state for one in rounds) for state in STATES},
    }


def pulse(study: Study) -> dict[str, Any]:
    """Return the health of a study at a glance; it uses the model."""
    checks = health(study)
    wrong = [check.name for check in checks if check.ok is False]
    seen = any(check.ok for check in checks if check.value is not None)
    return {"name": study.name, "state": DOUBTED if wrong else TRUSTED if seen else UNKNOWN, "wrong": wrong}
