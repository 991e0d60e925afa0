"""Sheets of Excel files (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods), read by calamine.

A sheet's first row names the columns; every row below it that holds a cell is a record. (Rows without one are none: the
reader counts those between two records, so that a cell far below would add thousands of rows.) Cells carry their own
types, and a column may hold several, so cells are kept apart by type (sources.frames): no cell changes how another one is
read. A formula's stored result is the cell; an error is a missing cell, also one of a kind that calamine does not know and
stops at. A workbook with several sheets needs the name of one: FILE.xlsx#SHEET.
"""

import io
import re
import zipfile
from typing import Any

from sundog.errors import UserError
from sundog.sources.base import check_names
from sundog.sources.duck import DuckTable, withhold
from sundog.sources.extras import reader
from sundog.sources.frames import open_frame
from sundog.sources.sheet_area import SHEET, TAG, within_header

SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
ZIPPED = (".xlsx", ".xlsm")
ERROR_CELL = re.compile(
    rb"(<TAGc\s[^>]*?\bt=[\"'])e([\"'][^>]*>\s*(?:<TAGf\b(?:[^>]*/>|[^>]*>[^<]*</TAGf>)\s*)?<TAGv>)[^<]*".replace(
        b"TAG", TAG
    )
)
"""A cell of an Excel sheet that holds an error, up to the end of the error's name."""
ERROR = "\ue000error"
"""What stands for an error of any name, in a letter that no text holds."""


def open_sheet(path: str, sheet: str | None) -> DuckTable:
    """The table in a sheet, by name; of a workbook with one sheet, that one."""
    calamine = reader("python_calamine", what="spreadsheets")
    try:
        book = within_header(path) if path.lower().endswith(ZIPPED) else path
        workbook = calamine.load_workbook(book)
        names = list(workbook.sheet_names)
    except Exception as error:  # the reader fails in many ways, and its text may quote what it read
        withhold(error)
        raise UserError(f"data file {path!r} cannot be read; check that it is a spreadsheet and complete.") from None
    if sheet is None and len(names) != 1:
        raise UserError(f"{path!r} has the sheets {', '.join(map(repr, names))}; say which: {path}#{names[0]}.")
    if sheet is not None and sheet not in names:
        raise UserError(f"{path!r} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}.")
    return _table(_rows(workbook, sheet or names[0], book=book, path=path), path)


def _rows(workbook: Any, sheet: str, *, book: str | io.BytesIO, path: str) -> list[list[Any]]:
    """All rows, blank ones too. Errors are blank, but where that would matter, which is where one is unknown or a row is."""
    zipped = path.lower().endswith(ZIPPED)
    try:
        try:
            rows = workbook.get_sheet_by_name(sheet).to_python()
        except Exception:  # a cell may hold an error that the reader does not know, and must not decide
            if not zipped:
                raise
            rows = None
        if zipped and (rows is None or not all(map(_holds_a_cell, rows))):
            rows = type(workbook).from_filelike(_with_marked_errors(book)).get_sheet_by_name(sheet).to_python()
        return rows
    except Exception as error:
        withhold(error)
        raise UserError(f"data file {path!r}: its sheet {sheet!r} cannot be read; check that it is complete.") from None


def _with_marked_errors(book: str | io.BytesIO) -> io.BytesIO:
    """The workbook with a text of our own in place of every error."""
    whole, marked = io.BytesIO(), rb"\1str\2" + ERROR.encode()
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(whole, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, ERROR_CELL.sub(marked, part) if name.startswith(SHEET) else part)
    whole.seek(0)
    return whole


def _holds_a_cell(row: list[Any]) -> bool:
    return any(cell != "" for cell in row)


def _table(rows: list[list[Any]], path: str) -> DuckTable:
    if not rows:
        raise UserError(f"data file {path!r}: its sheet is empty; the first row must hold the column names.")
    header, *below = rows
    records = [record for record in below if _holds_a_cell(record)]
    places = [k for k, name in enumerate(header) if name != ""]
    names = [str(header[k]) for k in places]
    check_names([str(name) for name in header], f"data file {path!r}", blank=True)
    cells = {name: [_cell(record[k]) for record in records] for k, name in zip(places, names, strict=True)}
    table = open_frame(cells)
    table.label, table.untyped = f"data file {path!r}", True
    return table


def _cell(value: Any) -> Any:
    return None if value in ("", ERROR) else value
