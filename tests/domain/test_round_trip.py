"""Values to codes and back: exact for every kind, through Arrow, Parquet and CSV text."""

import math
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import tables
from sundog.api.writing import write_table
from sundog.domain import Dialect, Schema
from sundog.domain.columns import GRID_LIMIT
from sundog.domain.rows import Rows
from sundog.sources import open_table

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def schema_of(**field):
    missing = field.pop("missingValues", [""])
    return Schema.from_json({"fields": [{"name": "x", **field}], "missingValues": missing})


def through_arrow(schema, values, kind):
    """The values after encoding and decoding, from a typed Arrow table."""
    rows = open_table(pa.table({"x": pa.array(values, kind)})).read(schema)
    return rows.to_arrow().column("x").to_pylist()


def through_csv(schema, values, folder):
    """Encode, write as CSV, read the text, encode: the codes before and after, and the decoded values."""
    before = open_table({"x": values}).read(schema)
    write_table(before, folder / "trip.csv")
    after = open_table(folder / "trip.csv", dialect=Dialect(multiline=True)).read(schema)
    return before.codes[0].tolist(), after.codes[0].tolist(), after.to_arrow().column("x").to_pylist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trip")


def nullable(values, size=20):
    return st.lists(st.none() | values, min_size=1, max_size=size)


@given(data=st.data(), low=st.integers(-(2**49), 2**49), width=st.integers(0, 2**50 - 1))
def test_integers(folder, data, low, width):
    high = min(low + width, GRID_LIMIT)
    schema = schema_of(type="integer", constraints={"minimum": low, "maximum": high})
    values = data.draw(nullable(st.integers(low, high) | st.sampled_from([low, high])))
    assert through_arrow(schema, values, pa.int64()) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert (after, decoded) == (before, values)
    assert all(type(value) is int for value in decoded if value is not None)


@given(data=st.data(), decimals=st.integers(0, 15), low=st.integers(-(10**15), 10**15), width=st.integers(0, 10**15))
def test_decimals(folder, data, decimals, low, width):
    high = min(low + width, 10**15)
    bounds = {"minimum": str(Decimal(low).scaleb(-decimals)), "maximum": str(Decimal(high).scaleb(-decimals))}
    schema = schema_of(type="number", constraints=bounds, sundog={"decimals": decimals})
    assert schema.columns[0].steps == high - low + 1
    units = data.draw(nullable(st.integers(low, high) | st.sampled_from([low, high])))
    values = [None if unit is None else float(Decimal(unit).scaleb(-decimals)) for unit in units]
    assert through_arrow(schema, values, pa.float64()) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert before == [schema.columns[0].steps if unit is None else unit - low for unit in units]
    assert (after, decoded) == (before, values)


@given(st.lists(st.integers(-500000, 500000), min_size=1, max_size=20))
def test_declared_decimals_are_written_out(units):
    schema = schema_of(type="number", constraints={"minimum": -5000, "maximum": 5000}, sundog={"decimals": 2})
    texts = Rows(schema, (np.array(units) + 500000,)).to_text().column("x").to_pylist()
    assert texts == [f"{Decimal(unit).scaleb(-2):.2f}" for unit in units]


def test_tiny_decimals_are_written_without_exponent():
    schema = schema_of(type="number", constraints={"minimum": 0, "maximum": 0.001}, sundog={"decimals": 9})
    texts = Rows(schema, (np.array([0, 1, 120, 1_000_001]),)).to_text().column("x").to_pylist()
    assert texts == ["0.000000000", "0.000000001", "0.000000120", None]


@given(
    values=nullable(st.dates(date(1, 1, 1), date(9999, 12, 31))),
    form=st.sampled_from([None, "default", "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d"]),
)
def test_dates(folder, values, form):
    assume(form != "%Y%m%d" or all(value is None or value.year >= 1000 for value in values))
    constraints = {"minimum": "0001-01-01", "maximum": "9999-12-31"}
    schema = schema_of(type="date", constraints=constraints, **({"format": form} if form else {}))
    assert through_arrow(schema, values, pa.date32()) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert (after, decoded) == (before, values)


