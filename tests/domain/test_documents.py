"""Table Schema documents: every kind is read, and every mistake is answered by field and remedy."""

import json
from pathlib import Path

import pytest

import tables
from sundog.domain import Categorical, Identifier, Numeric, Schema
from sundog.domain.columns import GRID_LIMIT
from sundog.errors import UserError

DATA = Path(__file__).parents[3] / "shared" / "data"


def column(**field):
    return Schema.from_json({"fields": [{"name": "x", **field}]}).columns[0]


def bounded(kind, low, high, **rest):
    constraints = {"minimum": low, "maximum": high, **rest.pop("constraints", {})}
    return {"type": kind, "constraints": constraints, **rest}


def refused(match, document):
    with pytest.raises(UserError, match=match) as caught:
        Schema.from_json(document)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_every_kind_of_column():
    schema = tables.schema()
    assert schema.names == ("smoker", "region", "grade", "parity", "age", "cost", "day", "seen")
    assert schema.identifiers == (Identifier("visit", whole_number=True),)
    assert schema.targets == ("smoker",)
    smoker, region, grade, parity, age, cost, day, seen = schema.columns
    assert smoker == Categorical(
        "smoker", (False, True), nullable=True, fallback=2, true_texts=smoker.true_texts, false_texts=smoker.false_texts
    )
    assert region == Categorical("region", tuple(tables.FIELDS[2]["categories"]), nullable=True, fallback=5)
    assert grade == Categorical("grade", ("low", "middle", "high"), ordered=True, fallback=0)
    assert parity == Categorical("parity", (0, 1, 2), nullable=True, fallback=3)
    assert age == Numeric("age", "integer", 0, 110)
    assert cost == Numeric("cost", "number", -5000, 500000, decimals=2, nullable=True, fixed_decimals=True, bins=10)
    assert day == Numeric("day", "date", 18262, 19722, nullable=True)
    assert (seen.kind, seen.resolution, seen.describe(0)) == ("datetime", 60, "2020-01-01T00:00:00")
    assert seen.describe(seen.steps - 1) == "2023-12-31T23:59:00"


def test_sizes_count_the_missing_code():
    schema = tables.schema()
    assert [c.size for c in schema.columns[:6]] == [3, 6, 3, 4, 111, 505002]
    assert [c.missing for c in schema.columns[:5]] == [2, 5, None, 3, None]
    assert [c.null_code for c in schema.columns[:5]] == [2, 5, 0, 3, 0]


def test_the_document_is_kept_as_it_was():
    assert json.dumps(tables.schema().to_json()) == json.dumps(tables.DOCUMENT)
    assert Schema.from_json(tables.schema().to_json()) == tables.schema()


@pytest.mark.parametrize(
    ("field", "decimals", "steps"),
    [
        (bounded("number", 0, 1), 6, 1_000_001),
        (bounded("number", 0, 1000), 3, 1_000_001),
        (bounded("number", 0, 1e9), 0, 1_000_000_001),
        (bounded("number", 1e10, 1e10 + 1), 5, 100_001),
        (bounded("number", 3, 3), 0, 1),
        (bounded("number", 0.25, 0.75, sundog={"decimals": 1}), 1, 5),
        (bounded("number", "0.1", "0.3", sundog={"decimals": 1}), 1, 3),
    ],
)
def test_numbers_get_a_grid(field, decimals, steps):
    numeric = column(**field)
    assert (numeric.decimals, numeric.steps) == (decimals, steps)


def test_bounds_are_rounded_inwards_so_that_no_code_lies_outside_them():
    numeric = column(**bounded("number", 0.25, 0.75, sundog={"decimals": 1}))
    assert (numeric.describe(0), numeric.describe(numeric.steps - 1)) == ("0.3", "0.7")
    hourly = column(**bounded("datetime", "2020-01-01T00:30:00", "2020-01-01T03:30:00", sundog={"resolution": 3600}))
    assert [hourly.describe(k) for k in range(hourly.steps)] == [f"2020-01-01T0{h}:00:00" for h in (1, 2, 3)]


@pytest.mark.parametrize(
    ("bins", "expected"),
    [(5, 5), ([10, 20], (10, 20)), (["10", 20.0], (10, 20)), ([-5, 0, 10, 100, 101, 5000], (10, 100))],
)
def test_bins(bins, expected):
    assert column(**bounded("integer", 0, 100, sundog={"bins": bins})).bins == expected


def test_bin_edges_of_dates_are_dates():
    numeric = column(**bounded("date", "2020-01-01", "2020-12-31", sundog={"bins": ["2020-02-01", "2020-03-01"]}))
    assert numeric.bins == (31, 60)


def test_categories_may_be_objects_or_an_enum():
    assert column(type="string", categories=[{"value": "01", "label": "yes"}, "02"]).labels == ("01", "02")
    assert column(type="integer", constraints={"enum": [3, 1]}).labels == (3, 1)
    assert column(type="number", categories=[0.5, 1.0, 2]).labels == (0.5, 1.0, 2)
    assert column(categories=["a"]).labels == ("a",)  # string is the default type


