"""`mfbo serve`: the studies of a storage as pages and over HTTP."""

import sys

from mfbo.cli.commands import Serve
from mfbo.cli.output import say
from mfbo.errors import MissingExtraError


def serve(options: Serve) -> None:
    """Serve until stopped."""
    try:
        from mfbo.serve.demo_study import add_demo
        from mfbo.serve.running import run_service
    except ImportError as error:
        raise MissingExtraError(f'serving needs {error.name}: pip install "mfbo[serve]"') from error
    if options.demo:
        say("making a study to look at; this takes some seconds")
        add_demo(options.storage)
    try:
        run_service(
            options.storage,
            host=options.host,
            port=options.port,
            token_file=options.token_file,
            host_names=options.allow_host or (),
            ready=_say,
        )
    except KeyboardInterrupt:
        say("stopped")


def _say(service: str, storage: str) -> None:
    say(f"mfbo serves {storage} at {service} (Ctrl-C stops it)")
    sys.stdout.flush()  # whoever started it waits for this line
