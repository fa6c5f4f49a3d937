"""`mfbo study plot`: how the payoff rose, and where the agents should be."""

from pathlib import Path
from tempfile import TemporaryDirectory

from mfbo.cli.output import print_json
from mfbo.errors import InvalidInputError
from mfbo.study import Study, load_study


def plot(name: str, out: Path, storage: str, *, json: bool) -> None:
    """Draw into a temporary folder inside ``out`` first, so that no picture is left half written."""
    study = load_study(name, storage)
    if not study.history.told:
        raise InvalidInputError(f"study {name!r} has no told round yet: there is nothing to draw")
    pictures = _draw(out, study)
    if json:
        print_json({"study": name, "pictures": [str(path) for path in pictures]})
        return
    for path in pictures:
        print(f"picture: {path}")


def _draw(out: Path, study: Study) -> list[Path]:
    from mfbo.plotting.placements import payoff_curve, placement_map

    stem = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in study.name)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".mfbo-", dir=out) as folder:
            drawn = [*payoff_curve(Path(folder) / f"{stem}-payoff", study.name, study.history)]
            recommended = study.recommend()
            drawn += placement_map(Path(folder) / f"{stem}-placement", study.name, study.history, recommended)
            return [picture.replace(out / picture.name) for picture in drawn]
    except OSError as error:
        raise InvalidInputError(f"no picture can be written into {out}: {error.strerror}") from error
