"""Ties: columns that follow from others are not searched for; their tables speak of the column that they follow from.

Where the released values show that a column is a function of another (sundog.estimate.pairs.determined), every table that holds
it is a table of the other column too, whose cells are joined by the map. The search fits it as such, and the column is set by
the map in the end, so that no row breaks it. Maps are followed to their roots: city -> region -> country ties both to the city.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.estimate.pairs.determined import Dependency
from sundog.queries import Joined, Marginal

Cells = Int[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class Ties:
    """For every tied column the one it follows from in the end, and its cell for each of that one's cells."""

    axes: Mapping[str, Axis]
    roots: Mapping[str, tuple[str, Cells]]

    @staticmethod
    def of(found: Sequence[Dependency], axes: Mapping[str, Axis]) -> "Ties":
        """The ties among columns whose rows hold cells of these axes; maps onto coarser cells tie nothing."""
        direct = {each.column.column: each for each in found if axes[each.column.column] == each.column}
        return Ties(axes, {name: _followed(name, direct, axes) for name in direct})

    def applied(self, cells: Mapping[str, Int[np.ndarray, " rows"]]) -> dict[str, Int[np.ndarray, " rows"]]:
        """The rows with every tied column set by its root."""
        tied = {name: onto[cells[root]] for name, (root, onto) in self.roots.items()}
        return {**cells, **tied}

    def coded(
        self, schema: Schema, table: Marginal | Joined, values: Float[np.ndarray, " cells"]
    ) -> tuple[Marginal | Joined, Float[np.ndarray, " cells"]] | None:
        """A table in terms of the cells of the columns that are searched; None where two of its columns follow from one."""
        sides = [self._side(axis) for axis in table.axes]
        if len({name for name, _ in sides}) < len(sides):
            return None
        if isinstance(table, Joined):
            whole = tuple(Axis.whole(schema.column(name)) for name, _ in sides)
            query, used = table.over(whole, [merged for _, merged in sides])
            return query, values[used]
        axes, counts = [], values.reshape(table.shape)
        for place, (name, merged) in enumerate(sides):
            used, groups = np.unique(merged, return_inverse=True)
            counts = counts.take(used, axis=place)
            column = schema.column(name)
            alone = np.array_equal(groups, np.arange(column.size))
            axes.append(Axis.whole(column) if alone else Axis.grouped(column, [int(cell) for cell in groups]))
        return Marginal(tuple(axes)), counts.ravel()

    def _side(self, axis: Axis) -> tuple[str, Cells]:
        """The column that is searched, and the cell of a table's axis for each of its cells."""
        merged = self.axes[axis.column].parents(axis)
        if axis.column not in self.roots:
            return axis.column, merged
        root, onto = self.roots[axis.column]
        return root, merged[onto]


def _followed(name: str, direct: Mapping[str, Dependency], axes: Mapping[str, Axis]) -> tuple[str, Cells]:
    """The root of a column, and the column's cell for each of the root's cells."""
    found = direct[name]
    by = found.by.column
    onto = found.cells[axes[by].parents(found.by)]
    if by not in direct:
        return by, onto
    root, between = _followed(by, direct, axes)
    return root, onto[between]
