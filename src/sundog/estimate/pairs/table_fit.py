"""The closest table with given sums, no negative cell, and a given trend. Free: released values only.

Least squares, for noise that is alike in all cells: rows and columns of the table are shifted in turn until the cells that
stay positive add up to the sums. Where most cells are empty their noise goes, of which emptying the negative ones and scaling
the others would leave half.

What is left of that noise lies in cells that should be empty, all on one side, and so weakens every dependence a little: two
columns that rise together do so less. The trend of two columns (how far they rise together, in the order of their codes) is
one number, which the table's raw counts tell without that bias and with little noise. It is estimated from both
(sundog.estimate.shrinkage) and then held. Labels have an order too, if only that of the schema's list: it costs nothing to keep it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.estimate.shrinkage import shrunk_towards

TURNS = 60
CLOSE = 0.1
"""In rows."""
FAINT = 1e-3
"""Cells that can move the trend by less than this share of what all can are not pulled harder for it."""
MOST_SUM_ERROR = 0.02
"""A trend that takes the sums off by more than this share of the rows is given up."""
SCALINGS = 30
LEAST = 1e-9
"""No cell is taken to be emptier, in rows, so that the sums can always be reached."""
TYPICAL = 0.1
"""By how much a trend may be off, as a rank correlation."""

Table = Float[np.ndarray, "a b"]
Row = Float[np.ndarray, " a"]
Column = Float[np.ndarray, " b"]


@dataclass(frozen=True, eq=False)
class Trend:
    """The sum over cells of count times `scores`, the product of both columns' centred ranks."""

    scores: Table
    value: float


def fitted(table: Table, row: Row, column: Column, *, trend: Trend | None = None) -> Table:
    """The closest table with these sums, no negative cell, and the trend if one is given."""
    shift, pull = np.zeros(len(column)), 0.0
    for _ in range(TURNS):
        pulled = table if trend is None else table - pull * trend.scores
        across = _shifts(pulled - shift, row)
        before, shift = shift, _shifts(pulled.T - across, column)
        made = np.maximum(pulled - across[:, None] - shift, 0.0)
        off = 0.0 if trend is None else float((made * trend.scores).sum() - trend.value)
        if np.abs(shift - before).max() < CLOSE and abs(off) < CLOSE:
            break
        if trend is not None:
            moved = trend.scores**2
            pull += off / max(float(moved[made > 0].sum()), FAINT * float(moved.sum()), 1e-12)
    if trend is not None and np.abs(made.sum(axis=1) - row).max() > MOST_SUM_ERROR * row.sum():
        return fitted(table, row, column)  # the sums leave no room for the trend
    return made


def raked(table: Table, row: Row, column: Column) -> Table:
    """The table with its rows and columns scaled in turn until they add up to the sums: empty cells stay empty."""
    made = np.maximum(table, LEAST)
    for _ in range(SCALINGS):
        made = made * (row / made.sum(axis=1))[:, None]
        made = made * (column / made.sum(axis=0))
    return made


def _shifts(lines: Float[np.ndarray, "lines cells"], sums: Float[np.ndarray, " lines"]) -> Float[np.ndarray, " lines"]:
    """For every line what to take off its cells so that the positive ones add up to its sum."""
    falling = -np.sort(-lines, axis=1)
    shifts = (np.cumsum(falling, axis=1) - sums[:, None]) / np.arange(1, lines.shape[1] + 1)
    last = np.maximum((falling > shifts).sum(axis=1), 1) - 1
    return np.take_along_axis(shifts, last[:, None], axis=1)[:, 0]


def trends(
    cleaned: Sequence[Table],
    observed: Sequence[Table],
    *,
    sides: Sequence[tuple[Row, Column]],
    stddevs: Sequence[float],
) -> list[Trend]:
    """The trends of several tables: between what they are after cleaning and what the noisy counts say."""
    scores = [np.outer(_ranks(row), _ranks(column)) for row, column in sides]
    guesses = np.array([(table * each).sum() for table, each in zip(cleaned, scores, strict=True)])
    values = np.array([(table * each).sum() for table, each in zip(observed, scores, strict=True)])
    noise = np.array([sd * np.sqrt((_centred(each) ** 2).sum()) for sd, each in zip(stddevs, scores, strict=True)])
    scale = np.array([TYPICAL * _greatest(row) * _greatest(column) for row, column in sides])
    best = shrunk_towards(guesses, values, stddev=noise, scale=scale)
    return [Trend(each, float(value)) for each, value in zip(scores, best, strict=True)]


def _ranks(counts: Float[np.ndarray, " cells"]) -> Float[np.ndarray, " cells"]:
    """Every cell's middle rank, from 0 to 1, with mean 0."""
    shares = counts / counts.sum()
    middle = np.cumsum(shares) - shares / 2
    return middle - shares @ middle


def _greatest(counts: Float[np.ndarray, " cells"]) -> float:
    """A column's part in the largest trend that a table with its sums can have, in rows."""
    return float(np.sqrt(counts @ _ranks(counts) ** 2))


def _centred(scores: Table) -> Table:
    """The scores as seen by counts that were centred along both axes."""
    return scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
