"""How many lines of a text file have too few or too many cells, are blank, or leave a quote open. CONFIDENTIAL.

One pass in constant memory; lines and cells are those that the reader of text files finds (sources.split).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sundog.sources.lines import blocks, header_and_rest
from sundog.sources.split import Marks, split_records


@dataclass(frozen=True)
class Lines:
    """The lines after the header: all of them, those with too few or too many cells, blank ones, unclosed quotes."""

    lines: int
    short: int
    long: int
    blank: int
    unclosed: int


def count_lines(chunks: Iterator[bytes], marks: Marks, *, width: int, header: bool) -> Lines:
    """The lines of one file, whose rows should have `width` cells."""
    counts = np.zeros(5, dtype=np.int64)
    rest = header_and_rest(chunks, marks)[1] if header else chunks
    for block in blocks(rest, marks):
        for records in split_records(block, marks, columns=0):
            cells = np.abs(records.widths)
            kinds = ((cells > 0) & (cells < width), cells > width, cells == 0, records.widths < 0)
            counts += [len(cells), *(int(np.count_nonzero(kind)) for kind in kinds)]
    return Lines(*counts.tolist())
