"""Which rows are one unit: different values never merge, and one value in several types or files never splits.

If two values merged, removing one unit would let rows of the other in; if one value split, a unit would have more rows
than its bound. Either way one unit could change more than the sensitivity says. Readers that do either must fail.
"""

import hashlib

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import tables
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.sources import encode, open_table, plain
from sundog.sources.duck import DuckTable
from sundog.sources.encode import RawColumn

SCHEMA = Schema.from_json({"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]})
ONE = PrivacyUnit(column="u", rows=1)
KEYS = [bytes([255, 128 + k]) for k in range(9)] + [hashlib.md5(bytes([k])).digest() for k in range(9)]
"""Identifiers such as digests: bytes, and hardly ever UTF-8."""


def arrow(keys, kind=None):
    return pa.table({"u": pa.array(keys, kind), "x": pa.array([1] * len(keys))})


def database(folder, keys):
    path = folder / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (u BLOB, x INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, 1)", [(key,) for key in keys])
    return path


def parts(folder, *columns):
    for number, column in enumerate(columns):
        parquet.write_table(pa.table({"u": column, "x": pa.array([1] * len(column))}), folder / f"{number}.parquet")
    return str(folder / "*.parquet")


DIFFERENT = {
    "bytes in Arrow": lambda folder: arrow(KEYS),
    "UUIDs in Arrow": lambda folder: arrow(KEYS[9:], pa.uuid()),
    "folded bytes": lambda folder: pa.table({"u": pa.array(KEYS).dictionary_encode(), "x": pa.array([1] * 18)}),
    "bytes in Python": lambda folder: {"u": KEYS, "x": [1] * 18},
    "lone surrogates": lambda folder: {"u": [chr(0xD800 + k) for k in range(9)], "x": [1] * 9},
    "bytes in DuckDB": lambda folder: database(folder, KEYS),
    "whole numbers that one float stands for": lambda folder: arrow([2**60 + k for k in range(9)]),
}
LONG = 10**15
SAME = {
    "numbers of two types": lambda folder: {"u": [LONG, float(LONG), str(LONG)], "x": [1, 2, 3]},
    "files of several widths": lambda folder: parts(folder, pa.array([7], pa.int8()), pa.array([7, 7], pa.uint64())),
    "files of several texts": lambda folder: parts(folder, pa.array(["7"]), pa.array(["7"]).dictionary_encode()),
}


def kept(data):
    return len(tables.code_rows(data, SCHEMA, ONE))


def check_different(folder, name):
    data = DIFFERENT[name](folder)
    rows = len(tables.code_rows(data, SCHEMA, PrivacyUnit()))
    assert kept(data) == rows >= 9, "two units became one"


def check_same(folder, name):
    assert kept(SAME[name](folder)) == 1, "one unit became two"


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_values_are_different_units(tmp_path, name):
    check_different(tmp_path, name)


@pytest.mark.parametrize("name", SAME)
def test_one_value_in_several_types_is_one_unit(tmp_path, name):
    check_same(tmp_path, name)


APART = {
    "long numbers as whole numbers and as floats": (pa.array([2**60 + 1]), pa.array([float(2**60 + 1), None])),
    "numbers and text": (pa.array([7]), pa.array(["007"])),
    "decimals with places": (pa.array([7]), pa.array([7], pa.decimal128(9, 2))),
}


@pytest.mark.parametrize("name", APART)
def test_files_that_may_spell_a_unit_differently_are_refused(tmp_path, name):
    """One unit would have twice the rows of its bound. The column itself can still be modelled."""
    source = open_table(parts(tmp_path, *APART[name]))
    with pytest.raises(UserError, match="unit column 'u': files of the table store it as different types"):
        source.check(("x",), unit="u")
    with pytest.raises(UserError, match="unit column 'u'"):
        source.add_up(SCHEMA, ONE, add=lambda *_: None, size=1)
    source.check(("x", "u"))


MERGED = {
    "bytes that are no text are replaced": (plain, "text_of", lambda cell: cell.decode(errors="replace"), "bytes in Arrow"),
    "bytes that are no text are null": (RawColumn, "as_text", lambda self: f"TRY(decode({self.sql}))", "bytes in DuckDB"),
    "numbers are read as floats": (RawColumn, "as_text", lambda self: f"CAST(CAST({self.sql} AS DOUBLE) AS VARCHAR)", "whole numbers that one float stands for"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MERGED)
def test_units_that_merge_are_found(monkeypatch, tmp_path, mutant):
    where, what, wrong, name = MERGED[mutant]
    monkeypatch.setattr(where, what, wrong)
    with pytest.raises(AssertionError, match="two units became one"):
        check_different(tmp_path, name)


def test_units_that_split_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(encode, "WHOLE", 1e15)
    with pytest.raises(AssertionError, match="one unit became two"):
        check_same(tmp_path, "numbers of two types")


def test_files_that_split_a_unit_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(DuckTable, "no_units", property(lambda self: {}, lambda self, value: None), raising=False)
    assert kept(parts(tmp_path, *APART["decimals with places"])) == 2, "what the refusal is there for"
