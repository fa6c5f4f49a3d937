"""`mfbo study export`: all rounds in a file that other programs read."""

from mfbo.cli.output import STANDARD_OUTPUT, check_out, counted, print_json, say, write_out
from mfbo.cli.study_commands import Export
from mfbo.errors import InvalidInputError
from mfbo.sheets import exported
from mfbo.sheets.export import FORMATS
from mfbo.study import load_study


def export(options: Export) -> None:
    """Choose the format by the file's ending; on standard output CSV, or JSON if that is wished."""
    out = options.out
    to_standard_output = out == STANDARD_OUTPUT
    suffix = out.suffix.casefold() if not to_standard_output else ".json" if options.json else ".csv"
    if suffix not in FORMATS:
        raise InvalidInputError(
            f"--out must end in .csv, .json, .parquet or .mfbo, or be - for standard output, not {str(out)!r}"
        )
    check_out(out)
    study = load_study(options.name, options.storage)
    write_out(out, exported(study, suffix))
    if to_standard_output:
        return
    if options.json:
        print_json({"study": options.name, "rounds": len(study.rounds), "file": str(out)})
    elif not options.quiet:
        say(f"{counted(len(study.rounds), 'round')} written to {out}")
