"""One-way trees: estimates add up, keep spikes, and are nearer the truth than their finest level."""

from itertools import pairwise

import numpy as np
import pytest

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.estimate.hierarchy import covariance, estimate_leaves, hierarchical, hierarchical_shares, levels
from sundog.released import Measurement


@pytest.fixture
def column():
    return Schema.from_json(
        {"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 4095, "required": True}}]}
    ).columns[0]


def measured(column, codes, *, stddev, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for query in levels(column):
        axis = query.axes[0]
        counts = np.bincount(axis.cells(codes), minlength=axis.size)
        found.append(Measurement(query, np.rint(counts + rng.normal(0, stddev, axis.size)).astype(int), stddev, "r"))
    return found


def truth_of(axis, codes):
    return np.bincount(axis.cells(codes), minlength=axis.size)


def test_levels_are_nested_and_coarser(column):
    axes = [query.axes[0] for query in levels(column)]
    assert [axis.size for axis in axes] == sorted((axis.size for axis in axes), reverse=True)
    for fine, coarse in pairwise(axes):
        assert set(coarse.run_starts()) <= set(fine.run_starts())


def test_short_columns_are_one_histogram():
    assert len(levels(Categorical("c", labels=tuple(range(300))))) == 1


def test_shares_are_one_a_query(column):
    schema = Schema((column, Categorical("c", labels=("a", "b"))))
    assert len(hierarchical_shares(schema)) == len(hierarchical(schema))


@pytest.mark.parametrize("stddev", [5.0, 60.0])
def test_a_smooth_column_is_nearer_the_truth_than_its_leaves(column, stddev):
    codes = np.clip(np.random.default_rng(3).normal(2000, 500, 20_000), 0, 4095).astype(int)
    measurements = measured(column, codes, stddev=stddev)
    axis, estimate = estimate_leaves(measurements, rows=len(codes))
    truth = truth_of(axis, codes)
    assert estimate.min() >= 0
    assert estimate.sum() == pytest.approx(len(codes))
    raw = np.abs(np.maximum(measurements[0].values, 0) - truth).sum()
    assert np.abs(estimate - truth).sum() < 0.7 * raw


def test_a_spike_stays(column):
    codes = np.concatenate([np.full(8000, 2500), np.random.default_rng(4).integers(0, 4096, 12_000)])
    axis, estimate = estimate_leaves(measured(column, codes, stddev=60.0), rows=len(codes))
    spike = axis.cells(np.array([2500]))[0]
    assert estimate[spike] == pytest.approx(8000, rel=0.1)
    assert estimate[spike + 1] < 200


def test_all_rows_in_one_place(column):
    codes = np.zeros(1000, dtype=int)
    axis, estimate = estimate_leaves(measured(column, codes, stddev=3.0), rows=1000)
    assert estimate[axis.cells(np.array([0]))[0]] > 900


def test_noise_alone_gives_a_valid_estimate(column):
    _, estimate = estimate_leaves(measured(column, np.zeros(0, dtype=int), stddev=500.0), rows=10)
    assert np.isfinite(estimate).all()
    assert estimate.min() >= 0
    assert estimate.sum() == pytest.approx(10)


def by_normal_equations(measurements, axis, *, rows):
    """The least-squares estimate and its covariance on an axis of leaves, all leaves adding up to the rows."""
    leaves = measurements[0].query.axes[0]
    precision, wanted = np.zeros((leaves.size, leaves.size)), np.zeros(leaves.size)
    for measurement in measurements:
        adding = np.eye(measurement.query.size)[leaves.parents(measurement.query.axes[0])].T
        precision += adding.T @ adding / measurement.stddev**2
        wanted += adding.T @ measurement.values / measurement.stddev**2
    spread = np.linalg.inv(precision)
    total = spread.sum(axis=1)
    adding = np.eye(axis.size)[leaves.parents(axis)].T
    estimate = spread @ wanted
    estimate += total * (rows - estimate.sum()) / total.sum()
    return adding @ estimate, adding @ (spread - np.outer(total, total) / total.sum()) @ adding.T


def test_the_covariance_is_that_of_least_squares(column):
    measurements = [
        Measurement(query, np.zeros(query.size, dtype=int), stddev, "r")
        for query, stddev in zip(levels(column), (9.0, 3.0, 5.0, 2.0, 7.0), strict=True)
    ]
    leaves = measurements[0].query.axes[0]
    axis = Axis.cut(column, [int(leaves.firsts[leaf]) for leaf in (0, 3, 4, 50, 300, 301, 900)])
    _, wanted = by_normal_equations(measurements, axis, rows=0)
    np.testing.assert_allclose(covariance(measurements, axis), wanted, atol=1e-8 * wanted.max())


def test_the_covariance_of_half_a_leaf_is_a_quarter(column):
    (query,) = levels(Categorical("c", labels=tuple(range(4))))
    merged = Measurement(type(query)((Axis.grouped(Categorical("c", labels=tuple(range(4))), [0, 0, 1, 1]),)),
                         np.array([5, 5]), 2.0, "r")  # fmt: skip
    found = covariance([merged], query.axes[0])
    np.testing.assert_allclose(found, 0.5 * np.kron([[1.0, -1.0], [-1.0, 1.0]], np.ones((2, 2))))
