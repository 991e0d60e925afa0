"""Constraints in the schema file: exact statements about codes, and messages that name the constraint."""

import pytest

from sundog.domain import Schema
from sundog.domain.constraints.kinds import Determines, Impossible, Linear, Pairs, ProtectedStatistic
from sundog.errors import UserError

FIELDS = [
    {"name": "from", "type": "date", "constraints": {"minimum": "2024-01-01", "maximum": "2024-12-31"}},
    {
        "name": "to",
        "type": "datetime",
        "constraints": {"minimum": "2024-01-01T00:00:00", "maximum": "2025-01-31T00:00:00"},
    },
    {"name": "net", "type": "number", "constraints": {"minimum": 0, "maximum": 100}, "sundog": {"decimals": 2}},
    {"name": "tax", "type": "number", "constraints": {"minimum": 0, "maximum": 50}, "sundog": {"decimals": 1}},
    {"name": "sex", "type": "string", "categories": ["f", "m"]},
    {"name": "pregnant", "type": "boolean"},
    {"name": "low", "type": "string", "categories": ["a", "b", "c"], "categoriesOrdered": True},
    {"name": "high", "type": "string", "categories": ["a", "b", "c"], "categoriesOrdered": True},
]


def read(*constraints):
    return Schema.from_json({"fields": FIELDS, "constraints": list(constraints)}).constraints


def test_dates_and_datetimes_compare_in_seconds():
    (rule,) = read({"kind": "compare", "left": "from", "operator": "<", "right": "to"})
    assert rule == Linear("number 1", ("from", "to"), (86400, -1), -1, equal=False)


def test_sums_of_different_decimals_are_whole_numbers():
    least, most = read({"kind": "sum", "weights": {"net": 1, "tax": 2}, "minimum": 5, "maximum": 20.25, "name": "s"})
    assert most == Linear("s", ("net", "tax"), (1, 20), 2025, equal=False)
    assert least == Linear("s", ("net", "tax"), (-1, -20), -500, equal=False)


def test_a_sum_may_equal_a_column_and_a_ratio_is_a_product():
    (rule,) = read({"kind": "sum", "columns": ["tax"], "equals": "net"})
    assert (rule.coefficients, rule.limit, rule.equal) == ((10, -1), 0, True)
    (rule,) = read({"kind": "ratio", "numerator": "tax", "denominator": "net", "maximum": 0.5})
    assert (rule.columns, rule.coefficients, rule.limit) == (("tax", "net"), (20, -1), 0)


def test_labels_compare_by_name_or_by_rank():
    (same,) = read({"kind": "compare", "left": "low", "operator": "<=", "right": "high"})
    assert isinstance(same, Pairs)
    assert (2, 0) not in same.allowed
    assert {(0, 2), (1, 1), (3, 0), (2, 3)} <= same.allowed  # 3 is missing: unknown satisfies


def test_impossible_combinations_name_labels_ranges_and_missing():
    where = {"sex": "m", "pregnant": [True, None], "net": {"minimum": 0.5, "maximum": 3}}
    (rule,) = read({"kind": "impossible", "where": where})
    assert rule == Impossible("number 1", ("sex", "pregnant", "net"), (((1, 2),), ((1, 2), (2, 3)), ((50, 301),)))


def test_a_dependency_may_have_a_public_map_and_a_statistic_may_be_protected():
    rule, statistic = read(
        {"kind": "determines", "columns": ["low"], "column": "pregnant", "map": {"a": True, "b": "false"}},
        {"kind": "protected", "weights": {"net": 1, "tax": -0.5}, "threshold": 0.4, "strength": 2, "sharpness": 50},
    )
    assert rule == Determines("number 1", ("low",), "pregnant", ((0, 1), (1, 0)))
    assert statistic == ProtectedStatistic("number 2", ("net", "tax"), (1.0, -0.5), 0.4, 2.0, 50.0)


@pytest.mark.parametrize(
    ("constraint", "says"),
    [
        ({"kind": "nonsense"}, "nonsense"),
        ({"kind": "compare", "left": "net", "operator": "~", "right": "tax"}, "operator"),
        ({"kind": "compare", "left": "net", "operator": "<", "right": "nett"}, "'nett' is not a modelled field"),
        ({"kind": "compare", "left": "net", "operator": "<", "right": "from"}, "mixes numbers with dates"),
        ({"kind": "compare", "left": "net", "operator": "<", "right": "sex"}, "has labels"),
        ({"kind": "compare", "left": "sex", "operator": "<", "right": "low"}, "ordered"),
        ({"kind": "compare", "left": "net", "operator": "!=", "right": "tax"}, "labels only"),
        ({"kind": "compare", "left": "net", "operator": "<", "right": "net"}, "itself"),
        ({"kind": "sum", "columns": ["net"], "minimum": 101}, "no row within"),
        ({"kind": "sum", "columns": ["net"], "equals": 0.005}, "no row within"),
        ({"kind": "sum", "columns": ["net"]}, "needs 'minimum'"),
        ({"kind": "sum", "maximum": 3}, "'columns' or 'weights'"),
        ({"kind": "ratio", "numerator": "net", "denominator": "tax"}, "needs 'minimum' or 'maximum'"),
        ({"kind": "impossible", "where": {"sex": "x"}}, "'x' is not a value of field 'sex'"),
        ({"kind": "impossible", "where": {"sex": {"minimum": 1}}}, "a condition is"),
        (
            {"kind": "impossible", "where": {"net": {"minimum": "abc"}}},
            "'abc' does not fit field 'net', which is of type number",
        ),
        ({"kind": "determines", "columns": ["sex"], "column": "sex"}, "cannot determine itself"),
        ({"kind": "determines", "columns": ["sex", "low"], "column": "net", "map": {"f": 1}}, "exactly one"),
        ({"kind": "protected", "weights": {"net": 1}, "threshold": 7}, "lies outside"),
        (
            {"kind": "protected", "weights": {"net": 40, "tax": -40}, "threshold": 7},
            "add up to 80 in absolute value; at most 64",
        ),
        ({"kind": "protected", "weights": {"net": 1}, "threshold": 0.5, "strength": -1}, "strength"),
        (
            {"kind": "protected", "weights": {"net": 1}, "threshold": 0.5, "sharpness": 0},
            "sharpness: Input should be greater",
        ),
        (
            {"kind": "protected", "weights": {"net": 1}, "threshold": 0.5, "sharpness": 1000},
            "less than or equal to 100",
        ),
        ({"kind": "protected", "weights": {"net": 1}, "threshold": 0.5, "sharpness": "steep"}, "sharpness"),
    ],
)
def test_messages_name_the_constraint_and_the_remedy(constraint, says):
    with pytest.raises(UserError, match="constraint 'my rule'") as error:
        read(constraint | {"name": "my rule"})
    assert says in str(error.value)


def test_a_schema_with_constraints_survives_saving():
    cap = {"kind": "sum", "columns": ["net", "tax"], "maximum": 90}
    hidden = {"kind": "protected", "weights": {"net": 1}, "threshold": 0.5, "sharpness": 50}
    schema = Schema.from_json({"fields": FIELDS, "constraints": [cap, hidden]})
    assert schema.constraints[-1].sharpness == 50
    assert Schema.from_json(schema.to_json()) == schema
