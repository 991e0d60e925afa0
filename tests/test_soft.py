"""Soft rows: how they hold columns, merge finer cells to coarser ones, and lie in runs of codes."""

import jax.numpy as jnp
import numpy as np
import pytest

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.rows import Rows
from sundog.schema import Categorical, Numeric, Schema
from sundog.soft import Layout, SoftRows, coarsening

AGE = Numeric("age", "integer", 0, 9, nullable=True)
COLOUR = Categorical("colour", ("red", "green", "blue"))
SCHEMA = Schema((COLOUR, AGE))
FINE, COARSE = Axis.cut(AGE, [0, 2, 4, 7]), Axis.cut(AGE, [0, 4])


def soft_age(values, missing=None):
    schema = Schema((AGE,))
    absent = jnp.zeros(len(values)) if missing is None else jnp.asarray(missing)
    return SoftRows(Layout.of(schema), (jnp.asarray(values),), (absent,))


def binned_age(chances):
    return SoftRows(Layout.of(Schema((AGE,)), binned={"age": FINE}), (jnp.asarray(chances),), (None,))


def test_coarsening_adds_up_the_finer_cells():
    matrix = coarsening(FINE, COARSE)
    np.testing.assert_array_equal(matrix.argmax(axis=1), [0, 0, 1, 1, 2])
    codes = np.arange(11)
    np.testing.assert_array_equal(np.eye(5)[FINE.cells(codes)] @ matrix, np.eye(3)[COARSE.cells(codes)])


def test_coarsening_to_merged_labels():
    merged = Axis.grouped(COLOUR, [1, 0, 1])
    np.testing.assert_array_equal(coarsening(Axis.whole(COLOUR), merged), [[0, 1], [1, 0], [0, 1]])


def test_bins_that_cut_through_each_other_are_refused():
    with pytest.raises(UserError, match="'age': a query's bins cut through"):
        coarsening(FINE, Axis.cut(AGE, [0, 3]))
    with pytest.raises(UserError, match="different domains"):
        coarsening(FINE, Axis.whole(COLOUR))


def test_merged_labels_are_no_runs_of_codes():
    with pytest.raises(UserError, match="'colour': its labels are merged"):
        coarsening(Axis.grouped(COLOUR, [1, 0, 1]), Axis.whole(COLOUR))


def test_exact_rows_come_back_from_their_soft_form():
    rows = Rows(SCHEMA, (np.array([0, 2, 1]), np.array([0, 9, 10])))
    soft = SoftRows.from_rows(rows, Layout.of(SCHEMA))
    np.testing.assert_array_equal(soft.values[0], np.eye(3)[[0, 2, 1]])
    np.testing.assert_allclose(soft.values[1], [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(soft.missing[1], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(soft.cells(FINE, 1e4), np.eye(5)[FINE.cells(rows.codes[1])], atol=1e-6)


@pytest.mark.parametrize("sharpness", [1.0, 10.0, 1000.0])
def test_cells_of_a_number_sum_to_one(sharpness):
    soft = soft_age(np.linspace(0, 1, 7), np.linspace(0, 1, 7))
    for axis in (FINE, COARSE, Axis.whole(AGE)):
        cells = np.asarray(soft.cells(axis, sharpness))
        np.testing.assert_allclose(cells.sum(axis=1), 1.0, atol=1e-5)
        assert (cells >= -1e-6).all()
        np.testing.assert_allclose(cells[:, -1], np.linspace(0, 1, 7), atol=1e-6)


def test_an_interval_of_a_number_is_a_difference_of_sigmoids():
    soft = soft_age([0.5], [0.25])
    found = float(soft.interval("age", jnp.array([3.0]), jnp.array([7.0]), sharpness=4.0)[0, 0])
    rise = [1 / (1 + np.exp(-4.0 * (0.5 - (code - 0.5) / 9))) for code in (3, 7)]
    assert found == pytest.approx(0.75 * (rise[0] - rise[1]), rel=1e-5)


def test_an_interval_over_the_whole_column_holds_every_number_but_no_missing_one():
    found = soft_age([0.0, 0.3, 1.0], [0.0, 0.5, 1.0]).interval(
        "age", jnp.array([0.0]), jnp.array([10.0]), sharpness=0.1
    )
    np.testing.assert_allclose(found[:, 0], [1.0, 0.5, 0.0])


def test_an_interval_that_cuts_through_a_bin_counts_a_part_of_it():
    chances = np.array([[0.1, 0.2, 0.3, 0.2, 0.2]])
    found = binned_age(chances).interval("age", jnp.array([2.0, 0.0, 5.0]), jnp.array([5.0, 10.0, 6.0]), sharpness=1.0)
    np.testing.assert_allclose(found[0], [0.2 + 0.3 / 3, 0.8, 0.1], rtol=1e-6)


def test_the_position_of_a_binned_number_is_the_mean_of_the_present_bins():
    position, present = binned_age([[0.4, 0.0, 0.4, 0.0, 0.2], [0.0, 0.0, 0.0, 0.0, 1.0]]).position("age")
    np.testing.assert_allclose(present, [0.8, 0.0], atol=1e-6)
    assert float(position[0]) == pytest.approx((0.5 + 5) / 2 / 9, rel=1e-5)
    assert np.isfinite(position).all()
