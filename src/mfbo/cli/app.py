"""The commands and their options. Numeric modules are imported inside the commands, so that help is instant."""

import io
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

import mfbo
from mfbo.cli import data_commands, study_commands
from mfbo.cli.options import Json, Quiet, Seed
from mfbo.cli.output import SpokenNotes, say
from mfbo.errors import MfboError

INTERRUPTED = 130
LONGEST_LINE = 2_000  # letters of an error: a name may have any number

app = typer.Typer(
    name="mfbo",
    help="Place a whole fleet well, in few tries: mean-field Bayesian optimization.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.add_typer(data_commands.app, name="data")
app.add_typer(study_commands.app, name="study")

Data = Annotated[
    Path | None, typer.Option(help="A demand table or raw trip file of your own (louvelo, nyc-…, taxi-dispatch).")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mfbo {mfbo.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Place a whole fleet well, in few tries: mean-field Bayesian optimization."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-demo"),
    rounds: Annotated[int, typer.Option(help="Rounds per run.")] = 100,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run swarm and arena, print optimum and regret, write pictures."""
    from mfbo.cli.demo import demo as command

    command(out, rounds, seed, quiet=quiet, json=json)


@app.command()
def run(
    problem: Annotated[str, typer.Argument(help="A name from `mfbo problems`.")],
    strategy: Annotated[str, typer.Option(help="A name from `mfbo strategies`, settings in parentheses.")] = "default",
    rounds: Annotated[int, typer.Option(help="Rounds to play.")] = 100,
    seed: Seed = 0,
    data: Data = None,
    feedback: Annotated[str, typer.Option(help="What is seen: system, agents:N or cells.")] = "system",
    agents: Annotated[
        str | None, typer.Option(help="Number of agents, or inf for the mean-field limit; default: the problem's own.")
    ] = None,
    allocation: Annotated[str, typer.Option(help="How plans become whole agents: quota or sampled.")] = "quota",
    contexts: Annotated[
        str, typer.Option(help="Agents per context in each round: quota (fixed) or sampled (drawn anew).")
    ] = "quota",
    noise: Annotated[float, typer.Option(help="Standard deviation of Gaussian noise on every told payoff.")] = 0.0,
    box: data_commands.BoxText = None,
    grid: data_commands.GridText = None,
    weekdays: data_commands.Weekdays = None,
    hours: data_commands.Hours = None,
    first_day: data_commands.FirstDay = None,
    weeks: data_commands.WeeksText = None,
    method: data_commands.MethodText = None,
    stations: data_commands.Stations = None,
    city: data_commands.City = None,
    columns: data_commands.Columns = None,
    known_noise: Annotated[bool, typer.Option("--known-noise", help="Tell the strategy the noise.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a strategy on a problem whose optimum is known."""
    from mfbo.cli.data_options import BuildOptions
    from mfbo.cli.run import run as command

    trips = BuildOptions(
        box, grid, weekdays, hours, first_day, weeks, method, None if stations is None else str(stations), city,
        columns=columns,
    )  # fmt: skip
    command(
        problem, strategy, rounds, seed, feedback, agents, allocation, contexts, noise,
        data=data, trips=trips, known_noise=known_noise, quiet=quiet, json=json,
    )  # fmt: skip


@app.command()
def benchmark(
    suite: Annotated[str, typer.Option(help="paper, quick, scaling, or a TOML file.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the results; default: mfbo-benchmark-SUITE.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes at a time, one thread each; default: the processors there are.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler (tcp://…), or local for one with --jobs workers.")
    ] = None,
    problems: Annotated[str | None, typer.Option(help="Run only these of the suite, separated by commas.")] = None,
    strategies: Annotated[str | None, typer.Option(help="Run only these of the suite, separated by commas.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed cells again.")] = False,
    show: Annotated[
        bool, typer.Option("--print", help="Print the suite as TOML and stop; edit it for your own.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run problems × strategies × seeds; run again to continue."""
    from mfbo.cli.benchmark import benchmark as command

    command(suite, out, jobs, dask, problems, strategies, retry_failed=retry_failed, show=show, quiet=quiet, json=json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A results folder of `mfbo benchmark`.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the report; default: FOLDER/report.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write tables (Markdown, CSV) and one HTML page with all figures."""
    from mfbo.cli.report import report as command

    command(folder, out, quiet=quiet, json=json)


@app.command()
def show(
    problem: Annotated[str, typer.Argument(help="A name from `mfbo problems`.")],
    plan: Annotated[
        Path | None, typer.Option(help="The plan to draw: JSON (also that of `mfbo run --json`) or CSV.")
    ] = None,
    data: Data = None,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-show"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw a problem's demand or optimum, and a plan beside it."""
    from mfbo.cli.show import show as command

    command(problem, plan, data, out, quiet=quiet, json=json)


@app.command()
def problems(json: Json = False) -> None:
    """List the problems with their sizes and optima."""
    from mfbo.cli.listings import problems as command

    command(json=json)


@app.command()
def strategies(json: Json = False) -> None:
    """List the strategies."""
    from mfbo.cli.listings import strategies as command

    command(json=json)


@app.command()
def bounds(
    actions: Annotated[int, typer.Option(help="|A|")] = 30,
    contexts: Annotated[int, typer.Option(help="|C|")] = 1,
    agents: Annotated[int, typer.Option(help="M")] = 50,
    rounds: Annotated[int, typer.Option(help="T")] = 250,
    a: Annotated[float, typer.Option(help="Constant a of the smoothness assumption.")] = 1.0,
    b: Annotated[float, typer.Option(help="Constant b of the smoothness assumption.")] = 1.0,
    json: Json = False,
) -> None:
    """Print the theorem's quantities and the four rows of the regret table."""
    from mfbo.cli.bounds import bounds as command

    command(actions, contexts, agents, rounds, a, b, json=json)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0, 2 with one line on standard error for bad usage, 130 when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without Greek letters gets question marks, not a traceback
    notes = SpokenNotes()
    logging.getLogger("mfbo").addHandler(notes)
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="mfbo", standalone_mode=False)
    except MfboError as error:
        code = _complain(*getattr(error, "lines", (str(error),)))  # a file with several faults has a line for each
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except OSError as error:  # a full disk, a folder without permission: nothing that a traceback would mend
        code = _complain(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except Exception as error:
        message = getattr(error, "format_message", None)  # typer's own usage errors know how to say themselves
        if message is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # `mfbo data` alone: its message is the help itself
            typer.echo(message(), err=True)
            code = 2
        else:
            code = _complain(f"{message()} (mfbo --help lists the commands)")
    finally:
        logging.getLogger("mfbo").removeHandler(notes)
    if code == INTERRUPTED:  # typer answers Ctrl-C with this code, and silently
        typer.echo("mfbo: interrupted", err=True)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(*messages: str) -> int:
    for message in messages:
        words = " ".join(message.split())
        say(f"mfbo: {words if len(words) <= LONGEST_LINE else words[:LONGEST_LINE] + ' …'}", error=True)
    return 2
