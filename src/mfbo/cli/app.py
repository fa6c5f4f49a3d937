"""The command line as a whole: all commands in one application, errors as lines, exit codes."""

import io
import sys
from typing import Any

import typer

from mfbo.cli import data_commands, study_commands
from mfbo.cli.commands import app
from mfbo.cli.declaring import options_of_all
from mfbo.cli.output import SpokenNotes, say
from mfbo.errors import FaultyFileError, MfboError

__all__ = ["app", "main"]

BAD_USAGE = 2
INTERRUPTED = 130
LONGEST_LINE = 2_000  # letters of an error: a name may have any number

# The errors of click, on which typer stands, or of the copy of it that typer brings along: they are not typer's own.
_CLICK: Any = sys.modules[typer.BadParameter.__module__]
_HelpAlone: Any = getattr(_CLICK, "NoArgsIsHelpError", ())  # older clicks print the help themselves

app.callback()(options_of_all)
app.add_typer(data_commands.app, name="data")
app.add_typer(study_commands.app, name="study")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0, 2 with one line on standard error for bad usage, 130 when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters gets question marks instead
    try:
        with SpokenNotes().heard():
            code = typer.main.get_command(app).main(arguments, prog_name="mfbo", standalone_mode=False)
    except FaultyFileError as error:
        code = _complain(*error.lines)
    except MfboError as error:
        code = _complain(str(error))
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except OSError as error:  # a full disk, a folder without permission: nothing that a traceback would mend
        code = _complain(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except _HelpAlone as error:  # `mfbo data` alone: its message is the help itself
        typer.echo(error.format_message(), err=True)
        code = BAD_USAGE
    except _CLICK.ClickException as error:
        code = _complain(f"{error.format_message()} ({_way_out(error)})")
    if code == INTERRUPTED:  # typer answers Ctrl-C with this code, and silently
        typer.echo("mfbo: interrupted", err=True)
    sys.exit(code if isinstance(code, int) else 0)


def _way_out(error: Any) -> str:
    """Say where help is: that of the command, if one was meant."""
    context = getattr(error, "ctx", None)
    command = "mfbo" if context is None else context.command_path
    return f"{command} --help lists the commands" if command == "mfbo" else f"{command} --help lists its options"


def _complain(*messages: str) -> int:
    for message in messages:
        words = " ".join(message.split())
        say(f"mfbo: {words if len(words) <= LONGEST_LINE else words[:LONGEST_LINE] + ' …'}", error=True)
    return BAD_USAGE
