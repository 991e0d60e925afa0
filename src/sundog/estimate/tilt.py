"""Tilts: how a cell's rows lie inside it, where its neighbours show that they do not lie as all rows do.

The pieces of a bin share its rows as the column's margin says (sundog.estimate.pieces). Among some rows (the women, the
over-sixties) the bins next to it may show a slope: r_ij = log(count_ij / count_i) rises from bin i - 1 to bin i + 1. To
first order the rows inside bin i then follow the same slope, and the mean of a weight w in the cell moves by

    slope_ij * covariance of w and the position, inside the bin.

Slopes are noisy. They are shrunk towards zero by their prior variance, which is estimated from all of them (Morris 1983); the
posterior variance is passed on. Over all rows of a bin they average to nothing, so that cells still add up to the margin.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric
from sundog.estimate.evidence import Table
from sundog.estimate.pieces import Pieces

FEWEST = 3


@dataclass(frozen=True, eq=False)
class Tilt:
    """For every cell of a table the slope along one column, and how well it is known."""

    slope: Float[np.ndarray, "..."]
    variance: Float[np.ndarray, "..."]


def tilt_along(table: Table, k: int, pieces: Pieces) -> Tilt | None:
    """The slopes along the k-th column of a table; None where it has no order or too few cells."""
    ordered = isinstance(pieces.column, Numeric) or getattr(pieces.column, "ordered", False)
    size = table.axes[k].size - pieces.column.nullable
    if not ordered or table.axes[k].groups is not None or size < FEWEST:
        return None
    counts = np.maximum(np.moveaxis(table.counts, k, -1)[..., :size], 0.0)
    width = positions(pieces)[1][:size]
    floor = np.sqrt(table.variance) + 1.0
    total = counts.reshape(-1, size).sum(axis=0)
    logs = np.log((counts + floor) / (total + floor * max(counts.size // size, 1)))
    spread = (table.variance + counts) / (counts + floor) ** 2
    slope, variance = _differences(logs, width), _differences(spread, width, squared=True)
    weight = 1 / variance
    prior = max(float((weight * (slope**2 - variance)).sum() / weight.sum()), 0.0)
    kept = prior / (prior + variance)
    shrunk = slope * kept
    others = tuple(range(counts.ndim - 1))
    mean = (counts * shrunk).sum(axis=others) / np.maximum(counts.sum(axis=others), 1e-9)
    return Tilt(_back(shrunk - mean, table, k), _back(variance * kept, table, k))


def positions(pieces: Pieces) -> tuple[Float[np.ndarray, " pieces"], Float[np.ndarray, "..."]]:
    """The middles of the pieces, less the mean of their cell; and the means of the cells."""
    middle = pieces.first + (pieces.width - 1) / 2
    mean = np.bincount(pieces.cells, weights=pieces.shares * middle, minlength=pieces.axis.size)
    return middle - mean[pieces.cells], mean


def _differences(
    values: Float[np.ndarray, "..."], at: Float[np.ndarray, "..."], *, squared: bool = False
) -> Float[np.ndarray, "..."]:
    """Central differences per unit of position (one-sided at the ends); of variances the variance of that."""
    before, after = np.maximum(np.arange(len(at)) - 1, 0), np.minimum(np.arange(len(at)) + 1, len(at) - 1)
    apart = np.maximum(at[after] - at[before], 1e-9)
    if squared:
        return (values[..., after] + values[..., before]) / apart**2
    return (values[..., after] - values[..., before]) / apart


def _back(values: Float[np.ndarray, "..."], table: Table, k: int) -> Float[np.ndarray, "..."]:
    """In the table's own shape, zero for missing."""
    made = np.zeros(np.moveaxis(table.counts, k, -1).shape)
    made[..., : values.shape[-1]] = values
    return np.moveaxis(made, -1, k)
