"""Cells of text lines, as Arrow string views into the bytes they were read from.

The law: a line is cut out first, by its line feed, and its cells are found in those bytes alone. So a quote, a NUL or any
other byte can reach no other line. Where records may span lines (`multiline`), a record is cut out by RFC 4180 instead:
it ends at the first line feed outside quotes; its cells are then found by the same code.

Quotes count at the beginning of a cell only, and are doubled or escaped within (RFC 4180). What follows a closing quote is
part of the cell. A quote that is never closed reaches to the end of its own record, and stays in the text of the cell, so
that it is unreadable and not missing. An empty cell without quotes is null, and so are cells that a short line lacks;
surplus cells are dropped.

A view is 16 bytes: the length; then 12 bytes of text, or 4 bytes of text, a buffer's number and an offset into it
(https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-view-layout).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int, UInt8, UInt64
from numba import njit

from sundog.domain.dialect import Dialect

LINE_FEED, CARRIAGE_RETURN, NONE = 10, 13, -1
INLINE = 12
MOST_ROWS, MOST_CELLS = 1 << 13, 1 << 18
"""Of one batch, so that memory is bounded however short the lines and however many the columns."""

Bytes = UInt8[np.ndarray, " bytes"]


@dataclass(frozen=True)
class Marks:
    """The bytes that mean something: the delimiter (one to four bytes), quote and escape (or NONE)."""

    delimiter: Bytes
    quote: int
    escape: int
    double: bool
    multiline: bool

    @staticmethod
    def of(dialect: Dialect, delimiter: str) -> "Marks":
        """The marks of a dialect."""
        return Marks(
            np.frombuffer(delimiter.encode(), dtype=np.uint8),
            NONE if dialect.quote is None else ord(dialect.quote),
            NONE if dialect.escape is None else ord(dialect.escape),
            dialect.double_quote,
            dialect.multiline,
        )

    @property
    def bytes(self) -> tuple[Bytes, int, int, bool]:
        """As the kernels take them."""
        return self.delimiter, self.quote, self.escape, self.double

    @property
    def simple(self) -> bool:
        """Whether lines can be split by where single bytes stand."""
        return len(self.delimiter) == 1 and not self.multiline


def most_rows(columns: int) -> int:
    """How many rows one batch may hold."""
    return max(1, min(MOST_ROWS, MOST_CELLS // max(columns, 1)))


@dataclass(frozen=True)
class Block:
    """Bytes that end with a record's end, in memory that may be written to and read eight bytes at a time."""

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
        return Block(words, size)

    @property
    def bytes(self) -> Bytes:
        """The bytes themselves."""
        return self.words.view(np.uint8)[: self.size]


