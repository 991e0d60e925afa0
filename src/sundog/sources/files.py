"""Files as tables, by their endings: text, typed columns, databases; single files and globs.

A CSV file's dialect is declared, never guessed from its rows: comma (or tab for .tsv), double quotes, one header line.
Lines too short are filled with nulls, surplus cells and unreadable lines are dropped; no line can stop a run.
"""

import csv
import glob
import gzip
import zlib
from pathlib import Path
from typing import Any

from sundog.domain.dialect import STANDARD, Dialect
from sundog.errors import UserError
from sundog.sources.columnar import OPENERS, open_columnar
from sundog.sources.databases import DATABASE, open_database, query_file
from sundog.sources.duck import DuckTable, connect
from sundog.sources.encode import RawColumn, literal
from sundog.sources.spreadsheet import SHEETS, open_sheet
from sundog.sources.statistics import READERS, open_statistics

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
        table = _open_text(paths, dialect.delimiter or TEXT[kind])
    elif kind in OPENERS:
        table = open_columnar(paths, kind)
    elif kind in READERS:
        table = open_statistics(paths, kind)
    elif kind in SHEETS:
        table = open_sheet(paths[0], sheet)
    else:
        allowed = ", ".join([*TEXT, *OPENERS, *SHEETS, *READERS, *DATABASE])
        raise UserError(
            f"data file {name!r}: unknown kind {kind or '(no ending)'!r}; allowed are {allowed} (also .gz text)."
        )
    return table if sql is None else query_file(table, sql)


def _sheet(data: str) -> tuple[str, str | None]:
    """FILE.xlsx#SHEET as a file and a sheet; a file of that very name goes before."""
    file, mark, sheet = data.partition("#")
    named = bool(mark) and _kind(file) in SHEETS and not Path(data).is_file()
    return (file, sheet) if named else (data, None)


def text_files(data: str | Path) -> tuple[list[str], str]:
    """The text files that a path or glob names, and the separator that their ending stands for; none for other kinds."""
    paths = _paths(_sheet(str(data))[0])
    kind = _kind(paths[0])
    return (paths, TEXT[kind]) if kind in TEXT else ([], "")


def _paths(data: str) -> list[str]:
    if Path(data).is_file():
        return [data]
    if Path(data).is_dir():
        raise UserError(f"data {data!r} is a folder; name a file or a glob such as {data.rstrip('/')}/*.parquet.")
    found = sorted(glob.glob(data, recursive=True)) if glob.has_magic(data) else []
    if not found:
        raise UserError(f"data file {data!r} does not exist; check the path.")
    if len({_kind(path) for path in found}) > 1:
        raise UserError(f"data {data!r} names files of several kinds; name files of one kind.")
    return found


def _kind(path: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes[-1] if suffixes else "")


def _open_text(paths: list[str], delimiter: str) -> DuckTable:
    header = _header(paths[0], delimiter)
    for path in paths[1:]:
        if _header(path, delimiter) != header:
            raise UserError(f"{path!r} has another header line than {paths[0]!r}; files of one table must agree.")
    twice = next((name for name in header if header.count(name) > 1 and name), None)
    if twice is not None:  # named by their places: a first line that is no header would be a row
        places = " and ".join(str(k) for k, name in enumerate(header, start=1) if name == twice)
        raise UserError(f"{paths[0]!r}: columns {places} have the same name in its header; names must be unique.")
    spec = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(header)))
    relation = (
        f"read_csv({_listed(paths)}, columns={{{spec}}}, auto_detect=false, header=true, delim={literal(delimiter)}, "
        "quote='\"', escape='\"', strict_mode=false, null_padding=true, ignore_errors=true, parallel=false, "
        "allow_quoted_nulls=false, max_line_size=67108864, buffer_size=268435456)"
    )
    raw = {name: RawColumn(f"c{k}", "VARCHAR") for k, name in enumerate(header)}
    return DuckTable(connect(), relation, raw, label=f"data file {paths[0]!r}")


def _header(path: str, delimiter: str) -> list[str]:
    opener: Any = gzip.open if path.lower().endswith(".gz") else open
    try:
        # The first block holds rows too; their bytes must not decide whether the file opens.
        with opener(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            header = next(csv.reader(file, delimiter=delimiter), None)
    except (OSError, EOFError, csv.Error, zlib.error):
        raise UserError(f"data file {path!r} cannot be read; check that it is complete and readable.") from None
    if header and any("\udc80" <= letter <= "\udcff" for name in header for letter in name):
        raise UserError(f"data file {path!r}: its header is not UTF-8 text; convert it to UTF-8.")
    if not header:
        raise UserError(f"data file {path!r} is empty; it needs a header line with the column names.")
    return header


def _listed(paths: list[str]) -> str:
    """The paths in SQL, as they are: the engine would take '*' or '[' in a name for a pattern."""
    return f"[{', '.join(literal(glob.escape(path)) for path in paths)}]"
