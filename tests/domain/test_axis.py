"""Axes: half-open cells that cover every code exactly once, missing always apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sundog.domain import Categorical, Numeric
from sundog.domain.axis import DEFAULT_BINS, POINTWISE, SMALL, Axis
from sundog.errors import UserError

LABELS = Categorical("c", ("a", "b", "c"), nullable=True, fallback=3)


def numeric(lower=0, upper=999, **more):
    return Numeric("n", "integer", lower, upper, **{"nullable": True, **more})


def check_partition(axis, column):
    """Every code lies in the one cell whose bounds hold it; missing is a cell of its own."""
    codes = np.unique(np.linspace(0, column.size - 1, 5000).astype(np.int64))
    cells = axis.cells(codes)
    assert cells.dtype == np.int32
    assert (cells >= 0).all()
    assert (cells < axis.size).all()
    bounds = np.array([axis.bounds(cell) for cell in range(axis.size)])
    assert bounds[0, 0] == 0
    assert bounds[-1, 1] == column.size
    assert (bounds[1:, 0] == bounds[:-1, 1]).all()
    assert ((bounds[cells, 0] <= codes) & (codes < bounds[cells, 1])).all()
    if column.missing is not None:
        assert axis.bounds(axis.size - 1) == (column.missing, column.missing + 1)


@given(
    lower=st.integers(-(10**6), 10**6),
    steps=st.integers(1, 10**7),
    nullable=st.booleans(),
    bins=st.none() | st.integers(1, 200) | st.lists(st.integers(0, 10**7), max_size=9).map(tuple),
)
def test_default_axes_are_partitions(lower, steps, nullable, bins):
    column = numeric(lower, lower + steps - 1, nullable=nullable)
    if isinstance(bins, tuple):
        bins = tuple(sorted({edge for edge in bins if edge < steps}))
    column = numeric(lower, lower + steps - 1, nullable=nullable, bins=bins)
    axis = Axis.of(column)
    check_partition(axis, column)
    assert Axis.from_json(axis.to_json(), column) == axis


def test_labels_and_small_grids_are_cut_into_points():
    assert Axis.of(LABELS).size == 4
    assert Axis.of(numeric(0, POINTWISE - 1)).size == POINTWISE + 1
    assert Axis.of(numeric(0, POINTWISE)).size < POINTWISE


def test_zero_and_the_lower_bound_stand_apart():
    column = numeric(-1000, 10_000)
    axis = Axis.of(column)
    assert axis.bounds(int(axis.cells(np.array([1000]))[0])) == (1000, 1001)
    assert axis.bounds(0) == (0, 1)
    assert DEFAULT_BINS <= axis.size <= DEFAULT_BINS + 5
    assert Axis.of(column, 10).size == 11


@pytest.mark.parametrize("rows", [1, SMALL])
def test_columns_beyond_the_look_up_table_with_few_and_with_many_rows(rows):
    column = numeric(0, SMALL + 10)
    axis = Axis.cut(column, (5, 1000))
    codes = np.array([0, 4, 5, 999, 1000, SMALL + 10, column.missing] * rows)
    assert axis.cells(codes).tolist() == [0, 0, 1, 1, 2, 2, 3] * rows


def test_groups():
    axis = Axis.grouped(LABELS, [1, 0, 1, 2])
    assert axis.size == 3
    assert axis.cells(np.array([0, 1, 2, 3], dtype=np.uint8)).tolist() == [1, 0, 1, 2]
    assert Axis.from_json(axis.to_json(), LABELS) == axis


@pytest.mark.parametrize("groups", [[0, 1, 2], [0, 0, 0, 2], [1, 1, 1, 1], [-1, 0, 1, 2]])
def test_wrong_groups_are_refused(groups):
    with pytest.raises(UserError, match="column 'c': groups"):
        Axis.grouped(LABELS, groups)


@pytest.mark.parametrize("starts", [(-1,), (1001,), (5, 10**9)])
def test_cuts_outside_the_codes_are_refused(starts):
    with pytest.raises(UserError, match=r"column 'n': a bin starts outside its codes 0\.\.1000"):
        Axis.cut(numeric(), starts)


def test_axes_of_large_columns_are_compared_by_their_bounds():
    wide = Numeric("w", "integer", 0, 10_000_000)
    fine, coarse, crossing = (Axis.cut(wide, starts) for starts in ([10, 20, 5_000_000], [20], [15]))
    assert fine.parents(coarse).tolist() == [0, 0, 1, 1]
    assert not fine.refines(crossing)
    with pytest.raises(UserError, match="column 'w': cells of one axis cross"):
        fine.parents(crossing)


def test_coarsening_joins_what_either_axis_joins():
    n, c = Numeric("n", "integer", 0, 7), Categorical("c", ("p", "q", "r", "s"))
    assert Axis.cut(n, (0, 2, 3)).coarsen(Axis.cut(n, (0, 3, 6))).starts == (0, 3)
    assert Axis.grouped(c, (0, 0, 1, 2)).coarsen(Axis.grouped(c, (0, 1, 1, 2))).groups == (0, 0, 0, 1)


PARTS = Numeric("n", "integer", 0, 5, nullable=True)
AXES = st.one_of(
    st.lists(st.integers(0, 6), max_size=4).map(lambda starts: Axis.cut(PARTS, starts)),
    st.lists(st.integers(0, 3), min_size=7, max_size=7).map(
        lambda groups: Axis.grouped(PARTS, np.unique(groups, return_inverse=True)[1].tolist())
    ),
)


def pairs_together(axis):
    """Which codes share a cell: the partition itself, whatever its cells are called."""
    return axis.cell_of[:, None] == axis.cell_of[None, :]


def transitive(together):
    for _ in range(3):
        together = (together.astype(int) @ together.astype(int)) > 0
    return together


@given(AXES, AXES)
def test_the_algebra_is_that_of_partitions(one, two):
    finer, coarser = one.refine(two), one.coarsen(two)
    np.testing.assert_array_equal(pairs_together(finer), pairs_together(one) & pairs_together(two))
    np.testing.assert_array_equal(pairs_together(coarser), transitive(pairs_together(one) | pairs_together(two)))
    assert one.refines(two) == (not (pairs_together(one) & ~pairs_together(two)).any())
    for axis in (one, two):
        assert finer.refines(axis)
        assert axis.refines(coarser)
        np.testing.assert_array_equal(finer.parents(axis)[finer.cell_of], axis.cell_of)
        assert finer.widths.sum() == PARTS.size
        np.testing.assert_array_equal(axis.cells(axis.firsts), np.arange(axis.size))


@given(AXES)
def test_decoding_reaches_every_code_of_a_cell_and_no_other(axis):
    cells = np.repeat(np.arange(axis.size), 100)
    codes = axis.decode(cells, np.tile(np.arange(100) / 100, axis.size))
    np.testing.assert_array_equal(axis.cells(codes), cells)
    assert set(codes.tolist()) == set(range(PARTS.size))
    counts = np.bincount(codes)
    assert all(np.ptp(counts[axis.cell_of == cell]) <= 1 for cell in range(axis.size))
