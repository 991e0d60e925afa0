"""Conditions: what they hold for, by brute force against Python; and every text ends in a condition or a UserError."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sundog.domain import Schema
from sundog.domain.conditions import borders, columns_of, holds, parse_condition, satisfied
from sundog.domain.rows import Rows
from sundog.errors import UserError

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "age", "type": "integer", "constraints": {"minimum": 10, "maximum": 99}},
            {"name": "sex", "type": "string", "categories": ["female", "male"]},
            {"name": "pay band", "type": "string", "categories": ["<=50K", "it's", "or"]},
            {"name": "level", "type": "string", "categories": ["low", "mid", "high"], "categoriesOrdered": True},
            {"name": "smoker", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
            {"name": "bmi", "type": "number", "constraints": {"minimum": 0, "maximum": 60}, "sundog": {"decimals": 1}},
            {"name": "day", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
        ]
    }
)


def rows(count=4000):
    random = np.random.default_rng(3)
    return Rows(SCHEMA, tuple(random.integers(0, column.size, count) for column in SCHEMA.columns))


ROWS = rows()
VALUES = {name: column.to_pylist() for name, column in zip(SCHEMA.names, ROWS.to_arrow().columns, strict=True)}


def expected(test):
    """SQL: a row counts where the test is true; with a missing value a comparison is neither true nor false."""
    lines = [dict(zip(VALUES, line, strict=True)) for line in zip(*VALUES.values(), strict=True)]
    return np.array([test(line) for line in lines])


def known(test):
    return lambda value: value is not None and test(value)


CASES = {
    "age >= 65": lambda r: known(lambda v: v >= 65)(r["age"]),
    "age>64.5": lambda r: known(lambda v: v > 64.5)(r["age"]),
    "not age >= 65": lambda r: known(lambda v: v < 65)(r["age"]),
    "age >= 65 and sex = female": lambda r: known(lambda v: v >= 65)(r["age"]) and r["sex"] == "female",
    "age < 20 or age > 90 and sex = male": lambda r: (
        known(lambda v: v < 20)(r["age"]) or (known(lambda v: v > 90)(r["age"]) and r["sex"] == "male")
    ),
    "(age < 20 or age > 90) AND NOT sex == 'male'": lambda r: (
        known(lambda v: v < 20 or v > 90)(r["age"]) and r["sex"] == "female"
    ),
    "'pay band' = '<=50K'": lambda r: r["pay band"] == "<=50K",
    "\"pay band\" in ('it''s', 'or')": lambda r: r["pay band"] in ("it's", "or"),
    "sex not in (female)": lambda r: r["sex"] == "male",
    "sex <> female": lambda r: r["sex"] == "male",
    "sex is missing": lambda r: r["sex"] is None,
    "not sex is missing": lambda r: r["sex"] is not None,
    "sex is not missing": lambda r: r["sex"] is not None,
    "level >= mid": lambda r: r["level"] in ("mid", "high"),
    "not (level >= mid and smoker = yes)": lambda r: r["level"] == "low" or r["smoker"] is False,
    "smoker = true": lambda r: r["smoker"] is True,
    "bmi <= 25.55": lambda r: known(lambda v: v <= 25.55)(r["bmi"]),
    "bmi = 25.55": lambda r: False,
    "bmi != 25.55": lambda r: r["bmi"] is not None,
    "bmi not in (1.5, 2)": lambda r: known(lambda v: v not in (1.5, 2.0))(r["bmi"]),
    "day < 2020-06-01": lambda r: known(lambda v: str(v) < "2020-06-01")(r["day"]),
    "age > 1000": lambda r: False,
    "age > -1": lambda r: r["age"] is not None,
}


@pytest.mark.parametrize("text", CASES, ids=str)
def test_conditions_hold_where_they_should(text):
    found = satisfied(parse_condition(text, SCHEMA), ROWS)
    assert np.array_equal(found, expected(CASES[text]))


def test_cells_between_borders_are_all_in_or_all_out():
    condition = parse_condition("age >= 65 and sex = female or age < 20", SCHEMA)
    assert columns_of(condition) == ("age", "sex")
    assert borders(condition, "age") == (0, 10, 55, 90)
    grid = {"age": np.arange(91)[:, None], "sex": np.arange(3)[None, :]}
    assert holds(condition, grid.__getitem__).sum() == 35 + 10 * 3


REFUSED = {
    "": "at character 1: found the end; a column's name is expected",
    "seks = male": "at character 1: found 'seks'; it is not a column",
    "sex = ": "at character 7: found the end; a value is expected",
    "sex = diverse": "at character 7: 'diverse' is not a value of field 'sex'; it has ",
    "sex > male": "at character 7: the labels of 'sex' have no order",
    "age >= old": "at character 8: 'old' does not fit field 'age', which is of type integer",
    "age >= 1e999999999": "at character 8",
    "age => 65": "at character 6: found '>'",
    "age >= 65 sex = male": "at character 11: found 'sex'; here only 'and', 'or' or the end may follow",
    "(age >= 65": "')' is expected",
    "age in (1, 2": "')' is expected",
    "age in ()": "a value is expected",
    "sex = 'male": "this quote is not closed",
    "age ! 65": "this sign has no meaning here",
    "age is 65": "'missing' is expected",
    "__import__('os')": "is not a column",
    "not " * 60 + "age > 1": "are nested",
    "(" * 5000 + "age > 1": "are nested",
    "a" * 20_000: "at most 10000 are read",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30] or "empty")
def test_what_is_no_condition_is_refused_with_its_place(text):
    with pytest.raises(UserError) as refused:
        parse_condition(text, SCHEMA)
    assert REFUSED[text] in str(refused.value)


PIECES = st.sampled_from(
    [
        *(
            "age",
            "sex",
            "'pay band'",
            "level",
            "and",
            "or",
            "not",
            "in",
            "is",
            "missing",
            "(",
            ")",
            ",",
            "=",
            "<",
            ">=",
        ),
        *("!", "65", "male", "mid", "''", '"', "1e5", "-3", "2020-01-01", " ", "\0", "é"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map(" ".join))
def test_every_text_ends_in_a_condition_or_a_refusal(text):
    try:
        condition = parse_condition(text, SCHEMA)
    except UserError:
        return
    assert satisfied(condition, ROWS).shape == (len(ROWS),)
