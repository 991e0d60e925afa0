"""SDV metadata: what it declares is kept, what it lacks is listed and never inferred."""

import pytest

from sundog.domain.documents import parse_document
from sundog.domain.sdv import from_sdv
from sundog.errors import UserError

COLUMNS = {
    "id": {"sdtype": "id"},
    "guest": {"sdtype": "email", "pii": True},
    "room": {"sdtype": "categorical"},
    "size": {"sdtype": "categorical", "order": ["S", "M", "L"]},
    "nights": {"sdtype": "numerical", "computer_representation": "Int64"},
    "rate": {"sdtype": "numerical", "computer_representation": "Float"},
    "arrival": {"sdtype": "datetime", "datetime_format": "%d %b %Y"},
    "entry": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d %H:%M"},
    "exit": {"sdtype": "datetime"},
    "rewards": {"sdtype": "boolean"},
    "note": {},
}
FIELDS = [
    {"name": "id", "type": "string", "identifier": True},
    {"name": "guest", "type": "string", "identifier": True},
    {"name": "room", "type": "string"},
    {"name": "size", "type": "string", "categories": ["S", "M", "L"], "categoriesOrdered": True},
    {"name": "nights", "type": "integer"},
    {"name": "rate", "type": "number"},
    {"name": "arrival", "type": "date", "format": "%d %b %Y"},
    {"name": "entry", "type": "datetime", "format": "%Y-%m-%d %H:%M"},
    {"name": "exit", "type": "datetime"},
    {"name": "rewards", "type": "boolean"},
    {"name": "note", "type": "string"},
]


@pytest.mark.parametrize(
    ("metadata", "table", "name"),
    [
        ({"tables": {"hotel": {"columns": COLUMNS, "primary_key": "id"}}}, None, "hotel"),
        ({"tables": {"other": {"columns": {}}, "hotel": {"columns": COLUMNS}}}, "hotel", "hotel"),
        ({"columns": COLUMNS, "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"}, None, "table"),
        ({"columns": COLUMNS}, "stays", "stays"),
    ],
)
def test_what_is_declared_is_kept_and_what_lacks_is_listed(metadata, table, name):
    document, lacking = from_sdv(metadata, table=table)
    assert document == {"name": name, "fields": FIELDS}
    bounds = "constraints.minimum and .maximum"
    assert lacking == [
        "room: categories",
        *(f"{n}: {bounds}" for n in ("nights", "rate", "arrival", "entry", "exit")),
        "note: categories",
    ]
    parse_document(document)


def test_the_primary_key_is_an_identifier_whatever_its_type():
    document, lacking = from_sdv({"columns": {"n": {"sdtype": "numerical"}}, "primary_key": "n"})
    assert document["fields"] == [{"name": "n", "type": "string", "identifier": True}]
    assert lacking == []


@pytest.mark.parametrize(
    ("metadata", "table", "match"),
    [
        ({}, None, "neither 'columns' nor 'tables'"),
        ({"tables": {"a": {}, "b": {}}}, None, "the tables a, b; say which with --table"),
        ({"tables": {"a": {}}}, "c", "the tables a; say which with --table"),
    ],
)
def test_mistakes_are_named(metadata, table, match):
    with pytest.raises(UserError, match=match):
        from_sdv(metadata, table=table)
