"""Cells of lines are those that Python's own csv module finds, by both ways of splitting, whatever quotes they hold."""

import csv
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sundog.domain.dialect import Dialect
from sundog.sources import lines, split
from sundog.sources.split import Block, Marks, split_records

MARKS = Marks.of(Dialect(), ",")
PIECES = st.sampled_from(['"', '"', ",", ",", "a", "1", " ", "é", "a text beyond twelve bytes", "\\"])
DIALECTS = {
    "standard": Dialect(),
    "escapes": Dialect(escape="\\"),
    "escapes alone": Dialect(escape="\\", double_quote=False),
    "no quotes": Dialect(quote=None),
    "escapes without quotes": Dialect(quote=None, escape="\\"),
}


def cells(text, marks, width):
    """The cells of all records, and how many each has."""
    batches = list(split_records(Block.of([text]), marks, columns=width))
    columns = [[cell.as_py() for batch in batches for cell in batch.columns[k]] for k in range(width)]
    return [list(row) for row in zip(*columns, strict=True)], [int(n) for batch in batches for n in batch.widths]


def general(text, marks, width):
    """The same by the code for delimiters of several bytes."""
    with mock.patch.object(Marks, "simple", False):
        return cells(text, marks, width)


@given(st.lists(PIECES, min_size=1, max_size=14).map("".join))
@settings(max_examples=400)
def test_cells_are_those_of_the_csv_module(line):
    assume(len(list(csv.reader([line + "\n", "next\n"]))) == 2)  # what an open quote means is ours to say
    expected = next(csv.reader([line]))
    for way in (cells, general):
        (found,), widths = way(line.encode() + b"\n", MARKS, len(expected) + 1)
        assert [cell or "" for cell in found] == [*expected, ""]
        assert widths == [len(expected)]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(text=st.lists(st.one_of(PIECES, st.sampled_from(["\n", "\r\n", "\r", "\x00"])), max_size=40).map("".join))
@settings(max_examples=150)
def test_both_ways_of_splitting_find_the_same(dialect, text):
    marks = Marks.of(DIALECTS[dialect], ",")
    with mock.patch.object(split, "MOST_ROWS", 3):
        assert cells(text.encode(), marks, 3) == general(text.encode(), marks, 3)


def test_an_open_quote_and_a_blank_line_are_told_by_the_number_of_cells():
    assert cells(b'a,"b\n\n\r\n"",\n1,2,3,4', MARKS, 2) == (
        [["a", '"b'], [None, None], [None, None], ["", None], ["1", "2"]],
        [-2, 0, 0, 2, 4],
    )


def test_an_open_quote_holds_back_no_more_than_a_limit(monkeypatch):
    """What never ends is cut at a line feed, or where there is none, as it is."""
    monkeypatch.setattr(lines, "LONGEST", 8)
    marks = Marks.of(Dialect(multiline=True), ",")
    assert next(lines._multiline_blocks(iter([b'"a\nbcdefgh', b"i"]), marks)) == [b'"a\n']
    assert next(lines._multiline_blocks(iter([b'"abcdefgh', b"i"]), marks)) == [b'"abcdefgh']