@given(data=st.data(), resolution=st.sampled_from([1, 7, 60, 3600, 86400]))
def test_datetimes(folder, data, resolution):
    constraints = {"minimum": "1900-01-01T00:00:00", "maximum": "2100-12-31T23:59:59"}
    schema = schema_of(type="datetime", constraints=constraints, sundog={"resolution": resolution})
    column = schema.columns[0]
    codes = data.draw(nullable(st.integers(0, column.steps - 1) | st.sampled_from([0, column.steps - 1])))
    start = datetime(1970, 1, 1)
    values = [None if c is None else start + timedelta(seconds=(column.lower + c) * resolution) for c in codes]
    assert through_arrow(schema, values, pa.timestamp("s")) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert before == [column.steps if c is None else c for c in codes]
    assert (after, decoded) == (before, values)


def test_times_between_grid_points_go_to_the_one_before():
    schema = schema_of(
        type="datetime",
        constraints={"minimum": "1960-01-01T00:00:00", "maximum": "1980-01-01T00:00:00"},
        sundog={"resolution": 3600},
    )
    values = ["1969-12-31T23:59:59", "1970-01-01T00:00:00", "1970-01-01T00:59:59.999"]
    decoded = open_table({"x": values}).read(schema).to_arrow().column("x").to_pylist()
    assert decoded == [datetime(1969, 12, 31, 23), datetime(1970, 1, 1), datetime(1970, 1, 1)]


@given(data=st.data(), labels=st.lists(TEXT, min_size=1, max_size=8, unique=True))
def test_labels_are_kept_as_written(folder, data, labels):
    schema = schema_of(type="string", categories=labels, missingValues=["-missing-"])
    values = data.draw(nullable(st.sampled_from(labels)))
    assert through_arrow(schema, values, pa.string()) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert before == [len(labels) if value is None else labels.index(value) for value in values]
    assert (after, decoded) == (before, values)


AWKWARD = ["", " ", "01", "1", "1.0", "NULL", "NA", "nan", "true", "a,b", 'say "x"', "'", "\\", "\\N", "#"]
AWKWARD += [
    "two\nlines",
    "two\r\nlines",
    "\r",
    "\t",
    "tab\t",
    ";",
    "-",
    "é",
    "e\u0301",
    "😀",
    "\u202e",
    "\ufeff",
    "\x01",
]


@pytest.mark.parametrize("required", [False, True])
def test_awkward_labels(tmp_path, required):
    schema = schema_of(type="string", categories=AWKWARD, constraints={"required": required}, missingValues=[])
    values = [*AWKWARD, *([] if required else [None])]
    before, after, decoded = through_csv(schema, values, tmp_path)
    assert before == after == list(range(len(values)))
    assert decoded == values


def test_empty_text_is_missing_unless_it_is_a_category(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y\n,a\n"",a\nb,a\n', encoding="utf-8")
    assert tables.encoded(path, schema_of(categories=["b"])) == [[1, 1, 0]]
    assert tables.encoded(path, schema_of(categories=["b", ""])) == [[2, 1, 0]]
    assert tables.encoded({"x": ["", None, "b"]}, schema_of(categories=["b", ""])) == [[1, 2, 0]]


@given(
    data=st.data(),
    labels=st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-9, 9), min_size=1, max_size=6, unique=True),
)
def test_integer_labels(folder, data, labels):
    schema = schema_of(type="integer", categories=labels)
    values = data.draw(nullable(st.sampled_from(labels)))
    assert through_arrow(schema, values, pa.int64()) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert (after, decoded) == (before, values)


@given(
    data=st.data(),
    labels=st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9) | st.sampled_from([1.0, 0.1, -0.5, 1e15]),
        min_size=1,
        max_size=6,
        unique=True,
    ),
)
def test_number_labels(folder, data, labels):
    assume(len({float(label) for label in labels}) == len(labels))
    schema = schema_of(type="number", categories=labels)
    values = data.draw(nullable(st.sampled_from([float(label) for label in labels])))
    assert through_arrow(schema, values, pa.float64()) == values
    _, _, decoded = through_csv(schema, values, folder)
    assert decoded == values


def test_number_labels_in_other_spellings():
    schema = schema_of(type="number", categories=[0.5, 1.0, 2])
    for values in (["0.50", " 1", "2.0"], [Decimal("0.50"), Decimal("1.00"), Decimal(2)], [0.5, 1, 2]):
        assert tables.encoded({"x": values}, schema) == [[0, 1, 2]]


