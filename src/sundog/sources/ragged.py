"""How many lines of a text file have too few or too many cells, are blank, or leave a quote open. CONFIDENTIAL.

One pass over the bytes in constant memory. A line ends at its line feed, also inside quotes, as everywhere here; quotes
count at the beginning of a cell only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int, UInt8
from numba import njit

NONE = -1
LINE_FEED, CARRIAGE_RETURN = 10, 13
LINES, SHORT, LONG, BLANK, OPEN = range(5)
CELLS, QUOTED, BEGUN, PENDING, ESCAPED, BYTES = range(6)


@dataclass(frozen=True)
class Lines:
    """The lines after the header: all of them, those with too few or too many cells, blank ones, unclosed quotes."""

    lines: int
    short: int
    long: int
    blank: int
    unclosed: int


@dataclass(frozen=True)
class LineMarks:
    """The bytes that mean something in a line."""

    delimiter: int
    quote: int = ord('"')
    escape: int = NONE
    double: bool = True


def count_lines(chunks: Iterable[bytes], marks: LineMarks, *, width: int, header: bool) -> Lines:
    """The lines of one file, whose rows should have `width` cells."""
    counts, state = np.zeros(5, dtype=np.int64), np.zeros(6, dtype=np.int64)
    state[CELLS] = 1
    skip = np.array([int(header)], dtype=np.int64)
    known = (marks.delimiter, marks.quote, marks.escape, marks.double, width)
    for chunk in chunks:
        _count(np.frombuffer(chunk, dtype=np.uint8), known, state, counts, skip)
    if state[BYTES]:
        _finish(state, counts, skip, width)
    return Lines(*(int(value) for value in counts))


@njit(cache=True)
def _count(
    block: UInt8[np.ndarray, " bytes"],
    known: Any,
    state: Int[np.ndarray, " 6"],
    counts: Int[np.ndarray, " 5"],
    skip: Int[np.ndarray, " 1"],
) -> None:
    delimiter, quote, escape, double, width = known
    for byte in block:
        if byte == LINE_FEED:
            _finish(state, counts, skip, width)
            continue
        state[BYTES] += byte != CARRIAGE_RETURN
        if state[ESCAPED]:
            state[ESCAPED] = 0
            continue
        if state[PENDING]:  # the byte after a quote inside quotes: another quote stays inside, all else is outside
            state[PENDING] = 0
            if byte == quote and double:
                continue
            state[QUOTED] = 0
        if state[QUOTED]:
            if byte == escape:
                state[ESCAPED] = 1
            elif byte == quote:
                state[PENDING] = 1
        elif byte == delimiter:
            state[CELLS] += 1
            state[BEGUN] = 0
        else:
            state[QUOTED] = byte == quote and not state[BEGUN]
            state[BEGUN] = 1


@njit(cache=True)
def _finish(
    state: Int[np.ndarray, " 6"], counts: Int[np.ndarray, " 5"], skip: Int[np.ndarray, " 1"], width: int
) -> None:
    """End of a line: count it, and begin the next."""
    if skip[0]:
        skip[0] -= 1
    else:
        counts[LINES] += 1
        if not state[BYTES]:
            counts[BLANK] += 1
        else:
            counts[SHORT] += state[CELLS] < width
            counts[LONG] += state[CELLS] > width
            counts[OPEN] += state[QUOTED] and not state[PENDING]
    state[:] = 0
    state[CELLS] = 1
