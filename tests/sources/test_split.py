"""Cells of lines are those that Python's own csv module finds, by both ways of splitting, whatever quotes they hold."""

import csv
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sundog.domain.dialect import Dialect
from sundog.sources.split import Block, Marks, split_records

MARKS = Marks.of(Dialect(), ",")
GENERAL = replace(MARKS, multiline=True)
"""Records that may span lines are split by the general code."""
PIECES = st.sampled_from(['"', '"', ",", ",", "a", "1", " ", "é", "a text beyond twelve bytes", "\\"])


def cells(line, marks, width):
    columns = next(split_records(Block.of([line.encode() + b"\n"]), marks, columns=width))
    return [column[0].as_py() or "" for column in columns]


@given(st.lists(PIECES, min_size=1, max_size=14).map("".join))
@settings(max_examples=400)
def test_cells_are_those_of_the_csv_module(line):
    assume(len(list(csv.reader([line + "\n", "next\n"]))) == 2)  # what an open quote means is ours to say
    expected = next(csv.reader([line]))
    found = cells(line, MARKS, len(expected) + 1)
    assert found == [*expected, ""]
    assert cells(line, GENERAL, len(expected) + 1) == found
