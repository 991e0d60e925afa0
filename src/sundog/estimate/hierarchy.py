"""One-way measurement on a tree of resolutions, and the best estimate of the leaves from all levels.

A numeric column with a long grid is counted on up to 1024 leaves and on four coarser levels, each joining four cells of
the one below. The estimate is least squares over all levels (Hay et al. 2010): upwards, every node is the inverse-variance
mean of its own count and its children's sum; downwards, what the children's sum lacks is shared out. On the way down
children are shrunk towards a smooth guess (a monotone cubic curve through the running sums of the level above, Fritsch and Carlson
1980) as far as the noise asks for, learnt level by level (sundog.estimate.shrinkage): spikes stay, noise goes.

A single histogram is a tree of one level, its long tail estimated by empirical Bayes. All levels set the lower bound and zero apart (axis.spikes), and missing.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.interpolate import PchipInterpolator

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis, spikes
from sundog.estimate.nonnegative import nonnegative
from sundog.estimate.shrinkage import posterior_counts, shrunk_towards
from sundog.queries import Marginal
from sundog.released import Measurement

LEAVES = 1024
BRANCH = 4
LEVELS = 5
MOST_SINGLE_CELLS = 48
"""Columns with at most this many codes are counted code by code, in one level."""
MOST_CELLS_COUNTED = 40
LEAST = 0.2
"""A curve leaves a child at least so much of its even share."""


def levels(column: Column) -> tuple[Marginal, ...]:
    """The one-way marginals to measure for a column, finest first."""
    if not isinstance(column, Numeric) or column.size <= MOST_SINGLE_CELLS:
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


def level_shares(column: Column) -> list[float]:
    """How columns divide a budget: by cells^(2/3), long ones no more than MOST_CELLS_COUNTED cells; the levels of one equally."""
    number = len(levels(column))
    return [min(column.size, MOST_CELLS_COUNTED) ** (2 / 3) / number] * number


def hierarchical_shares(schema: Schema) -> list[float]:
    """How the trees of all columns divide a budget."""
    return [share for column in schema.columns for share in level_shares(column)]


def estimate_leaves(measurements: Sequence[Measurement], *, rows: float) -> tuple[Axis, Float[np.ndarray, " leaves"]]:
    """The finest axis among nested one-way measurements of one column, and the estimated counts of its cells."""
    ordered = sorted(measurements, key=lambda m: -m.query.size)
    axes = [m.query.axes[0] for m in ordered]  # type: ignore[attr-defined]
    if len(ordered) == 1:
        return axes[0], posterior_counts(ordered[0].values, ordered[0].stddev, rows)
    counts, variances = _upwards(ordered, axes)
    estimate = nonnegative(counts[-1], rows)
    for level in range(len(ordered) - 2, -1, -1):
        guess = _smooth(estimate, axes[level + 1], axes[level])
        parents = axes[level].parents(axes[level + 1])
        estimate = _downwards(counts[level], variances[level], guess=guess, parents=parents, totals=estimate)
    return axes[0], estimate


def _upwards(
    ordered: Sequence[Measurement], axes: Sequence[Axis]
) -> tuple[list[Float[np.ndarray, " cells"]], list[Float[np.ndarray, " cells"]]]:
    """For every level the inverse-variance mean of the level's own counts and the sums of the level below."""
    counts = [ordered[0].values.astype(float)]
    variances = [np.full(axes[0].size, ordered[0].stddev ** 2)]
    for measurement, axis, below in zip(ordered[1:], axes[1:], axes[:-1], strict=True):
        parents = below.parents(axis)
        sums = np.bincount(parents, weights=counts[-1], minlength=axis.size)
        spread = np.bincount(parents, weights=variances[-1], minlength=axis.size)
        variance = 1 / (1 / measurement.stddev**2 + 1 / spread)
        counts.append(variance * (measurement.values / measurement.stddev**2 + sums / spread))
        variances.append(variance)
    return counts, variances


