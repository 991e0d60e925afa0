"""Differences between siblings: where they are not what independent siblings would have. Free: released values only.

A column in 16 cells cannot show that couples are two years apart. The difference of the two siblings' values, measured as a
column of its own, can. It is worth more tables where its distribution differs from that of two values drawn independently from the
margins of the first and the second sibling:

    P(d) = sum over cells a, b with b - a in d of p(a) q(b).
"""

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric
from sundog.domain.axis import Axis
from sundog.domain.linked.views import DIFFERENCE, SECOND, View
from sundog.estimate.bins import Bins, Leaves, leaves_of
from sundog.released import Released

LEAST = 0.05
"""Siblings depend on each other in a number from this total variation on, noise taken off."""
NOISE = 0.4
"""Half the mean absolute value of a standard normal: what the noise in one cell adds to total variation."""


def difference_cells(fine: Axis, column: Numeric, axis: Axis) -> Int[np.ndarray, "first second"]:
    """The cell of `axis` that the difference of two siblings' values lies in, for every two cells of the column's `fine` axis.

    Cells stand for their middles. Two values in one cell of several codes are close, but seldom equal: they count as one apart,
    in either direction.
    """
    starts, widths = fine.run_starts(), fine.widths
    middles = starts + (widths - 1) // 2
    apart = middles[None, :] - middles[:, None]
    wide = np.flatnonzero(widths > 1)
    apart[wide, wide] = np.where(wide % 2 == 0, 1, -1)
    known = starts < column.steps
    codes = np.where(known[:, None] & known[None, :], apart + column.steps - 1, 2 * column.steps - 1)
    return axis.cells(codes.ravel()).astype(np.int64).reshape(codes.shape)


def dependent_differences(released: Released, view: View, *, bins: Bins) -> dict[str, float]:
    """The columns of a view of siblings in which these depend on each other, and how much, strongest first."""
    leaves = leaves_of(released)
    found = {name: _dependence(leaves, name, bins=bins) for name in view.numbers}
    return {name: gap for name, gap in sorted(found.items(), key=lambda each: -each[1]) if gap >= LEAST}


def _dependence(leaves: dict[str, Leaves], name: str, *, bins: Bins) -> float:
    own, other, between = leaves[name], leaves[f"{name}{SECOND}"], leaves[f"{name}{DIFFERENCE}"]
    column = own.column
    if between.stddev <= 0 or not isinstance(column, Numeric):
        return 0.0
    axis = bins.axis(between)
    seen = between.shares(axis)
    cells = difference_cells(own.axis, column, axis)
    together = np.outer(own.proportions, other.shares(own.axis))
    expected = np.bincount(cells.ravel(), weights=together.ravel(), minlength=axis.size)
    number = axis.size - (1 if column.nullable else 0)  # missing is the last cell; it says nothing of a difference
    return _gap(seen[:number], expected[:number], stddev=between.stddev)


def _gap(seen: Float[np.ndarray, " cells"], expected: Float[np.ndarray, " cells"], *, stddev: float) -> float:
    """The total variation of what is seen, as shares of what is known, beyond its noise."""
    known = float(seen.sum())
    if known <= 0 or expected.sum() <= 0:
        return 0.0
    distance = 0.5 * float(np.abs(seen / known - expected / expected.sum()).sum())
    return distance - NOISE * len(seen) * stddev / known
