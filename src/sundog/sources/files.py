"""Files as tables, by their endings: text, typed columns, databases; single files and globs."""

import glob
from pathlib import Path

from sundog.domain.dialect import STANDARD, Dialect
from sundog.errors import UserError
from sundog.sources.addresses import is_address
from sundog.sources.columnar import OPENERS, open_columnar
from sundog.sources.databases import DATABASE, open_database, query_file
from sundog.sources.duck import DuckTable
from sundog.sources.spreadsheet import SHEETS, open_sheet
from sundog.sources.statistics import READERS, open_statistics
from sundog.sources.streams import ARCHIVE, COMPRESSION, member_of, split_archive
from sundog.sources.text import open_text

TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}


def open_file(data: str | Path, *, dialect: Dialect = STANDARD, sql: str | None = None) -> DuckTable:
    """The table in a file (or the files a glob names), or the rows of a query on it."""
    name, sheet = _sheet(str(data))
    paths = _paths(name)
    kind = _kind(paths[0])
    if kind in DATABASE:
        return open_database(paths[0], sql)
    if kind in SHEETS and len(paths) > 1:
        raise UserError(f"data {name!r} names {len(paths)} spreadsheets; name one.")
    if kind in TEXT:
        table = open_text(paths, dialect, delimiter=dialect.delimiter or TEXT[kind])
    elif kind in OPENERS:
        table = open_columnar(paths, kind)
    elif kind in READERS:
        table = open_statistics(paths, kind)
    elif kind in SHEETS:
        table = open_sheet(paths[0], sheet)
    else:
        allowed = ", ".join([*TEXT, *OPENERS, *SHEETS, *READERS, *DATABASE])
        raise UserError(
            f"data file {name!r}: unknown kind {kind or '(no ending)'!r}; allowed are {allowed} (text also as .gz, .bz2, .zst or .zip)."
        )
    return table if sql is None else query_file(table, sql)


def _sheet(data: str) -> tuple[str, str | None]:
    """FILE.xlsx#SHEET as a file and a sheet; a file of that very name takes precedence."""
    file, mark, sheet = data.partition("#")
    named = bool(mark) and _kind(file) in SHEETS and not Path(data).is_file()
    return (file, sheet) if named else (data, None)


def text_files(data: str | Path) -> tuple[list[str], str]:
    """The text files that a path or glob names, and the separator that their ending stands for; none for other kinds."""
    if is_address(str(data)):
        return [], ""
    paths = _paths(_sheet(str(data))[0])
    kind = _kind(paths[0])
    return (paths, TEXT[kind]) if kind in TEXT else ([], "")


def _paths(data: str) -> list[str]:
    if Path(split_archive(data)[0]).is_file():
        return [data]
    if Path(data).is_dir():
        raise UserError(f"data {data!r} is a folder; name a file or a glob such as {data.rstrip('/')}/*.parquet.")
    found = sorted(glob.glob(data, recursive=True)) if glob.has_magic(data) else []
    if not found:
        raise UserError(f"data file {data!r} does not exist; check the path.")
    if len({_kind(path) for path in found}) > 1:
        raise UserError(f"data {data!r} names files of several kinds; name files of one kind.")
    return found


def readable_kind(path: str) -> bool:
    """Whether a file's name says that it is a table."""
    return _kind(path) in {*TEXT, *OPENERS, *SHEETS, *READERS, *DATABASE}


def _kind(path: str) -> str:
    """The ending that says what is in a file, within its compression or archive."""
    place, member = split_archive(path)
    if place.lower().endswith(ARCHIVE):
        return Path(member_of(place, member)).suffix.lower()
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSION), "")
