"""Constraints that contradict each other or the schema are refused by name; what rows can satisfy never is."""

import itertools

import pytest

from sundog.domain.contradictions import constraint_doubts, refuse_contradictions
from sundog.domain.schema import Schema
from sundog.errors import UserError

NEEDED = {"required": True}


def number(name, low=0, high=10**6, *, required=True):
    return {"name": name, "type": "integer", "constraints": {"minimum": low, "maximum": high, "required": required}}


def label(name, *labels):
    return {"name": name, "categories": list(labels), "constraints": NEEDED}


def less(name, left, right, operator="<", **more):
    return {"name": name, "kind": "compare", "left": left, "operator": operator, "right": right, **more}


DAY = {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31", "required": True}}
STAY = {
    "name": "left",
    "type": "date",
    "relativeTo": "came",
    "offset": {"minimum": 0, "maximum": 9},
    "constraints": NEEDED,
}
CASES = {
    "a circle": (
        [number("a"), number("b"), number("c")],
        [less("one", "a", "b"), less("two", "b", "c"), less("three", "c", "a"), less("free", "a", "c")],
        {"one", "two", "three"}, {"three", "free"},
    ),
    "a circle with offsets": (
        [number("a"), number("b")],
        [less("gap", "a", "b", "<=", offset=-5), less("near", "b", "a", "<=", offset=4)],
        {"gap", "near"},
    ),
    "dates and their distance": (
        [{"name": "came", **DAY}, STAY, {"name": "seen", **DAY}],
        [less("after", "seen", "left", ">", offset=3), less("before", "seen", "came", "<", offset=4)],
        {"after", "before"},
    ),
    "a sum beside a comparison": (
        [number("wage", 0, 100), number("bonus", 0, 100)],
        [{"name": "least", "kind": "sum", "columns": ["wage", "bonus"], "minimum": 150}, less("small", "wage", "bonus", "<=", offset=-60)],
        {"least", "small"},
    ),
    "equations without whole numbers": (
        [number("a"), number("b")],
        [{"name": "odd", "kind": "sum", "columns": ["a", "b"], "equals": 7}, less("same", "a", "b", "=")],
        {"odd", "same"},
    ),
    "a ratio": (
        [number("tax", 0, 100), number("income", 10, 100)],
        [{"name": "share", "kind": "ratio", "numerator": "tax", "denominator": "income", "maximum": 0.5}, less("high", "tax", "income", ">=")],
        {"share", "high"},
    ),
    "all labels are excluded": (
        [label("sex", "f", "m"), label("ward", "a", "b")],
        [
            {"name": "no f", "kind": "impossible", "where": {"sex": "f"}},
            {"name": "no m in a", "kind": "impossible", "where": {"sex": "m", "ward": "a"}},
            {"name": "no m in b", "kind": "impossible", "where": {"sex": "m", "ward": "b"}},
            {"name": "unneeded", "kind": "impossible", "where": {"sex": "f", "ward": "b"}},
        ],
        {"no f", "no m in a", "no m in b"},
    ),
    "all of a range is excluded": (
        [number("age", 0, 99)],
        [{"name": "young", "kind": "impossible", "where": {"age": {"maximum": 50}}}, {"name": "old", "kind": "impossible", "where": {"age": {"minimum": 51}}}],
        {"young", "old"},
    ),
    "one alone": ([label("sex", "f", "m")], [{"name": "no one", "kind": "impossible", "where": {"sex": ["f", "m"]}}], {"no one"}),
    "a missing value is required and excluded": (
        [number("a", required=False), number("b")],
        [less("up", "a", "b"), less("down", "b", "a"), {"name": "told", "kind": "impossible", "where": {"a": None}}],
        {"up", "down", "told"},
    ),
    "maps that do not meet": (
        [label("code", "x", "y"), label("part", "p", "q"), label("whole", "v", "w")],
        [
            {"name": "first", "kind": "determines", "columns": ["code"], "column": "part", "map": {"x": "p", "y": "p"}},
            {"name": "second", "kind": "determines", "columns": ["part"], "column": "whole", "map": {"p": "v"}},
            {"name": "third", "kind": "impossible", "where": {"whole": "v"}},
        ],
        {"first", "second", "third"},
    ),
    "labels compared": (
        [label("a", "x", "y"), label("b", "x", "y")],
        [less("equal", "a", "b", "="), less("unequal", "a", "b", "!=")],
        {"equal", "unequal"},
    ),
}  # fmt: skip


def schema_of(fields, constraints):
    return Schema.from_json({"name": "t", "fields": fields, "constraints": constraints})


@pytest.mark.parametrize("name", CASES)
def test_contradictions_are_refused_by_the_fewest_names(name):
    fields, constraints, *cores = CASES[name]
    with pytest.raises(UserError, match=r"no row within the declared domains") as refused:
        refuse_contradictions(schema_of(fields, constraints))
    said = str(refused.value).partition(": ")[0]
    named = {each["name"] for each in constraints if repr(each["name"]) in said}
    assert named in cores
    assert ("they contradict each other" in str(refused.value)) == (len(named) > 1)


@pytest.mark.parametrize("name", CASES)
def test_without_any_one_of_them_rows_are_possible(name):
    fields, constraints, *cores = CASES[name]
    for core, lost in itertools.chain.from_iterable(itertools.product([core], core) for core in cores):
        kept = [each for each in constraints if each["name"] in core - {lost}]
        refuse_contradictions(schema_of(fields, kept))


def test_what_only_missing_numbers_satisfy_is_no_contradiction_but_a_doubt():
    fields = [number("a", required=False), number("b")]
    schema = schema_of(fields, [less("up", "a", "b"), less("down", "b", "a")])
    refuse_contradictions(schema)
    assert "unless one of its numbers is missing" in " ".join(constraint_doubts(schema))
    assert constraint_doubts(schema_of(fields, [less("up", "a", "b")])) == []


def test_what_was_not_decided_is_a_doubt():
    fields = [number(name, 0, 2**44) for name in "abc"]
    coins = {"name": "coins", "kind": "sum", "weights": {"a": 12223, "b": 12224, "c": 36674}, "equals": 89643481}
    schema = schema_of(fields, [coins])
    refuse_contradictions(schema)
    assert "'coins'" in " ".join(constraint_doubts(schema))
