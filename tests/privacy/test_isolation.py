"""The law of physical lines: one line of a text file is one row, and touches no other, whatever its bytes.

Checked through the whole measure path with the noise left out: the exact answers of a file are the sums of the answers of
its lines, each alone in a file, and each line alone is exactly one row. Readers that break the law must fail the check.
"""

import gzip
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from privacy.checks import CELLS, check_distances_are_of_their_own_row
from privacy.stand_ins import ONE_WAY, TINY, TWO_WAY, MemoryLedger, Recorder
from sundog.domain.unit import PrivacyUnit
from sundog.private.accountant import Budget
from sundog.private.curator import Curator, public_rows
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.sources import duck, files, split, streams, text
from sundog.sources.encode import RawColumn, literal

HEADER = b"c,other,n"
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
KINDS = ["plain", "gzip", "glob", "glob of gzip"]


@contextmanager
def reading(*, chunk, rows, threads):
    """Blocks of so many bytes, batches of so many rows, an engine of so many threads: nothing may depend on them."""

    def connect():
        connection = duck.connect()
        connection.execute(f"SET threads = {threads}")
        return connection

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(streams, "CHUNK", chunk))
        stack.enter_context(mock.patch.object(split, "MOST_ROWS", rows))
        stack.enter_context(mock.patch.object(text, "connect", connect))
        yield


def write(folder, lines, kind):
    """The lines in one file, or in two."""
    parts = [lines[: len(lines) // 2], lines[len(lines) // 2 :]] if kind.startswith("glob") else [lines]
    ending = "csv.gz" if "gzip" in kind else "csv"
    for old in folder.iterdir():
        old.unlink()
    for number, part in enumerate(parts):
        content = b"".join(line + b"\n" for line in [HEADER, *part])
        (folder / f"{number}.{ending}").write_bytes(gzip.compress(content) if "gzip" in kind else content)
    return str(folder / f"*.{ending}" if kind.startswith("glob") else folder / f"0.{ending}")


def answers(data, neighbours):
    """The exact answers that reach the noise, and the public number of rows where it is public."""
    unit = PrivacyUnit(neighbours)
    count = public_rows(PrivateTable(data), TINY, unit=unit) if neighbours == "replace" else None
    spending = Spending(Budget(rho=1.0), "tiny", unit=unit, ledger=MemoryLedger())
    curator = Curator(PrivateTable(data), TINY, spending=spending)
    with Recorder(silent=True)() as seen:
        curator.measure([*ONE_WAY, TWO_WAY], 1.0)
    return np.concatenate([call.exact for call in seen.calls]), count


def check_lines(folder, lines, *, kind="plain", neighbours="add-remove", chunk=1 << 20, rows=8192, threads=2):
    """Every line alone is one row, and together they are the sum of what they are alone."""
    alone = {}
    for line in set(lines):
        alone[line], count = answers(write(folder, [line], "plain"), neighbours)
        assert alone[line][: ONE_WAY[0].size].sum() == 1, "one line is one row"
        assert count in (None, 1)
    with reading(chunk=chunk, rows=rows, threads=threads):
        together, count = answers(write(folder, lines, kind), neighbours)
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
    kind=st.sampled_from(KINDS),
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
    before, _ = answers(write(folder, lines, "plain"), "add-remove")
    after, _ = answers(write(folder, stray, "plain"), "add-remove")
    assert before[: ONE_WAY[0].size].sum() == 3000
    assert np.abs(after - before).sum() == 3, "one cell of each of three tables"


def test_a_line_of_a_hundred_megabytes(folder):
    lines = [b"a,x,1", b"b," + b"q" * 100_000_000 + b",2", b"a,x,1"]
    found, _ = answers(write(folder, lines, "plain"), "add-remove")
    expected = sum(answers(write(folder, [line], "plain"), "add-remove")[0] for line in (b"a,x,1", b"b,x,2", b"a,x,1"))
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
