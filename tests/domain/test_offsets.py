"""Offsets: a field modelled as its distance from another goes to codes and back exactly, and keeps what is declared."""

from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sundog.domain import Schema
from sundog.domain.review import Review
from sundog.domain.row_checks import holds
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.postprocess.constraints import enforce, violations
from sundog.random.keys import key_of
from sundog.sources import open_table

ADMITTED = {"name": "admitted", "type": "date", "constraints": {"minimum": "2023-01-01", "maximum": "2023-12-31"}}
DISCHARGED = {
    "name": "discharged",
    "type": "date",
    "relativeTo": "admitted",
    "offset": {"minimum": 0, "maximum": 60},
}


def schema(*fields, **more):
    return Schema.from_json({"name": "stays", "fields": list(fields), **more})


def encoded(made, **columns):
    return open_table(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})).read(made)


def random_rows(made, count=400, seed=0):
    random = np.random.default_rng(seed)
    return Rows(made, tuple(random.integers(0, column.size, count) for column in made.columns))


def test_the_distance_is_measured_under_a_name_that_says_what_it_is():
    made = schema(ADMITTED, DISCHARGED)
    assert made.names == ("admitted", "discharged - admitted")
    assert made.fields == ("admitted", "discharged")
    assert [column.name for column in made.shown] == ["admitted", "discharged"]
    assert made.column("discharged - admitted").size == 62


def test_codes_are_days_and_missing_is_missing_in_either():
    made = schema(ADMITTED, DISCHARGED)
    rows = encoded(
        made,
        admitted=["2023-01-05", "2023-02-01", "", "2023-02-01", "2023-03-01", "2022-12-30"],
        discharged=["2023-01-09", "2023-01-20", "2023-03-05", None, "2023-12-31", "2023-01-04"],
    )
    assert rows.column("discharged - admitted").tolist() == [4, 0, 61, 61, 60, 5], (
        "clamped below and above; true distance"
    )
    shown = rows.to_arrow().to_pydict()
    assert shown["discharged"] == [
        date(2023, 1, 9),
        date(2023, 2, 1),
        None,
        None,
        date(2023, 4, 30),
        date(2023, 1, 6),
    ], "the base is clamped to its bounds, the distance stays"
    assert rows.to_arrow().schema.field("discharged").type == pa.date32()


def test_the_missing_patterns_that_the_documentation_names():
    """Base there and own missing, and both missing, come back; own without a base does not."""
    made = schema(ADMITTED, DISCHARGED)
    rows = encoded(made, admitted=["2023-01-05", "", ""], discharged=["", "", "2023-01-05"])
    shown = rows.to_arrow().to_pylist()
    assert [[cell is None for cell in row.values()] for row in shown] == [[False, True], [True, True], [True, True]]


def test_a_base_that_is_missing_makes_the_field_missing_whatever_distance_was_drawn():
    made = schema(ADMITTED, DISCHARGED)
    rows = Rows(made, (np.array([365, 3]), np.array([7, 7])))
    assert rows.to_arrow().to_pydict()["discharged"] == [None, date(2023, 1, 11)]


NUMBER = {"name": "cost", "type": "number", "constraints": {"minimum": -20, "maximum": 90}}
MOMENT = {
    "name": "arrived",
    "type": "datetime",
    "constraints": {"minimum": "2023-01-01T00:00:00", "maximum": "2023-02-01T00:00:00"},
}
PAIRS = [
    ({**NUMBER, "sundog": {"decimals": 2}}, {"type": "number", "sundog": {"decimals": 2}}, (-5, 5.5)),
    ({**NUMBER, "sundog": {"decimals": 2}}, {"type": "integer"}, (-3, 9)),
    ({**NUMBER, "type": "integer"}, {"type": "number", "sundog": {"decimals": 1}}, (0, 3)),
    (ADMITTED, {"type": "date"}, (-10, 40)),
    (ADMITTED, {"type": "datetime", "sundog": {"resolution": 900}}, ("-6 hours", "2 days")),
    ({**MOMENT, "sundog": {"resolution": 60}}, {"type": "date"}, (0, "3 weeks")),
    ({**MOMENT, "sundog": {"resolution": 3600}}, {"type": "datetime", "sundog": {"resolution": 60}}, (0, "90 minutes")),
    ({**MOMENT, "sundog": {"resolution": 7}}, {"type": "datetime", "sundog": {"resolution": 60}}, (-600, 3600)),
]


