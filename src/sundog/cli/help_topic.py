"""sundog help: the documentation on one topic, offline, in the terminal."""

import sys
from typing import Annotated

import typer

from sundog.cli import pages

Topic = Annotated[
    list[str] | None, typer.Argument(help="A page, a command or a term; default: list them.", metavar="TOPIC")
]


def help_topic(topic: Topic = None) -> None:
    """Show the documentation on a topic: a page, a command or a term, offline."""
    text = pages.topic(" ".join(topic)) if topic else contents()
    if not sys.stdout.isatty():
        typer.echo(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))


def contents() -> str:
    """All topics: every page with its title, then the commands and the terms."""
    texts = {name: pages.text_of(path) for name, path in pages.pages().items()}
    lines = [f"- `{name}`: {pages.title(text)}" for name, text in texts.items()]
    commands = ", ".join(pages.commands(texts["command-line"]))
    terms = ", ".join(sorted(pages.terms(texts["glossary"])))
    parts = ["# Topics", "`sundog help TOPIC` shows one of these.", "## Pages", "\n".join(lines)]
    return "\n\n".join([*parts, "## Commands", commands, "## Terms", terms])