def covariance(measurements: Sequence[Measurement], axis: Axis) -> Float[np.ndarray, "cells cells"]:
    """The covariance of the least-squares estimate on any axis, all counts adding up to a known number of rows.

    Downwards every child is g times its parent, g = v / (sum of v over its siblings) and v its variance from its own subtree, plus
    an error with covariance diag(v) - v v^T / sum(v) among siblings. With M the axis's cells in terms of a level's nodes, and M' = M g in
    terms of their parents, a level adds M diag(v) M^T - M' diag(sum of v) M'^T.
    """
    ordered = sorted(measurements, key=lambda m: -m.query.size)
    levels_ = [m.query.axes[0] for m in ordered]  # type: ignore[attr-defined]
    _, variances = _upwards(ordered, levels_)
    cells, found = _overlap(levels_[0], axis), np.zeros((axis.size, axis.size))
    for level, variance in enumerate(variances):
        found += (cells * variance) @ cells.T
        if level + 1 < len(levels_):
            parents = levels_[level].parents(levels_[level + 1])
            sums = np.bincount(parents, weights=variance, minlength=levels_[level + 1].size)
            cells = _summed(cells * (variance / sums[parents]), parents, len(sums))
            found -= (cells * sums) @ cells.T
    total = found.sum(axis=1)
    return found - np.outer(total, total) / max(float(total.sum()), 1e-300)


def _overlap(fine: Axis, axis: Axis) -> Float[np.ndarray, "cells fine"]:
    """The part of every fine cell's codes that lies in each cell of the axis."""
    both = fine.refine(axis)
    inside, place = both.parents(fine), both.parents(axis)
    parts = np.zeros((axis.size, fine.size))
    np.add.at(parts, (place, inside), both.widths / fine.widths[inside])
    return parts


def _summed(
    cells: Float[np.ndarray, "cells fine"], parents: Int[np.ndarray, " fine"], number: int
) -> Float[np.ndarray, "cells coarse"]:
    """Columns added up by their parents."""
    added = np.zeros((number, len(cells)))
    np.add.at(added, parents, cells.T)
    return added.T


def _smooth(totals: Float[np.ndarray, " parents"], coarse: Axis, fine: Axis) -> Float[np.ndarray, " cells"]:
    """Children as their parents suggest: by the smoothest rising curve through the parents' running sums."""
    parents = fine.parents(coarse)
    curve = PchipInterpolator([*coarse.firsts, coarse.codes], np.cumsum([0.0, *totals]))
    smooth = np.diff(curve(np.append(fine.firsts, fine.codes)))
    even = (totals / coarse.widths)[parents] * fine.widths
    return _adding_up(np.maximum(smooth, LEAST * even), even, parents=parents, totals=totals)


def _downwards(
    counts: Float[np.ndarray, " cells"],
    variances: Float[np.ndarray, " cells"],
    *,
    guess: Float[np.ndarray, " cells"],
    parents: Int[np.ndarray, " cells"],
    totals: Float[np.ndarray, " parents"],
) -> Float[np.ndarray, " cells"]:
    """Children that add up to their parents, none negative, as far from their guess as the noise allows to say."""

    def sums(values: Float[np.ndarray, " cells"]) -> Float[np.ndarray, " cells"]:
        return np.bincount(parents, weights=values, minlength=len(totals))[parents]

    siblings = sums(np.ones_like(counts))
    spread = sums(variances)
    observed = counts + (totals[parents] - sums(counts)) * variances / spread
    open_ = (siblings > 1) & (totals[parents] > 0)
    estimate = guess.copy()
    estimate[open_] = shrunk_towards(
        guess[open_],
        observed[open_],
        stddev=np.sqrt(variances * (1 - variances / spread))[open_],
        scale=np.maximum(guess, totals[parents] / siblings)[open_],
    )
    return _adding_up(np.maximum(estimate, 0.0), guess, parents=parents, totals=totals)


def _adding_up(
    values: Float[np.ndarray, " cells"],
    otherwise: Float[np.ndarray, " cells"],
    *,
    parents: Int[np.ndarray, " cells"],
    totals: Float[np.ndarray, " parents"],
) -> Float[np.ndarray, " cells"]:
    """Values scaled to add up to their parents; `otherwise` where all of a parent's are zero."""
    mass = np.bincount(parents, weights=values, minlength=len(totals))
    return np.where((mass > 0)[parents], values * (totals / np.where(mass > 0, mass, 1.0))[parents], otherwise)
