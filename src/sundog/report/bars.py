"""How the cells of an axis become the few bars of a picture, and what the bars are called.

Numbers go into neighbouring bars of equal width. Where one of those would hold most of the rows, as in amounts that are
mostly zero, bars are cut by mass instead: a heavy value stands alone, and the rest is divided into ranges of about equal mass.
"""

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Column, Numeric
from sundog.domain.axis import Axis
from sundog.estimate.bins import Bins, Leaves
from sundog.estimate.question import cell_name

BARS = 36
"""At most this many bars per numeric column."""
LABELS = 12
"""At most this many labels per categorical column; the rest is one bar."""
PAIR_CELLS = 14
SKEWED = 0.5
"""A number is cut by mass where one bar of equal width would hold more than this share of the rows."""
FEWEST = 8
"""Fewer bars than this are readable whatever they hold."""
RANGES, MOST_BINS = 8, 400
"""About this many ranges show what a heavy value leaves, cut no finer than this many bins of all rows."""

Shares = Float[np.ndarray, " cells"]


def skewed(column: Column, shares: Shares) -> bool:
    """Whether bars of equal width would show little but one of them."""
    if not isinstance(column, Numeric):
        return False
    there = shares[: len(shares) - column.nullable]
    return len(there) >= FEWEST and float(there.max(initial=0.0)) > SKEWED * max(float(there.sum()), 1e-12)


def mass_axis(leaves: Leaves) -> tuple[Axis, tuple[str, ...]]:
    """Cells of a number by mass, and their names: values and ranges."""
    light = 1.0 - float(leaves.proportions.max(initial=0.0))
    axis = Bins(most=max(min(round(RANGES / max(light, 1e-3)), MOST_BINS), 2)).axis(leaves)
    return axis, tuple(cell_name(axis, leaves.column, cell) for cell in range(axis.size))


def bar_groups(axis: Axis, column: Column, *, weight: Shares) -> tuple[Int[np.ndarray, " cells"], tuple[str, ...]]:
    """The cells of an axis put together into few enough bars, and the bars' names."""
    if isinstance(column, Numeric):
        return _numeric_groups(axis, column, most=BARS)
    names = _cell_names(axis, column)
    if axis.size <= LABELS + 1:
        return np.arange(axis.size), names
    kept = np.sort(np.argsort(-weight, kind="stable")[:LABELS])
    groups = np.full(axis.size, LABELS)
    groups[kept] = np.arange(LABELS)
    return groups, (*(names[cell] for cell in kept), f"{axis.size - LABELS} others")


def _numeric_groups(axis: Axis, column: Numeric, *, most: int) -> tuple[Int[np.ndarray, " cells"], tuple[str, ...]]:
    """Neighbouring cells together, missing apart; a bar is named by its first value."""
    cells = axis.size - (column.missing is not None)
    count = min(cells, most)
    groups = np.arange(cells) * count // cells
    firsts = axis.run_starts()[np.flatnonzero(np.diff(groups, prepend=-1))]
    names = [column.describe(int(first)).partition("T")[0] for first in firsts]  # of a moment the day
    if column.missing is not None:
        return np.append(groups, count), (*names, "missing")
    return groups, tuple(names)


def _cell_names(axis: Axis, column: Column) -> tuple[str, ...]:
    if axis.groups is None:
        return tuple(column.describe(int(first)) for first in axis.firsts)
    members = [
        [column.describe(int(code)) for code in np.flatnonzero(axis.cell_of == cell)] for cell in range(axis.size)
    ]
    return tuple(names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more" for names in members)


def pair_groups(axis: Axis, column: Column, weight: Shares) -> tuple[Int[np.ndarray, " cells"], tuple[str, ...]]:
    """The same for one side of a picture of two columns."""
    if isinstance(column, Numeric):
        return _numeric_groups(axis, column, most=PAIR_CELLS)
    return bar_groups(axis, column, weight=weight)
