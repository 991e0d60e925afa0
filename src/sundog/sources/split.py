"""Cells of text lines, as Arrow string views into the bytes they were read from.

The law: a line is cut out first, by its line feed, and its cells are found in those bytes alone. So a quote, a NUL or any
other byte can reach no other line. Where records may span lines (`multiline`), a record is cut out by RFC 4180 instead:
it ends at the first line feed outside quotes; its cells are then found by the same code.

Quotes count at the beginning of a cell only, and are doubled or escaped within (RFC 4180). What follows a closing quote is
part of the cell. A quote that is never closed reaches to the end of its own record, and stays in the text of the cell, so
that it is unreadable and not missing. An empty cell without quotes is null, and so are cells that a short line lacks;
surplus cells are dropped, and counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int, UInt64

from sundog.domain.dialect import Dialect
from sundog.sources.cells import (
    LINE_FEED,
    NONE,
    Bytes,
    Filled,
    Telling,
    find_telling,
    last_parsed_end,
    line_end,
    parsed_end,
    split_found,
    split_parsed,
)

MOST_ROWS, MOST_CELLS = 1 << 13, 1 << 18
"""Of one batch, so that memory is bounded however short the lines and however many the columns."""


@dataclass(frozen=True)
class Marks:
    """The bytes that mean something, and whether records may span lines."""

    bytes: Telling
    multiline: bool

    @staticmethod
    def of(dialect: Dialect, delimiter: str) -> "Marks":
        """The marks of a dialect."""
        quote = NONE if dialect.quote is None else ord(dialect.quote)
        escape = NONE if dialect.escape is None else ord(dialect.escape)
        delimiting = np.frombuffer(delimiter.encode(), dtype=np.uint8)
        return Marks(Telling(delimiting, quote, escape, dialect.double_quote), dialect.multiline)

    @property
    def simple(self) -> bool:
        """Whether lines can be split by where single bytes stand."""
        return len(self.bytes.delimiter) == 1 and not self.multiline


@dataclass(frozen=True)
class Records:
    """Some records: their cells column by column, and how many cells each has.

    A blank record has none; the number is negative where a quote is left open.
    """

    columns: list[pa.Array]
    widths: Int[np.ndarray, " records"]


def most_rows(columns: int) -> int:
    """How many rows one batch may hold."""
    return max(1, min(MOST_ROWS, MOST_CELLS // max(columns, 1)))


@dataclass(frozen=True)
class Block:
    """Bytes that end with a record's end, in memory that may be written to and read eight bytes at a time.

    A line feed follows them, which is no part of them: it ends the last line where the file does not.
    """

    words: UInt64[np.ndarray, " words"]
    size: int

    @staticmethod
    def of(parts: Sequence[bytes | bytearray | memoryview]) -> "Block":
        """The bytes of all parts, one after the other."""
        size = sum(len(part) for part in parts)
        words = np.empty(size // 8 + 3, dtype=np.uint64)
        words[-3:] = 0
        place = 0
        for part in parts:
            words.view(np.uint8)[place : place + len(part)] = np.frombuffer(part, dtype=np.uint8)
            place += len(part)
        words.view(np.uint8)[size] = LINE_FEED
        return Block(words, size)

    @property
    def bytes(self) -> Bytes:
        """The bytes of the buffer."""
        return self.words.view(np.uint8)[: self.size]


def split_records(block: Block, marks: Marks, *, columns: int) -> Iterator[Records]:
    """A block's records, in batches. Quoted cells are unquoted in place, within their own bytes."""
    data = pa.py_buffer(block.words)
    for rows, out in _split(block, marks, columns):
        arrays = [_array(rows, out.valid[k], out.views[k], data) for k in range(columns)]
        yield Records(arrays, out.widths[:rows])


def _split(block: Block, marks: Marks, columns: int) -> Iterator[tuple[int, Filled]]:
    text = block.words.view(np.uint8)[: block.size + 1]
    places = _places(text, marks.bytes) if marks.simple else np.empty(0, dtype=np.int32)
    lines, begin, place = int(np.count_nonzero(text == LINE_FEED)), 0, 0
    while begin < block.size:
        out = _unfilled(columns, min(lines, most_rows(columns)))
        if marks.simple:
            rows, begin, place = split_found(text, block.words, begin, places, place, marks.bytes, out)
        else:
            rows, begin = split_parsed(block.bytes, block.words, begin, marks.bytes, marks.multiline, out)
        yield rows, out


def _places(text: Bytes, marks: Telling) -> Int[np.ndarray, " places"]:
    """Where the bytes stand that mean something."""
    telling = np.zeros(256, dtype=np.int64)
    telling[[LINE_FEED, int(marks.delimiter[0]), *(mark for mark in (marks.quote, marks.escape) if mark != NONE)]] = 1
    places = np.empty(len(text) + 1, dtype=np.int32)
    find_telling(text, telling, places)
    return places


def _unfilled(columns: int, rows: int) -> Filled:
    return Filled(
        np.zeros((columns, rows, 2), dtype=np.uint64),
        np.zeros((columns, -(-rows // 8)), dtype=np.uint8),
        np.empty(rows, dtype=np.int32),
    )


def _array(rows: int, valid: Bytes, views: UInt64[np.ndarray, "rows 2"], data: Any) -> pa.Array:
    return pa.Array.from_buffers(pa.string_view(), rows, [pa.py_buffer(valid), pa.py_buffer(views), data])


def record_end(block: Bytes, begin: int, marks: Marks) -> int:
    """Where the record that begins here ends (the place of its line feed), or -1 if it is not complete."""
    return int(parsed_end(block, begin, marks.bytes)) if marks.multiline else int(line_end(block, begin))


def last_record_end(block: Bytes, marks: Marks) -> int:
    """Where the last complete record of a block ends, or -1: for records that may span lines."""
    return int(last_parsed_end(block, marks.bytes))
