"""What analysts may ask for is parsed, and what cannot be read is refused with what is allowed."""

import pytest

from sundog.domain import Schema
from sundog.errors import UserError
from sundog.evaluate.analysis import parse_analysis

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
            {"name": "net income", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
            {"name": "sex", "categories": ["f", "m"]},
            {"name": "job", "categories": ["a", "b", "c"]},
        ]
    }
)


@pytest.mark.parametrize(
    ("text", "kind", "columns"),
    [
        ("age ~ sex + job", "linear", ("age", "sex", "job")),
        ("sex ~ age", "logistic", ("sex", "age")),
        ("job = b ~ age + age:sex", "logistic", ("job", "age", "sex")),
        ("'net income' ~ age", "linear", ("net income", "age")),
        ("t(age by sex)", "t", ("age", "sex")),
        ("cor(age, `net income`)", "correlation", ("age", "net income")),
        ("survival(age, sex)", "survival", ("age", "sex")),
        ("survival(age, sex by job)", "survival", ("age", "sex", "job")),
    ],
)
def test_what_can_be_asked(text, kind, columns):
    made = parse_analysis(text, SCHEMA)
    assert (made.kind, made.columns) == (kind, columns)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "cannot be read"),
        ("age", "cannot be read"),
        ("age ~", "cannot be read"),
        ("age ~ sex +", "cannot be read"),
        ("age ~ age", "explains itself"),
        ("age ~ sex + sex", "is named twice"),
        ("age ~ height", "'height' is not a column"),
        ("job ~ age", "name the one that counts as yes"),
        ("job = z ~ age", "'z' is not a label"),
        ("age = 3 ~ sex", "is a number"),
        ("cor(age)", "not complete"),
        ("cor(age, sex)", "has labels"),
        ("t(age by age)", "two or more labels"),
        ("__import__('os') ~ age", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused(text, problem):
    with pytest.raises(UserError, match=problem):
        parse_analysis(text, SCHEMA)
