"""Lets `python -m mfbo` stand for `mfbo`."""

from mfbo.cli import main

main()