@pytest.mark.parametrize(
    ("extra", "labels", "fallback"),
    [
        ({}, ("a", "b"), 2),
        ({"constraints": {"required": True}}, ("a", "b"), 0),
        ({"sundog": {"outOfDomain": "b"}}, ("a", "b"), 1),
        ({"sundog": {"outOfDomain": "missing"}}, ("a", "b"), 2),
        ({"sundog": {"outOfDomain": "other"}}, ("a", "b", "other"), 2),
        ({"sundog": {"outOfDomain": "other"}, "constraints": {"required": True}}, ("a", "b", "other"), 2),
    ],
)
def test_unknown_labels_have_a_declared_place(extra, labels, fallback):
    categorical = column(type="string", categories=["a", "b"], **extra)
    assert (categorical.labels, categorical.fallback) == (labels, fallback)


def test_a_label_called_missing_is_a_label():
    assert column(categories=["missing", "b"], sundog={"outOfDomain": "missing"}).fallback == 0


def test_booleans_may_fall_back():
    assert column(type="boolean", sundog={"outOfDomain": True}).fallback == 1
    assert column(type="boolean", constraints={"required": True}).fallback == 0


def test_identifiers_may_be_regenerated():
    schema = Schema.from_json(
        {
            "fields": [
                {"name": "id", "identifier": True, "sundog": {"regenerate": True}},
                {"name": "b", "type": "boolean"},
            ]
        }
    )
    assert schema.identifiers == (Identifier("id", regenerate=True),)
    assert schema.names == ("b",)
    assert schema.field_order == ("id", "b")


FIELD_MISTAKES = [
    ({"type": "string"}, "field 'x'.*needs 'categories'.*sundog schema complete"),
    ({"type": "string", "categories": []}, "field 'x'.*empty; list at least one"),
    ({"type": "string", "categories": ["a", 1]}, "field 'x'.*category 1 is a int.*type is string"),
    ({"type": "integer", "categories": [1, 1.5]}, "field 'x'.*category 1.5 is a float.*type is integer"),
    ({"type": "integer", "categories": [True]}, "field 'x'.*category True is a bool"),
    ({"type": "integer", "categories": [2**63]}, "field 'x'.*64 bits hold; list strings"),
    ({"type": "number", "categories": [2**60, 0.5]}, "field 'x'.*64 bits hold; list strings"),
    ({"type": "number", "categories": [float("nan")]}, "field 'x'.*64 bits hold"),
    ({"type": "string", "categories": ["a", "b", "a"]}, "field 'x'.*'a' is listed twice.*distinct"),
    ({"type": "number", "categories": [1, 1.0]}, "field 'x'.*listed twice"),
    ({"type": "integer"}, "field 'x'.*constraints.minimum is missing.*sundog schema complete"),
    ({"type": "number", "constraints": {"minimum": 0}}, "field 'x'.*constraints.maximum is missing"),
    (bounded("integer", 5, 4), "field 'x'.*no value lies between minimum 5 and maximum 4"),
    (bounded("number", 0.21, 0.29, sundog={"decimals": 1}), "field 'x'.*no value lies between.*grid"),
    (bounded("number", float("nan"), 1), "field 'x'.*not a number between"),
    (bounded("number", 0, float("inf")), "field 'x'.*not a number between"),
    (bounded("number", 0, "1e999999"), "field 'x'.*not a number between"),
    (bounded("integer", "low", 1), "field 'x'.*'low' is not a number"),
    (bounded("integer", 0, 2**50 + 1), r"field 'x'.*2\^50.*Narrow the bounds\."),
    (bounded("integer", 2**60, 2**60 + 5), r"field 'x'.*2\^50.*Narrow the bounds\."),
    (bounded("number", 0, 1e6, sundog={"decimals": 12}), "field 'x'.*fewer sundog.decimals"),
    (bounded("date", "2020-13-01", "2021-01-01"), "field 'x'.*'2020-13-01' is not an ISO date such as"),
    (bounded("date", 5, "2021-01-01"), "field 'x'.*5 is not an ISO date"),
    (bounded("datetime", "yesterday", "2021-01-01"), "field 'x'.*'yesterday' is not an ISO datetime such as"),
    (bounded("integer", 0, 9, sundog={"bins": 0}), "field 'x'.*sundog.bins is 0; it must be 1 or more"),
    (bounded("integer", 0, 9, sundog={"bins": [5, 3]}), "field 'x'.*increasing order"),
    (bounded("integer", 0, 9, sundog={"bins": ["a"]}), "field 'x'.*'a' is not a number"),
    (bounded("integer", 0, 9, sundog={"outOfDomain": "missing"}), "field 'x'.*outOfDomain is for categories.*Drop it"),
    ({"categories": ["a"], "sundog": {"outOfDomain": 5}}, "field 'x'.*outOfDomain is 5.*'missing' or a category"),
    (
        {"categories": ["a"], "sundog": {"outOfDomain": "missing"}, "constraints": {"required": True}},
        "field 'x'.*'missing', but the field is required.*drop constraints.required",
    ),
    ({"type": "boolean", "sundog": {"outOfDomain": "maybe"}}, "field 'x'.*outOfDomain is 'maybe'"),
    ({"type": "duration"}, "field 'x', type: .*'string', 'integer', 'number'.*sundog help schema"),
    ({"type": "boolean", "trueValues": []}, "field 'x', trueValues"),
    ({"categories": "a"}, "field 'x', categories"),
    ({"categories": ["a"], "sundog": {"bin": 3}}, "field 'x', sundog.bin: Extra inputs are not permitted"),
    (bounded("number", 0, 1, sundog={"decimals": 16}), "field 'x', sundog.decimals"),
    (bounded("number", 0, 1, sundog={"decimals": -1}), "field 'x', sundog.decimals"),
    (bounded("datetime", "2020-01-01", "2021-01-01", sundog={"resolution": 0}), "field 'x', sundog.resolution"),
]