@given(nullable(st.booleans()), st.sampled_from([(), ("yes", "no"), ("1", "0"), ("Wahr", "Falsch")]))
def test_booleans(folder, values, words):
    words = {"trueValues": [words[0]], "falseValues": [words[1]]} if words else {}
    schema = schema_of(type="boolean", **words)
    assert through_arrow(schema, values, pa.bool_()) == values
    before, after, decoded = through_csv(schema, values, folder)
    assert (after, decoded) == (before, values)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_a_whole_table_of_every_kind(folder, seed, rows):
    values = tables.table(rows, seed=seed)
    made = open_table(tables.arrow(values)).read(tables.schema())
    assert made.to_arrow().to_pydict() == {name: column for name, column in values.items() if name != "visit"}
    write_table(made, folder / "whole.csv")
    write_table(made, folder / "whole.parquet")
    for path in (folder / "whole.csv", folder / "whole.parquet"):
        assert tables.encoded(path) == [codes.tolist() for codes in made.codes]


def test_the_types_of_decoded_columns():
    decoded = open_table(tables.arrow(tables.table(5))).read(tables.schema()).to_arrow()
    assert decoded.schema.types == [field.type for field in tables.ARROW if field.name != "visit"]


OUT_OF_DOMAIN = [
    ({"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}, [-1, 10, 10**18, None, 5], [0, 9, 9, 10, 5]),
    ({"type": "integer", "constraints": {"minimum": 3, "maximum": 9, "required": True}}, [None, "?", 4], [0, 0, 1]),
    ({"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}, [1.4, 1.5, 8.6, math.inf], [1, 2, 9, 9]),
    (
        {"type": "number", "constraints": {"minimum": 0, "maximum": 1}, "sundog": {"decimals": 1}},
        [-math.inf, math.inf, math.nan, 0.26, 1e308],
        [0, 10, 11, 3, 10],
    ),
    ({"categories": ["a", "b"]}, ["c", None, "A", "a "], [2, 2, 2, 2]),
    ({"categories": ["a", "b"], "sundog": {"outOfDomain": "other"}}, ["c", None, "b", ""], [2, 3, 1, 3]),
    ({"categories": ["a", "b"], "constraints": {"required": True}}, ["c", None, "b"], [0, 0, 1]),
    ({"type": "boolean", "sundog": {"outOfDomain": False}}, ["maybe", None, "true"], [0, 2, 1]),
    ({"type": "boolean"}, ["maybe", "TRUE", "0", "1.0"], [2, 1, 0, 2]),
    (
        {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-31"}},
        ["1066-10-14", "2525-01-01", "2020-02-30", "5000000-01-01", "infinity", "soon", "2020-01-05 13:00"],
        [0, 30, 31, 31, 30, 31, 4],
    ),
    (
        {"type": "datetime", "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-02"}},
        ["1066-10-14", "2525-01-01", "never", "2020-01-01T00:00:10"],
        [0, 86400, 86401, 10],
    ),
]


@pytest.mark.parametrize(("field", "values", "codes"), OUT_OF_DOMAIN)
def test_what_lies_outside_goes_to_its_declared_place(tmp_path, field, values, codes):
    schema = schema_of(**field)
    assert tables.encoded({"x": values}, schema) == [codes]
    path = tables.write_csv(tmp_path / "t.csv", {"x": values, "y": ["1"] * len(values)})
    assert tables.encoded(path, schema) == [codes]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_beyond_the_engine_are_clamped_and_never_stop_a_run(unit):
    schema = schema_of(type="date", constraints={"minimum": "2020-01-01", "maximum": "2020-01-31"})
    ends = pa.array([2**63 - 1, -(2**63) + 1, 2**62, -(2**62), None], pa.int64()).cast(pa.timestamp(unit))
    assert tables.encoded(pa.table({"x": ends}), schema) == [[30, 0, 30, 0, 31]]
    labels = schema_of(categories=["2020-01-01"])
    assert tables.encoded(pa.table({"x": ends}), labels) == [[1, 1, 1, 1, 1]]


def test_dates_beyond_the_engine_are_clamped():
    schema = schema_of(type="datetime", constraints={"minimum": "2020-01-01", "maximum": "2020-01-02"})
    ends = pa.array([2**31 - 1, -(2**31) + 1, 10**9, 18262], pa.int32()).cast(pa.date32())
    assert tables.encoded(pa.table({"x": ends}), schema) == [[86400, 0, 86400, 0]]


def test_declared_missing_values():
    schema = schema_of(
        type="integer", constraints={"minimum": -9, "maximum": 9}, missingValues=["", "-9", "NA", "never"]
    )
    assert tables.encoded({"x": ["-9", "NA", "", "5", "never"]}, schema) == [[19, 19, 19, 14, 19]]
    assert tables.encoded({"x": [-9, 5, None]}, schema) == [[19, 14, 19]]
    labels = schema_of(categories=["a", "b"], sundog={"outOfDomain": "b"}, missingValues=["NA"])
    assert tables.encoded({"x": ["NA", "c", None, "a"]}, labels) == [[2, 1, 2, 0]]


ODD_NAMES = [
    "größe",
    'quo"te',
    "it's",
    "two words",
    "",
    " ",
    "😀",
    "select",
    "SELECT",
    "Select",
    "from",
    "code0",
    "unit",
]
ODD_NAMES += [
    "part0",
    "value",
    "frame",
    "c0",
    "C1",
    "a;b",
    "a--b",
    "naïve",
    "nai\u0308ve",
    "x\ny",
    "tab\t",
    "{",
    "%s",
    "rowid",
]


def odd_schema(names):
    fields = [{"name": name, "categories": [f"{k}", "other"]} for k, name in enumerate(names)]
    return Schema.from_json({"fields": fields})


def test_odd_names(tmp_path):
    names = [name for name in ODD_NAMES if name]
    values = {name: [str(k), "other", "?"] for k, name in enumerate(names)}
    path = tables.write_csv(tmp_path / "odd.csv", values)
    for data in (values, pa.table(values), path):
        assert tables.encoded(data, odd_schema(names), dialect=Dialect(multiline=True)) == [[0, 1, 2]] * len(names)


def test_names_that_differ_by_case_only(tmp_path):
    schema = Schema.from_json(
        {"fields": [{"name": "Age", "categories": ["x", "y"]}, {"name": "age", "categories": ["q", "r", "s"]}]}
    )
    values = {"Age": ["x", "y"], "age": ["r", "s"]}
    path = tables.write_csv(tmp_path / "case.csv", values)
    parquet.write_table(pa.table(values), tmp_path / "case.parquet")
    for data in (values, pa.table(values), path, tmp_path / "case.parquet"):
        assert tables.encoded(data, schema) == [[0, 1], [1, 2]]


def test_one_source_under_several_schemas():
    source = open_table({"x": ["a", "b", "c"]})
    first, second = schema_of(categories=["a", "b", "c"]), schema_of(categories=["c", "b"])
    for schema, codes in ((first, [0, 1, 2]), (second, [2, 1, 0]), (first, [0, 1, 2])):
        assert source.read(schema).codes[0].tolist() == codes


def test_ten_thousand_categories(tmp_path):
    labels = [f"label {k}" for k in range(10_000)]
    schema = schema_of(categories=labels)
    values = [*reversed(labels), None, "label 10000"]
    path = tables.write_csv(tmp_path / "many.csv", {"x": values, "y": values})
    assert tables.encoded(path, schema) == [[*reversed(range(10_000)), 10_000, 10_000]]


def test_two_hundred_columns():
    names = [f"c{k}" for k in range(200)]
    schema = Schema.from_json(
        {"fields": [{"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": 300}} for n in names]}
    )
    codes = tables.encoded({name: [k, k + 1] for k, name in enumerate(names)}, schema)
    assert codes == [[k, k + 1] for k in range(200)]


def test_regenerated_identifiers_are_numbered_afresh():
    fields = [
        {"name": "id", "type": "string", "identifier": True, "sundog": {"regenerate": True}},
        {"name": "b", "type": "boolean"},
        {"name": "number", "type": "integer", "identifier": True, "sundog": {"regenerate": True}},
        {"name": "name", "type": "string", "identifier": True},
    ]
    made = Rows(Schema.from_json({"fields": fields}), (np.array([0, 1] * 5),)).to_arrow()
    assert made.column_names == ["id", "b", "number"]
    assert made.column("id").to_pylist() == [f"{k:02d}" for k in range(1, 11)]
    assert made.column("number").to_pylist() == list(range(1, 11))


def test_no_rows_at_all(tmp_path):
    empty = Rows.concatenate([], tables.schema())
    assert len(empty) == 0
    assert empty.to_arrow().num_rows == 0
    write_table(empty, tmp_path / "empty.csv")
    assert tables.encoded(tmp_path / "empty.csv") == [[]] * 8
