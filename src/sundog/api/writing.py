"""Writing results: places are tried before anything is spent; what is CONFIDENTIAL is for its owner's eyes only."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sundog.api.recorded import Format
from sundog.api.release_folder import check_release_folder, refuse_inside_release
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.domain.rows import Rows
    from sundog.generate.linked.rows import LinkedRows


def prepare_folder(folder: Path, *, force: bool, outside: Iterable[str | Path | None] = ()) -> None:
    """Make sure, before any budget is spent, that a release can be written here and will hold nothing else."""
    with _writing(folder):
        check_release_folder(folder, force=force, outside=outside)
        _try_to_write(folder)


@contextmanager
def no_empty_folder(folder: Path) -> Iterator[None]:
    """Take away a folder that was made for what then failed, if it is still empty."""
    new = not folder.exists()
    try:
        yield
    except BaseException:
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


def prepare_file(path: Path, *, force: bool) -> None:
    """The same for a single file that is no part of a release."""
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
    _write(rows.to_arrow() if path.suffix == ".parquet" else rows.to_text(), path)


def write_linked(rows: "LinkedRows", folder: Path, *, format: Format) -> None:
    """Synthetic linked tables, each in a file of its own."""
    tables = rows.to_arrow() if format == "parquet" else rows.to_text()
    for name, table in tables.items():
        _write(table, folder / linked_name(name, format))


def linked_name(table: str, format: Format) -> str:
    """The file of one of several synthetic tables."""
    return f"synthetic.{table}.{format}"


def _write(table: Any, path: Path) -> None:
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    else:
        from pyarrow import csv

        csv.write_csv(table, path, csv.WriteOptions(quoting_style="needed"))


def document_text(document: Mapping[str, Any]) -> str:
    """A JSON document as people read it."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
