"""The closest table: sums, no negative cell, optimality, sparse tables, and trends that are held."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sundog.estimate.pairs.table_fit import Trend, fitted, raked, trends


def margins(table):
    return table.sum(axis=1), table.sum(axis=0)


def diagonal(size=16, rows=16_000.0):
    """Two columns that follow each other closely."""
    near = np.exp(-np.abs(np.subtract.outer(np.arange(size), np.arange(size))) * 2.0)
    near[near < 1e-3] = 0.0
    return near * rows / near.sum()


@given(st.integers(0, 10_000), st.integers(2, 7), st.integers(2, 7))
def test_sums_and_signs(seed, height, width):
    random = np.random.default_rng(seed)
    row, column = margins(random.gamma(0.5, 100.0, (height, width)) + 1.0)
    made = fitted(random.normal(50, 100, (height, width)), row, column)
    assert (made >= 0).all()
    assert made.sum(axis=0) == pytest.approx(column, rel=1e-6)
    assert made.sum(axis=1) == pytest.approx(row, rel=0.02, abs=0.02 * row.sum())


def test_a_table_that_fits_is_kept():
    table = np.random.default_rng(0).gamma(2.0, 50.0, (5, 4))
    assert fitted(table, *margins(table)) == pytest.approx(table)


def test_it_is_the_closest():
    random = np.random.default_rng(3)
    row, column = margins(random.gamma(0.5, 100.0, (4, 3)))
    table = random.normal(30, 60, (4, 3))
    made = fitted(table, row, column)
    solved = minimize(
        lambda x: ((x - table.ravel()) ** 2).sum(),
        made.ravel(),
        jac=lambda x: 2 * (x - table.ravel()),
        bounds=[(0, None)] * 12,
        constraints=[
            {"type": "eq", "fun": lambda x: x.reshape(4, 3).sum(axis=1) - row},
            {"type": "eq", "fun": lambda x: x.reshape(4, 3).sum(axis=0)[:-1] - column[:-1]},
        ],
    )
    assert made.ravel() == pytest.approx(solved.x, abs=0.5)


def test_noise_in_empty_cells_goes():
    truth = diagonal()
    noisy = truth + np.random.default_rng(1).normal(0, 36, truth.shape)
    made = fitted(noisy, *margins(truth))
    scaled = np.maximum(noisy, 0) * truth.sum() / np.maximum(noisy, 0).sum()
    assert np.abs(made - truth).sum() < 0.6 * np.abs(scaled - truth).sum()


def test_a_trend_is_held():
    truth = diagonal()
    noisy = truth + np.random.default_rng(2).normal(0, 36, truth.shape)
    (trend,) = trends([truth], [truth], sides=[margins(truth)], stddevs=[36.0])
    assert (truth * trend.scores).sum() == pytest.approx(trend.value)
    made = fitted(noisy, *margins(truth), trend=trend)
    assert (made * trend.scores).sum() == pytest.approx(trend.value, rel=0.01)
    assert made.sum(axis=0) == pytest.approx(truth.sum(axis=0), rel=1e-3)


def test_trends_lie_between_the_cleaned_and_the_noisy_tables():
    random = np.random.default_rng(4)
    truths = [diagonal(rows=rows) for rows in np.linspace(8_000, 40_000, 12)]
    noisy = [truth + random.normal(0, 36, truth.shape) for truth in truths]
    sides = [margins(truth) for truth in truths]
    weakened = [0.8 * truth + 0.2 * np.outer(*side) / side[0].sum() for truth, side in zip(truths, sides, strict=True)]
    found = trends(weakened, noisy, sides=sides, stddevs=[36.0] * 12)
    exact = np.array([(truth * each.scores).sum() for truth, each in zip(truths, found, strict=True)])
    off, off_before = (np.abs(np.array(values) - exact).mean() for values in ([t.value for t in found], 0.8 * exact))
    assert off < off_before / 3
    loud = trends(weakened, noisy, sides=sides, stddevs=[1e6] * 12)
    before = np.array([(table * each.scores).sum() for table, each in zip(weakened, loud, strict=True)])
    assert np.array([each.value for each in loud]) == pytest.approx(before, rel=0.01)


def test_no_tables_have_no_trends():
    assert trends([], [], sides=[], stddevs=[]) == []


def test_a_trend_out_of_reach_ends():
    truth = np.full((3, 3), 10.0)
    (trend,) = trends([truth], [truth], sides=[margins(truth)], stddevs=[1.0])
    made = fitted(truth, *margins(truth), trend=Trend(trend.scores, 1e6))
    assert np.isfinite(made).all()
    assert (made >= 0).all()


def test_a_trend_for_which_the_sums_leave_no_room_is_given_up():
    """Nearly all rows in one column's middle cell, where the trend's scores are nought."""
    row, column = np.full(3, 8713.0), np.array([0.5, 0.5, 26_137.0, 0.5, 0.5])
    noisy = np.outer(row, column) / row.sum() + np.random.default_rng(231).normal(0, 274, (3, 5))
    (trend,) = trends([noisy], [noisy], sides=[(row, column)], stddevs=[274.0])
    for value in (-0.04, 50.0, -4000.0):
        made = fitted(noisy, row, column, trend=Trend(trend.scores, value))
        assert made.sum(axis=1) == pytest.approx(row, rel=0.1)


def test_raking_reaches_the_sums_and_keeps_empty_cells_empty():
    table, shown = diagonal(), diagonal() * np.random.default_rng(5).uniform(0.5, 2.0, (16, 16))
    made = raked(shown, *margins(table))
    assert made.sum(axis=0) == pytest.approx(margins(table)[1])
    assert made.sum(axis=1) == pytest.approx(margins(table)[0], rel=0.01)
    assert made[table == 0].max() < 1e-6
