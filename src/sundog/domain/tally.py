"""Tally: a count of rows that a database server can make itself, so that its rows need not leave it.

Rows are counted by the cells of some axes, among those whose codes lie in half-open ranges. Marginals, trees, ranges and
conditional ranges are made of tallies; what is a sum of something else (moments, smooth thresholds) is not.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from sundog.domain.axis import Axis


@dataclass(frozen=True)
class Within:
    """A condition: low <= code < high."""

    column: str
    low: int
    high: int


@dataclass(frozen=True)
class Tally:
    """How many rows fall into each cell, the last axis fastest, among those that satisfy all conditions, or not all of them."""

    axes: tuple[Axis, ...] = ()
    within: tuple[Within, ...] = ()
    outside: bool = False
    """Whether the rows are counted that do not satisfy all conditions."""
    joined: tuple[int, ...] | None = None
    """The count to which each cell adds; None: each has its own."""

    @property
    def counts(self) -> Int[np.ndarray, " cells"]:
        """For every cell the count to which it adds."""
        return np.arange(math.prod(axis.size for axis in self.axes)) if self.joined is None else np.array(self.joined)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return (*(axis.column for axis in self.axes), *(each.column for each in self.within))
