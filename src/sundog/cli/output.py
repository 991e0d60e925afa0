"""What commands share: writing results, showing progress on a terminal, saying what was done."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from sundog.errors import UserError
from sundog.progress import listening

if TYPE_CHECKING:
    from sundog.domain import Schema
    from sundog.domain.rows import Rows

Format = Literal["csv", "parquet"]


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


def load_schema(path: Path) -> "Schema":
    """The schema of a command, with a word on standard error about keys that are left out of everything."""
    from sundog.domain import Schema
    from sundog.domain.forms import Document
    from sundog.domain.known_keys import unknown_keys
    from sundog.domain.schema import load_document

    schema = Schema.load(path)
    unknown = unknown_keys(load_document(path), Document)
    if unknown:
        shown = ", ".join(unknown[:8]) + (f" and {len(unknown) - 8} more" if unknown[8:] else "")
        typer.echo(
            f"Note: {path}: Sundog does not know these keys and leaves them out of every release: {shown}.", err=True
        )
    return schema


def read_settings(given: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE as a number, a truth value or a text."""
    made = {}
    for each in given or []:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise UserError(f"--set: found {each!r}; write NAME=VALUE, such as rows=1000.")
        if name in made:
            raise UserError(f"--set: found {name!r} twice; set it once.")
        try:
            made[name] = json.loads(value)
        except (ValueError, RecursionError):
            made[name] = value
    return made


def prepare_folder(folder: Path, *, force: bool, outside: Iterable[str | Path | None] = ()) -> None:
    """Make sure, before any budget is spent, that a release can be written here and will hold nothing else."""
    from sundog.api.release_folder import check_release_folder

    with _writing(folder):
        check_release_folder(folder, force=force, outside=outside)
        _try_to_write(folder)


def prepare_file(path: Path, *, force: bool) -> None:
    """The same for a single file that is no part of a release."""
    from sundog.api.release_folder import refuse_inside_release

    with _writing(path.parent):
        refuse_inside_release(path)
        if path.is_dir():
            raise UserError(f"--out: {str(path)!r} is a folder; name a file in it.")
        if path.exists() and not force:
            raise UserError(
                f"--out: {str(path.parent)!r} holds {path.name!r} already; choose another name, or --force to replace it."
            )
        _try_to_write(path.parent)


def _try_to_write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say which folder the system refuses, and why."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:  # the latter two: links in a circle, a name with a zero byte
        reason = getattr(error, "strerror", None) or "it is no usable path"
        raise UserError(f"--out: {str(folder)!r} cannot be written ({reason}); choose another folder.") from None


def write_confidential(path: Path, text: str) -> None:
    """A file that only its owner can read, whatever stood there before."""
    handle, new = tempfile.mkstemp(dir=path.parent, prefix=".sundog-")  # mode 0600 under any umask
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(new, path)
    except BaseException:
        os.unlink(new)
        raise


def write_table(rows: "Rows", path: Path) -> None:
    """Synthetic rows as CSV or Parquet, by the file's ending; weights, where there are any, as a last column."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(rows.to_arrow(), path)
    else:
        from pyarrow import csv

        csv.write_csv(rows.to_text(), path, csv.WriteOptions(quoting_style="needed"))


def say(result: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    """The outcome on standard output: one JSON object, or sentences."""
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else "\n".join(lines))
