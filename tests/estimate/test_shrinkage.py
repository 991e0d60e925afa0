"""Empirical Bayes for counts: keeps what is clear, keeps the sum, and is closer to the truth than projection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sundog.estimate.nonnegative import nonnegative
from sundog.estimate.shrinkage import emptiness, posterior_counts, shares_of_lines, shrunk_towards


@given(st.lists(st.integers(-300, 3000), min_size=1, max_size=60), st.floats(0.5, 200.0), st.integers(1, 10_000))
def test_counts_are_not_negative_and_add_up(values, stddev, total):
    found = posterior_counts(np.array(values), stddev, float(total))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)


def test_few_cells_are_only_projected():
    values = np.array([50, -3, 7])
    assert np.array_equal(posterior_counts(values, 10.0, 50.0), nonnegative(values.astype(float), 50.0))


def test_a_long_tail_keeps_its_mass_and_is_nearer_the_truth_than_projection():
    truth = np.concatenate([[4000.0, 1500.0], np.full(400, 10.0)])
    noise = np.random.default_rng(0).normal(0, 60, (5, len(truth)))
    for shift in noise:
        values = np.rint(truth + shift)
        found = posterior_counts(values, 60.0, truth.sum())
        projected = nonnegative(values, truth.sum())
        assert np.abs(found - truth).sum() < 0.5 * np.abs(projected - truth).sum()
        assert found[0] == pytest.approx(4000, rel=0.1)


def test_without_noise_to_speak_of_nothing_moves():
    truth = np.arange(1, 40) * 100.0
    found = shrunk_towards(np.full(39, 2000.0), truth, stddev=np.full(39, 1.0), scale=np.full(39, 2000.0))
    assert found == pytest.approx(truth, abs=1)


def test_pure_noise_vanishes_and_a_spike_stays():
    values = np.random.default_rng(1).normal(100, 20, 200)
    values[17] = 900
    found = shrunk_towards(np.full(200, 100.0), values, stddev=np.full(200, 20.0), scale=np.full(200, 100.0))
    others = np.delete(found, 17)
    assert np.abs(others - 100).mean() < 0.25 * np.abs(np.delete(values, 17) - 100).mean()
    assert found[17] == pytest.approx(900, abs=60)


def test_no_cells_are_no_cells():
    assert len(shrunk_towards(*[np.zeros(0)] * 2, stddev=np.zeros(0), scale=np.zeros(0))) == 0


def test_cells_of_a_table_that_are_empty_are_told_from_full_ones():
    truth = np.diag(np.full(12, 1000.0)).ravel()
    expected = np.full(144, 12_000 / 144)
    empty = emptiness(np.random.default_rng(2).normal(truth, 40.0), expected=expected, stddev=40.0)
    assert empty[truth > 0].max() < 1e-6
    assert np.median(empty[truth == 0]) > 0.5


def test_no_cell_of_an_independent_table_is_called_empty():
    truth = np.outer([400.0, 300.0, 200.0], [0.5, 0.3, 0.2]).ravel()
    for seed in range(20):
        values = np.random.default_rng(seed).normal(truth, 10.0)
        assert emptiness(values, expected=truth, stddev=10.0).max() < 0.05


def test_where_the_noise_prevails_no_cell_is_held_to_be_empty_for_sure():
    truth = np.full(100, 5.0)
    values = np.random.default_rng(3).normal(truth, 60.0)
    assert emptiness(values, expected=truth, stddev=60.0).max() < 0.5


def test_lines_that_lie_in_one_cell_come_out_in_one_cell_and_others_as_they_were_measured():
    shares = np.array([[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5 + [[0.436, 0.564]])
    lines = np.array([1000.0, 400.0, 300.0, 200.0, 150.0] * 2 + [3000.0])
    truth = shares * lines[:, None]
    left, raw = 0.0, 0.0
    for seed in range(20):
        values = np.random.default_rng(seed).normal(truth, 40.0)
        found = shares_of_lines(values, lines=lines, stddev=40.0) * lines[:, None]
        left, raw = left + found[truth == 0].sum(), raw + np.maximum(values, 0.0)[truth == 0].sum()
        np.testing.assert_allclose(found[-1], values[-1], atol=1e-3)
    assert left < 0.5 * raw
