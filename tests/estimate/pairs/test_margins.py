"""Pooled margins: a column's own counts and the sums of its tables, by least squares."""

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import leaves_of
from sundog.estimate.hierarchy import levels
from sundog.estimate.pairs.margins import known, pooled_margins
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released

LABELS = Categorical("a", labels=tuple("uvwxyz"))
NUMBER, SIDE = Numeric("n", "integer", 0, 4095), Categorical("s", labels=("x", "y"))
ROWS = 40_000


def test_small_counts_are_known_better_than_the_noise():
    own = Measurement(Marginal((Axis.whole(LABELS),)), np.array([500, 200, 100, 100, 99, 1]), 10.0, "r")
    merged = Axis.grouped(LABELS, [0, 1, 2, 2, 2, 3])
    found = known(np.array([500.0, 200.0, 299.0, 1.0]), [own], axis=merged, rows=1000.0)
    alone = 100 * (1 - 1 / 6)
    np.testing.assert_allclose(np.diag(found), [alone, alone, 100 * (3 - 9 / 6), 1.0 + 5.0**2], rtol=1e-6)
    assert found[0, 1] == pytest.approx(-100 / 6)
    assert abs(found[0, 3]) < 100 / 6 / 3


def test_a_column_that_was_not_measured_alone_may_be_anything():
    axis = Axis.whole(LABELS)
    np.testing.assert_array_equal(known(np.ones(6), [], axis=axis, rows=1000.0), 1000.0**2 * np.eye(6))


def released(seed, *, stddev=60.0, table=True):
    """A number on its tree, and a table of its bins with another column."""
    random = np.random.default_rng(seed)
    codes = np.clip(random.gamma(4.0, 250.0, ROWS), 0, 4095).astype(np.int64)
    axis = Axis.cut(NUMBER, [0, *(4 * round(float(cut) / 4) for cut in np.quantile(codes, np.arange(1, 12) / 12))])
    exact = [(query, np.bincount(query.axes[0].cells(codes), minlength=query.size)) for query in levels(NUMBER)]
    pair = np.repeat(np.bincount(axis.cells(codes), minlength=axis.size), 2) // 2
    if table:
        exact.append((Marginal((axis, Axis.whole(SIDE))), pair))
    measured = [
        Measurement(query, np.rint(counts + random.normal(0, stddev, query.size)).astype(int), stddev, "r")
        for query, counts in exact
    ]
    schema, guarantee = Schema((NUMBER, SIDE)), Guarantee(PrivacyUnit(), "gaussian", 1.0)
    shown = Released(schema, tuple(measured), guarantee, public_rows=ROWS)
    return shown, axis, np.bincount(axis.cells(codes), minlength=axis.size)


def errors(seed):
    """How far the bins are from the truth: by the column alone, by the table alone, and by both."""
    shown, axis, truth = released(seed)
    axes, leaves = {"n": axis, "s": Axis.whole(SIDE)}, leaves_of(shown)
    pooled = pooled_margins(shown, [shown.measurements[-1]], axes=axes, leaves=leaves)["n"]
    sums = shown.measurements[-1].values.reshape(axis.size, 2).sum(axis=1)
    assert pooled.sum() == pytest.approx(ROWS)
    return [np.abs(found - truth).sum() for found in (leaves["n"].shares(axis) * ROWS, sums, pooled)]


def test_both_together_are_nearer_the_truth_than_either():
    own, sums, pooled = np.mean([errors(seed) for seed in range(12)], axis=0)
    assert pooled < 0.93 * min(own, sums)


def test_histograms_are_averaged_by_their_precision():
    """All counts clear of the noise: the mean weighted by precision, on merged cells too."""
    axis, merged = Axis.whole(LABELS), Axis.grouped(LABELS, [0, 0, 0, 1, 1, 1])
    own = Measurement(Marginal((axis,)), np.array([500, 400, 300, 200, 300, 300]), 3.0, "r")
    whole = Measurement(Marginal((axis, Axis.whole(SIDE))), np.repeat([270, 190, 140, 100, 150, 150], 2), 3.0, "r")
    coarse = Measurement(Marginal((merged, Axis.whole(SIDE))), np.repeat([610, 390], 2), 1.0, "r")
    schema, guarantee = Schema((LABELS, SIDE)), Guarantee(PrivacyUnit(), "gaussian", 1.0)
    shown = Released(schema, (own, whole, coarse), guarantee, public_rows=2000)
    axes = {"a": axis, "s": Axis.whole(SIDE)}
    first = pooled_margins(shown, [whole], axes=axes, leaves=leaves_of(shown))["a"]
    mean = (2 * np.array([500, 400, 300, 200, 300, 300]) + np.array([540, 380, 280, 200, 300, 300])) / 3
    np.testing.assert_allclose(first, mean, atol=1e-3)
    both = pooled_margins(shown, [whole, coarse], axes=axes, leaves=leaves_of(shown))["a"]
    variance = 6 * 3 / 2  # of three of six cells with a variance of 6 each, whose sum is known
    wanted = (first[:3].sum() / variance + 1220) / (1 / variance + 1)  # two sums of variance 2 that tell the same
    assert both[:3].sum() == pytest.approx(wanted, abs=0.1)
