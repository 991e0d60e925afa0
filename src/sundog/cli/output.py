"""What commands share: writing results, showing progress on a terminal, saying what was done."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from sundog.errors import UserError
from sundog.progress import listening

if TYPE_CHECKING:
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


def read_settings(given: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE as a number, a truth value or a text."""
    made = {}
    for each in given or []:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise UserError(f"--set: found {each!r}; write NAME=VALUE, such as rows=1000.")
        try:
            made[name] = json.loads(value)
        except ValueError:
            made[name] = value
    return made


def prepare_folder(folder: Path, names: list[str], *, force: bool) -> None:
    """Make sure, before any budget is spent, that the results can be written and overwrite nothing unasked."""
    taken = [name for name in names if (folder / name).exists()]
    blocked = next((name for name in taken if (folder / name).is_dir()), None)
    if blocked is not None:
        raise UserError(f"--out: {str(folder / blocked)!r} is a folder, and a file of that name is to be written.")
    if taken and not force:
        raise UserError(
            f"--out: {str(folder)!r} holds {taken[0]!r} already; choose another folder, or --force to replace it."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".sundog-probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise UserError(
            f"--out: {str(folder)!r} cannot be written ({error.strerror}); choose another folder."
        ) from None


def prepare_file(path: Path, *, force: bool) -> None:
    """The same for a single file."""
    prepare_folder(path.parent, [path.name], force=force)


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
