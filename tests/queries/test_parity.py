"""Parities of more and wider columns than the laws' examples: single changes of cells often cannot fit those."""

import numpy as np
import pytest

from laws.query_examples import ALL_ROWS, SCHEMA
from sundog.queries import Parity, answer
from sundog.queries.choosing import uniform_rows
from sundog.random.keys import key_of

WIDE = Parity.of(SCHEMA, "colour", "age", "hours")


@pytest.mark.parametrize("query", [WIDE, Parity.of(SCHEMA, "age", "hours", "only", "fixed")], ids=["three", "constant"])
def test_sensitivities_are_the_largest_changes_of_all_rows(query):
    vectors = np.unique(query.vectors(ALL_ROWS), axis=0)
    apart = np.abs(vectors[:, None] - vectors[None]).sum(axis=2)
    assert query.sensitivity_squared("add-remove") == vectors.sum(axis=1).max()
    assert query.sensitivity_squared("replace") == apart.max()


def test_a_wrong_bound_would_be_seen():
    """Twice what one row adds is no bound that is reached, and rows that differ everywhere are not the worst."""
    assert WIDE.sensitivity_squared("replace") < 2 * WIDE.sensitivity_squared("add-remove")


def test_the_answer_is_the_number_of_odd_agreements():
    rows = uniform_rows(key_of(3), SCHEMA, 50)
    cells = np.stack([rows.cells(axis) for axis in WIDE.marginal.axes])
    combinations = np.stack(np.unravel_index(np.arange(WIDE.size), WIDE.marginal.shape))
    agreeing = (cells[:, :, None] == combinations[:, None, :]).sum(axis=0)
    assert answer(WIDE, rows).tolist() == (agreeing % 2).sum(axis=0).tolist()