@pytest.mark.parametrize(("base", "own", "bounds"), PAIRS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_codes_come_back_from_the_values_that_they_stand_for(base, own, bounds, seed):
    ends = {"minimum": bounds[0], "maximum": bounds[1]}
    made = schema(base, {"name": "own", "relativeTo": base["name"], "offset": ends, **own})
    rows = random_rows(made, 200, seed % 2**31)
    known = rows.codes[0] != made.columns[0].missing
    for table in (rows.to_arrow(), rows.to_text()):
        again = open_table(table).read(made)
        assert np.array_equal(again.codes[0], rows.codes[0])
        assert np.array_equal(again.codes[1][known], rows.codes[1][known])
        assert (again.codes[1][~known] == made.columns[1].missing).all(), "without a base there is no distance"


def test_values_are_base_and_distance_added_up():
    made = schema(
        {**NUMBER, "sundog": {"decimals": 2}},
        {
            "name": "paid",
            "type": "number",
            "relativeTo": "cost",
            "offset": {"minimum": -9, "maximum": 0},
            "sundog": {"decimals": 2},
        },
    )
    rows = random_rows(made)
    for cost, paid, code in zip(*rows.to_arrow().to_pydict().values(), rows.codes[1].tolist(), strict=True):
        if paid is not None:
            assert Fraction(str(paid)) == Fraction(str(cost)) - 9 + Fraction(code, 100)


def test_a_chain_is_followed_and_a_circle_is_refused_by_name():
    review = {
        "name": "seen",
        "type": "datetime",
        "relativeTo": "discharged",
        "offset": {"minimum": 0, "maximum": "1 day"},
    }
    made = schema(review, DISCHARGED, ADMITTED)
    assert made.names == ("seen - discharged", "discharged - admitted", "admitted"), "the order of the fields stays"
    for row, codes in zip(
        random_rows(made).to_arrow().to_pylist(), zip(*random_rows(made).codes, strict=True), strict=True
    ):
        if row["seen"] is None:
            assert any(code == column.missing for code, column in zip(codes, made.columns, strict=True))
        else:
            midnight = datetime.combine(row["discharged"], datetime.min.time())
            assert timedelta(0) <= row["seen"] - midnight <= timedelta(days=1)
    with pytest.raises(UserError, match=r"field 'admitted': relativeTo goes in a circle"):
        schema({**DISCHARGED, "name": "admitted", "relativeTo": "discharged"}, DISCHARGED)
    with pytest.raises(UserError, match="circle"):
        schema({**DISCHARGED, "relativeTo": "discharged"}, ADMITTED)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([ADMITTED, {**DISCHARGED, "offset": None}], "field 'discharged': relativeTo needs bounds of the difference"),
        ([{**DISCHARGED, "relativeTo": "born"}, ADMITTED], "relativeTo names 'born', which is no modelled field"),
        ([{"name": "admitted", "type": "integer", "identifier": True}, DISCHARGED], "'admitted', which is no modelled"),
        ([NUMBER, {**DISCHARGED, "relativeTo": "cost"}], "'cost' is of another type"),
        ([{"name": "admitted", "type": "boolean"}, DISCHARGED], "'admitted' is of another type"),
        ([{"name": "admitted", "type": "time"}, {**DISCHARGED, "type": "time"}], "of another type"),
        ([ADMITTED, {**DISCHARGED, "constraints": {"required": True}}], "it is required, but 'admitted' may be missing"),
        ([ADMITTED, {**DISCHARGED, "constraints": {"maximum": "2020-01-01"}}], "leave no value between its own minimum"),
        ([ADMITTED, {**DISCHARGED, "offset": {"minimum": 5, "maximum": 4}}], "no distance lies between offset minimum 5"),
        ([ADMITTED, {**DISCHARGED, "offset": {"minimum": "0 months", "maximum": 4}}], "'0 months' is not a number"),
        ([ADMITTED, DISCHARGED, {**NUMBER, "name": "discharged - admitted"}], "which is also the name of a field; rename that one"),
        ([ADMITTED, {**NUMBER, "offset": {"minimum": 0, "maximum": 1}}], "field 'cost': an offset needs relativeTo"),
        ([ADMITTED, {**DISCHARGED, "offset": {"minimum": 0, "most": 1}}], "field 'discharged'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(fields, message):
    with pytest.raises(UserError) as refused:
        schema(*fields)
    assert message in str(refused.value)


def test_own_bounds_hold_and_the_distance_gives_way_before_the_bound():
    made = schema(
        {**ADMITTED, "constraints": {**ADMITTED["constraints"], "required": True}},
        {**DISCHARGED, "constraints": {"maximum": "2024-01-10", "required": True}},
    )
    raw = random_rows(made)
    assert max(raw.to_arrow().to_pydict()["discharged"]) <= date(2024, 1, 10)
    (rule,) = made.constraints
    assert not holds(rule, raw).all()
    kept = enforce(key_of(0), made, draw=lambda _, count: random_rows(made, count), rows=400)
    assert holds(rule, kept).all()
    shown = kept.to_arrow().to_pylist()
    lengths = [(row["discharged"] - row["admitted"]).days for row in shown]
    assert lengths == kept.codes[1].tolist(), "no distance was cut"


def test_constraints_on_the_field_itself_are_kept_in_what_comes_out():
    seen = {"name": "seen", "type": "date", "constraints": {"minimum": "2023-01-01", "maximum": "2024-06-30"}}
    made = schema(
        ADMITTED,
        {**DISCHARGED, "offset": {"minimum": -20, "maximum": 60}},
        seen,
        constraints=[
            {"name": "order", "kind": "compare", "left": "admitted", "operator": "<", "right": "discharged"},
            {"name": "late", "kind": "compare", "left": "discharged", "operator": "<=", "right": "seen"},
            {"name": "odd", "kind": "impossible", "where": {"discharged - admitted": {"minimum": 50}}},
        ],
    )
    kept = enforce(key_of(0), made, draw=lambda _, count: random_rows(made, count, seed=1), rows=300)
    assert set(violations(kept).values()) == {0}
    assert any(violations(random_rows(made)).values())
    for row in kept.to_arrow().to_pylist():
        if row["admitted"] and row["discharged"]:
            assert row["admitted"] < row["discharged"] < row["admitted"] + timedelta(days=50)
        if row["seen"] and row["discharged"]:
            assert row["discharged"] <= row["seen"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"kind": "impossible", "where": {"discharged": "2023-05-01"}}, "name the distance, 'discharged - admitted'"),
        ({"kind": "determines", "columns": ["discharged"], "column": "admitted"}, "is modelled as a distance"),
        ({"kind": "protected", "weights": {"discharged": 1}, "threshold": 0.5}, "is modelled as a distance"),
    ],
)
def test_constraints_on_single_values_of_it_are_refused(rule, message):
    with pytest.raises(UserError) as refused:
        schema(ADMITTED, DISCHARGED, constraints=[rule])
    assert message in str(refused.value)


