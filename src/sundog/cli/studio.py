"""sundog studio: the local page, on which a custodian goes from a table to a release without writing a line."""

from pathlib import Path
from typing import Annotated

import typer

from sundog.api.options import LedgerPlace
from sundog.cli.groups import grouped
from sundog.errors import UserError

Port = Annotated[int, typer.Option(help="The port on this machine; default: a free one.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")]
HomeFolder = Annotated[
    Path | None, typer.Option("--home", help="Where the studio keeps its work; default: in your data directory.")
]


@grouped
def studio(*, place: LedgerPlace, home: HomeFolder = None, port: Port = 0, browser: Browser = True) -> None:
    """Open the studio, a page on this machine: table, schema, check, plan, run, release, ledger.

    It is bound to this machine alone, works offline, and uploads nothing. A second start finds the first.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise UserError("studio: it needs packages of its own; run: pip install 'sundog[studio]'.") from None
    import webbrowser

    from sundog.studio.home import Home, default_home
    from sundog.studio.server import Starting, serve

    folder = (home or default_home()).expanduser().resolve()
    ledger = None if place.ledger is None else str(Path(place.ledger).expanduser().resolve())
    serve(Starting(Home(folder, ledger), port, webbrowser.open if browser else None), typer.echo)