@pytest.mark.parametrize(("field", "match"), FIELD_MISTAKES)
def test_every_mistake_in_a_field_is_named_with_its_remedy(field, match):
    refused(match, {"fields": [{"name": "x", **field}]})


DOCUMENT_MISTAKES = [
    ({}, "schema fields"),
    ({"fields": []}, "schema fields"),
    ({"fields": "x"}, "schema fields"),
    ({"fields": [{"type": "boolean"}]}, "field number 1, name"),
    ({"fields": [{"name": "", "type": "boolean"}]}, "field number 1, name"),
    ({"fields": ["x"]}, "field number 1"),
    ({"fields": [{"name": "x", "type": "boolean"}] * 2}, "'x' is declared 2 times; names must be unique"),
    ({"fields": [{"name": "x", "identifier": True}]}, "no column to model.*declare at least one"),
    (
        {"fields": [{"name": "x", "type": "boolean"}], "targets": ["y"]},
        "targets: 'y' is not a modelled field; fields are 'x'",
    ),
    ({"fields": [{"name": "x", "type": "boolean"}], "missingValues": [1]}, "missingValues"),
]


@pytest.mark.parametrize(("document", "match"), DOCUMENT_MISTAKES)
def test_every_mistake_in_the_document_is_named(document, match):
    refused(match, document)


def test_an_unknown_column_is_named_with_those_there_are():
    many = Schema.from_json({"fields": [{"name": f"c{k}", "type": "boolean"} for k in range(20)]})
    with pytest.raises(UserError, match=r"column 'c99' is not in the schema; its columns are 'c0', .* and 8 more"):
        many.column("c99")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (None, "does not exist; draft one with: sundog schema draft"),
        (b"{", "is not JSON .line 1, column 2"),
        (b"[]", "found a list, expected an object"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"", "is not JSON"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, content, match):
    path = tmp_path / "schema.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=match) as caught:
        Schema.load(path)
    assert str(path) in str(caught.value)


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "schema.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(tables.DOCUMENT).encode())
    assert Schema.load(path) == tables.schema()


def test_the_grid_is_limited_to_what_double_precision_places_exactly():
    assert column(**bounded("integer", -GRID_LIMIT // 2, GRID_LIMIT // 2 - 1)).steps == GRID_LIMIT
    refused("2\\^50", {"fields": [{"name": "x", **bounded("integer", -GRID_LIMIT // 2 - 1, GRID_LIMIT // 2)}]})


@pytest.mark.data
@pytest.mark.parametrize("path", sorted(DATA.glob("*.schema.json")), ids=lambda path: path.name.split(".")[0])
def test_the_public_tables_load_as_they_are(path):
    schema = Schema.load(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    identifiers = [field["name"] for field in document["fields"] if field.get("identifier")]
    assert [identifier.name for identifier in schema.identifiers] == identifiers
    assert len(schema.columns) == len(document["fields"]) - len(identifiers)
    assert schema.targets == tuple(document.get("targets", ()))


@pytest.mark.data
def test_the_public_tables_are_there():
    if not DATA.is_dir():
        pytest.skip("the public tables are not beside the project; see ../shared/data")
    assert len(list(DATA.glob("*.schema.json"))) >= 10


@pytest.mark.parametrize(
    "field", [{"categories": ["x", "y\ud800"]}, {"categories": ["x"], "missingValues": ["\udfff"]}]
)
def test_half_of_a_character_is_refused(field):
    with pytest.raises(UserError, match=r"it holds \\ud.*half of a character"):
        Schema.from_json({"fields": [{"name": "a", **field}]})
