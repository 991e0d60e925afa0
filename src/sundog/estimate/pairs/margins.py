"""Margins: what a column's own counts and the sums of all its tables say of it together. Free: released values only.

Least squares. A column's own estimate c on the cells of an axis has the covariance S of its tree (sundog.estimate.hierarchy); the sums s of
the tables that hold it, on one axis, have independent noise of variance v. With A the matrix that adds up cells,

    K = S A^T (A S A^T + v I)^-1,    c <- c + K (s - A c),    S <- S - K A S

(a Kalman step per axis), and then the closest counts of which none is negative.

The estimate is no linear one: no count is negative, and smoothing has taken noise off. So small counts are known better than their
tree says, by a factor d <= 1 of the standard deviation; as far as that is so, the errors of two cells no longer follow from
the tree either, and their covariance is taken d^2 times over on both sides instead of d.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves, nested
from sundog.estimate.hierarchy import covariance
from sundog.estimate.nonnegative import nonnegative
from sundog.queries.marginal import one_way_axis
from sundog.released import Measurement, Released

LEAST = 0.5
"""No pooled cell is taken to be emptier than half a row."""

Counts = Float[np.ndarray, " cells"]
Covariance = Float[np.ndarray, "cells cells"]
Sums = tuple[Axis, Counts, float]
"""What tables say of a column on an axis: the counts, and their variance."""


def pooled_margins(
    released: Released, tables: Sequence[Measurement], *, axes: Mapping[str, Axis], leaves: Mapping[str, Leaves]
) -> dict[str, Counts]:
    """Every column's counts on its axis, from its own measurements and those of the tables."""
    rows = float(released.rows)
    own: dict[str, list[Measurement]] = {}
    for measurement in released.measurements:
        if one_way_axis(measurement.query) is not None:
            own.setdefault(measurement.query.columns[0], []).append(measurement)
    said = table_sums(tables, rows)
    margins = {}
    for name, axis in axes.items():
        counts, _ = pooled_column(leaves[name], own.get(name, ()), said.get(name, ()), axis=axis, rows=rows)
        held = np.maximum(nonnegative(counts, rows), LEAST)
        margins[name] = held * rows / held.sum()
    return margins


def pooled_column(
    leaves: Leaves, own: Sequence[Measurement], said: Sequence[Sums], *, axis: Axis, rows: float
) -> tuple[Counts, Covariance]:
    """One column's counts on an axis that all its tables' axes are coarser than, and how well they are known."""
    counts = leaves.shares(axis) * rows
    spread = known(counts, own, axis=axis, rows=rows)
    for coarse, sums, variance in said:
        counts, spread = _corrected(counts, spread, _adding(axis, coarse), sums=sums, variance=variance)
    return counts, spread


def known(counts: Counts, own: Sequence[Measurement], *, axis: Axis, rows: float) -> Covariance:
    """How well a column's own estimate is known; a column that was not measured alone may be anything."""
    if not own:
        return np.eye(axis.size) * rows**2
    measured = nested(own)
    linear = covariance(measured, axis)
    variances, stddev = np.diag(linear), measured[0].stddev
    factors = np.minimum(variances, counts**2 + (stddev / 2) ** 2) / np.maximum(variances, 1e-9)
    spread = linear * np.outer(factors, factors)
    np.fill_diagonal(spread, variances * factors + 1e-6)
    return spread


def table_sums(tables: Sequence[Measurement], rows: float) -> dict[str, list[Sums]]:
    """For every column and axis the mean sums of the tables that hold them, and their variance; finest axes first."""
    found: dict[Axis, list[tuple[Counts, float]]] = {}
    for measurement in tables:
        for place, axis in enumerate(measurement.query.axes):  # type: ignore[attr-defined]
            table = measurement.values.reshape(measurement.query.shape)  # type: ignore[attr-defined]
            others = tuple(other for other in range(table.ndim) if other != place)
            sums = table.sum(axis=others) + (rows - table.sum()) / axis.size
            found.setdefault(axis, []).append((sums, measurement.stddev**2 * table.size / axis.size))
    said: dict[str, list[Sums]] = {}
    for axis in sorted(found, key=lambda axis: -axis.size):
        precision = sum(1 / variance for _, variance in found[axis])
        mean = np.sum([sums / variance for sums, variance in found[axis]], axis=0) / precision
        said.setdefault(axis.column, []).append((axis, mean, 1 / precision))
    return said


def _adding(axis: Axis, coarse: Axis) -> Float[np.ndarray, "coarse cells"]:
    matrix = np.zeros((coarse.size, axis.size))
    matrix[axis.parents(coarse), np.arange(axis.size)] = 1.0
    return matrix


def _corrected(
    counts: Counts,
    spread: Covariance,
    adding: Float[np.ndarray, "coarse cells"],
    *,
    sums: Float[np.ndarray, " coarse"],
    variance: float,
) -> tuple[Counts, Covariance]:
    """Counts and their covariance after noisy sums."""
    across = adding @ spread
    gain = np.linalg.solve(across @ adding.T + variance * np.eye(len(sums)), across).T
    return counts + gain @ (sums - adding @ counts), spread - gain @ across
