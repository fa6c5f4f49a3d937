"""`mfbo study plot`: payoffs told and expected, and where the agents should be."""

from pathlib import Path

from mfbo.arrays import FloatArray
from mfbo.cli.output import print_json, say
from mfbo.cli.study_commands import Plot
from mfbo.errors import InvalidInputError
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
    from mfbo.plotting.placements import payoff_curve, placement_map

    stem = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in study.name)
    recommended = study.recommend()
    return [
        *payoff_curve(out / f"{stem}-payoff", study.name, study.history, _expected(study)),
        *placement_map(out / f"{stem}-placement", study.name, study.history, recommended),
    ]


def _expected(study: Study) -> tuple[FloatArray, FloatArray] | None:
    try:
        return study.expected()
    except InvalidInputError:  # a strategy without a model expects nothing
        return None
