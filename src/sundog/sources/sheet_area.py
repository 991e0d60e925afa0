"""Sheets of Excel files without the cells to the right of their header.

A reader of sheets holds every cell of the area in use, also the empty ones. So one cell far to the right, in one record,
would make it hold thousands of columns for every record, and decide whether a run has memory enough. Such cells are in no
named column, so they are left out before the reader sees the file. Sheets are searched in pieces; the file is written again,
in memory, only where there is such a cell.
"""

import io
import re
import zipfile
from collections.abc import Iterator

SHEET = "xl/worksheets/"
PIECE, OVERLAP = 1 << 20, 1 << 12
TAG = rb"(?:\w+:)?"
"""The prefix of a namespace, which some writers spell out."""
HEADER = re.compile(rb"<TAGrow\b[^>]*>(?:(?!</TAGrow>).)*?<TAG(?:v|is)\b.*?</TAGrow>".replace(b"TAG", TAG), re.DOTALL)
PLACE = re.compile(rb"<TAGc\s[^>]*?\br=[\"']([A-Z]{1,3})[0-9]".replace(b"TAG", TAG))


def within_header(path: str) -> str | io.BytesIO:
    """The workbook, or where it lies if no cell stands to the right of its sheet's header."""
    with zipfile.ZipFile(path) as book:
        wide = {name: last for name in book.namelist() if name.startswith(SHEET) and (last := _header_end(book, name))}
        if not any(_stands_after(book, name, last) for name, last in wide.items()):
            return path
        narrow = io.BytesIO()
        with zipfile.ZipFile(narrow, "w") as new:
            for name in book.namelist():
                part = book.read(name)
                new.writestr(name, _cell_after(wide[name]).sub(b"", part) if name in wide else part)
    narrow.seek(0)
    return narrow


def _header_end(book: zipfile.ZipFile, name: str) -> bytes:
    """The letters of the last column of the first row that holds something; none where cells name no place."""
    with book.open(name) as file:
        text = b""
        while piece := file.read(PIECE):
            text += piece
            header = HEADER.search(text)
            if header is not None:
                return max(PLACE.findall(header[0]), key=lambda column: (len(column), column), default=b"")
    return b""


def _cell_after(column: bytes, *, whole: bool = True) -> re.Pattern[bytes]:
    """A cell of a column behind this one (or how it begins): more letters, or as many of which one is later."""
    later = [rb"[A-Z]{%d,3}" % (len(column) + 1)] if len(column) < 3 else []
    for place, letter in enumerate(column):
        if letter < ord("Z"):
            later.append(column[:place] + b"[%c-Z][A-Z]{%d}" % (letter + 1, len(column) - place - 1))
    places = b"(?:" + (b"|".join(later) or b"(?!)") + b")"
    cell = rb"<TAGc\s[^>]*?\br=[\"']AFTER[0-9]+[\"']" + (rb"[^>]*?(?:/>|>.*?</TAGc>)" if whole else b"")
    return re.compile(cell.replace(b"AFTER", places).replace(b"TAG", TAG), re.DOTALL)


def _stands_after(book: zipfile.ZipFile, name: str, column: bytes) -> bool:
    """Whether there is a cell behind this column."""
    begins = _cell_after(column, whole=False)
    return any(begins.search(piece) is not None for piece in _pieces(book, name))


def _pieces(book: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with book.open(name) as file:
        kept = b""
        while piece := file.read(PIECE):
            yield kept + piece
            kept = (kept + piece)[-OVERLAP:]
