"""The law of physical lines in every form a text file has: encodings, escapes, records that span lines, units, packings.

Checked through the whole measure path with the noise left out: a file with one line more has that line's own row more,
and no other answer changes. For records that span lines (`multiline`) it is one record more; where a unit has several rows,
it is all lines of one unit more. In UTF-16 a line is made of pairs of bytes. Readers that break the law must fail the check.
"""

import csv
import io
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privacy.lines import Form, answers, reading, rows_in
from sundog.domain.dialect import Dialect
from sundog.domain.unit import PrivacyUnit
from sundog.sources import duck, files, lines, streams, text

PIECES = [b'"', b",", b"\r", b"\\", b"a", b"b", b"1", b"2", b" ", b"a,x,1", b"b,y,2", b"\x00", b"\xef\xbb\xbf"]
ODD = [b"\x81", b"\x85", b"\x8d", b"\xa0", b"\xe4", b"\xc3", b"\xff", b"\x0b", b"\x0c", b"\x1c", b"\x1e"]
UNITS = [
    0x000A,
    0x0A0A,
    0x010A,
    0x0A00,
    0xD83D,
    0xDE00,
    0xD800,
    0xDFFF,
    0xFEFF,
    0xFFFE,
    0x2028,
    0x0085,
    0x0022,
    0x002C,
    0x0061,
]
"""UTF-16: a line feed (left out of lines), numbers that hold its byte, halves of pairs, marks, other line ends, ordinary."""


def of_bytes(*more):
    """A line of pieces, without a line feed."""
    return st.lists(st.sampled_from([*PIECES, *ODD, *more]), max_size=10).map(b"".join)


def of_pairs(order):
    """A line of UTF-16 numbers, without a line feed; any bytes else."""
    numbers = st.one_of(st.sampled_from(UNITS), st.integers(0, 0xFFFF), st.sampled_from(b'a,"1 b2').map(int))
    return st.lists(numbers.filter(lambda number: number != 0x000A), max_size=10).map(
        lambda found: b"".join(number.to_bytes(2, order) for number in found)
    )


def record(cells):
    """One record as RFC 4180 writes it, whatever its cells hold."""
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="", quoting=csv.QUOTE_ALL).writerow(cells)
    return written.getvalue().encode()


RECORDS = st.lists(
    st.text(st.sampled_from('ab12",\n\r \\\x00é'), max_size=5) | st.sampled_from(["a", "b", "1"]),
    min_size=1,
    max_size=4,
).map(record)
WIDE = [text.encode("utf-16-le") for text in ("c,other,n", "\n")]
FORMS = {
    "latin-1": (Form(Dialect(encoding="latin-1")), of_bytes()),
    "windows-1252": (Form(Dialect(encoding="windows-1252")), of_bytes()),
    "utf-16 with a mark": (
        Form(Dialect(encoding="utf-16"), "c,other,n".encode("utf-16-be"), b"\x00\n", begin=b"\xfe\xff"),
        of_pairs("big"),
    ),
    "utf-16le": (Form(Dialect(encoding="utf-16le"), *WIDE), of_pairs("little")),
    "escapes": (Form(Dialect(escape="\\")), of_bytes(b'\\"', b"\\\\", b'"\\', b"\\,")),
    "escapes without quotes": (Form(Dialect(quote=None, escape="\\")), of_bytes(b"\\,", b"\\\\", b"a\\")),
    "records that span lines": (Form(Dialect(multiline=True)), RECORDS),
    "bz2": (Form(packing="bz2"), of_bytes()),
    "zstd": (Form(packing="zstd"), of_bytes()),
    "zip": (Form(packing="zip"), of_bytes()),
    "bz2, appended to": (Form(packing="bz2", members=True), of_bytes()),
    "zstd, appended to": (Form(packing="zstd", members=True), of_bytes()),
    "gzip, appended to": (Form(packing="gzip", members=True), of_bytes()),
}
QUICK, LONG = (
    settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    for number in (25, 200)
)
WAYS = {
    "chunk": st.sampled_from([1, 5, 64, 1 << 19]),
    "rows": st.sampled_from([1, 3, 8192]),
    "threads": st.sampled_from([1, 4]),
}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    return place


def check_one_line(folder, form, found, place, unit=None, **ways):
    """The line at a place adds its own row: no other row changes, whatever stands around it."""
    unit = unit or PrivacyUnit("replace")

    def measured(some):
        return answers(form.write(folder, some), unit, dialect=form.dialect)

    with reading(**ways):
        (with_it, more), (without, fewer) = measured(found), measured(found[:place] + found[place + 1 :])
    with reading():
        alone, one = measured([found[place]])
    assert rows_in(alone) == one == 1, "one line is one row"
    assert more == fewer + 1, "a line changed the number of rows by more than one"
    assert np.array_equal(with_it - without, alone), "a line changed another line's row"


