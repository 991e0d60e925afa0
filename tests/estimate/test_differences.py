"""Differences between siblings: their codes, their cells, and what they say of both siblings' values."""

from dataclasses import replace

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.linked.structure import differences
from sundog.domain.linked.views import difference_of
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.estimate.bins import Leaves
from sundog.estimate.differences import difference_cells, expected_pair, told_by_differences
from sundog.estimate.pairs.pool import Pooled
from sundog.estimate.pairs.table_fit import fitted
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released

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


YEARS = Numeric("p.years", "integer", 0, 99)
SIBLING = replace(YEARS, name="p.years@2")
NOISE = 100.0


def couples(count=20_000):
    """The ages of couples about two years apart, in codes."""
    draw = np.random.default_rng(1)
    first = draw.integers(20, 80, count)
    return first, np.clip(first + np.rint(draw.normal(2, 3, count)).astype(int), 0, 99)


def leaves_of_couples(first, second, *, measured=1.0):
    """What single columns and differences tell, without noise."""
    columns = {YEARS: first, SIBLING: second, difference_of(YEARS): second - first + 99}
    return {
        column.name: Leaves(
            column, Axis.whole(column), np.bincount(codes, minlength=column.size) / len(codes), stddev=measured
        )
        for column, codes in columns.items()
    }


def table_of_couples(first, second):
    """Their ages in ten by ten cells."""
    cuts = list(range(0, 100, 10))
    query = Marginal((Axis.cut(YEARS, cuts), Axis.cut(SIBLING, cuts)))
    return query, np.bincount(first // 10 * 10 + second // 10, minlength=100).astype(float)


def gap(one, other):
    return 0.5 * np.abs(one / one.sum() - other / other.sum()).sum()


def test_columns_and_differences_tell_the_table_of_a_number_with_itself():
    first, second = couples()
    query, real = table_of_couples(first, second)
    found = expected_pair(query, leaves_of_couples(first, second))
    alone = np.outer(real.reshape(10, 10).sum(axis=1), real.reshape(10, 10).sum(axis=0))
    assert gap(found.ravel(), real) < 0.03
    assert gap(alone.ravel(), real) > 0.5


def told(*, measured):
    """The error of the table of two ages as it comes out, where `measured` is the noise that differences were measured with; 0: not at all."""
    first, second = couples()
    query, real = table_of_couples(first, second)
    noisy = np.rint(real + np.random.default_rng(2).normal(0, NOISE, 100)).astype(np.int64)
    schema = Schema((YEARS, SIBLING, difference_of(YEARS)))
    guarantee = Guarantee(PrivacyUnit("replace"), "zcdp", 1.0)
    released = Released(schema, (Measurement(query, noisy, NOISE, "r"),), guarantee)
    leaves = leaves_of_couples(first, second, measured=measured)
    counts = real.reshape(10, 10)
    kept = fitted(noisy.reshape(10, 10).astype(float), counts.sum(axis=1), counts.sum(axis=0)).ravel()
    pooled = Pooled({}, {}, ((query, kept, NOISE),))
    ((_, values, stddev),) = told_by_differences(pooled, released, leaves).tables
    assert stddev == NOISE
    return values, kept, real


def test_a_noisy_table_of_a_number_with_itself_is_told_by_its_differences():
    values, kept, real = told(measured=0.001)
    assert gap(values, real) < 0.6 * gap(kept, real)


def test_without_differences_tables_stay_as_they_are():
    values, kept, _ = told(measured=0.0)
    np.testing.assert_array_equal(values, kept)
