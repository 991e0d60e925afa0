"""Differences between siblings: in which cell the difference of two cells lies.

A column in 16 cells cannot show that couples are two years apart. The difference of the two siblings' values, counted as a
column of its own, can; the search then needs to know it for every two cells that siblings may have.
"""

import numpy as np
from jaxtyping import Int

from sundog.domain import Numeric
from sundog.domain.axis import Axis


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
