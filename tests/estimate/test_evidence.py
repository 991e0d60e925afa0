"""The least-squares estimate: it adds up, it is unbiased, and its variances are those of the noise."""

import numpy as np
import pytest

from noisy_releases import QUERIES, ROWS, SCHEMA, STDDEVS, X, release
from sundog.domain.axis import Axis
from sundog.estimate.consistency import consistent
from sundog.estimate.evidence import Evidence
from sundog.queries import Marginal, answer

SETS = (("a", "x"), ("b", "x"), ("a", "b"), ("a", "b", "x"), ("x", "z"))


def identity(axes):
    size = int(np.prod([axis.size for axis in axes]))
    return np.eye(size).reshape(size, *(axis.size for axis in axes))


def deviations(evidence):
    """All cells and some random sums, in standard deviations from the truth."""
    random, found = np.random.default_rng(3), []
    for columns in SETS:
        axes = evidence.pooled(columns).axes
        exact = answer(Marginal(axes), ROWS)
        for weights in (identity(axes), random.normal(size=(4, *(axis.size for axis in axes)))):
            values, variances = evidence.answer({axes: weights})
            found.append((values - weights.reshape(len(weights), -1) @ exact) / np.sqrt(variances))
    return np.concatenate(found)


@pytest.mark.parametrize("public_rows", [None, len(ROWS)])
def test_deviations_are_standard(public_rows):
    found = np.concatenate([deviations(Evidence(release(seed, public_rows=public_rows))) for seed in range(12)])
    assert abs(found.mean()) < 0.06
    assert found.std() == pytest.approx(1.0, abs=0.05)
    assert np.mean(np.abs(found) < 1.96) == pytest.approx(0.95, abs=0.015)


def test_a_wrong_variance_would_be_seen():
    halved = tuple(stddev / 2 for stddev in STDDEVS)
    noisy = release(1)
    lying = noisy.with_measurements(
        tuple(m.__class__(m.query, m.values, s, m.receipt) for m, s in zip(noisy.measurements, halved, strict=True))
    )
    assert deviations(Evidence(lying)).std() > 1.6


def test_everything_adds_up_to_the_number_of_rows_and_to_the_margins():
    released = release(5)
    evidence = Evidence(released)
    for columns in SETS:
        table = evidence.table(columns)
        assert table.counts.sum() == pytest.approx(released.rows)
        for k, axis in enumerate(table.axes):
            summed = table.counts.sum(axis=tuple(j for j in range(len(columns)) if j != k))
            assert np.allclose(summed, evidence.margin(axis.column).onto(axis))
        values, _ = evidence.answer({table.axes: identity(table.axes)})
        assert np.allclose(values, table.counts.ravel())


def test_alike_cuts_give_the_solution_of_consistency():
    a, b, y = (Axis.whole(SCHEMA.column(name)) for name in "aby")
    queries = (Marginal((a, b)), Marginal((b, y)), Marginal((a, y)), Marginal((a,)))
    released = release(2, public_rows=len(ROWS), queries=queries, stddevs=(4.0, 4.0, 4.0, 4.0))
    evidence = Evidence(released)
    for estimate in consistent(released):
        axes = tuple(sorted(estimate.query.axes, key=lambda axis: SCHEMA.names.index(axis.column)))
        found = evidence.table(tuple(axis.column for axis in axes)) if len(axes) > 1 else None
        counts = found.counts.ravel() if found else evidence.margin("a").onto(axes[0])
        assert np.allclose(counts, estimate.counts, atol=1e-6)


def test_pooling_uses_what_is_fine_enough():
    evidence = Evidence(release(1))
    coarse = Axis.of(X, 7)
    assert evidence.pooled(("b", "x"), (Axis.whole(SCHEMA.column("b")), coarse)).axes[1] == coarse
    assert evidence.pooled(("a", "z")) is None
    assert not evidence.pooled(("a", "b")).own  # summed from the table of three columns


def test_atoms_that_no_table_tells_apart_are_no_singular_system():
    crossing = (Marginal((Axis.of(X, 7),)), Marginal((Axis.of(X, 5),)))
    margin = Evidence(release(1, queries=crossing, stddevs=(3.0, 3.0))).margin("x")
    assert margin.atoms.size == 11
    assert margin.counts.sum() == pytest.approx(Evidence(release(1, queries=crossing, stddevs=(3.0, 3.0))).rows)
    assert np.isfinite(margin.counts).all()


def test_an_unmeasured_column_is_even():
    margin = Evidence(release(1, queries=QUERIES[:1], stddevs=(3.0,))).margin("b")
    assert not margin.pieces
    assert margin.counts[0] == pytest.approx(margin.counts[1])
