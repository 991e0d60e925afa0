"""Derived fields: exact, typed, total, and in the declared form; a hospital's table comes out without an absurd row."""

import re
from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sundog
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError

FIELDS = [
    {"name": "born", "type": "date", "constraints": {"minimum": "1920-01-01", "maximum": "2020-12-31"}},
    {
        "name": "arrived",
        "type": "datetime",
        "constraints": {"minimum": "2023-01-01T00:00:00", "maximum": "2024-12-31T23:59:59"},
    },
    {
        "name": "left",
        "type": "datetime",
        "constraints": {"minimum": "2023-01-01T00:00:00", "maximum": "2025-12-31T23:59:59"},
    },
    {"name": "price", "type": "number", "constraints": {"minimum": -5, "maximum": 100}, "sundog": {"decimals": 2}},
    {"name": "count", "type": "integer", "constraints": {"minimum": 0, "maximum": 20}},
    {"name": "ward", "type": "string", "categories": ["a b", "c", "d'e"]},
    {"name": "insured", "type": "boolean"},
]


def schema(*derived):
    return Schema.from_json({"name": "hospital", "fields": [*FIELDS, *derived]})


def derived(text, kind="integer", **more):
    return {"name": "new", "type": kind, "derived": text, **more}


def rows(made, count=60, seed=0):
    random = np.random.default_rng(seed)
    return Rows(made, tuple(random.integers(0, column.size, count) for column in made.columns))


def computed(text, kind="integer", **more):
    """The derived values beside the rows they come from."""
    made = schema(derived(text, kind, **more))
    table = rows(made).to_arrow().to_pylist()
    return [(row.pop("new"), row) for row in table]


def present(row, *names):
    return all(row[name] is not None for name in names)


CASES = [
    ("date(arrived)", "date", {}, ["arrived"], lambda r: r["arrived"].date()),
    ("year(born)", "integer", {}, ["born"], lambda r: r["born"].year),
    ("weekday(arrived)", "integer", {}, ["arrived"], lambda r: r["arrived"].isoweekday()),
    ("hour(arrived)", "integer", {}, ["arrived"], lambda r: r["arrived"].hour),
    (
        "floor(days(left - arrived))",
        "integer",
        {},
        ["left", "arrived"],
        lambda r: (r["left"] - r["arrived"]) // timedelta(days=1),
    ),
    (
        "hours(left - arrived)",
        "number",
        {"sundog": {"decimals": 1}},
        ["left", "arrived"],
        lambda r: (
            float((Fraction(int((r["left"] - r["arrived"]).total_seconds()), 360) + Fraction(1, 2)).__floor__()) / 10
        ),
    ),
    (
        "age(born, arrived)",
        "integer",
        {},
        ["born", "arrived"],
        lambda r: (
            r["arrived"].year
            - r["born"].year
            - ((r["arrived"].month, r["arrived"].day) < (r["born"].month, r["born"].day))
        ),
    ),
    (
        "price * count",
        "number",
        {"sundog": {"decimals": 2}},
        ["price", "count"],
        lambda r: round(r["price"] * 100) * r["count"] / 100,
    ),
    ("count + 2 * count - 1", "integer", {}, ["count"], lambda r: 3 * r["count"] - 1),
    ("-count", "integer", {}, ["count"], lambda r: -r["count"]),
    ("cut(count, 5, 10)", "integer", {}, ["count"], lambda r: (r["count"] >= 5) + (r["count"] >= 10)),
    (
        "choose(cut(count, 5, 10), 'few', 'some', 'many')",
        "string",
        {},
        ["count"],
        lambda r: ["few", "some", "many"][(r["count"] >= 5) + (r["count"] >= 10)],
    ),
    ("lookup(ward, 'a b', 1, 'c', 2, 3)", "integer", {}, ["ward"], lambda r: {"a b": 1, "c": 2}.get(r["ward"], 3)),
    ("concat(ward, '-', year(born))", "string", {}, ["ward", "born"], lambda r: f"{r['ward']}-{r['born'].year}"),
    (
        "if(insured and count > 3, 'yes', 'no')",
        "string",
        {},
        [],
        lambda r: "yes" if r["insured"] and r["count"] is not None and r["count"] > 3 else "no",
    ),
    (
        "not insured or ward = 'd''e'",
        "boolean",
        {},
        ["insured", "ward"],
        lambda r: not r["insured"] or r["ward"] == "d'e",
    ),
    ("max(count, 7)", "integer", {}, ["count"], lambda r: max(r["count"], 7)),
    ("born is missing", "boolean", {}, [], lambda r: r["born"] is None),
    ("first(count, -1)", "integer", {}, [], lambda r: -1 if r["count"] is None else r["count"]),
    (
        "min(date(arrived), date(left))",
        "date",
        {},
        ["arrived", "left"],
        lambda r: min(r["arrived"].date(), r["left"].date()),
    ),
]


@pytest.mark.parametrize(("text", "kind", "more", "needs", "truth"), CASES, ids=[case[0] for case in CASES])
def test_every_derivation_is_exact_and_missing_where_what_it_needs_is(text, kind, more, needs, truth):
    for value, row in computed(text, kind, **more):
        assert value == (truth(row) if present(row, *needs) else None)


