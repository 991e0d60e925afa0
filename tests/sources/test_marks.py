"""Numbers with marks and dates in patterns: read as declared, and nothing is read as something else."""

import pytest
from pyarrow import csv

import tables
from sundog.domain import Schema
from sundog.domain.rows import Rows

MISSING = 200_001


def values(texts, **marks):
    """What numbers from -1000 to 1000 with two decimals these texts are, None where they are unreadable."""
    field = {
        "name": "x",
        "type": "number",
        "constraints": {"minimum": -1000, "maximum": 1000},
        "sundog": {"decimals": 2},
        **marks,
    }
    schema = Schema.from_json({"fields": [field]})
    (codes,) = tables.encoded({"x": texts}, schema)
    return [None if code == MISSING else code / 100 - 1000 for code in codes]


@pytest.mark.parametrize(
    ("marks", "texts", "expected"),
    [
        ({"decimalChar": ","}, ["1,5", "-0,25", ",5", "1.5", "1,2,3", "7", " 7 ", "1e2"], [1.5, -0.25, 0.5, None, None, 7, 7, 100]),
        ({"decimalChar": ",", "groupChar": "."}, ["999", "0.123", "1.5", "1.23,5", "12.34", "0.012,5"], [999, 123, None, None, None, 12.5]),
        ({"groupChar": ","}, ["0,123.5", "1,5", "12,3456", "+0,010"], [123.5, None, None, 10]),
        ({"groupChar": " "}, ["0 123", "0\u00a0123", "0\u202f123", "1 2"], [123, 123, 123, None]),
        ({"groupChar": "'"}, ["0'123.5"], [123.5]),
        ({"bareNumber": False}, ["$5.25", "-$5", "$-5", "5 EUR", "45 %", "(12.50)", "\u22123", "n/a", "3 m2", ".5"],
         [5.25, -5, -5, 5, 45, -12.5, -3, None, None, 0.5]),
        ({"bareNumber": False, "groupChar": ",", "decimalChar": "."}, ["$0,234.56", "USD 0,001", "$1,2"], [234.56, 1, None]),
        ({}, ["1,5", "$5", "5"], [None, None, 5]),
    ],
)  # fmt: skip
def test_numbers(marks, texts, expected):
    assert values(texts, **marks) == pytest.approx(expected)


def test_marks_are_for_text_only():
    assert values([1.5, 2], decimalChar=",", groupChar=".") == [1.5, 2]


def test_decimal_commas_come_back(tmp_path):
    document = {
        "fields": [
            {
                "name": "x",
                "type": "number",
                "constraints": {"minimum": 0, "maximum": 10},
                "sundog": {"decimals": 2},
                "decimalChar": ",",
            },
            {"name": "y", "type": "number", "constraints": {"minimum": 0, "maximum": 10}, "decimalChar": ","},
        ]
    }
    schema = Schema.from_json(document)
    rows = tables.open_table({"x": ["1,25", None], "y": ["0,5", "3"]}).read(schema)
    text = Rows(schema, rows.codes).to_text()
    assert text.to_pydict() == {"x": ["1,25", None], "y": ["0,5", "3"]}
    path = tmp_path / "t.csv"
    csv.write_csv(text, path)
    assert [codes.tolist() for codes in tables.open_table(path).read(schema).codes] == [c.tolist() for c in rows.codes]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("%d/%m/%Y", "31/12/2020"),
        ("%d/%m/%Y", "1/2/2020"),
        ("%m/%d/%y", "12/31/20"),
        ("%d. %B %Y", "31. December 2020"),
        ("%Y%m%d", "20201231"),
    ],
)
def test_dates_in_patterns(pattern, text):
    bounds = {"minimum": "2020-01-01", "maximum": "2020-12-31"}
    schema = Schema.from_json({"fields": [{"name": "d", "type": "date", "format": pattern, "constraints": bounds}]})
    ((good, *bad),) = tables.encoded({"d": [text, "2020-12-31x", "31-12-20?", ""]}, schema)
    assert schema.column("d").describe(good) in ("2020-12-31", "2020-02-01")
    assert set(bad) == {schema.column("d").missing}


def test_missing_values_of_one_field():
    bounds = {"minimum": -10, "maximum": 10}
    fields = [
        {"name": "a", "type": "integer", "constraints": bounds, "missingValues": ["-9"]},
        {"name": "b", "type": "integer", "constraints": bounds},
    ]
    schema = Schema.from_json({"fields": fields, "missingValues": ["-8"]})
    found = tables.encoded({"a": ["-9", "-8"], "b": ["-9", "-8"]}, schema)
    assert found == [[21, 2], [1, 21]]
