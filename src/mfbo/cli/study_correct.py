"""`mfbo study amend, withdraw, reinstate, log`: what was told is corrected, and what was ever said is listed."""

import time
from typing import Any

from mfbo.cli.change_words import change_words
from mfbo.cli.confirming import confirm_misfit, confirm_payoff
from mfbo.cli.output import print_json, print_table, say
from mfbo.cli.study_commands import Amend, Log, Reinstate, Withdraw
from mfbo.cli.study_tell import read_told
from mfbo.records import Round
from mfbo.situations import Situations
from mfbo.study import LogEntry, load_study
from mfbo.written_situations import situation_of_text

LISTED = ("situation", "unknown", "payoff", "total", "worker", "error", "late", "agents", "cells", "placed")


def amend(options: Amend) -> None:
    """Read all files first; nothing is amended if one of them has a fault."""
    study = load_study(options.name, options.storage)
    feedback, played = read_told(study, options.plan, options)
    if "placed" in played:
        played["allow_misfit"] = confirm_misfit(study.misfit(played["placed"], options.plan), yes=options.yes)
    if options.payoff is not None:
        confirm_payoff(study.doubtful(options.plan, options.payoff), yes=options.yes)
    stated = situation_of_text(options.situation, study.history.situations)
    said_of_it: dict[str, Any] = {"situation": stated, "new_categories": options.new_categories}
    author: dict[str, Any] = {"by": options.by, "reason": options.reason}
    _say(study.amend(options.plan, **author, **said_of_it, **feedback, **played), options)


def withdraw(options: Withdraw) -> None:
    """It never happened."""
    study = load_study(options.name, options.storage)
    _say(study.withdraw(options.plan, by=options.by, reason=options.reason), options)


def reinstate(options: Reinstate) -> None:
    """It did happen."""
    study = load_study(options.name, options.storage)
    _say(study.reinstate(options.plan, by=options.by, reason=options.reason), options)


def log(options: Log) -> None:
    """Print the entries in their order."""
    study = load_study(options.name, options.storage)
    entries, situations = study.log(), study.history.situations
    entries = entries[-options.entries :] if options.entries > 0 else entries
    if options.json:
        print_json([vars(entry) for entry in entries])
        return
    rows = []
    for entry in entries:
        plan = "" if entry.plan is None else entry.plan
        rows.append([entry.sequence, _when(entry.at), entry.kind, plan, said(entry, situations), entry.by])
    print_table(f"log of study {options.name!r}", ["entry", "when", "what", "plan", "said", "by"], rows)


def _say(corrected: Round, options: Amend | Withdraw | Reinstate) -> None:
    if options.json:
        print_json(
            {
                "study": options.name,
                "plan": corrected.number,
                "state": corrected.state,
                "payoff": corrected.as_told,
                "correction": corrected.correction,
            }
        )
    elif not options.quiet:
        words = "" if corrected.correction == corrected.state else f": {corrected.correction}"
        say(f"plan {corrected.number} of study {options.name!r} is {corrected.state}{words}")


def said(entry: LogEntry, situations: Situations | None = None) -> str:
    """Return what an entry says, in words; situations: as the study declares them."""
    plain = dict(entry.said)
    if situations is not None and "situation" in plain:
        plain["situation"] = situations.in_words(plain["situation"])
    words = [f"{key} {_shown(plain[key])}".rstrip() for key in LISTED if key in plain]
    words += [change_words(plain[key]) for key in ("today", "change") if key in plain]
    return "; ".join([*words, entry.reason] if entry.reason else words)


def _shown(value: Any) -> str:
    if value is True:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