def test_a_ratio_is_rounded_once_and_a_division_by_zero_is_missing():
    for value, row in computed("price / count", "number", sundog={"decimals": 3}):
        if not present(row, "price", "count") or row["count"] == 0:
            assert value is None
        else:
            exact = Fraction(round(row["price"] * 100), 100) / row["count"]
            assert value == float((exact * 1000 + Fraction(1, 2)).__floor__()) / 1000


def test_bounds_clamp_and_unlisted_texts_are_missing():
    assert {
        value for value, row in computed("count", constraints={"minimum": 3, "maximum": 5}) if value is not None
    } == {3, 4, 5}
    found = {value for value, _ in computed("ward", "string", categories=["c"])}
    assert found == {"c", None}


def test_derived_fields_may_use_each_other_in_any_order():
    made = schema(
        {"name": "double", "type": "integer", "derived": "2 * stay"},
        {"name": "stay", "type": "integer", "derived": "floor(days(left - arrived))"},
    )
    for row in rows(made).to_arrow().to_pylist():
        assert row["double"] == (None if row["stay"] is None else 2 * row["stay"])


def test_text_files_show_them_as_declared():
    made = schema(
        derived("price * 2", "number", sundog={"decimals": 1}),
        {"name": "day", "type": "date", "derived": "date(arrived)"},
    )
    table = rows(made).to_text().to_pydict()
    assert all(text is None or len(text.partition(".")[2]) == 1 for text in table["new"])
    assert all(text is None or datetime.strptime(text, "%Y-%m-%d") for text in table["day"])
    assert list(table) == [field["name"] for field in FIELDS] + ["new", "day"]


WRONG = [
    ("count +", "a value is expected"),
    ("nobody", "neither a column nor a function"),
    ("eval('1')", "no such function"),
    ("__import__('os')", "no such function"),
    ("count & 1", "has no meaning"),
    ("count = 'a'", "compares values of one kind"),
    ("year(count)", "takes a date or datetime"),
    ("left - arrived", "wrap it in days"),
    ("ward", "it gives a text"),
    ("insured and count", "joins conditions"),
    ("insured and insured or insured", "parentheses"),
    ("count 3", "an operator or the end"),
    ("(count", "')' is expected"),
    ("(" * 60 + "count" + ")" * 60, "parentheses are nested"),
    ("new + 1", "needs itself"),
    ("1" * 3000, "at most 2000"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG, ids=[problem for _, problem in WRONG])
def test_what_is_wrong_is_said_when_the_schema_is_read(text, problem):
    with pytest.raises(UserError, match=re.escape(problem)) as error:
        schema(derived(text))
    assert "field 'new'" in str(error.value)


def test_circles_and_targets_are_refused():
    with pytest.raises(UserError, match="needs itself"):
        schema({"name": "x", "type": "integer", "derived": "y"}, {"name": "y", "type": "integer", "derived": "x"})
    with pytest.raises(UserError, match="decimals"):
        schema(derived("price", "number"))


@given(st.lists(st.integers(0, 10**6), min_size=7, max_size=7), st.sampled_from([case[:3] for case in CASES]))
@settings(max_examples=60)
def test_nothing_that_a_row_holds_can_raise_an_error(places, case):
    text, kind, more = case
    made = schema(derived(text, kind, **more))
    codes = tuple(np.array([place % column.size]) for place, column in zip(places, made.columns, strict=True))
    Rows(made, codes).to_arrow()
    Rows(made, codes).to_text()


def test_a_derived_column_is_not_read_measured_or_needed(tmp_path):
    document = {
        "name": "visits",
        "fields": [
            {
                "name": "arrived_at",
                "type": "datetime",
                "constraints": {"minimum": "2024-01-01T00:00:00", "maximum": "2024-12-31T23:59:59", "required": True},
            },
            {"name": "visit_date", "type": "date", "derived": "date(arrived_at)"},
        ],
    }
    table = {"arrived_at": [datetime(2024, 3, 1, 10) + timedelta(hours=h) for h in range(200)]}
    model = sundog.Synthesizer(document, epsilon=1.0, delta=1e-6, method="independent").fit(table)
    assert {name for m in model.released.measurements for name in m.query.columns} == {"arrived_at"}
    made = model.sample(50).to_pylist()
    assert all(row["visit_date"] == row["arrived_at"].date() for row in made)
    again = sundog.load(model.save(tmp_path / "saved")).sample(20).to_pylist()
    assert all(isinstance(row["visit_date"], date) for row in again)


LARGE = {"name": "n", "type": "integer", "constraints": {"minimum": 10**6, "maximum": 10**6 + 9, "required": True}}


@pytest.mark.parametrize("over", ["", "/3"])
def test_a_number_of_any_size_can_be_spelled(over):
    product = "*".join(["n"] * 900)
    made = Schema.from_json({"fields": [LARGE, derived(f"text({product}{over})", "string")]})
    assert Rows(made, (np.array([0]),)).to_arrow().to_pylist()[0] == {"n": 10**6, "new": str(2**62)}


def test_texts_that_put_each_other_together_end_in_a_sentence():
    longer = [{**derived(f"concat({','.join([f't{k - 1}'] * 250)})", "string"), "name": f"t{k}"} for k in range(1, 4)]
    made = Schema.from_json({"fields": [LARGE, {**derived("text(n)", "string"), "name": "t0"}, *longer]})
    with pytest.raises(UserError, match="more than 10,000 characters"):
        Rows(made, (np.array([0]),)).to_arrow()
