"""sundog docs: the installed documentation in a browser, or the place where it is."""

from typing import Annotated

import typer

from sundog.cli import options as o
from sundog.cli import pages
from sundog.cli.output import say

Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Whether to open the documentation in a browser.")
]


def docs(*, browser: Browser = True, json: o.AsJson = False) -> None:
    """Open the installed documentation in a browser, and say where it is."""
    index = pages.site()
    folder = pages.pages_folder()
    opened = browser and index is not None and _open(index.as_uri())
    lines = [f"Documentation: {index or folder}"]
    if index is None:
        lines.append(
            "These are Markdown pages. `sundog help TOPIC` shows one; `make docs` builds the website from a checkout."
        )
    elif not opened:
        lines.append("Open that file in a browser, or use `sundog help TOPIC`.")
    say({"website": index and str(index), "pages": str(folder), "opened": opened}, lines, as_json=json)


def _open(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)
