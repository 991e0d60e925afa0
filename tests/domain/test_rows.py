"""Rows: encoded records."""

import numpy as np
import pytest

import tables
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.errors import UserError

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "n", "type": "integer", "constraints": {"minimum": 10, "maximum": 14}},
            {"name": "c", "categories": ["a", "b"]},
        ]
    }
)
ROWS = Rows(SCHEMA, (np.array([0, 2, 4, 5]), np.array([0, 1, 2, 0])))


def test_columns_by_name():
    assert len(ROWS) == 4
    assert ROWS.column("c").tolist() == [0, 1, 2, 0]
    with pytest.raises(UserError, match="column 'd' is not in the schema"):
        ROWS.column("d")


def test_the_unit_interval():
    assert np.array_equal(ROWS.unit_interval("n"), [0.0, 0.5, 1.0, np.nan], equal_nan=True)
    with pytest.raises(TypeError, match="'c' is not numeric"):
        ROWS.unit_interval("c")


def test_cells_are_worked_out_once():
    axis = Axis.cut(SCHEMA.column("n"), (2,))
    assert ROWS.cells(axis).tolist() == [0, 1, 1, 2]
    assert ROWS.cells(axis) is ROWS.cells(axis)


def test_an_axis_of_another_schema_is_refused():
    """Its cells would lie outside the totals, and the kernel writes wherever it is told."""
    other = Schema.from_json(
        {"fields": [{"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 2}}]}
    )
    with pytest.raises(UserError, match="axis of column 'n'"):
        ROWS.cells(Axis.of(other.column("n")))


def test_concatenation():
    twice = Rows.concatenate([ROWS, ROWS], SCHEMA)
    assert twice.column("n").tolist() == ROWS.column("n").tolist() * 2
    assert len(Rows.concatenate([], tables.schema())) == 0


def test_text_and_values():
    assert ROWS.to_arrow().to_pydict() == {"n": [10, 12, 14, None], "c": ["a", "b", None, "a"]}
    assert ROWS.to_text().to_pydict() == {"n": ["10", "12", "14", None], "c": ["a", "b", None, "a"]}