def split_records(block: Block, marks: Marks, *, columns: int) -> Iterator[list[pa.Array]]:
    """The columns of a block's records, in batches. Quoted cells are unquoted in place, within their own bytes."""
    text, data = block.bytes, pa.py_buffer(block.words)
    places = _places(text, marks) if marks.simple else np.empty(0, dtype=np.int32)
    rows = most_rows(columns)
    begin = next_place = 0
    while begin < block.size:
        views = np.zeros((columns, rows, 2), dtype=np.uint64)
        valid = np.zeros((columns, -(-rows // 8)), dtype=np.uint8)
        if marks.simple:
            count, begin, next_place = _split_simple(
                text, block.words, begin, places, next_place, *marks.bytes, views, valid
            )
        else:
            count, begin = _split(text, block.words, begin, *marks.bytes, marks.multiline, views, valid)
        yield [_array(count, valid[k], views[k], data) for k in range(columns)]


def _places(text: Bytes, marks: Marks) -> Int[np.ndarray, " places"]:
    """Where the bytes stand that mean something."""
    telling = np.zeros(256, dtype=np.int64)
    telling[[LINE_FEED, int(marks.delimiter[0]), *(mark for mark in (marks.quote, marks.escape) if mark != NONE)]] = 1
    places = np.empty(len(text) + 1, dtype=np.int32)
    return places[: _index(text, telling, places)]


def _array(rows: int, valid: Bytes, views: UInt64[np.ndarray, "rows 2"], data: Any) -> pa.Array:
    return pa.Array.from_buffers(pa.string_view(), rows, [pa.py_buffer(valid), pa.py_buffer(views), data])


def record_end(block: Bytes, begin: int, marks: Marks) -> int:
    """Where the record that begins here ends (the place of its line feed), or -1 if it is not complete."""
    return int(_record_end(block, begin, *marks.bytes)) if marks.multiline else int(_line_end(block, begin))


def last_record_end(block: Bytes, marks: Marks) -> int:
    """Where the last complete record of a block ends, or -1: for records that may span lines."""
    return int(_last_record_end(block, *marks.bytes))


@njit(cache=True, nogil=True)
def _index(text, telling, places):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    count = 0
    for place in range(len(text)):
        places[count] = place
        count += telling[text[place]]
    return count


@njit(cache=True, nogil=True)
def _line_end(block, begin):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for place in range(begin, len(block)):
        if block[place] == LINE_FEED:
            return place
    return -1


@njit(cache=True, nogil=True)
def _last_record_end(block, delimiter, quote, escape, double):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    last, found = -1, 0
    while found >= 0:
        found = _record_end(block, last + 1, delimiter, quote, escape, double)
        last = max(last, found)
    return last


@njit(cache=True, nogil=True)
def _record_end(block, begin, delimiter, quote, escape, double):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    place, size = begin, len(block)
    starts = True
    while place < size:
        if starts and block[place] == quote:
            place = _after_quoted(block, place, size, quote, escape, double)
            if place < 0:
                return -1
            starts = False
        elif block[place] == LINE_FEED:
            return place
        else:
            starts = _is_delimiter(block, place, size, delimiter)
            place += len(delimiter) if starts else 1
    return -1


@njit(cache=True, nogil=True, inline="always")
def _is_pair(block, place, end, quote, escape, double):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Whether, in a quoted cell, the byte here only says that the next one is meant as such."""
    byte = block[place]
    follows = block[place + 1] if place + 1 < end else NONE
    return (byte == escape and follows in (quote, escape)) or (double and byte == quote == follows)


@njit(cache=True, nogil=True)
def _after_quoted(block, begin, end, quote, escape, double):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The place after the quote that closes the one at `begin`, or -1 if none does."""
    place = begin + 1
    while place < end:
        if _is_pair(block, place, end, quote, escape, double):
            place += 2
        elif block[place] == quote:
            return place + 1
        else:
            place += 1
    return -1


@njit(cache=True, nogil=True, inline="always")
def _is_delimiter(block, place, end, delimiter):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if block[place] != delimiter[0]:
        return False
    for k in range(1, len(delimiter)):  # noqa: SIM110 - Numba knows no generators here
        if place + k >= end or block[place + k] != delimiter[k]:
            return False
    return True


@njit(cache=True, nogil=True)
def _split(block, words, begin, delimiter, quote, escape, double, multiline, views, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill `views` and `valid` record by record; the number of records, and where the next one begins."""
    row, place, rows = 0, begin, views.shape[1]
    while row < rows and place < len(block):
        found = _record_end(block, place, delimiter, quote, escape, double) if multiline else _line_end(block, place)
        end = len(block) if found < 0 else found
        _cells(block, words, place, _text_end(block, place, end), row, delimiter, quote, escape, double, views, valid)
        row += 1
        place = end + 1
    return row, place


@njit(cache=True, nogil=True)
def _split_simple(block, words, begin, places, k, delimiter, quote, escape, double, views, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The same for lines with a delimiter of one byte, from `places[k]` on: most lines need no look at other bytes.

    A line with a quote that is doubled, not closed or followed by text, or with an escape, is left to `_cells`.
    """
    row, rows, columns, size = 0, views.shape[1], views.shape[0], len(block)
    count, lead = len(places), delimiter[0]
    while row < rows and begin < size:
        column, first, plain, done = 0, begin, True, False
        while True:
            at = places[k] if k < count else size
            byte = block[at] if at < size else LINE_FEED
            if byte == LINE_FEED:
                break
            if byte == lead:
                if plain and not done and column < columns:
                    _put(words, first, at, column, row, views, valid)
                column, first, done = column + 1, at + 1, False
            elif byte == escape:
                plain = False
            elif at == first and plain:
                close = _plain_quotes(block, places, k + 1, lead, quote)
                plain = done = close >= 0
                if done:
                    if column < columns:
                        _put_quoted(words, first + 1, places[close], column, row, views, valid)
                    k = close
            k += 1
        end = _text_end(block, begin, at)
        if not plain:
            _cells(block, words, begin, end, row, delimiter, quote, escape, double, views, valid)
        elif not done and column < columns:
            _put(words, first, end, column, row, views, valid)
        row += 1
        k += 1
        begin = at + 1
    return row, begin, k


@njit(cache=True, nogil=True, inline="always")
def _plain_quotes(block, places, k, delimiter, quote):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Which of `places` closes the quote before places[k], if a cell or line ends right after it; else -1."""
    while k < len(places) and block[places[k]] == delimiter:
        k += 1
    if k >= len(places) or block[places[k]] != quote:
        return -1
    close = places[k]
    after = places[k + 1] if k + 1 < len(places) else len(block)
    if after < len(block) and block[after] == delimiter:
        return k if after == close + 1 else -1
    ends = after == len(block) or block[after] == LINE_FEED
    return k if ends and _text_end(block, close + 1, after) == close + 1 else -1


@njit(cache=True, nogil=True, inline="always")
def _text_end(block, begin, end):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The end of a record's text: a carriage return before the line feed belongs to it."""
    return end - 1 if end > begin and block[end - 1] == CARRIAGE_RETURN else end


@njit(cache=True, nogil=True)
def _cells(block, words, begin, end, row, delimiter, quote, escape, double, views, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The cells of the one record in block[begin:end]; no other byte is read or written."""
    place, lead, width = begin, delimiter[0], len(delimiter)
    for column in range(views.shape[0]):
        first = place
        quoted = place < end and block[place] == quote
        if quoted:
            after = _after_quoted(block, place, end, quote, escape, double)
            if after < 0:
                last = place = end
            else:
                first, last = _unquote(block, place, after, quote, escape, double)
                while after < end and not _is_delimiter(block, after, end, delimiter):
                    block[last] = block[after]
                    last += 1
                    after += 1
                place = after
        elif quote == NONE and escape != NONE:
            place, last = _unescape(block, place, end, delimiter, escape)
        else:
            while place < end and (
                block[place] != lead or not (width == 1 or _is_delimiter(block, place, end, delimiter))
            ):
                place += 1
            last = place
        if quoted:
            _put_quoted(words, first, last, column, row, views, valid)
        else:
            _put(words, first, last, column, row, views, valid)
        if place >= end:
            return
        place += len(delimiter)


@njit(cache=True, nogil=True)
def _unquote(block, begin, after, quote, escape, double):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The text of the quoted cell block[begin:after], written over its own bytes: where it begins and ends."""
    place = write = begin + 1
    end = after - 1
    while place < end:
        if _is_pair(block, place, end, quote, escape, double):
            place += 1
        block[write] = block[place]
        write += 1
        place += 1
    return begin + 1, write


@njit(cache=True, nogil=True)
def _unescape(block, begin, end, delimiter, escape):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A cell of a dialect without quotes: its end in the record, and the end of its text."""
    place = write = begin
    while place < end and not _is_delimiter(block, place, end, delimiter):
        if block[place] == escape and place + 1 < end:
            place += 1
        block[write] = block[place]
        write += 1
        place += 1
    return place, write


@njit(cache=True, nogil=True, inline="always")
def _word(words, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The eight bytes from any place on."""
    shift = np.uint64((place & 7) << 3)
    low = words[np.uintp(place >> 3)] >> shift
    return low if shift == 0 else low | (words[np.uintp((place >> 3) + 1)] << (np.uint64(64) - shift))


@njit(cache=True, nogil=True, inline="always")
def _put(words, first, last, column, row, views, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A cell without quotes: null where it is empty."""
    if last > first:
        _put_quoted(words, first, last, column, row, views, valid)


@njit(cache=True, nogil=True, inline="always")
def _put_quoted(words, first, last, column, row, views, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The view of the text from `first` to `last`."""
    length = last - first
    low, high = _word(words, first), np.uint64(0)
    if length < 8:
        low &= (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
    elif length <= INLINE:
        high = _word(words, first + 8) & ((np.uint64(1) << np.uint64(8 * (length - 8))) - np.uint64(1))
    else:
        low &= np.uint64(0xFFFFFFFF)
        high = np.uint64(first)
    views[column, row, 0] = np.uint64(length) | (low << np.uint64(32))
    views[column, row, 1] = (low >> np.uint64(32)) | (high << np.uint64(32))
    valid[column, row >> 3] |= np.uint8(1 << (row & 7))