def law(limits):
    """The law as a property of every form."""

    @pytest.mark.parametrize("name", FORMS)
    @limits
    @given(data=st.data())
    def holds(folder, name, data):
        form, line = FORMS[name]
        found = data.draw(st.lists(line, min_size=1, max_size=7))
        place = data.draw(st.integers(0, len(found) - 1))
        check_one_line(folder, form, found, place, **{way: data.draw(of) for way, of in WAYS.items()})

    return holds


test_one_line_more_is_its_own_row_more = law(QUICK)
test_one_line_more_is_its_own_row_more_at_length = pytest.mark.slow(law(LONG))


KEYS = [b"1", b"2", b"", b'""', b"\xff", b"\xfe", b"x", b"X", b"x ", b"\xc3\xa4", b'"1"', b"\x00"]
SAME = {b'"1"': b"1"}
"""Written otherwise, and the same unit."""
UNIT = Form(header=b"u,c,other,n")


def check_one_unit(folder, found, key, **ways):
    """All lines of one unit add what they are alone: no row of another unit changes, and no more rows than its bound."""
    unit = PrivacyUnit(column="u", rows=2)
    others = [(other, line) for other, line in found if SAME.get(other, other) != key]
    own = [pair for pair in found if pair not in others]

    def measured(pairs):
        return answers(UNIT.write(folder, [b",".join(pair) for pair in pairs]), unit)[0]

    with reading(**ways):
        with_it, without = measured(found), measured(others)
    with reading():
        alone = measured(own)
    assert rows_in(alone) == min(2, len(own)), "a unit has as many rows as its bound allows"
    assert np.array_equal(with_it - without, alone), "a unit changed another unit's rows"


@QUICK
@given(
    found=st.lists(st.tuples(st.sampled_from(KEYS), of_bytes()), min_size=1, max_size=9),
    ways=st.fixed_dictionaries(WAYS),
)
def test_one_unit_more_is_its_own_rows_more(folder, found, ways):
    check_one_unit(folder, found, SAME.get(found[0][0], found[0][0]), **ways)


@pytest.mark.slow
@LONG
@given(
    found=st.lists(st.tuples(st.sampled_from(KEYS), of_bytes()), min_size=1, max_size=30),
    ways=st.fixed_dictionaries(WAYS),
)
def test_one_unit_more_is_its_own_rows_more_at_length(folder, found, ways):
    check_one_unit(folder, found, SAME.get(found[0][0], found[0][0]), **ways)


def changed_text(change):
    """A reader that does something to the decoded text before its lines are cut out."""
    chunks = text.text_chunks
    return mock.patch.object(
        text, "text_chunks", lambda path, encoding: iter([change(b"".join(chunks(path, encoding)))])
    )


def changed_bytes(change):
    """A reader that does something to the bytes before they are decoded."""
    chunks = streams.byte_chunks
    return mock.patch.object(streams, "byte_chunks", lambda path: iter([change(b"".join(chunks(path)))]))


def changed_dialect(**changes):
    opened = text.open_text
    return mock.patch.object(
        files, "open_text", lambda paths, dialect, delimiter: opened(paths, replace(dialect, **changes), delimiter=delimiter)
    )  # fmt: skip


def unicode_lines(whole):
    return "\n".join(whole.decode().splitlines()).encode() + b"\n"


def no_odd_lines(whole):
    """Lines with a byte that windows-1252 does not define are left out, as where a decoder stops."""
    return b"".join(line for line in whole.splitlines(keepends=True) if not set(line) & set(b"\x81\x8d\x8f\x90\x9d"))


def feed_is_swallowed(whole):
    """Half a pair takes the next two bytes for the other half, whatever they are."""
    pairs = [whole[at : at + 2] for at in range(0, len(whole), 2)]
    kept, at = [], 0
    while at < len(pairs):
        kept.append(pairs[at])
        at += 2 if 0xD8 <= pairs[at][-1] <= 0xDB else 1
    return b"".join(kept)


def marks_are_dropped():
    """A mark at the beginning of any chunk is taken for the beginning of a file."""
    chunks = text.text_chunks
    return mock.patch.object(
        text, "text_chunks", lambda path, encoding: (chunk.removeprefix(streams.MARK) for chunk in chunks(path, encoding))
    )  # fmt: skip


def blocks_end_with_lines():
    return mock.patch.object(lines, "_multiline_blocks", lambda chunks, _: lines._line_blocks(chunks))


