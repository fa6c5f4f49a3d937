"""`mfbo serve`: the studies of a storage as pages and over HTTP."""

from mfbo.cli.commands import Serve
from mfbo.cli.output import say
from mfbo.errors import MissingExtraError


def serve(options: Serve) -> None:
    """Serve until stopped."""
    try:
        import uvicorn

        from mfbo.serve.app import create_app
    except ImportError as error:
        raise MissingExtraError('serving needs a few libraries: pip install "mfbo[serve]"') from error
    app = create_app(options.storage)
    say(f"mfbo serves {app.state.desk.address} at http://{options.host}:{options.port}/ (Ctrl-C stops it)")
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning", access_log=False)
