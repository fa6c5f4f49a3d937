"""`mfbo …`: the commands on problems whose optimum is known, and their options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mfbo.cli.declaring import command_group, declared
from mfbo.cli.options import DEFAULT_STORAGE, Json, Quiet, Seed, StorageUrl, StrategyName, TableOptions

app = command_group("Place a whole fleet well, in few tries: mean-field Bayesian optimization.", completion=True)

Data = Annotated[
    Path | None, typer.Option(help="A demand table or raw trip file of your own (louvelo, nyc-…, taxi-dispatch).")
]
ProblemName = Annotated[str, typer.Argument(help="A name from `mfbo problems`.")]


@declared(app, "demo", "demo:demo")
@dataclass(frozen=True)
class Demo:
    """Run swarm and arena, print optimum and regret, write pictures."""

    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-demo")
    rounds: Annotated[int, typer.Option(help="Rounds per run.")] = 100
    seed: Seed = 0
    quiet: Quiet = False
    json: Json = False


@declared(app, "run", "run:run")
@dataclass(frozen=True)
class Run(TableOptions):
    """Run a strategy on a problem whose optimum is known."""

    problem: ProblemName
    strategy: StrategyName = "default"
    rounds: Annotated[int, typer.Option(help="Rounds to play.")] = 100
    seed: Seed = 0
    data: Data = None
    feedback: Annotated[str, typer.Option(help="What is seen: system, agents:N or cells.")] = "system"
    agents: Annotated[
        str | None, typer.Option(help="Number of agents, or inf for the mean-field limit; default: the problem's own.")
    ] = None
    allocation: Annotated[str, typer.Option(help="How plans become whole agents: quota or sampled.")] = "quota"
    context_allocation: Annotated[
        str, typer.Option(help="Agents per context in each round: quota (fixed) or sampled (drawn anew).")
    ] = "quota"
    noise: Annotated[float, typer.Option(help="Standard deviation of Gaussian noise on every told payoff.")] = 0.0
    known_noise: Annotated[bool, typer.Option("--known-noise", help="Tell the strategy the noise.")] = False


@declared(app, "benchmark", "benchmark:benchmark")
@dataclass(frozen=True)
class Benchmark:
    """Run problems × strategies × seeds; run again to continue."""

    suite: Annotated[str, typer.Option(help="paper, quick, scaling, or a TOML file.")]
    out: Annotated[Path | None, typer.Option(help="Folder of the results; default: mfbo-benchmark-SUITE.")] = None
    jobs: Annotated[
        int | None, typer.Option(help="Processes at a time, one thread each; default: the processors there are.")
    ] = None
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler (tcp://…), or local for one with --jobs workers.")
    ] = None
    problems: Annotated[str | None, typer.Option(help="Run only these of the suite, separated by commas.")] = None
    strategies: Annotated[str | None, typer.Option(help="Run only these of the suite, separated by commas.")] = None
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed ones again.")] = False
    show: Annotated[bool, typer.Option("--print", help="Print the suite as TOML and stop; edit it for your own.")] = (
        False
    )
    quiet: Quiet = False
    json: Json = False


@declared(app, "report", "report:report")
@dataclass(frozen=True)
class Report:
    """Write tables (Markdown, CSV) and one HTML page with all figures."""

    folder: Annotated[Path, typer.Argument(help="A results folder of `mfbo benchmark`.")]
    out: Annotated[Path | None, typer.Option(help="Folder for the report; default: FOLDER/report.")] = None
    quiet: Quiet = False
    json: Json = False


@declared(app, "backtest", "trip_backtest:replay_days")
@dataclass(frozen=True)
class BacktestTrips:
    """Replay recorded trips: what the status quo, the rules and mfbo would have served, as a table and a page."""

    files: Annotated[list[Path], typer.Argument(help="Trip files of any known layout: .csv, .csv.gz, .zip, .parquet.")]
    agents: Annotated[int, typer.Option(help="Number of bikes to place.")]
    train: Annotated[
        str | None,
        typer.Option(help="Days to learn from: 2020-11 or 2020-11-01..2020-11-20. Default: the first two thirds."),
    ] = None
    test: Annotated[
        str | None, typer.Option(help="Days held out, on which final plans are kept. Default: all later ones.")
    ] = None
    docks: Annotated[
        str | None, typer.Option(help="Bikes that a station holds: a number, or a CSV with columns station, docks.")
    ] = None
    placed: Annotated[
        Path | None,
        typer.Option(help="CSV: the status quo; columns station, agents. Default: bikes spread evenly."),
    ] = None
    move_budget: Annotated[int | None, typer.Option(help="Most bikes by which plans of two days may differ.")] = None
    rule: Annotated[str, typer.Option(help="The rule that mfbo starts from: deficit or shares.")] = "deficit"
    stations: Annotated[Path | None, typer.Option(help="The station file, where trips carry no coordinates.")] = None
    columns: Annotated[
        str | None, typer.Option(help="The columns of a layout that is not known: start=…,station=…,end=…,to=….")
    ] = None
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("backtest.html")
    seed: Seed = 0
    quiet: Quiet = False
    json: Json = False


@declared(app, "show", "show:show")
@dataclass(frozen=True)
class Show:
    """Draw a problem's demand or optimum, and a plan beside it."""

    problem: ProblemName
    plan: Annotated[
        Path | None, typer.Option(help="The plan to draw: JSON (also that of `mfbo run --json`) or CSV.")
    ] = None
    data: Data = None
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-show")
    quiet: Quiet = False
    json: Json = False


@declared(app, "problems", "listings:problems")
@dataclass(frozen=True)
class Problems:
    """List the problems with their sizes and optima."""

    json: Json = False


@declared(app, "strategies", "listings:strategies")
@dataclass(frozen=True)
class Strategies:
    """List the strategies."""

    json: Json = False


@declared(app, "bounds", "bounds:bounds")
@dataclass(frozen=True)
class Bounds:
    """Print the theorem's quantities and the four rows of the regret table."""

    actions: Annotated[int, typer.Option(help="|A|")] = 30
    contexts: Annotated[int, typer.Option(help="|C|")] = 1
    agents: Annotated[int, typer.Option(help="M")] = 50
    rounds: Annotated[int, typer.Option(help="T")] = 250
    a: Annotated[float, typer.Option(help="Constant a of the smoothness assumption.")] = 1.0
    b: Annotated[float, typer.Option(help="Constant b of the smoothness assumption.")] = 1.0
    json: Json = False


@declared(app, "serve", "serve:serve")
@dataclass(frozen=True)
class Serve:
    """Serve studies as pages in the browser, and to other programs over HTTP."""

    storage: StorageUrl = DEFAULT_STORAGE
    host: Annotated[
        str, typer.Option(help="Address to listen at; any other than this machine's own needs --token-file.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="Port to listen at; 0 for any that is free.")] = 8765
    token_file: Annotated[
        Path | None, typer.Option(help="File with a token of 16 or more letters, which callers must show.")
    ] = None
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name by which it may be called, as through a proxy; may be repeated.")
    ] = None
    demo: Annotated[bool, typer.Option("--demo", help="Make a study to look at, on the Bay Area's stations.")] = False
