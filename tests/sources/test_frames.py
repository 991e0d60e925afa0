"""Frames in memory: pandas, polars, Arrow, dictionaries; odd cells never stop a run, nor change another cell's code."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from sundog.domain import Schema
from sundog.errors import UserError
from sundog.sources import frames, open_table


def schema_of(**field):
    return Schema.from_json({"fields": [{"name": "x", **field}]})


WHOLE = schema_of(type="integer", constraints={"minimum": 0, "maximum": 10})
FRAMES = {
    "dictionary": lambda values: {"x": values},
    "pandas": lambda values: pd.DataFrame({"x": pd.Series(values, dtype=object)}),
}


class Broken:
    """A cell that fails at everything."""

    def __eq__(self, other):
        raise RuntimeError("secret")

    __hash__ = None

    def __str__(self):
        raise RuntimeError("secret")


ODD_CELLS = [2**70, "\ud800", b"\xff\xfe", {"a": 1}, [1], 1j, object(), Broken(), float("nan"), float("inf"), pd.NaT]
ODD_CELLS += [
    pd.NA,
    None,
    datetime(2020, 1, 1, tzinfo=UTC),
    date(1, 1, 1),
    np.float16(3),
    np.datetime64("NaT", "s"),
    "",
    "oops",
]
ODD_CELLS += [
    np.array([1, 2]),
    Decimal("NaN"),
    "x" * 100_000,
    True,
    pd.Timestamp.max,
    np.datetime64("2020-01-01", "ns"),
]


@pytest.mark.parametrize(
    "frame", [pytest.param(name, marks=[pytest.mark.long] * (name == "dictionary")) for name in FRAMES]
)
@pytest.mark.parametrize("cell", ODD_CELLS, ids=lambda cell: type(cell).__name__)
def test_an_odd_cell_changes_no_other_cell(frame, cell):
    """Otherwise one row would change the codes of all others, and no sensitivity would hold."""
    columns = {
        "labels": (schema_of(categories=["1", "3", "true", "2020-01-05"]), ["1", 3, 3.0, True, date(2020, 1, 5)]),
        "floats": (schema_of(categories=["1", "3", "0.5"]), [1.0, 3.0, 0.5]),
        "truths": (schema_of(type="boolean", trueValues=["yes"], falseValues=["no"]), [True, False]),
        "words": (schema_of(type="boolean", trueValues=["yes"], falseValues=["no"]), ["yes", "no", "true"]),
        "numbers": (WHOLE, [1, 2, 3]),
        "days": (
            schema_of(type="date", format="%d/%m/%Y", constraints={"minimum": "2020-01-01", "maximum": "2020-12-31"}),
            [date(2020, 1, 5), date(2020, 2, 1)],
        ),
    }
    for name, (schema, values) in columns.items():
        alone = tables.encoded(FRAMES[frame](values), schema)[0]
        beside = tables.encoded(FRAMES[frame]([*values, cell]), schema)[0]
        assert beside[: len(values)] == alone, name


POOL = [None, True, False, 0, 1, 7, -3, 2**60, 2**70, 0.0, -0.0, 1.0, 7.0, 2.5, 1e15, 1e300, float("inf"), float("nan")]
POOL += ["1", "true", "7.0", " 7", "2020-01-05", "?", "", "nan", Decimal("7.0"), date(2020, 1, 5), datetime(2020, 1, 5)]
POOL += [np.int8(7), np.float32(7), np.bool_(True), pd.Timestamp("2020-01-05"), b"7", 10**15, "1000000000000000.0"]
ALIKE = Schema.from_json(
    {
        "fields": [
            {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 10}},
            {"name": "c", "categories": ["1", "7", "true", "2020-01-05", "1000000000000000", "2.5"]},
            {"name": "i", "type": "integer", "categories": [1, 7, 10**15, 2**60]},
            {"name": "b", "type": "boolean"},
            {"name": "d", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
        ]
    }
)


def encoded_alike(values, frame):
    column = FRAMES[frame](values)["x"]
    columns = dict.fromkeys(ALIKE.names, column)
    return list(zip(*tables.encoded(columns if frame == "dictionary" else pd.DataFrame(columns), ALIKE), strict=True))


@pytest.fixture(scope="module")
def alone():
    return [encoded_alike([cell], "dictionary")[0] for cell in POOL]


@settings(max_examples=30)
@given(st.lists(st.integers(0, len(POOL) - 1), min_size=2, max_size=8), st.sampled_from(sorted(FRAMES)))
def test_every_cell_is_encoded_as_if_it_were_alone(alone, places, frame):
    together = encoded_alike([POOL[place] for place in places], frame)
    assert together == [alone[place] for place in places]


@pytest.mark.parametrize("frame", FRAMES)
def test_mixed_cells(frame):
    values = [1, "a", None, 2.6, float("nan"), "3", True, 2**80, Decimal("4.4"), b"5"]
    assert tables.encoded(FRAMES[frame](values), WHOLE) == [[1, 11, 11, 3, 11, 3, 1, 10, 4, 5]]


@pytest.mark.parametrize("field", [{"type": "boolean"}, {"categories": ["a"]}, {"type": "integer"}, {"type": "date"}])
@pytest.mark.parametrize("frame", ["dictionary", "pandas", "polars", "arrow", "csv"])
def test_columns_of_nulls(tmp_path, field, frame):
    bounds = {"integer": (0, 1), "date": ("2020-01-01", "2020-01-02")}.get(field.get("type"))
    constraints = {"constraints": {"minimum": bounds[0], "maximum": bounds[1]}} if bounds else {}
    schema = schema_of(**field, **constraints)
    values = {"x": [None, None], "y": [1, 2]}
    made = {
        "dictionary": values,
        "pandas": pd.DataFrame(values),
        "polars": pl.DataFrame(values),
        "arrow": pa.table(values),
        "csv": tables.write_csv(tmp_path / "t.csv", values),
    }
    assert tables.encoded(made[frame], schema) == [[schema.columns[0].missing] * 2]


def test_typed_containers_in_a_dictionary():
    labels = schema_of(categories=["1", "3"])
    for values in (np.array([1, 3]), np.array(["1", "3"]), pa.array(["1", "3"]), pd.Series([1, 3]), ("1", "3")):
        assert tables.encoded({"x": values}, labels) == [[0, 1]]
    assert tables.encoded({"x": pd.Categorical(["3", "1"])}, labels) == [[1, 0]]
    assert tables.encoded({"x": pl.Series(["3", "1"])}, labels) == [[1, 0]]


def test_places_beyond_any_dictionary_are_missing_cells():
    """Arrow builds such arrays without a look at them."""
    labels = schema_of(categories=["1", "3"])
    places = pa.array([1, 2**63 + 5], pa.uint64())
    column = pa.DictionaryArray.from_arrays(places, pa.array(["1", "3"]), safe=False)
    assert tables.encoded(pa.table({"x": column}), labels) == [[1, labels.columns[0].missing]]


def test_what_speaks_arrow_is_a_table():
    labels = schema_of(categories=["1", "3"])
    batch = pa.RecordBatch.from_pydict({"x": ["1", "3"]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    dictionary = pa.table({"x": pa.array(["1", "3"]).dictionary_encode()})
    for data in (
        batch,
        reader,
        dictionary,
        pl.DataFrame({"x": ["1", "3"]}),
        pl.DataFrame({"x": pl.Series(["1", "3"], dtype=pl.Categorical)}),
        pl.DataFrame({"x": ["1", "3"], "other": [[1], [2]]}).lazy(),
        pl.LazyFrame({"x": [1, 3]}, schema={"x": pl.Int128}),
    ):
        assert tables.encoded(data, labels) == [[0, 1]]


def test_something_that_is_a_source_already():
    source = open_table({"x": [1]})
    assert open_table(source) is source


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([1, 2], "the table is a list; allowed are pandas"),
        (None, "the table is a NoneType"),
        (5, "the table is a int"),
        (pd.Series([1]), "the table is a Series"),
        (pl.Series([1]), "the table is a Series"),
        (pl.DataFrame({"x": [1]}).lazy().select("absent"), "lazy frame whose query cannot be resolved"),
        ({"x": 5}, "values are no lists"),
        ({"x": [1, 2], "y": [1]}, "different lengths; give every column one value per row"),
        ({}, "no columns"),
        (pa.table({"x": pa.array([[1]])}), "column 'x': its cells are lists"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "columns 1 and 2 have the same name"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "columns 1 and 2 have the same name"),
        (pa.table([[1], [2]], names=["x", "x"]), "columns 1 and 2 have the same name"),
        ({"y": [1]}, "lacks the column 'x'; columns found: 1"),
    ],
)
def test_wrong_tables_are_named(data, match):
    with pytest.raises(UserError, match=match):
        tables.encoded(data, WHOLE)


def test_bytes_that_are_no_text_in_an_arrow_column_are_an_unknown_label():
    buffers = [None, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"1\xff\xfe")]
    table = pa.table({"x": pa.Array.from_buffers(pa.string(), 2, buffers)})
    assert tables.encoded(table, schema_of(categories=["1"])) == [[0, 1]]


def test_what_is_no_number_among_objects_is_missing():
    (column,) = frames._values(pd.Series([1.5, float("nan")], dtype=object))
    assert column.to_pylist() == [1.5, None]
