"""The inner loops of reading text: where records end, and the cells of one record as Arrow string views.

Only `sources.split` calls them, which says what they promise. A view is 16 bytes: the length; then 12 bytes of text, or 4
bytes of text, a buffer's number and an offset into it
(https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-view-layout).

Indices in the quick loops are unsigned: the compiler then need not ask whether one counts from the end.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, UInt8, UInt64
from numba import njit

LINE_FEED, CARRIAGE_RETURN, NONE = 10, 13, -1
INLINE, WORD, ONE, TWO = np.uintp(12), np.uintp(8), np.uintp(1), np.uintp(2)
LOW = np.uint64(0xFFFFFFFF)

Bytes = UInt8[np.ndarray, " bytes"]


class Telling(NamedTuple):
    """The bytes that mean something beside the line feed: the delimiter (one to four bytes), quote and escape (or NONE)."""

    delimiter: Bytes
    quote: int
    escape: int
    double: bool


class Filled(NamedTuple):
    """What splitting fills: the views and validity bits of every column, and how many cells each record has.

    A blank record has none; the number is negative where a quote is left open.
    """

    views: UInt64[np.ndarray, "columns rows 2"]
    valid: UInt8[np.ndarray, "columns bytes"]
    widths: Int[np.ndarray, " rows"]


@njit(cache=True, nogil=True)
def find_telling(text, telling, places):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Where the bytes stand whose entry of `telling` is one; their number."""
    count = 0
    for place in range(len(text)):
        places[count] = place
        count += telling[text[place]]
    return count


@njit(cache=True, nogil=True)
def line_end(block, begin):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The place of the first line feed from `begin` on, or -1."""
    for place in range(begin, len(block)):
        if block[place] == LINE_FEED:
            return place
    return -1


@njit(cache=True, nogil=True)
def last_parsed_end(block, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The place of the line feed that ends the last complete record, parsed from the beginning, or -1."""
    last, found = -1, 0
    while found >= 0:
        found = parsed_end(block, last + 1, marks)
        last = max(last, found)
    return last


