"""Atoms: the coarsest pieces of each column that no measured query distinguishes.

Every query sees a value only through its atom, so the genetic search works on small numbers (a column of a million grid
points with a tree of five levels has 32 atoms), while rows keep their exact codes: a column stays as fine as its grid.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis

Cut = tuple[str, Int[np.ndarray, " cuts"]]
"""A column, and the codes at which a query distinguishes it from the code before."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Every column's atoms, as the cells of an axis; all columns' atoms stand one after the other from `first[c]`."""

    schema: Schema
    axes: tuple[Axis, ...]
    _cells: dict[Axis, Int[np.ndarray, " atoms"]] = field(default_factory=dict)

    @property
    def first(self) -> Int[np.ndarray, " columns+1"]:
        """Where each column's atoms begin among all."""
        return np.cumsum([0, *(axis.size for axis in self.axes)])

    def codes(self) -> tuple[Int[np.ndarray, " all"], Int[np.ndarray, " all"]]:
        """The first code of every atom, and how many codes it has."""
        return np.concatenate([axis.firsts for axis in self.axes]), np.concatenate([axis.widths for axis in self.axes])

    def cells(self, axis: Axis) -> Int[np.ndarray, " atoms"]:
        """The cell of an axis in which every atom of its column lies."""
        if axis not in self._cells:
            self._cells[axis] = self.axes[self.schema.position(axis.column)].parents(axis)
        return self._cells[axis]

    @staticmethod
    def of(schema: Schema, cuts: Iterable[Cut]) -> "Atoms":
        """Labels as they are, each number cut wherever a query's answer can change."""
        places: dict[str, list[Int[np.ndarray, " cuts"]]] = {name: [np.zeros(1, np.int64)] for name in schema.names}
        for name, where in cuts:
            places[name].append(where)
        return Atoms(schema, tuple(_axis(column, places[column.name]) for column in schema.columns))


def _axis(column: Column, cuts: list[Int[np.ndarray, " cuts"]]) -> Axis:
    if not isinstance(column, Numeric):
        return Axis.whole(column)
    places = np.unique(np.concatenate(cuts))
    return Axis.cut(column, places[(places >= 0) & (places < column.size)].tolist())


def axis_cuts(axis: Axis) -> Cut:
    """Where an axis cuts its column."""
    return axis.column, axis.firsts if axis.groups is None else np.flatnonzero(np.diff(axis.groups)) + 1


def level_cuts(column: Column, levels: int, within: tuple[int, int] | None = None) -> Cut:
    """The first code at every level k of round(levels * (code - low) / last): 2 levels (code - low) >= (2 k - 1) last."""
    low, high = within or (0, max(column.size - column.nullable - 1, 1))
    last = high - low
    if last <= levels:
        return column.name, np.arange(low, high + 1)
    places = [low - (-(2 * k - 1) * last // (2 * levels)) for k in range(1, levels + 1)]
    return column.name, np.array(places, dtype=np.int64)
