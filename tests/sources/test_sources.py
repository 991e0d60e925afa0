"""Every source gives the same codes and totals; a unit is bounded by a rule that looks at no other unit."""

from datetime import datetime, time
from fractions import Fraction
from math import floor

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Marginal, add_all
from sundog.sources import open_table
from sundog.sources import units as bounding

VALUES = tables.table(300, seed=7)
PAIR = Schema.from_json(
    {
        "fields": [
            {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 999}},
            {"name": "b", "categories": ["x", "y", "z"]},
        ]
    }
)


def every_source(folder, values):
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        frame = tables.arrow(values)
        connection.register("frame", frame)
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    odd = {name: [None if value is None else tables.text(value) for value in column] for name, column in values.items()}
    return {
        "csv": tables.write_csv(folder / "t.csv", values),
        "csv, CRLF and BOM": tables.write_csv(folder / "crlf.csv", values, encoding="utf-8-sig", newline="\r\n"),
        "tsv": tables.write_csv(folder / "t.tsv", values, delimiter="\t"),
        "parquet": tables.write_parquet(folder / "t.parquet", values),
        "duckdb": folder / "t.duckdb",
        "dictionary": values,
        "dictionary of text": odd,
        "arrow": tables.arrow(values),
        "pandas": pd.DataFrame(values),
        "pandas, objects": pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in values.items()}),
        "pandas, from arrow": tables.arrow(values).to_pandas(),
        "polars": pl.DataFrame(values),
    }


def test_the_same_table_through_every_source_gives_the_same_codes(tmp_path):
    expected = tables.encoded(VALUES)
    assert all(len(set(codes)) > 1 for codes in expected)
    for name, data in every_source(tmp_path, VALUES).items():
        assert tables.encoded(data) == expected, name


DISTANCES = Schema.from_json(
    {
        "fields": [
            *(field for field in tables.FIELDS if field["name"] in ("age", "day")),
            {
                "name": "seen",
                "type": "datetime",
                "relativeTo": "day",
                "offset": {"minimum": "-90 days", "maximum": "90 days"},
            },
            {
                "name": "cost",
                "type": "number",
                "relativeTo": "age",
                "offset": {"minimum": -9, "maximum": 4000},
                "sundog": {"decimals": 1},
            },
        ]
    }
)


def test_distances_are_the_same_through_every_source(tmp_path):
    day, seen, age, cost = (VALUES[name] for name in ("day", "seen", "age", "cost"))
    expected = tables.encoded(VALUES, DISTANCES)
    lengths = [
        None if a is None or b is None else (b - datetime.combine(a, time())).total_seconds()
        for a, b in zip(day, seen, strict=True)
    ]
    reach = 90 * 86_400
    assert expected[2] == [2 * reach + 1 if s is None else int(min(max(s, -reach), reach)) + reach for s in lengths]
    apart = [
        None if c is None else floor(Fraction(str(c)) * 10 + Fraction(1, 2)) - 10 * a
        for a, c in zip(age, cost, strict=True)
    ]
    assert expected[3] == [40_091 if c is None else min(max(c, -90), 40_000) + 90 for c in apart]
    for name, data in every_source(tmp_path, VALUES).items():
        assert tables.encoded(data, DISTANCES) == expected, name


def test_the_same_unit_rows_through_every_source(tmp_path):
    values = VALUES | {"visit": [k % 40 for k in range(300)]}
    unit = PrivacyUnit(column="visit", rows=3)
    expected = tables.code_rows(values, tables.schema(), unit)
    assert len(expected) == 120
    for name, data in every_source(tmp_path, values).items():
        assert tables.code_rows(data, tables.schema(), unit) == expected, name


@pytest.mark.parametrize("batch", [1, 7, 64, 100_000])
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(column="visit", rows=2)])
def test_totals_are_the_same_for_any_batch_size(tmp_path, monkeypatch, batch, unit):
    schema = tables.schema()
    values = VALUES | {"visit": [k % 50 for k in range(300)]}
    queries = [Marginal.of(schema, "region", "age"), Marginal.of(schema, "cost"), Marginal.of(schema, "day", "grade")]
    path = tables.write_parquet(tmp_path / "t.parquet", values)

    sizes = []

    def add(rows, out):
        sizes.append(len(rows))
        add_all(queries, rows, out)

    def totals():
        sizes.clear()
        return open_table(path).add_up(schema, unit, add=add, size=sum(query.size for query in queries))

    expected = totals()
    assert expected.sum() == 3 * (300 if unit.column is None else 100)
    monkeypatch.setattr(bounding, "BATCH", batch)
    assert np.array_equal(totals(), expected)
    assert max(sizes) <= batch