def first_member():
    """Only the first packed member is read."""
    packed = {".gz": (b"\x1f\x8b\x08"), ".bz2": b"BZh", ".zst": b"\x28\xb5\x2f\xfd"}

    def opened(path):
        from pathlib import Path

        content = Path(path).read_bytes()
        mark = packed[Path(path).suffix]
        cut = content.find(mark, content.find(mark, 1) + 1)
        Path(path).write_bytes(content[:cut] if cut > 0 else content)
        return real(path)

    real = streams._opened
    return mock.patch.object(streams, "_opened", opened)


def other_units(change):
    """Units are distinguished by something else than their own text."""
    real = duck.DuckTable._read_batches
    return mock.patch.object(
        duck.DuckTable, "_read_batches", lambda table, sql: real(table, sql.replace("COALESCE('=' || CAST(\"c0\" AS VARCHAR), '')", change))
    )  # fmt: skip


def replaced():
    decoder = streams.codecs.getincrementaldecoder
    return mock.patch.object(
        streams.codecs, "getincrementaldecoder", lambda encoding: lambda _: decoder(encoding)("replace")
    )


LATIN = [b"a,x,1", b"\x85a,x,1", b"b,\x81,2", b"b,y,2"]
PAIRS = [line.encode("utf-16-le") for line in ("a,x,1", "\u010a,x,2")]
HALF = ["a,x".encode("utf-16-le") + b"\x00\xd8", "b,x,2".encode("utf-16-le")]
MARKED = ["a,x,1".encode("utf-16-le"), "\ufeffa,x,1".encode("utf-16-le")]
ESCAPED = [b"a,x\\", b"b,x,2"]
SPANNING = [b'a,"x\ny",1', b'b,"\n\n",2', b"b,y,2"]
MEMBERS = [b"a,x,1", b"b,y,2"]
MUTANTS = {
    "latin-1: lines end where Unicode says": ("latin-1", LATIN, partial(changed_text, unicode_lines)),
    "windows-1252: odd bytes drop their line": ("windows-1252", LATIN, partial(changed_bytes, no_odd_lines)),
    "utf-16: bytes are cut before they are text": ("utf-16le", PAIRS, partial(changed_bytes, lambda whole: whole.replace(b"\n", b"\n\x00\n\x00"))),
    "utf-16: half a pair takes the line feed": ("utf-16le", HALF, partial(changed_bytes, feed_is_swallowed)),
    "utf-16: marks are dropped by chunk": ("utf-16le", MARKED, marks_are_dropped),
    "an escape takes the line feed": ("escapes", ESCAPED, partial(changed_text, lambda whole: whole.replace(b"\\\n", b""))),
    "an escape takes the line feed, no quotes": ("escapes without quotes", ESCAPED, partial(changed_text, lambda whole: whole.replace(b"\\\n", b""))),
    "records end with their line": ("records that span lines", SPANNING, partial(changed_dialect, multiline=False)),
    "blocks end with a line": ("records that span lines", SPANNING, blocks_end_with_lines),
    "gzip: the first member": ("gzip, appended to", MEMBERS, first_member),
    "bz2: the first member": ("bz2, appended to", MEMBERS, first_member),
    "zstd: the first member": ("zstd, appended to", MEMBERS, first_member),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_readers_that_break_the_law_are_found(folder, name):
    form, found, mutant = MUTANTS[name]

    def check():
        for place in range(len(found)):
            check_one_line(folder, FORMS[form][0], found, place, chunk=4)

    check()
    with mutant(), pytest.raises(AssertionError):
        check()


UNIT_MUTANTS = {
    "units differ by case": partial(other_units, "lower(COALESCE('=' || CAST(\"c0\" AS VARCHAR), ''))"),
    "no unit is an empty one": partial(other_units, "COALESCE(CAST(\"c0\" AS VARCHAR), '')"),
    "spaces do not count": partial(other_units, "trim(COALESCE('=' || CAST(\"c0\" AS VARCHAR), ''))"),
    "every row is a unit": partial(other_units, "COALESCE(CAST(\"c0\" AS VARCHAR) || CAST(\"c1\" AS VARCHAR), '')"),
    "bytes that are no text are one sign": replaced,
}  # fmt: skip


@pytest.mark.parametrize("name", UNIT_MUTANTS)
def test_readers_that_mix_units_are_found(folder, name):
    found = [(key, line) for key in KEYS for line in (b"a,x,1", b"b,x,2", b"c,x,0")]

    def check():
        for key in sorted({SAME.get(key, key) for key in KEYS}):
            check_one_unit(folder, found, key)

    check()
    with UNIT_MUTANTS[name](), pytest.raises(AssertionError):
        check()
