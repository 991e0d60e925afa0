"""Differences between siblings: their codes and their cells."""

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric
from sundog.domain.axis import Axis
from sundog.domain.linked.structure import differences
from sundog.domain.linked.views import difference_of
from sundog.errors import UserError
from sundog.estimate.differences import difference_cells

AGE = Numeric("p.age", "integer", 0, 9, nullable=True)
APART = difference_of(AGE)


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