@pytest.mark.parametrize("data", ["dictionary", "csv"])
def test_no_rows_at_all(tmp_path, data):
    empty = {"a": [], "b": []}
    source = open_table(empty if data == "dictionary" else tables.write_csv(tmp_path / "t.csv", empty))
    for unit in (PrivacyUnit(), PrivacyUnit(column="a", rows=2)):
        totals = source.add_up(PAIR, unit, add=lambda rows, out: add_all([Marginal.of(PAIR, "b")], rows, out), size=4)
        assert totals.tolist() == [0, 0, 0, 0]
    assert source.value_counts("b", PrivacyUnit()) == {}


def units(rows):
    """Rows of (unit, number, label) as a table."""
    return {"u": [row[0] for row in rows], "a": [row[1] for row in rows], "b": [row[2] for row in rows]}


ROW = st.tuples(
    st.sampled_from(["p", "q", "r", "", None, "=", "P"]), st.integers(0, 5), st.sampled_from(["x", "y", "?"])
)


@settings(max_examples=12)
@given(st.lists(ROW, max_size=25), st.integers(1, 4), st.sampled_from([2, 5, 1 << 16]))
def test_a_unit_is_bounded_and_changes_no_other_unit(rows, most, batch):
    unit = PrivacyUnit(column="u", rows=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding, "BATCH", batch)
        kept = tables.code_rows(units(rows), PAIR, unit) if rows else []
        expected = []
        for name in {row[0] for row in rows}:
            own = [row for row in rows if row[0] == name]
            alone = tables.code_rows(units(own), PAIR, unit)
            assert len(alone) == min(most, len(own))
            everything = tables.code_rows(units(own), PAIR, PrivacyUnit())
            assert all(alone.count(row) <= everything.count(row) for row in alone)
            expected += alone
    assert kept == sorted(expected)


@settings(max_examples=12)
@given(st.lists(ROW, min_size=1, max_size=20), st.integers(1, 3), st.randoms(use_true_random=False))
def test_which_rows_of_a_unit_are_kept_does_not_depend_on_their_order(rows, most, random):
    unit = PrivacyUnit(column="u", rows=most)
    shuffled = random.sample(rows, len(rows))
    assert tables.code_rows(units(shuffled), PAIR, unit) == tables.code_rows(units(rows), PAIR, unit)


@settings(max_examples=12)
@given(st.lists(ROW, max_size=25), st.integers(1, 3))
def test_values_are_counted_within_the_bound(rows, most):
    unit = PrivacyUnit(column="u", rows=most)
    source = open_table(units(rows) | {"filler": [0] * len(rows)}) if rows else open_table({"u": [], "b": []})
    counts = source.value_counts("b", unit)
    names = {row[0] for row in rows}
    assert sum(counts.values()) == sum(min(most, sum(row[0] == name for row in rows)) for name in names)
    plain = source.value_counts("b", PrivacyUnit())
    assert plain == {label: sum(row[2] == label for row in rows) for label in {row[2] for row in rows}}


def test_a_unit_of_numbers_in_any_type_is_one_unit():
    whole = {"u": [1, 1, 2], "a": [1, 2, 3], "b": ["x", "x", "y"]}
    for column in ([1.0, 1.0, 2.0], ["1", "1", "2"], [1, "1", 2]):
        unit = PrivacyUnit(column="u", rows=1)
        assert tables.code_rows(whole | {"u": column}, PAIR, unit) == tables.code_rows(whole, PAIR, unit)


def test_a_missing_column_is_named_before_a_row_is_read():
    source = open_table({"a": [1]})
    with pytest.raises(UserError, match="lacks the column 'b'"):
        source.read(PAIR)
    with pytest.raises(UserError, match="lacks the column 'who'"):
        open_table({"a": [1], "b": ["x"]}).add_up(PAIR, PrivacyUnit(column="who"), add=lambda *_: None, size=1)


def test_the_engine_starts_where_its_progress_bar_cannot_be_set(monkeypatch):
    """In a notebook without ipywidgets the bar is off, and DuckDB refuses any change of that setting."""
    import duckdb

    from sundog.sources.duck import connect

    class Notebook:
        def __init__(self, *given, **options):
            self.inner = real(*given, **options)

        def execute(self, statement):
            if "SET enable_progress_bar" in statement:
                raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")
            if "current_setting('enable_progress_bar')" in statement:
                return self.inner.execute("SELECT false")
            return self.inner.execute(statement)

    real = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", Notebook)
    assert connect().execute("SELECT 7").fetchone() == (7,)
