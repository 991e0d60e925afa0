"""Cells near a sibling's: where differences between siblings were measured, the search also tries values that are as far apart.

A value drawn from the column at large hits a couple's two years of distance seldom. So half of the candidates are a sibling's value
plus a difference from the released distribution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from sundog.domain import Numeric
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves
from sundog.generate.linked.moves import DRAWN


@dataclass(frozen=True, eq=False)
class Near:
    """The middles of a column's cells that have values, and differences as they were released, DRAWN of them in order."""

    middles: Int[np.ndarray, " cells"]
    drawn: Int[np.ndarray, " drawn"]

    @staticmethod
    def of(column: Numeric, fine: Axis, between: Leaves) -> "Near":
        """For a column on its `fine` axis, from what is known of its differences."""
        axis, shares = between.axis, between.proportions
        starts, widths = fine.run_starts(), fine.widths
        known = starts < column.steps
        last = 2 * column.steps - 1
        first, end = axis.run_starts(), axis.run_starts() + axis.widths
        weights = np.where(first < last, np.maximum(shares, 0.0), 0.0)  # missing is no difference
        ends = np.cumsum(weights if weights.sum() > 0 else np.where(first < last, 1.0, 0.0))
        places = (np.arange(DRAWN) + 0.5) / DRAWN * ends[-1]
        cell = np.minimum(np.searchsorted(ends, places), len(ends) - 1)
        inside = 1.0 - (ends[cell] - places) / np.maximum(np.diff(ends, prepend=0.0)[cell], 1e-300)
        codes = first[cell] + np.floor(np.clip(inside, 0, 1 - 1e-9) * (end - first)[cell])
        return Near((starts + (widths - 1) // 2)[known], (codes - (column.steps - 1)).astype(np.int64))


def packed_near(near: Mapping[int, Near], columns: int) -> tuple[Int[np.ndarray, "..."], ...]:
    """By column, as the compiled search reads it: where its middles begin, their number, where its differences begin; 0 of none."""
    place = np.zeros((columns, 3), dtype=np.int64)
    middles: Sequence[Int[np.ndarray, " cells"]] = [near[c].middles for c in near]
    begin = 0
    for number, (c, each) in enumerate(near.items()):
        place[c] = begin, len(each.middles), number * DRAWN
        begin += len(each.middles)
    nothing = np.zeros(1, dtype=np.int64)
    drawn = [near[c].drawn for c in near]
    return place, np.concatenate([*middles, nothing]), np.concatenate([*drawn, nothing])
