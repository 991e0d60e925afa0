"""Chosen cells of a marginal, each a question of its own: the single queries that RAP chooses among (Algorithm 2).

A row sits in one cell of the table, so that however many cells are chosen, an added row changes one of them by 1 and a
replaced row two: D^2 = 1 (add-remove) and min(cells, 2) (replace). A whole table costs no more than its cells; choosing them
pays where few of very many cells matter.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.arrays import whole_array
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import answer
from sundog.queries.marginal import Marginal


@dataclass(frozen=True, eq=False)
class Cells:
    """The counts in some distinct cells of a marginal, named by their place in its flattened table."""

    marginal: Marginal
    places: Int[np.ndarray, " cells"]
    partition = False
    scale = 1
    block = 1

    def __post_init__(self) -> None:
        places = whole_array("cells: places", self.places, dimensions=1, least=0, most=self.marginal.size - 1)
        object.__setattr__(self, "places", places)
        if not len(places) or len(np.unique(places)) < len(places):
            raise UserError("cells: a query needs one or more distinct cells.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return self.marginal.columns

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.places)

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove), or 1 for each of the two cells that a replaced row can leave and enter."""
        return Fraction(1 if neighbours == "add-remove" else min(self.size, 2))

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The same number: every touched cell changes by 1."""
        return self.sensitivity_squared(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """One row changes a cell by at most 1."""
        return Fraction(1)

    def block_l1(self, neighbours: Neighbours) -> Fraction:
        """1: a block is one cell."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Count the rows of every cell."""
        totals += answer(self.marginal, rows)[self.places]

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """Which of the cells every row sits in."""
        cells = np.ravel_multi_index([rows.cells(axis) for axis in self.marginal.axes], self.marginal.shape)
        return (cells[:, None] == self.places).astype(np.int64)

    @cached_property
    def positions(self) -> Int[np.ndarray, "axes cells"]:
        """Where every cell lies along each axis."""
        return np.stack(np.unravel_index(self.places, self.marginal.shape))

    def block_keys(self) -> list[bytes]:
        """The axes and the cell's place along each, the same in any order of the columns."""
        order = sorted(range(len(self.columns)), key=self.columns.__getitem__)
        head = json.dumps([self.marginal.axes[k].to_json() for k in order], sort_keys=True).encode()
        return [head + place.tobytes() for place in np.ascontiguousarray(self.positions[order].T.astype(np.int64))]

    def subset(self, blocks: Sequence[int]) -> "Cells":
        """Some of the cells."""
        return Cells(self.marginal, self.places[np.asarray(blocks, dtype=np.int64)])

    def describe(self) -> str:
        """How many cells, of which table."""
        return f"{self.size} cells of {self.marginal.describe()}"

    def to_json(self) -> dict[str, Any]:
        """The axes and the places."""
        return {**self.marginal.to_json(), "query": "cells", "places": self.places.tolist()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Cells":
        """The query that `to_json` described."""
        return cls(Marginal.from_json(document, schema), document["places"])

    @staticmethod
    def of(marginal: Marginal) -> "Cells":
        """Every cell of a table, one by one."""
        return Cells(marginal, np.arange(marginal.size))
