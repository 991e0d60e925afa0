"""One-way measurement on a tree of resolutions, and the best estimate of the leaves from all levels.

A numeric column with a long grid is counted on up to 1024 leaves and on three coarser levels, each joining four cells of
the one below. The estimate is least squares over all levels (Hay et al. 2010): upwards, every node is the inverse-variance
mean of its own count and its children's sum; downwards, what the children's sum lacks is shared out. On the way down,
children too small to be told from noise are pooled, which keeps the tails of skewed columns from filling with noise.

A single histogram is a tree of one level. All levels set the lower bound and zero apart (axis.spikes), and missing.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from sundog.axis import Axis, spikes
from sundog.estimate import nonnegative
from sundog.queries import Marginal
from sundog.released import Measurement
from sundog.schema import Column, Numeric, Schema

LEAVES = 1024
BRANCH = 4
LEVELS = 4
FEW = 48
"""Columns with at most so many codes are counted code by code, in one level."""
SOME = 40
CLEAR = 2.0
"""Children below so many standard deviations are pooled."""


def levels(column: Column) -> tuple[Marginal, ...]:
    """The one-way marginals to measure for a column, finest first."""
    if not isinstance(column, Numeric) or column.size <= FEW:
        return (Marginal((Axis.whole(column),)),)
    count = min(LEAVES, column.steps)
    starts = sorted({(column.steps * k) // count for k in range(count)} | spikes(column))
    kept = [starts]
    while len(kept) < LEVELS and len(kept[-1]) > BRANCH * 2:
        kept.append(kept[-1][::BRANCH])
    return tuple(Marginal((Axis.cut(column, places),)) for places in kept)


def hierarchical(schema: Schema) -> tuple[Marginal, ...]:
    """The trees of all columns."""
    return tuple(query for column in schema.columns for query in levels(column))


def level_shares(schema: Schema) -> list[float]:
    """How the trees divide a budget: columns by cells^(2/3), long ones no more than SOME cells; levels equally."""
    shares = []
    for column in schema.columns:
        tree = levels(column)
        shares += [min(column.size, SOME) ** (2 / 3) / len(tree)] * len(tree)
    return shares


def estimate_leaves(measurements: Sequence[Measurement], *, rows: float) -> tuple[Axis, Float[np.ndarray, " leaves"]]:
    """The finest axis among nested one-way measurements of one column, and the estimated counts of its cells."""
    ordered = sorted(measurements, key=lambda m: -m.query.size)
    axes = [m.query.axes[0] for m in ordered]  # type: ignore[attr-defined]
    if len(ordered) == 1:
        return axes[0], nonnegative(ordered[0].values.astype(float), rows)
    counts, variances = _upwards(ordered, axes)
    estimate = nonnegative(counts[-1], rows)
    for level in range(len(ordered) - 2, -1, -1):
        parents = axes[level + 1].cells(axes[level].run_starts())
        estimate = _downwards(counts[level], variances[level], parents=parents, totals=estimate)
    return axes[0], estimate


def _upwards(
    ordered: Sequence[Measurement], axes: Sequence[Axis]
) -> tuple[list[Float[np.ndarray, " cells"]], list[Float[np.ndarray, " cells"]]]:
    """For every level the inverse-variance mean of the level's own counts and the sums of the level below."""
    counts = [ordered[0].values.astype(float)]
    variances = [np.full(axes[0].size, ordered[0].stddev ** 2)]
    for measurement, axis, below in zip(ordered[1:], axes[1:], axes[:-1], strict=True):
        parents = axis.cells(below.run_starts())
        sums = np.bincount(parents, weights=counts[-1], minlength=axis.size)
        spread = np.bincount(parents, weights=variances[-1], minlength=axis.size)
        variance = 1 / (1 / measurement.stddev**2 + 1 / spread)
        counts.append(variance * (measurement.values / measurement.stddev**2 + sums / spread))
        variances.append(variance)
    return counts, variances


def _downwards(
    counts: Float[np.ndarray, " cells"],
    variances: Float[np.ndarray, " cells"],
    *,
    parents: Float[np.ndarray, " cells"],
    totals: Float[np.ndarray, " parents"],
) -> Float[np.ndarray, " cells"]:
    """Children that add up to their parents, none negative; those not clear of the noise share what they have."""
    number = len(totals)

    def sums(values: Float[np.ndarray, " cells"]) -> Float[np.ndarray, " parents"]:
        return np.bincount(parents, weights=values, minlength=number)

    lacking = (totals - sums(counts)) / sums(variances)
    adjusted = counts + lacking[parents] * variances
    small = adjusted < CLEAR * math.sqrt(float(variances.max()))
    pooled = np.maximum(sums(np.where(small, adjusted, 0.0)), 0.0) / np.maximum(sums(small.astype(float)), 1.0)
    adjusted = np.where(small, pooled[parents], np.maximum(adjusted, 0.0))
    mass = sums(adjusted)
    even = 1.0 / np.maximum(sums(np.ones_like(counts)), 1.0)
    share = np.where(mass[parents] > 0, adjusted / np.where(mass > 0, mass, 1.0)[parents], even[parents])
    return share * totals[parents]