def test_a_constraint_across_grids_that_do_not_divide_is_refused():
    arrived = {**MOMENT, "sundog": {"resolution": 60}}
    left = {"name": "left", "type": "date", "relativeTo": "arrived", "offset": {"minimum": 0, "maximum": 9}}
    rule = {"kind": "compare", "left": "arrived", "operator": "<=", "right": "left"}
    with pytest.raises(UserError, match="coarser grid"):
        schema(arrived, left, constraints=[rule])


def test_derived_fields_use_the_field_itself():
    stay = {"name": "stay", "type": "integer", "derived": "floor(days(discharged - admitted))"}
    rows = random_rows(schema(ADMITTED, stay, DISCHARGED))
    for row, codes in zip(rows.to_arrow().to_pylist(), zip(*rows.codes, strict=True), strict=True):
        assert row["stay"] == (None if codes[0] == 365 or codes[1] == 61 else codes[1])


def test_rows_of_some_columns_show_what_they_can():
    made = schema(ADMITTED, DISCHARGED)
    alone = Rows(Schema((made.columns[1],)), (np.arange(3),))
    assert alone.to_arrow().column_names == []


def test_widened_rows_hold_the_field_beside_its_distance():
    made = schema(ADMITTED, DISCHARGED)
    rows = random_rows(made).widened()
    assert rows.schema.names == ("admitted", "discharged - admitted", "discharged")
    assert (
        rows.schema.columns[2].decode(rows.codes[2]).to_pylist()
        == random_rows(made).to_arrow().to_pydict()["discharged"]
    )
    plain = schema(ADMITTED)
    assert plain.widened is plain


def test_review_describes_offsets_and_derivations_and_refuses_to_lose_a_base():
    drafted = [{**field, "sundog": {"origin": "fromData"}} for field in (ADMITTED, DISCHARGED)]
    drafted.append(
        {"name": "year", "type": "string", "derived": "text(year(admitted))", "sundog": {"origin": "fromData"}}
    )
    review = Review({"fields": drafted})
    said = [question.declares for question in review.questions]
    assert said[1] == "date, modelled as its distance from admitted: 0 to 60 days"
    assert said[2] == "string, computed: text(year(admitted))"
    with pytest.raises(UserError, match="relativeTo names 'admitted'"):
        review.leave_out("admitted")
    assert review.keep("admitted").keep("discharged").keep("year").done
