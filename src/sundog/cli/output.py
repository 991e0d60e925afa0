"""What commands share: showing progress on a terminal, saying what was done."""

import json
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sundog.declare import typed
from sundog.errors import UserError
from sundog.progress import listening

if TYPE_CHECKING:
    from sundog.api.making import Place
    from sundog.domain import Schema


HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of characters that steer a terminal, or cannot be seen in it."""
JOINERS = "\u200c\u200d"
"""Part of the spelling of some languages."""


def visible(text: str) -> str:
    """A text with such characters as escapes: names and labels may come from a file that someone else made."""
    kept = "\n\t" + JOINERS
    return "".join(
        sign.encode("unicode_escape").decode("ascii")
        if unicodedata.category(sign) in HIDDEN and sign not in kept
        else sign
        for sign in text
    )


def tell(text: str, *, err: bool = False) -> None:
    """One or more lines of sentences for a person."""
    typer.echo(visible(text), err=err)


@contextmanager
def progress(message: str) -> Iterator[Callable[[str], None]]:
    """A spinner with the current step on standard error; silent where that is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=None)

        def show(step: str) -> None:
            bar.update(task, description=step)

        with listening(show):
            yield show


def load_schema(path: Path, *, linked: bool = False) -> "Schema":
    """The schema of a command, of linked tables where it takes them; a note names keys that are left out of everything."""
    from sundog.domain.linked.package import is_package
    from sundog.domain.linked.views import LinkedSchema
    from sundog.domain.schema import Schema, load_document

    document = load_document(path)
    if linked and is_package(document):
        return LinkedSchema.from_document(document)
    schema = Schema.from_json(document)
    _note_unknown(path, document)
    return schema


def load_noted(path: Path) -> dict[str, Any]:
    """A schema document that may not be complete; a note names keys that are left out of everything."""
    from sundog.domain.schema import load_document

    document = load_document(path)
    _note_unknown(path, document)
    return document


def _note_unknown(path: Path, document: dict[str, Any]) -> None:
    from sundog.api.schema import unknown_note

    note = unknown_note(document)
    if note:
        tell(f"Note: {path}: {note}", err=True)


def read_settings(given: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE as a number, a truth value or a text."""
    made = {}
    for each in given or []:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise UserError(f"--set: found {each!r}; write NAME=VALUE, such as rows=1000.")
        if name in made:
            raise UserError(f"--set: found {name!r} twice; set it once.")
        made[name] = typed(value)
    return made


def kept_lines(place: Path) -> list[str]:
    """Where earlier measurements are, if any were replaced."""
    from sundog.api.release_folder import earlier_folder

    earlier = earlier_folder(place)
    return [f"Earlier measurements of this place are kept in {earlier}"] if earlier.is_dir() else []


def say(result: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    """The outcome on standard output: one JSON object, or sentences."""
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        tell("\n".join(lines))


def table_lines(place: "Place", rows: int) -> list[str]:
    """Where the synthetic tables are, and how many rows (or roots) they have."""
    if place.parts is not None:
        return [
            f"Synthetic table: {place.folder / 'synthetic.part-*.parquet'} ({rows} rows in {place.parts.count} files)"
        ]
    if len(place.tables) == 1:
        return [f"Synthetic table: {place.tables[0]} ({rows} rows)"]
    return [
        f"Synthetic tables ({rows} records of {place.linked[0]}):",
        *(f"                 {path}" for path in place.tables),
    ]


def tell_kept(path: Path, *, method: str) -> None:
    """Where the measurements are that a broken run paid for, and how to go on with them."""
    tell(
        f"Kept the measurements that were paid for: {path}\n"
        f"Go on with them at no further cost: sundog generate {shlex.quote(str(path))} --method {method} -o FOLDER",
        err=True,
    )
