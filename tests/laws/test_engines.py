"""The law of engines: totals are those of one machine, bit for bit, for every class of queries, kind of column and unit bound."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import extreme_cells
import tables
from laws.query_examples import EXAMPLES, SCHEMA
from spark_sessions import frame_of, needs_spark, spark
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.queries import CLASSES, Marginal, add_all
from sundog.sources import OnSpark, open_table

__all__ = ["spark"]
pytestmark = needs_spark
BOUNDS = (None, 1, 2, 5)
COLOURS = st.sampled_from(["red", "green", "blue", "", None])
NUMBERS = st.one_of(st.none(), st.integers(-3, 9), st.sampled_from([2**62, -(2**62)]))
RECORDS = st.lists(st.tuples(COLOURS, NUMBERS, NUMBERS, st.integers(0, 3)), min_size=1, max_size=60)
ENGINES = {
    "frame": frame_of,
    "files": lambda spark, path: OnSpark(str(path), "local[2,4]"),
}


def totals(table, schema, queries, bound):
    unit = PrivacyUnit() if bound is None else PrivacyUnit(column="who", rows=bound)
    size = sum(query.size for query in queries)
    return open_table(table).add_up(schema, unit, add=lambda rows, out: add_all(queries, rows, out), size=size)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=2, phases=[Phase.generate])  # a job takes a second: no time to shrink
@given(records=RECORDS)
def test_every_class_of_queries_counts_the_same(engine, spark, tmp_path_factory, records):
    queries = [case.query for name in CLASSES for case in EXAMPLES[name]]
    assert {type(query) for query in queries} == set(CLASSES.values())
    colour, age, hours, who = zip(*records, strict=True)
    columns = {"colour": colour, "age": age, "hours": hours, "only": ["one"] * len(who), "fixed": [7] * len(who)}
    path = tmp_path_factory.mktemp("law") / "t.parquet"
    kinds = {"colour": pa.string(), "age": pa.int64(), "hours": pa.int64()}
    table = pa.table(
        {name: pa.array(cells, kinds.get(name)) for name, cells in columns.items()} | {"who": pa.array(who)}
    )
    parquet.write_table(table, path, row_group_size=7)
    for bound in BOUNDS:
        expected = totals(path, SCHEMA, queries, bound)
        assert np.array_equal(totals(ENGINES[engine](spark, path), SCHEMA, queries, bound), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_kind_of_column_counts_the_same(engine, spark, tmp_path):
    schema = tables.schema()
    queries = [Marginal.of(schema, name) for name in schema.names] + [Marginal.of(schema, "region", "cost")]
    values = tables.table(400, seed=3)
    table = tables.arrow(values).append_column("who", pa.array([k % 60 for k in range(400)]))
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=50)
    for bound in BOUNDS:
        expected = totals(tmp_path / "t.parquet", schema, queries, bound)
        assert expected.sum() == len(queries) * min(400, 60 * (bound or 400))
        found = totals(ENGINES[engine](spark, tmp_path / "t.parquet"), schema, queries, bound)
        assert np.array_equal(found, expected)


SPARK_TYPES = ("bool", "int8", "int16", "int32", "int64", "float32", "float64", "date32", "string", "binary")
SPARK_TYPES += ("timestamp[us]", "timestamp[us, tz=UTC]", "decimal128(38, 0)", "decimal128(38, 38)")


def test_extreme_cells_of_every_type_mean_the_same(spark):
    """Each in every role; some of the types name units, too."""
    schema = extreme_cells.wide_schema(SPARK_TYPES)
    given = extreme_cells.wide(SPARK_TYPES, extreme_cells.ODD)
    queries = [Marginal.of(schema, name) for name in schema.names]
    for kind in ("", "float64", "string", "timestamp[us]"):
        table = given.append_column("who", given[f"{kind}: label"] if kind else pa.nulls(len(given), pa.string()))
        expected = totals(table, schema, queries, 1)
        assert np.array_equal(totals(spark.createDataFrame(table), schema, queries, 1), expected)


LOOKALIKES = {
    "text": ["a", "A", "a ", " a", "\u00e9", "e\u0301", "ss", "\u1e9e", "", None, "=", "0", "-0", "0.0", "NaN", "\x00"],
    "double": [0.0, -0.0, float("nan"), None, 1.0, 1.5, float("inf"), 5e-324, 2.0**53, 2.0**53 + 2],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", LOOKALIKES)
def test_units_that_look_alike_are_told_apart_as_on_one_machine(engine, kind, spark, tmp_path):
    draw = np.random.default_rng(3)
    cells = LOOKALIKES[kind]
    who = pa.array(
        [cells[k] for k in draw.integers(0, len(cells), 300)], pa.string() if kind == "text" else pa.float64()
    )
    parquet.write_table(
        pa.table({"age": draw.integers(0, 9, 300), "who": who}), tmp_path / "t.parquet", row_group_size=17
    )
    schema = Schema.from_json(
        {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 8}}]}
    )
    queries = [Marginal.of(schema, "age")]
    expected = totals(tmp_path / "t.parquet", schema, queries, 3)
    assert np.array_equal(totals(ENGINES[engine](spark, tmp_path / "t.parquet"), schema, queries, 3), expected)
