import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_tables import SCHEMA
from sundog.domain import Categorical, Numeric
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import (
    Bins,
    Leaves,
    coarse_for_tables,
    coarsened,
    leaves_of,
    uniform_leaves,
)
from sundog.queries import Marginal
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released

AMOUNT = Numeric("amount", "integer", 0, 99, nullable=True)


def leaves(proportions, stddev=1e-4, column=AMOUNT):
    share = np.asarray(proportions, dtype=float)
    return Leaves(column, Axis.whole(column), share / share.sum(), stddev)


def test_a_heavy_leaf_and_missing_stand_alone():
    share = np.ones(101)
    share[30] = 100
    axis = Bins(most=10).axis(leaves(share))
    assert axis.bounds(int(axis.cells(np.array([30]))[0])) == (30, 31)
    assert axis.bounds(axis.size - 1) == (100, 101)


def test_the_rest_has_about_equal_mass():
    axis = Bins(most=10).axis(leaves([*np.linspace(1, 3, 100), 0.001]))
    masses = leaves([*np.linspace(1, 3, 100), 0.001]).shares(axis)[:-1]
    assert 9 <= len(masses) <= 10
    assert masses.max() < 1.4 * masses.min()


def test_rare_labels_are_merged_and_missing_is_not():
    column = Categorical("kind", ("a", "b", "c", "d"), nullable=True)
    axis = Bins(rare=0.05).axis(leaves([50, 1, 40, 1, 0.1], column=column))
    assert axis.groups == (0, 3, 1, 3, 2)


def test_labels_within_the_noise_are_merged():
    column = Categorical("kind", ("a", "b", "c", "d"))
    assert Bins(rare=0.0).axis(leaves([50, 2, 40, 2], stddev=0.01, column=column)).size == 3
    assert Bins(rare=0.0).axis(leaves([50, 2, 40, 2], stddev=1e-5, column=column)).size == 4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=101, max_size=101), st.integers(2, 40))
def test_bins_are_few_and_unite_leaves(share, most):
    axis = Bins(most=most).axis(leaves(np.array(share) + 1e-6))
    assert axis.size <= 3 * most + 3
    assert axis.cells(np.array([100]))[0] == axis.size - 1


def test_decoding_stays_in_the_cell_and_follows_the_leaves():
    share = np.zeros(101)
    share[[10, 11, 50]] = 1, 3, 4
    axis = Axis.cut(AMOUNT, (0, 40))
    cells = np.repeat([0, 1], 400)
    codes = leaves(share).decode(key_of(0), axis, cells=cells)
    assert np.array_equal(axis.cells(codes), cells)
    assert np.bincount(codes, minlength=101)[[10, 11, 50]] == pytest.approx([100, 300, 400], abs=1)


def test_leaves_that_cross_a_border_are_divided():
    wide = Leaves(AMOUNT, Axis.cut(AMOUNT, (0, 50)), np.array([0.6, 0.4, 0.0]))
    assert wide.shares(Axis.cut(AMOUNT, (0, 25))).tolist() == pytest.approx([0.3, 0.7, 0.0])


def test_unmeasured_columns_are_uniform_and_the_most_precise_measurement_counts():
    unit = PrivacyUnit("replace")
    colour = Marginal.of(SCHEMA, "colour")
    measured = tuple(
        Measurement(colour, np.array(values), stddev, "1")
        for values, stddev in (([9, 1, 0, 0, 0], 5.0), ([2, 2, 2, 2, 2], 1.0))
    )
    known = leaves_of(Released(SCHEMA, measured, Guarantee(unit, "zcdp", 0.1), public_rows=10))
    assert known["colour"].proportions.tolist() == pytest.approx([0.2] * 5)
    assert known["grade"].proportions.tolist() == pytest.approx(
        uniform_leaves(SCHEMA.column("grade")).proportions.tolist()
    )


def test_rare_labels_are_merged_in_runs_of_about_a_bin():
    """Many rare labels that hold most rows would say nothing of other columns as one cell."""
    column = Categorical("job", labels=tuple(f"j{k}" for k in range(200)))
    shares = np.full(200, 0.7 / 199)
    shares[50] = 0.3
    axis = Bins(most=10).axis(Leaves(column, Axis.whole(column), shares, 1e-4))
    groups = np.array(axis.groups)
    assert axis.size == 1 + 7
    assert (groups == groups[50]).sum() == 1
    others = np.delete(groups, 50)
    assert (np.diff(others) >= 0).all(), "runs of neighbours"
    masses = np.bincount(groups, weights=shares)
    assert np.delete(masses, groups[50]) == pytest.approx(0.1, abs=0.01)


def test_labels_that_noise_hides_are_merged_until_it_does_not():
    column = Categorical("job", labels=tuple(range(10)))
    axis = Bins().axis(Leaves(column, Axis.whole(column), np.full(10, 0.1), 0.05))
    assert 3 <= axis.size <= 7
    assert Bins().axis(Leaves(column, Axis.whole(column), np.full(10, 0.1), 0.0001)) == Axis.whole(column)


def test_a_long_list_of_labels_is_joined_in_runs_of_equal_mass():
    column = Categorical("occupation", tuple(f"{code:03d}" for code in range(60)))
    axis = Axis.whole(column)
    found = coarse_for_tables(axis, np.full(60, 1 / 60), column=column, most=6)
    assert found.cell_of.tolist() == [code // 10 for code in range(60)]


def test_labels_of_which_a_few_hold_most_rows_stand_apart():
    column = Categorical("country", tuple(f"{code:03d}" for code in range(60)))
    axis, shares = Axis.whole(column), np.ones(60)
    shares[[7, 30]] = 100
    found = coarse_for_tables(axis, shares, column=column, most=6)
    assert found == coarsened(axis, shares, column=column, most=6)
    assert np.bincount(found.cell_of)[found.cell_of[[7, 30]]].tolist() == [1, 1]


def test_numbers_and_short_lists_are_coarsened_as_elsewhere():
    short = Categorical("kind", ("a", "b", "c"))
    for column, size in ((AMOUNT, 101), (short, 3)):
        axis, shares = Axis.whole(column), np.full(size, 1 / size)
        same = coarsened(axis, shares, column=column, most=6)
        assert coarse_for_tables(axis, shares, column=column, most=6) == same
