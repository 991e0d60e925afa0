"""The dialect of text files: read from a document, changed by flags, refused by name."""

import pytest

from sundog.domain import Dialect, Schema
from sundog.domain.spelling import NumberMarks
from sundog.errors import UserError

FIELDS = [
    {"name": "paid", "type": "number", "constraints": {"minimum": 0, "maximum": 9}},
    {"name": "day", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
    {"name": "who", "categories": ["a", "b"]},
]


def schema(dialect=None, **first):
    return Schema.from_json({"fields": [{**FIELDS[0], **first}, *FIELDS[1:]], "dialect": dialect or {}})


def test_what_a_document_declares():
    given = {"delimiter": "\\t", "quoteChar": "'", "escapeChar": "\\", "encoding": "CP1252", "lineTerminator": "\r\n"}
    assert schema(given).dialect == Dialect(delimiter="\t", quote="'", escape="\\", encoding="windows-1252")
    assert schema({"quoteChar": None}).dialect == Dialect(quote=None)
    assert schema({"escapeChar": '"', "doubleQuote": False}).dialect == Dialect(), (
        "a quote that escapes itself is doubled"
    )
    assert schema({"multiline": True}).dialect == Dialect(multiline=True)
    assert schema().dialect == Dialect()


def test_a_file_without_a_header_line_has_the_schemas_names():
    assert schema({"header": False}).dialect.names == ("paid", "day", "who")
    assert schema().dialect.names == ()


@pytest.mark.parametrize(
    ("dialect", "match"),
    [
        ({"delimiter": "::"}, "delimiter: found '::'; it must be one character"),
        ({"delimiter": "\n"}, "no line end"),
        ({"delimiter": '"'}, "also the quote"),
        ({"quoteChar": "»"}, "one ASCII character"),
        ({"escapeChar": "ab"}, "escapeChar: found 'ab'"),
        ({"lineTerminator": "\r"}, "lineTerminator"),
        ({"encoding": "ebcdic"}, "encoding: found 'ebcdic'; allowed are utf-8"),
        ({"multiline": True, "quoteChar": ""}, "multiline"),
        ({"commentChar": "#"}, "dialect.commentChar: Extra inputs"),
        ({"decimalChar": ",", "groupChar": ","}, "both ','"),
        ({"groupChar": "00"}, "groupChar is '00'"),
        ({"decimalChar": "e"}, "no part of a number"),
    ],
)
def test_wrong_dialects_are_named(dialect, match):
    with pytest.raises(UserError, match=match):
        schema(dialect)


def test_number_marks_are_the_fields_or_the_dialects():
    assert schema().column("paid").marks == NumberMarks()
    assert schema({"decimalChar": ",", "groupChar": "."}).column("paid").marks == NumberMarks(",", ".")
    made = schema({"decimalChar": ","}, groupChar="'", bareNumber=False)
    assert made.column("paid").marks == NumberMarks(",", "'", bare=False)
    assert schema({"decimalChar": ","}, decimalChar=".").column("paid").marks == NumberMarks()


def test_missing_values_are_the_fields_or_the_documents():
    fields = [{**FIELDS[0], "missingValues": ["-9", {"value": "-8", "label": "refused"}]}, *FIELDS[1:]]
    made = Schema.from_json({"fields": fields, "missingValues": ["NA"]})
    assert made.column("paid").missing_values == ("-9", "-8")
    assert made.column("who").missing_values == ("NA",)


@pytest.mark.parametrize("pattern", ["%Q", "%", "day", "%-d.%m.%Y"])
def test_wrong_date_patterns_are_named(pattern):
    fields = [FIELDS[0], {**FIELDS[1], "format": pattern}]
    with pytest.raises(UserError, match="field 'day': format"):
        Schema.from_json({"fields": fields})


def test_flags_go_before_the_document():
    changed = schema({"delimiter": ";", "encoding": "latin-1"}).with_dialect({"delimiter": "|", "decimalChar": ","})
    assert changed.dialect == Dialect(delimiter="|", encoding="latin-1")
    assert changed.column("paid").marks == NumberMarks(",")
    assert changed.to_json()["dialect"] == {"delimiter": "|", "encoding": "latin-1", "decimalChar": ","}
    assert changed == schema(), "how a file is written does not make another schema"
