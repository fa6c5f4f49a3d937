"""The command line; `main` is its entry point."""

from mfbo.cli.app import main

__all__ = ["main"]
