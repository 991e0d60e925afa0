"""Pool what overlapping tables say of one column, and clean each table with it. Free: released values only.

1. Margins. A column's cells are known from its own measurement and from the row or column sums of every table that
   holds it: the inverse-variance mean, made non-negative. Tables on a coarser axis correct the sums of merged cells.
2. Tables. What a table says beyond independence of its pooled margins is centred along both axes (margins carry no
   dependence). What all tables together support of it (sundog.factors) is kept; of the rest the singular values are shrunk
   by the optimal law for noise of known size (Gavish and Donoho 2017). What single cells still say beyond that is kept
   where it stands out (sundog.shrinkage). The result is raked to the pooled margins.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.axis import Axis
from sundog.bins import Leaves, parents, refined
from sundog.estimate import nonnegative
from sundog.factors import Excess, common_dependence
from sundog.queries import Marginal
from sundog.released import Measurement, Released
from sundog.shrinkage import shrunk_towards

LEAST = 0.5
"""No pooled cell is taken to be emptier than half a row."""
RAKES = 20


@dataclass(frozen=True, eq=False)
class Pooled:
    """Every column's axis and pooled counts, and every table's cleaned counts with the noise it was measured with."""

    axes: dict[str, Axis]
    margins: dict[str, Float[np.ndarray, " cells"]]
    tables: tuple[tuple[Marginal, Float[np.ndarray, " cells"], float], ...]


def pool(released: Released, leaves: Mapping[str, Leaves]) -> Pooled:
    """Pooled margins and cleaned tables of all measured pairs."""
    pairs = [m for m in released.measurements if isinstance(m.query, Marginal) and len(m.query.axes) == 2]
    axes = _finest(released, pairs)
    margins = _margins(released, pairs, axes=axes, leaves=leaves)
    return Pooled(axes, margins, _tables(pairs, axes, margins))


def _finest(released: Released, pairs: list[Measurement]) -> dict[str, Axis]:
    """For every column the coarsest axis on which all its tables can be told apart; columns in no table keep a bin each."""
    seen: dict[str, list[Axis]] = {}
    for measurement in pairs:
        for axis in measurement.query.axes:  # type: ignore[attr-defined]
            seen.setdefault(axis.column, []).append(axis)
    return {
        column.name: refined(seen[column.name], column) if column.name in seen else Axis.cut(column, [0])
        for column in released.schema.columns
    }


def _margins(
    released: Released, pairs: list[Measurement], *, axes: dict[str, Axis], leaves: Mapping[str, Leaves]
) -> dict[str, Float[np.ndarray, " cells"]]:
    rows = float(released.rows)
    counts = {name: leaves[name].shares(axis) * rows for name, axis in axes.items()}
    variances = {
        name: np.full(axis.size, max(2 * (leaves[name].stddev * rows) ** 2, 1e-9)) for name, axis in axes.items()
    }
    for measurement in sorted(pairs, key=lambda m: m.query.size, reverse=True):
        for place, axis in enumerate(measurement.query.axes):  # type: ignore[attr-defined]
            table = measurement.values.reshape(measurement.query.shape)  # type: ignore[attr-defined]
            sums = table.sum(axis=1 - place) + (rows - table.sum()) / table.shape[place]
            variance = measurement.stddev**2 * table.shape[1 - place]
            name = axis.column
            counts[name], variances[name] = _corrected(
                counts[name], variances[name], parents(axes[name], axis), sums, variance
            )
    pooled = {name: np.maximum(nonnegative(count, rows), LEAST) for name, count in counts.items()}
    return {name: margin * rows / margin.sum() for name, margin in pooled.items()}


def _corrected(
    counts: Float[np.ndarray, " fine"],
    variances: Float[np.ndarray, " fine"],
    merged: Float[np.ndarray, " fine"],
    sums: Float[np.ndarray, " coarse"],
    variance: float,
) -> tuple[Float[np.ndarray, " fine"], Float[np.ndarray, " fine"]]:
    """Fine counts after a noisy count of each merged cell (a Kalman step, cell by cell)."""
    current = np.bincount(merged, weights=counts, minlength=len(sums))
    spread = np.bincount(merged, weights=variances, minlength=len(sums))
    gain = variances / (spread + variance)[merged]
    return counts + gain * (sums - current)[merged], variances * (1 - gain)


def _tables(
    pairs: list[Measurement], axes: dict[str, Axis], margins: dict[str, Float[np.ndarray, " cells"]]
) -> tuple[tuple[Marginal, Float[np.ndarray, " cells"], float], ...]:
    """The tables, cleaned of noise."""
    if not pairs:
        return ()
    sides = [_sides(measurement, axes, margins) for measurement in pairs]
    excesses = [_excess(m, np.outer(row, column) / row.sum()) for m, (row, column) in zip(pairs, sides, strict=True)]
    shares = {name: margin / margin.sum() for name, margin in margins.items()}
    common = common_dependence(excesses, axes=axes, shares=shares)
    cleaned = []
    for measurement, (row, column), excess, known in zip(pairs, sides, excesses, common, strict=True):
        independent = np.outer(row, column) / row.sum()
        guess = independent + known + shrunk(excess.counts - known, excess.stddev)
        table = raked(_towards(guess, independent + excess.counts, excess.stddev), row, column)
        cleaned.append((measurement.query, table.ravel(), measurement.stddev))
    return tuple(cleaned)  # type: ignore[arg-type]


def _towards(
    guess: Float[np.ndarray, "a b"], values: Float[np.ndarray, "a b"], stddev: float
) -> Float[np.ndarray, "a b"]:
    """Cells as far from their guess as the noise allows to say."""
    known = np.maximum(guess, 0.0).ravel()
    noise, scale = np.full(known.size, stddev), np.maximum(known, 1.0)
    return shrunk_towards(known, values.ravel(), stddev=noise, scale=scale).reshape(guess.shape)


def _sides(
    measurement: Measurement, axes: dict[str, Axis], margins: dict[str, Float[np.ndarray, " cells"]]
) -> list[Float[np.ndarray, " cells"]]:
    """The pooled margins of a table's two columns, on the table's axes."""
    return [
        np.bincount(parents(axes[a.column], a), weights=margins[a.column], minlength=a.size)
        for a in measurement.query.axes  # type: ignore[attr-defined]
    ]


def _excess(measurement: Measurement, independent: Float[np.ndarray, "a b"]) -> Excess:
    """What a table says beyond independence, centred along both axes."""
    counts = measurement.values.reshape(independent.shape) - independent
    counts = counts - counts.mean(axis=1, keepdims=True)
    counts = counts - counts.mean(axis=0, keepdims=True)
    return Excess(measurement.query.axes, counts, measurement.stddev)  # type: ignore[attr-defined]


def shrunk(table: Float[np.ndarray, "a b"], stddev: float) -> Float[np.ndarray, "a b"]:
    """Singular values shrunk by the law that is optimal in squared error for white noise of this size."""
    small, large = sorted((table.shape[0] - 1, table.shape[1] - 1))
    if small < 1 or stddev <= 0:
        return table
    left, values, right = np.linalg.svd(table, full_matrices=False)
    ratio, scaled = small / large, values / (stddev * math.sqrt(large))
    inside = np.maximum((scaled**2 - ratio - 1) ** 2 - 4 * ratio, 0.0)
    kept = np.where(scaled > 1 + math.sqrt(ratio), np.sqrt(inside) / np.maximum(scaled, 1e-12), 0.0)
    return (left * (kept * stddev * math.sqrt(large))) @ right


def raked(
    table: Float[np.ndarray, "a b"], row: Float[np.ndarray, " a"], column: Float[np.ndarray, " b"]
) -> Float[np.ndarray, "a b"]:
    """The table with its negative cells emptied, scaled along both axes in turn to the given sums."""
    table = np.maximum(table, 1e-9)
    for _ in range(RAKES):
        table = table * (row / table.sum(axis=1))[:, None]
        table = table * (column / table.sum(axis=0))[None, :]
    return table
