"""Commands are declared once: a record holds the options of a command, its docstring is the help.

What a command does stands in a module of its own, which is imported when the command runs: help is instant.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer

import mfbo

Options = TypeVar("Options")


def command_group(help: str, *, completion: bool = False) -> typer.Typer:
    """Return a group of commands without any yet; alone it prints its help.

    completion: whether it has the options that install shell completion, which the outermost one has for all.
    """
    return typer.Typer(
        help=help,
        no_args_is_help=True,
        add_completion=completion,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def declared(group: typer.Typer, name: str, runs: str) -> Callable[[type[Options]], type[Options]]:
    """Make a command of a frozen dataclass whose fields are annotated as typer wants its options.

    runs: "module:function" in this package; the function takes the record.
    """

    def declare(options: type[Options]) -> type[Options]:
        def command(**values: Any) -> None:
            module, _, function = runs.partition(":")
            getattr(import_module(f"mfbo.cli.{module}"), function)(options(**values))

        parameters = inspect.signature(options).parameters.values()
        command.__signature__ = inspect.Signature([*parameters])  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.__doc__ = inspect.getdoc(options)
        group.command(name)(command)
        return options

    return declare


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mfbo {mfbo.__version__}")
        raise typer.Exit


def options_of_all(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before any command."""
