import numpy as np
import pytest

from related_tables import DOCUMENT
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.evaluate import RELEASED, Comparison
from sundog.evaluate.reading import restricted

FORBIDDEN = {"name": "no p with v", "kind": "impossible", "where": {"a": "p", "b": "v"}}


@pytest.fixture
def schema():
    return Schema.from_json(DOCUMENT | {"constraints": [FORBIDDEN]})


def rows(schema, a, b):
    other = np.zeros(len(a), dtype=np.int64)
    return Rows(schema, (np.array(a), np.array(b), other, other, other))


def test_rows_that_break_a_constraint_are_counted(schema):
    table = rows(schema, [0, 0, 1, 1], [0, 1, 0, 1])
    score = RELEASED["violations"].score(Comparison(table, table))
    assert score.value == 0.25
    assert list(score.parts.values()) == [0.25]


def test_without_constraints_there_is_nothing_to_count(schema):
    plain = Schema.from_json(DOCUMENT)
    table = rows(plain, [0], [1])
    assert RELEASED["violations"].score(Comparison(table, table)) is None
    assert restricted(schema, ["a", "x"]).constraints == ()
    assert len(restricted(schema, ["a", "b"]).constraints) == 1
