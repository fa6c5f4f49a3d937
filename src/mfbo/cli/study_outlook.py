"""`mfbo study outlook`: what further rounds are expected to bring, told one number a round or cells."""

from mfbo.cli.output import print_json, print_table, progress, say
from mfbo.cli.study_commands import LookAhead
from mfbo.study import load_study
from mfbo.validation import known_name
from mfbo.written_situations import situation_of_text

LINES = 6


def outlook(options: LookAhead) -> None:
    """Simulate under a progress bar, then print means and the middle eighty percent."""
    name, rounds, feedback = options.name, options.rounds, options.feedback
    known_name(feedback, "feedback", ("payoff", "cells"))
    study = load_study(name, options.storage)
    silent = options.quiet or options.json
    with progress("outlook", options.simulations, silent=silent, unit="simulation", value="") as advance:
        found = study.outlook(
            rounds,
            feedback="cells" if feedback == "cells" else "payoff",
            simulations=options.simulations,
            progress=lambda done: advance(done, float(done)),
            situation=situation_of_text(options.situation, study.history.situations),
        )
    low, high = found.between()
    record = {
        "study": name,
        "feedback": feedback,
        "status_quo": found.status_quo,
        "noise": found.noise,
        "dominated_by_noise": found.dominated_by_noise,
        "gain": found.mean.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
    }
    if options.json:
        print_json(record)
        return
    say(f"the status quo is believed to earn {found.status_quo:.4g} per agent; noise of one round: {found.noise:.3g}")
    places = sorted({round(step * rounds / LINES) for step in range(1, LINES + 1)} - {0})
    rows = [[place, *(f"{values[place - 1]:+.4g}" for values in (found.mean, low, high))] for place in places]
    print_table(
        f"expected gain per agent by round, {feedback} told", ["round", "mean", "1 in 10 below", "1 in 10 above"], rows
    )
    if found.dominated_by_noise:
        say("one round's noise is larger than all of it: the gain will not be seen in single days")
    if feedback == "payoff":
        say("with payoffs by station: mfbo study outlook … --feedback cells")
