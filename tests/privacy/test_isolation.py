"""The law of physical lines: one line of a text file is one row, and touches no other, whatever its bytes.

Checked through the whole measure path with the noise left out: the exact answers of a file are the sums of the answers of
its lines, each alone in a file, and each line alone is exactly one row. Readers that break the law must fail the check.
"""

from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from privacy.checks import CELLS, check_distances_are_of_their_own_row
from privacy.lines import Form, answers, reading, rows_in
from sundog.domain.unit import PrivacyUnit
from sundog.sources import duck, files, text
from sundog.sources.encode import RawColumn, literal

HEADER = Form().header
NASTY = [
    b'"', b'a,"b,1', b'a,\\",1', b'"a\\",x,2', b"", b"\r", b"a\r,1,2", b"a,b,1\r", b"\x00", b"\xff\xfe", b"a,\xc3,2",
    b"\xef\xbb\xbfa,b,1", b'a,"x""y",3', b'a,"x"y,3', b",,,,,,,,", b"a", b"a,b,c,d,e", b'"""', b"b,b,0", b"a," + b"q" * 3000 + b",3",
    b"\xe4,\xf6,1", b"a\x0bb,\x1c,1", b"\xf0\x9f\x98", b"a,b,1e999", b"a;b;1", b"'a','b',1", b'" ",a"b",2',
    "a\u2028b,\u0085,1".encode(),
]  # fmt: skip
LINE = st.one_of(
    st.sampled_from(NASTY),
    st.binary(max_size=24).map(lambda line: line.replace(b"\n", b"")),
    st.lists(st.sampled_from([b'"', b",", b"\r", b"\\", b"a", b"b", b"1", b"\xc3", b"\x00", b" "]), max_size=12).map(
        b"".join
    ),
)
KINDS = {
    "plain": Form(),
    "gzip": Form(packing="gzip"),
    "glob": Form(glob=True),
    "glob of gzip": Form(glob=True, packing="gzip"),
}


def check_lines(folder, lines, *, kind="plain", neighbours="add-remove", **ways):
    """Every line alone is one row, and together they are the sum of what they are alone."""
    alone, unit = {}, PrivacyUnit(neighbours)
    for line in set(lines):
        with reading():
            alone[line], count = answers(Form().write(folder, [line]), unit)
        assert rows_in(alone[line]) == 1, "one line is one row"
        assert count in (None, 1)
    with reading(**ways):
        together, count = answers(KINDS[kind].write(folder, lines), unit)
    assert np.array_equal(together, sum(alone[line] for line in lines)), "a line changed another line's row"
    assert count in (None, len(lines))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    return place


LAW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@LAW
@given(
    lines=st.lists(LINE, min_size=1, max_size=8),
    kind=st.sampled_from(sorted(KINDS)),
    neighbours=st.sampled_from(["add-remove", "replace"]),
    chunk=st.sampled_from([5, 64, 1 << 20]),
    rows=st.sampled_from([1, 3, 8192]),
    threads=st.sampled_from([1, 4]),
)
@example(lines=[*NASTY, b"b,b,2"], kind="plain", neighbours="replace", chunk=1 << 20, rows=8192, threads=1)
@example(lines=[*NASTY, b"b,b,2"], kind="glob of gzip", neighbours="add-remove", chunk=7, rows=2, threads=4)
def test_one_line_is_one_row_and_touches_no_other(folder, lines, kind, neighbours, chunk, rows, threads):
    check_lines(folder, lines, kind=kind, neighbours=neighbours, chunk=chunk, rows=rows, threads=threads)


def test_a_quote_in_one_line_does_not_delete_thousands_of_rows(folder):
    """So it was: 3,021 rows without the line, 973 with it."""
    lines = [b"a,x,1", b"b,y,2"] * 1500
    stray = [*lines[:1000], b'b,"never closed,2', *lines[1000:]]
    before, _ = answers(Form().write(folder, lines))
    after, _ = answers(Form().write(folder, stray))
    assert rows_in(before) == 3000
    assert np.abs(after - before).sum() == 3, "one cell of each of three tables"


def test_a_line_of_a_hundred_megabytes(folder):
    lines = [b"a,x,1", b"b," + b"q" * 100_000_000 + b",2", b"a,x,1"]
    found, _ = answers(Form().write(folder, lines))
    expected = sum(answers(Form().write(folder, [line]))[0] for line in (b"a,x,1", b"b,x,2", b"a,x,1"))
    assert np.array_equal(found, expected)


def engine_reader(paths, dialect, *, delimiter):
    """The reader that was: the engine's own, as lenient as it can be told to be."""
    names = HEADER.decode().split(",")
    spec = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    relation = (
        f"read_csv([{', '.join(map(literal, paths))}], columns={{{spec}}}, auto_detect=false, header=true, delim=',', "
        "quote='\"', escape='\"', strict_mode=false, null_padding=true, ignore_errors=true, parallel=false, "
        "allow_quoted_nulls=false, max_line_size=67108864, buffer_size=268435456)"
    )
    raw = {name: RawColumn(f"c{k}", "VARCHAR") for k, name in enumerate(names)}
    return duck.DuckTable(duck.connect(), relation, raw, label="the file")


def other_lines(change):
    """A reader that does something to the text before its lines are cut out."""
    chunks = text.text_chunks

    def changed(path, encoding):
        yield change(b"".join(chunks(path, encoding)))

    return mock.patch.object(text, "text_chunks", changed)


def kept_lines(keep):
    return other_lines(lambda whole: b"".join(line for line in whole.splitlines(keepends=True) if keep(line)))


def across_lines():
    opened = text.open_text
    return mock.patch.object(
        files, "open_text", lambda paths, dialect, delimiter: opened(paths, replace(dialect, multiline=True), delimiter=delimiter)
    )  # fmt: skip


MUTANTS = {
    "the engine's reader": lambda: mock.patch.object(files, "open_text", engine_reader),
    "quotes cross lines": across_lines,
    "unreadable lines are dropped": partial(kept_lines, lambda line: "\ufffd".encode() not in line),
    "blank lines are dropped": partial(kept_lines, lambda line: line.strip()),
    "lines with open quotes are dropped": partial(kept_lines, lambda line: line.count(b'"') % 2 == 0),
    "lines are split at a carriage return": partial(other_lines, lambda whole: whole.replace(b"\r", b"\n")),
    "lines end where Unicode says": partial(
        other_lines, lambda whole: "\n".join(whole.decode().splitlines()).encode() + b"\n"
    ),
    "lines too long are dropped": partial(kept_lines, lambda line: len(line) < 2000),
    "lines of other widths are dropped": partial(kept_lines, lambda line: line.count(b",") == 2),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_readers_that_break_the_law_are_found(folder, name):
    with MUTANTS[name](), pytest.raises(AssertionError):
        check_lines(folder, [b"a,b,1", *NASTY, b"b,b,2"])


def test_a_distance_is_of_its_own_record():
    check_distances_are_of_their_own_row()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(*(st.sampled_from(CELLS[name]) for name in CELLS)), min_size=1, max_size=6))
def test_distances_of_any_records_are_of_their_own(records):
    table = {name: list(cells) for name, cells in zip(CELLS, zip(*records, strict=True), strict=True)}
    check_distances_are_of_their_own_row(table)
