"""No value of any engine type makes a run fail, drops a row, or changes another cell's code."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, orc, parquet

import extreme_cells
import tables
from extreme_cells import ARROW, DUCK, ODD, PANDAS, POLARS, ROLES, SCHEMA, STORED, wide, wide_schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.sources import open_table


def alike(column):
    """The same column in every role."""
    return dict.fromkeys(ROLES, column)


def codes(data, schema=SCHEMA, column="label"):
    """The encoded rows; every other way to read a column must do, too."""
    source = open_table(data)
    rows = list(zip(*(column.tolist() for column in source.read(schema).codes), strict=True))
    if column is None:
        return rows
    assert len(source.numbers(column)) == len(rows)
    assert sum(source.value_counts(column, PrivacyUnit()).values()) <= len(rows)
    assert tables.code_rows(source, schema, PrivacyUnit(column=column, rows=len(rows) + 1)) == sorted(rows)
    return rows


def check(ordinary, extreme, schema=SCHEMA, column="label"):
    """Two tables, of which the second goes on with extreme cells."""
    alone, beside = codes(ordinary, schema, column), codes(extreme, schema, column)
    for name, here, there in zip(schema.names, zip(*alone, strict=True), zip(*beside, strict=True), strict=True):
        assert there[: len(alone)] == here, name
    return beside[len(alone) :]


@pytest.mark.long
def test_arrow_types():
    """Every type at once; every type also as the column that is counted, and that names the unit."""
    for kind in ARROW:
        assert len(check(wide([kind], 0), wide([kind], ODD), wide_schema([kind]), f"{kind}: label")) == ODD


WRITERS = {
    "t.parquet": lambda table, path: parquet.write_table(table, path, store_schema=False),
    "typed.parquet": parquet.write_table,
    "plain.parquet": lambda table, path: parquet.write_table(table, path, use_dictionary=False, row_group_size=1),
    "old.parquet": lambda table, path: parquet.write_table(table, path, use_deprecated_int96_timestamps=True),
    "t.feather": feather.write_feather,
    "t.orc": orc.write_table,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name in ("plain.parquet", "old.parquet"))) for name in WRITERS],
)
def test_files_of_arrow_types(tmp_path, name):
    write, paths = WRITERS[name], [tmp_path / f"{k} {name}" for k in range(2)]
    kinds = extreme_cells.writable(write, paths[0])
    if name == "t.orc":
        kinds = [kind for kind in kinds if "timestamp" not in kind and kind != "date64"]
    assert len(kinds) >= 15
    for path, odd in zip(paths, (0, ODD), strict=True):
        write(wide(kinds, odd, STORED), path)
    assert len(check(*paths, wide_schema(kinds, STORED), None)) == ODD


def test_moments_in_orc_are_refused(tmp_path):
    kind = "timestamp[us]"
    orc.write_table(wide([kind], 0), tmp_path / "t.orc")
    with pytest.raises(UserError, match=r"column 'timestamp\[us\]: label': its moments are stored as ORC"):
        open_table(tmp_path / "t.orc").read(wide_schema([kind]))


@pytest.mark.parametrize("kind", DUCK)
def test_duckdb_types(tmp_path, kind):
    for name, odd in (("0", False), ("1", True)):
        extreme_cells.write_duckdb(tmp_path / f"{name}.duckdb", [kind], odd=odd)
    alone, beside = (codes(tmp_path / f"{k}.duckdb", wide_schema([kind]), f"{kind}: label") for k in range(2))
    assert len(alone) == len(beside) > 1
    assert beside[0] == alone[0]


@pytest.mark.parametrize("kind", PANDAS)
@pytest.mark.parametrize("frame", [dict, pd.DataFrame])
def test_pandas_types(kind, frame):
    try:
        made = [frame(alike(PANDAS[kind](odd))) for odd in (0, 1)]
    except (ValueError, UnicodeEncodeError):
        pytest.skip("pandas itself makes no such frame")
    assert check(*made)


@pytest.mark.parametrize("kind", POLARS)
@pytest.mark.parametrize("frame", [pl.DataFrame, pl.LazyFrame])
def test_polars_types(kind, frame):
    if kind == "Object" and frame is pl.LazyFrame:
        pytest.skip("a lazy frame of Python objects is refused")
    assert check(frame(alike(POLARS[kind](0))), frame(alike(POLARS[kind](1))))


def test_extremes_are_clamped_like_any_value():
    far = pa.table(alike(pa.array([2**63 - 1, -(2**63)]).view(pa.timestamp("s"))))
    last = SCHEMA.column("moment").steps - 1
    assert [row[list(ROLES).index("moment")] for row in codes(far)] == [last, 0]
    assert [row[list(ROLES).index("date")] for row in codes(far)] == [365, 0]


NESTED = {
    "list": pa.array([[1]]),
    "struct": pa.array([{"a": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "pairs": pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
    "interval": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_columns_are_refused_by_name_where_they_are_declared(kind):
    refused = "column 'x': its cells are lists, structs or intervals"
    schema = tables.Schema.from_json({"fields": [{"name": "x", "categories": ["a"]}]})
    with pytest.raises(UserError, match=refused):
        open_table(pa.table({"x": NESTED[kind]})).read(schema)
    beside = pa.table({"x": ["a"], "y": NESTED[kind]})
    assert tables.encoded(beside, schema) == [[0]]
    with pytest.raises(UserError, match="column 'y': its cells"):
        tables.code_rows(beside, schema, PrivacyUnit(column="y", rows=1))


def test_a_nested_column_of_polars_beside_others():
    schema = tables.Schema.from_json({"fields": [{"name": "x", "categories": ["a"]}]})
    wide = pl.Series([{"a": 1}], dtype=pl.Struct({"a": pl.Int128}))
    assert tables.encoded(pl.DataFrame({"x": ["a"], "y": wide}), schema) == [[0]]
    with pytest.raises(UserError, match="column 'x': its cells are lists"):
        open_table(pl.DataFrame({"x": wide})).read(schema)


@pytest.mark.parametrize("kind", ["[1]", "{'a': 1}", "MAP {'a': 1}", "INTERVAL 1 DAY", "union_value(a := 1)"])
def test_nested_columns_of_databases(tmp_path, kind):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {kind} AS x")
    schema = tables.Schema.from_json({"fields": [{"name": "x", "categories": ["a"]}]})
    with pytest.raises(UserError, match="column 'x': its cells are lists"):
        open_table(tmp_path / "t.duckdb").read(schema)
