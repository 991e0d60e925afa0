"""The SQL of codes on a server, as far as it can be judged without one; laws/test_database_engines.py runs it."""

import pytest

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.tally import Tally
from sundog.errors import UserError
from sundog.sources.server.codes import ServerColumn, code_sql
from sundog.sources.server.table import _places

FIELD = {
    "name": "x",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 9},
    "missingValues": ["", "-9", "none"],
}
COLUMN = Schema.from_json({"fields": [FIELD]}).columns[0]


@pytest.mark.parametrize("kind", ["int4", "float8"])
def test_declared_missing_numbers_are_compared_as_numbers(kind):
    sql = code_sql(COLUMN, ServerColumn("x", '"x"', kind))
    assert "IN ('-9.0'::float8)" in sql
    assert "none" not in sql


def test_declared_missing_words_of_other_types_are_refused():
    day = {"name": "x", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}}
    column = Schema.from_json({"fields": [{**day, "missingValues": ["2020-02-02"]}]}).columns[0]
    with pytest.raises(UserError, match="declared missing values are compared as text"):
        code_sql(column, ServerColumn("x", '"x"', "date"))


def test_counts_of_joined_cells_go_to_their_group():
    axis = Axis.cut(COLUMN, [0, 3, 6])
    cells = axis.size
    assert cells == 4  # one is for missing numbers
    places, firsts = _places([Tally((axis,)), Tally((axis,), joined=(1, 0, 1, 1)), Tally()])
    assert firsts.tolist() == [0, cells, 2 * cells, 2 * cells + 1]
    assert places.tolist() == [0, 1, 2, 3, cells + 1, cells, cells + 1, cells + 1, cells + 2]
