"""Constraints as forms: every kind can be declared, and what cannot be read is told."""

import pytest
from starlette.datastructures import FormData

from sundog.domain.schema import Schema
from sundog.errors import UserError
from sundog.studio.constraint_forms import KINDS, declaration, sentence

DOCUMENT = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "years", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "sex", "type": "string", "categories": ["f", "m"]},
        {"name": "ward", "type": "string", "categories": ["a", "b"]},
    ]
}
FORMS = {
    "compare": {"left": "years", "operator": "<=", "right": "age"},
    "sum": {"columns": ["age", "years"], "maximum": "150"},
    "ratio": {"numerator": "years", "denominator": "age", "minimum": "0", "maximum": "0.5"},
    "determines": {"columns": ["ward"], "column": "sex", "map": "a = f\nb = m"},
    "impossible": {"where": "sex = m\nage = 0 to 9"},
    "protected": {"weights": "age = 1\nyears = 2", "threshold": "1.5"},
}


def form_of(kind, **changes):
    given = FORMS[kind] | changes
    pairs = [(name, each) for name, value in given.items() for each in (value if isinstance(value, list) else [value])]
    return FormData([("kind", kind), *pairs])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_declared_and_is_told_in_words(kind):
    made = declaration(form_of(kind))
    assert Schema.from_json({**DOCUMENT, "constraints": [made]}).constraints
    assert sentence(made).startswith(KINDS[kind][0])
    assert len(sentence(made)) > len(KINDS[kind][0]) + 2


def test_values_are_read_as_they_are_meant():
    assert declaration(form_of("impossible"))["where"] == {"sex": "m", "age": {"minimum": 0, "maximum": 9}}
    assert declaration(form_of("sum", equals="100"))["equals"] == 100
    assert declaration(form_of("compare", constraint_name="order"))["name"] == "order"


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("compare", {"operator": "~"}),
        ("compare", {"left": ""}),
        ("sum", {"columns": []}),
        ("ratio", {"maximum": "many"}),
        ("sum", {"equals": "9" * 5000}),
        ("impossible", {"where": "sex is m"}),
    ],
)
def test_wrong_ones_are_told(kind, changes):
    with pytest.raises(UserError, match="constraint"):
        declaration(form_of(kind, **changes))
    with pytest.raises(UserError, match="choose one of"):
        declaration(FormData({"kind": "magic"}))
