"""What a coarse table hides of a trend. Post-processing: it uses released values only.

A dependence that rises steadily along a column and keeps its sign inside a coarse cell changes no distance from independence, on
fine or coarse cells. But values inside that cell then no longer follow it. Along the ranks of a column the part of a steady trend that is
lost is the variance of ranks inside the coarse cells, as a part of all of it: a 36th for six equal cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from sundog.domain import Column
from sundog.domain.axis import Axis, cells_in_order
from sundog.estimate.bins import Leaves
from sundog.queries import Query


@dataclass(frozen=True, eq=False)
class Hidden:
    """Which part of steady trends along both columns of a table, of their square, a table on coarser axes hides."""

    leaves: Mapping[str, Leaves]
    found: dict[tuple[Axis, Axis], float] = field(default_factory=dict)
    """Kept axis by axis: a wide table has thousands of pairs."""

    def of(self, query: Query, coarse: Query) -> float:
        """What the coarse table hides of the fine one's trends."""
        sides = list(zip(query.axes, coarse.axes, strict=True))  # type: ignore[attr-defined]
        for axis, wide in sides:
            if (axis, wide) not in self.found:
                known = self.leaves[axis.column]
                self.found[axis, wide] = hidden_trend(axis, wide, shares=known.shares(axis), column=known.column)
        return sum(self.found[side] for side in sides)


def hidden_trend(axis: Axis, coarse: Axis, *, shares: Float[np.ndarray, " cells"], column: Column) -> float:
    """Of a column with an order: the variance of its ranks inside the cells of a coarser axis, as a part of all of it."""
    ordered = cells_in_order(axis, column)
    if axis == coarse or not ordered:
        return 0.0
    mass = np.maximum(shares[:ordered], 0.0) / max(float(shares[:ordered].sum()), 1e-300)
    ranks, cells = np.cumsum(mass) - mass / 2, axis.parents(coarse)[:ordered]
    sums = np.maximum(np.bincount(cells, weights=mass), 1e-300)
    inside = ranks - (np.bincount(cells, weights=mass * ranks) / sums)[cells]
    return float(mass @ inside**2 / max(float(mass @ (ranks - mass @ ranks) ** 2), 1e-300))
