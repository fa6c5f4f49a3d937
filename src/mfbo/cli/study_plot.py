"""`mfbo study plot`: payoffs told and expected, where the agents should be, and what situations do."""

from pathlib import Path
from typing import Any

from mfbo.cli.change_words import change_words
from mfbo.cli.output import print_json, say
from mfbo.cli.study_commands import Plot
from mfbo.errors import InvalidInputError
from mfbo.population import Change
from mfbo.study import Study, load_study


def plot(options: Plot) -> None:
    """Draw; each picture is written whole or not at all."""
    study = load_study(options.name, options.storage)
    if not study.history.told:
        raise InvalidInputError(f"study {options.name!r} has no told round yet: there is nothing to draw")
    pictures = _draw(options.out, study)
    if options.json:
        print_json({"study": options.name, "pictures": [str(path) for path in pictures]})
        return
    for path in pictures:
        say(f"picture: {path}")


def _draw(out: Path, study: Study) -> list[Path]:
    from mfbo.plotting.figures import save_figure
    from mfbo.plotting.placements import payoff_curve, placement_map
    from mfbo.plotting.study_figures import day_levels, expectations

    stem = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in study.name)
    recommended, marks = study.recommend(), _marks(study)
    expected, levels = expectations(study), day_levels(study)
    pictures = [
        *save_figure(payoff_curve(study.name, study.history, expected, levels, marks), out / f"{stem}-payoff"),
        *save_figure(placement_map(study.name, study.history, recommended, marks), out / f"{stem}-placement"),
    ]
    if levels is None:
        return pictures
    from mfbo.plotting.situation_panels import payoff_by_situation

    by_situation = payoff_by_situation(study.name, study.history, levels)
    return pictures if by_situation is None else [*pictures, *save_figure(by_situation, out / f"{stem}-situations")]


def _marks(study: Study) -> Any:
    """Return what changed, and after how many of the told rounds."""
    from mfbo.plotting.study_marks import StudyMarks, opened_later

    told = {done.number for done in study.history.told}
    changes: list[tuple[int, Change]] = []
    before = 0
    for entry in study.log() if study.history.corrections else ():
        before += entry.kind in ("told", "added") and entry.plan in told
        if entry.kind == "changed":
            changes.append((before, entry.said.get("change", {})))
    said = [(place, change_words(change)) for place, change in changes]
    return StudyMarks(said, opened_later([change for _, change in changes]))
