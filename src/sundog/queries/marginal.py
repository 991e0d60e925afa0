"""k-way marginals: how many rows fall into each combination of cells of k columns.

A partition of the rows: one row adds 1 to one cell (L2 sensitivity 1 when a row is added or removed), and a replaced row
takes 1 from one cell and gives it to another (sqrt 2). Cells are half-open, so no boundary value counts twice.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int
from numba import njit

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.queries.base import Query
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.unit import Neighbours


@dataclass(frozen=True)
class Marginal:
    """The table of counts over some axes, flattened with the last axis fastest."""

    axes: tuple[Axis, ...]
    partition = True

    def __post_init__(self) -> None:
        if not self.axes or len(set(self.columns)) < len(self.axes):
            raise UserError(f"marginal: it needs one or more distinct columns; found {self.columns}.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return tuple(axis.column for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along each axis."""
        return tuple(axis.size for axis in self.axes)

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return math.prod(self.shape)

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove) or 2 (replace)."""
        return Fraction(1 if neighbours == "add-remove" else 2)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove) or 2 (replace)."""
        return Fraction(1 if neighbours == "add-remove" else 2)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """1: a row sits in one cell."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Count the rows into the cells."""
        if len(rows):
            strides = np.array([math.prod(self.shape[k + 1 :]) for k in range(len(self.axes))], dtype=np.int64)
            _count(tuple(rows.cells(axis) for axis in self.axes), strides, totals)

    def subset(self, cells: Sequence[int]) -> "Query":
        """Some of the cells, as conjunctions of ranges."""
        from sundog.queries.ranges import Ranges

        places = np.unravel_index(np.asarray(cells), self.shape)
        bounds = [[axis.bounds(int(cell)) for cell in place] for axis, place in zip(self.axes, places, strict=True)]
        low, high = np.moveaxis(np.array(bounds, dtype=np.int64), -1, 0)
        return Ranges(tuple(self.columns for _ in cells), low.T, high.T)

    def describe(self) -> str:
        """The columns and their numbers of cells."""
        return " x ".join(f"{axis.column} ({axis.size})" for axis in self.axes)

    def to_json(self) -> dict[str, Any]:
        """The axes."""
        return {"query": "marginal", "axes": [axis.to_json() for axis in self.axes]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Marginal":
        """The query that `to_json` described."""
        return cls(tuple(Axis.from_json(axis, schema.column(axis["column"])) for axis in document["axes"]))

    @staticmethod
    def of(schema: Schema, *columns: str, bins: int | None = None) -> "Marginal":
        """The marginal over named columns with their public default cells.

        >>> schema = Schema.from_json({"fields": [{"name": "smoker", "type": "boolean"}]})
        >>> Marginal.of(schema, "smoker").describe()
        'smoker (3)'
        """
        return Marginal(tuple(Axis.of(schema.column(name), bins) for name in columns))


@njit(cache=True, nogil=True)
def _count(cells: Any, strides: Any, totals: Any) -> None:  # pragma: no cover (compiled)
    for row in range(cells[0].shape[0]):
        place = 0
        for k in range(len(cells)):
            place += cells[k][row] * strides[k]
        totals[place] += 1
