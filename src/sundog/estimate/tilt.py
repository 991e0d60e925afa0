"""Tilts: how a cell's rows lie inside it, where its neighbours show that they do not lie as all rows do.

The pieces of a bin share its rows as the column's margin says (sundog.estimate.pieces). Among some rows (the women, the
over-sixties) the bins next to it may show a slope: r_ij = log(count_ij / count_i) rises from bin i - 1 to bin i + 1. The rows
inside bin i then follow the same slope: a piece at position u has its share times exp(slope_ij u). Positions are ranks (the
share of all rows below), so that long tails do not run away.

Slopes are noisy. They are shrunk towards zero by their prior variance, which is estimated from all of them (Morris 1983); the
posterior variance is passed on. Over all rows of a bin tilts average to nothing, so that cells still add up to the margin.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric
from sundog.estimate.evidence import Table
from sundog.estimate.pieces import Pieces

FEWEST = 3
STEEPEST = 5.0
TILT, TAIL = 0.08, 0.2
"""How far the mean inside a cell may lie from what margin and neighbours say, in standard deviations of the weight there; in the
first and last cell of a column, which often are tails. Standard deviations found on public tables (docs/how-to/answers.md)."""

Ranks = Float[np.ndarray, " pieces"]


@dataclass(frozen=True, eq=False)
class Tilt:
    """For every cell of a table, this column last, the slope along it and how well that is known."""

    slope: Float[np.ndarray, "..."]
    variance: Float[np.ndarray, "..."]


def tilt_along(table: Table, k: int, pieces: Pieces) -> Tilt | None:
    """The slopes along the k-th column of a table; None where it has no order or too few cells."""
    ordered = isinstance(pieces.column, Numeric) or getattr(pieces.column, "ordered", False)
    size = table.axes[k].size - pieces.column.nullable
    if not ordered or table.axes[k].groups is not None or size < FEWEST:
        return None
    counts = np.maximum(np.moveaxis(table.counts, k, -1)[..., :size], 0.0)
    centres = ranks_of(pieces, table.counts, k)[1][:size]
    floor = np.sqrt(table.variance) + 1.0
    total = counts.reshape(-1, size).sum(axis=0)
    logs = np.log((counts + floor) / (total + floor * max(counts.size // size, 1)))
    spread = (table.variance + counts) / (counts + floor) ** 2
    slope, variance = _differences(logs, centres), _differences(spread, centres, squared=True)
    weight = 1 / variance
    prior = max(float((weight * (slope**2 - variance)).sum() / weight.sum()), 0.0)
    kept = prior / (prior + variance)
    return Tilt(*(_with_missing(part * kept, table.axes[k].size) for part in (slope, variance)))


def tilt_doubts(pieces: Pieces) -> Float[np.ndarray, " cells"]:
    """What the inside of each cell may differ by, beyond what its neighbours show, in standard deviations there."""
    made = np.full(pieces.axis.size, TILT)
    if isinstance(pieces.column, Numeric):
        made[[0, pieces.axis.size - pieces.column.nullable - 1]] = TAIL
    return made


def ranks_of(pieces: Pieces, counts: Float[np.ndarray, "..."], k: int) -> tuple[Ranks, Float[np.ndarray, " cells"]]:
    """The middles of the pieces as ranks, less the mean of their cell; and the means of the cells."""
    totals = np.maximum(counts.sum(axis=tuple(j for j in range(counts.ndim) if j != k)), 0.0)
    mass = pieces.smooth * totals[pieces.cells] + 1e-9
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    mean = np.bincount(pieces.cells, weights=pieces.smooth * middle, minlength=pieces.axis.size)
    return middle - mean[pieces.cells], mean


def tilted(
    weights: Float[np.ndarray, "..."], tilt: Tilt, pieces: Pieces, *, ranks: Ranks, counts: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """By how much the mean weight of each cell moves (the column last: its pieces in the weights, its cells in the result)."""
    starts = np.flatnonzero(np.diff(pieces.cells, prepend=-1))
    moved = pieces.smooth * np.exp(np.clip(tilt.slope[..., pieces.cells] * ranks, -STEEPEST, STEEPEST))
    total = np.add.reduceat(moved, starts, axis=-1)
    moved = moved / np.where(total > 0, total, 1.0)[..., pieces.cells] - pieces.smooth
    others = tuple(range(counts.ndim - 1))
    rows = counts.sum(axis=others)
    part = counts / np.where(rows >= 1, rows, np.inf)  # over all rows of a bin tilts average to nothing
    moved = moved - (part[..., pieces.cells] * moved).sum(axis=others)
    return np.add.reduceat(weights * np.where(rows >= 1, 1.0, 0.0)[pieces.cells] * moved, starts, axis=-1)


def _differences(
    values: Float[np.ndarray, "..."], at: Float[np.ndarray, " cells"], *, squared: bool = False
) -> Float[np.ndarray, "..."]:
    """Central differences per unit of position (one-sided at the ends); of variances the variance of that."""
    before, after = np.maximum(np.arange(len(at)) - 1, 0), np.minimum(np.arange(len(at)) + 1, len(at) - 1)
    apart = np.maximum(at[after] - at[before], 1e-9)
    if squared:
        return (values[..., after] + values[..., before]) / apart**2
    return (values[..., after] - values[..., before]) / apart


def _with_missing(values: Float[np.ndarray, "..."], size: int) -> Float[np.ndarray, "..."]:
    """With a zero for missing."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, size - values.shape[-1])])
