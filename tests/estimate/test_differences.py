"""Differences between siblings: their cells, and whether they say more than the margins do."""

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.linked.structure import differences
from sundog.domain.linked.views import View, difference_of
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.estimate.bins import Bins
from sundog.estimate.differences import dependent_differences, difference_cells
from sundog.estimate.hierarchy import levels
from sundog.queries import answer
from sundog.released import Guarantee, Measurement, Released

AGE = Numeric("p.age", "integer", 0, 9, nullable=True)
APART = difference_of(AGE)
VIEW = View("p@", "p", ("p.age",), siblings="next", most=1, numbers=("p.age",))


def test_codes_of_differences_are_the_differences_of_values():
    first, second = np.array([0, 9, 4, 10, 3], np.uint8), np.array([9, 0, 4, 3, 10], np.uint8)
    assert APART.decode(differences(AGE, first, second)).to_pylist() == [9, -9, 0, None, None]
    with pytest.raises(UserError, match="no differences"):
        difference_of(Categorical("p.sex", ("f", "m")))


def test_cells_of_single_codes_have_the_cell_of_their_difference():
    axis = Axis.cut(APART, [0, 9, 10])  # less, equal, more, missing
    cells = difference_cells(Axis.whole(AGE), AGE, axis)
    first, second = np.indices((11, 11)).reshape(2, -1)
    np.testing.assert_array_equal(cells.ravel(), axis.cells(differences(AGE, first, second)))


def test_two_values_of_one_wide_cell_are_not_taken_to_be_equal():
    axis = Axis.cut(APART, [0, 9, 10])
    cells = difference_cells(Axis.cut(AGE, [0, 4, 5]), AGE, axis)
    assert cells[1, 1] == 1  # a cell of one code
    assert {cells[0, 0], cells[2, 2]} <= {0, 2}
    assert cells[0, 2] == 2
    assert cells[0, 3] == 3


def released(first, second, *, stddev=3.0):
    columns = (AGE, Numeric("p.age@2", "integer", 0, 9, nullable=True), APART)
    schema = Schema(columns)
    rows = Rows(schema, (first, second, differences(AGE, first, second)))
    draw = np.random.default_rng(0)
    queries = [query for column in columns for query in levels(column)]
    parts = [
        Measurement(q, np.rint(answer(q, rows) + draw.normal(0, stddev, q.size)).astype(np.int64), stddev, "x#1")
        for q in queries
    ]
    return Released(schema, tuple(parts), Guarantee(PrivacyUnit("add-remove"), "gaussian", 1.0))


def test_only_siblings_that_depend_on_each_other_are_found():
    draw = np.random.default_rng(1)
    first = draw.integers(0, 11, 5000)
    independent = dependent_differences(released(first, draw.integers(0, 11, 5000)), VIEW, bins=Bins())
    assert independent == {}
    close = np.where(first == 10, 10, np.clip(first + draw.integers(-1, 2, 5000), 0, 9))
    found = dependent_differences(released(first, close), VIEW, bins=Bins())
    assert list(found) == ["p.age"]
    assert found["p.age"] > 0.4


def test_that_both_are_missing_is_no_dependence():
    draw = np.random.default_rng(2)
    first, second = draw.integers(0, 10, 5000), draw.integers(0, 10, 5000)
    gone = draw.random(5000) < 0.5
    both = released(np.where(gone, 10, first), np.where(gone, 10, second))
    assert dependent_differences(both, VIEW, bins=Bins()) == {}


def test_noise_alone_is_no_dependence():
    draw = np.random.default_rng(3)
    few = released(draw.integers(0, 11, 300), draw.integers(0, 11, 300), stddev=40.0)
    assert dependent_differences(few, VIEW, bins=Bins()) == {}