@njit(cache=True, nogil=True)
def parsed_end(block, begin, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The place of the first line feed outside quotes from `begin` on, or -1."""
    place, size = begin, len(block)
    starts = True
    while place < size:
        if starts and block[place] == marks.quote:
            place = _after_quoted(block, place, size, marks)
            if place < 0:
                return -1
            starts = False
        elif block[place] == LINE_FEED:
            return place
        else:
            starts = _is_delimiter(block, place, size, marks.delimiter)
            place += len(marks.delimiter) if starts else 1
    return -1


@njit(cache=True, nogil=True, inline="always")
def _is_pair(block, place, end, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Whether, in a quoted cell, the byte here only says that the next one is meant as such."""
    byte = block[place]
    follows = block[place + 1] if place + 1 < end else NONE
    escaped = byte == marks.escape and (follows == marks.quote or follows == marks.escape)  # noqa: PLR1714
    return escaped or (marks.double and byte == marks.quote and follows == marks.quote)


@njit(cache=True, nogil=True)
def _after_quoted(block, begin, end, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The place after the quote that closes the one at `begin`, or -1 if none does."""
    place = begin + 1
    while place < end:
        if _is_pair(block, place, end, marks):
            place += 2
        elif block[place] == marks.quote:
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
def split_parsed(block, words, begin, marks, multiline, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Fill `out` record by record; the number of records, and where the next one begins."""
    row, place, rows = 0, begin, out.views.shape[1]
    while row < rows and place < len(block):
        found = parsed_end(block, place, marks) if multiline else line_end(block, place)
        end = len(block) if found < 0 else found
        _fill(block, words, place, end, row, marks, out)
        row += 1
        place = end + 1
    return row, place


@njit(cache=True, nogil=True)
def split_found(text, words, begin, places, k, marks, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The same for lines with a delimiter of one byte, from `places[k]` on: most lines need no look at other bytes.

    The last place is that of a line feed after the text, and `places` may be read one further. A line with a quote that is
    doubled, not closed or followed by text, or with an escape, is left to `_fill`.
    """
    row, rows, size = np.uintp(0), np.uintp(out.views.shape[1]), np.uintp(len(text) - 1)
    begin, k = np.uintp(begin), np.uintp(k)
    while row < rows and begin < size:
        k, first, column = _fill_plain(text, words, begin, places, k, row, marks, out)
        at = np.uintp(places[k])
        if text[at] == LINE_FEED:
            out.widths[row] = _fill_last(text, words, begin, first, at, column, row, out)
        else:
            while text[np.uintp(places[k])] != LINE_FEED:
                k += ONE
            at = np.uintp(places[k])
            _fill(text, words, np.int64(begin), np.int64(at), np.int64(row), marks, out)
        row += ONE
        k += ONE
        begin = at + ONE
    return np.int64(row), np.int64(begin), np.int64(k)


@njit(cache=True, nogil=True, inline="always")
def _fill_plain(text, words, begin, places, k, row, marks, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The cells that end before the line does: which place stopped it, where the last cell begins, and its column.

    The last cell begins after the line where it was quoted; what stopped it is no line feed where the line is not plain.
    """
    columns, lead, quote, escape = np.uintp(out.views.shape[0]), marks.delimiter[0], marks.quote, marks.escape
    column, first = np.uintp(0), begin
    while True:
        at = np.uintp(places[k])
        byte = text[at]
        if byte == quote and at == first:
            close = k + ONE
            while text[np.uintp(places[close])] == lead:
                close += ONE
            if not _ends_cell(text, places, close, lead, quote):
                break
            if column < columns:
                _put_cell(words, first + ONE, np.uintp(places[close]), column, row, out)
            k = close + ONE
            at = np.uintp(places[k])
            column, first = column + ONE, at + ONE
            if text[at] == LINE_FEED:
                break
        elif byte == lead:
            if at > first and column < columns:
                _put_cell(words, first, at, column, row, out)
            column, first = column + ONE, at + ONE
        elif byte in (LINE_FEED, escape):
            break
        k += ONE
    return k, first, column


@njit(cache=True, nogil=True, inline="always")
def _fill_last(text, words, begin, first, at, column, row, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The last cell of a line that ends at `at`, if it is still to be filled; the number of cells."""
    if first > at:
        return column
    end = at - ONE if at > first and text[at - ONE] == CARRIAGE_RETURN else at
    if end > first and column < np.uintp(out.views.shape[0]):
        _put_cell(words, first, end, column, row, out)
    return np.uintp(0) if end == begin else column + ONE


@njit(cache=True, nogil=True, inline="always")
def _ends_cell(text, places, k, lead, quote):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Whether there is a quote at places[k], and a cell or line ends right after it."""
    close, after = (
        np.uintp(places[k]),
        np.uintp(places[k + ONE]),
    )  # read before the test: the loop is then twice as quick
    if text[close] != quote:
        return False
    byte = text[after]
    if after == close + ONE:
        return byte == lead or byte == LINE_FEED  # noqa: PLR1714
    return byte == LINE_FEED and after == close + TWO and text[close + ONE] == CARRIAGE_RETURN


@njit(cache=True, nogil=True)
def _fill(block, words, begin, line_feed, row, marks, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The cells of the one record in block[begin:line_feed], less a carriage return; no other byte is read or written."""
    end = line_feed - 1 if line_feed > begin and block[line_feed - 1] == CARRIAGE_RETURN else line_feed
    place, column, is_open = begin, 0, False
    while begin < end:
        first = place
        quoted = place < end and block[place] == marks.quote
        if quoted:
            first, last, place, is_open = _quoted_cell(block, place, end, marks)
        elif marks.quote == NONE and marks.escape != NONE:
            place, last = _unescape(block, place, end, marks)
        else:
            while place < end and not _is_delimiter(block, place, end, marks.delimiter):
                place += 1
            last = place
        if column < out.views.shape[0] and (quoted or last > first):
            _put_cell(words, np.uintp(first), np.uintp(last), np.uintp(column), np.uintp(row), out)
        column += 1
        if place >= end:
            break
        place += len(marks.delimiter)
    out.widths[row] = -column if is_open else column


@njit(cache=True, nogil=True)
def _quoted_cell(block, begin, end, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The cell that begins with a quote: where its text begins and ends, where the cell ends, and if the quote is open."""
    after = _after_quoted(block, begin, end, marks)
    if after < 0:
        return begin, end, end, True
    first, last = _unquote(block, begin, after, marks)
    while after < end and not _is_delimiter(block, after, end, marks.delimiter):
        block[last] = block[after]
        last += 1
        after += 1
    return first, last, after, False


@njit(cache=True, nogil=True)
def _unquote(block, begin, after, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The text of the quoted cell block[begin:after], written over its own bytes: where it begins and ends."""
    place = write = begin + 1
    end = after - 1
    while place < end:
        if _is_pair(block, place, end, marks):
            place += 1
        block[write] = block[place]
        write += 1
        place += 1
    return begin + 1, write


@njit(cache=True, nogil=True)
def _unescape(block, begin, end, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A cell of a dialect without quotes: its end in the record, and the end of its text."""
    place = write = begin
    while place < end and not _is_delimiter(block, place, end, marks.delimiter):
        if block[place] == marks.escape and place + 1 < end:
            place += 1
        block[write] = block[place]
        write += 1
        place += 1
    return place, write


@njit(cache=True, nogil=True, inline="always")
def _word(words, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The eight bytes from any place on."""
    at, shift = place >> np.uintp(3), np.uint64((place & np.uintp(7)) << np.uintp(3))
    return (words[at] >> shift) | ((words[at + ONE] << np.uint64(1)) << (np.uint64(63) - shift))


@njit(cache=True, nogil=True, inline="always")
def _put_cell(words, first, last, column, row, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The view of the text from `first` to `last`."""
    length, low, high = last - first, _word(words, first), np.uint64(0)
    bits = np.uint64(length) << np.uint64(3)
    if length < WORD:
        low &= (np.uint64(1) << bits) - np.uint64(1)
    elif length <= INLINE:
        high = _word(words, first + WORD) & ((np.uint64(1) << (bits - np.uint64(64))) - np.uint64(1))
    else:
        low, high = low & LOW, np.uint64(first)
    out.views[column, row, np.uintp(0)] = np.uint64(length) | (low << np.uint64(32))
    out.views[column, row, ONE] = (low >> np.uint64(32)) | (high << np.uint64(32))
    out.valid[column, row >> np.uintp(3)] |= np.uint8(1) << np.uint8(row & np.uintp(7))
