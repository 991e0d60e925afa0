"""Binary-tree marginals (Private-GSD, Section 5): one categorical column by r numeric columns on a tree of resolutions.

Level l cuts a numeric column into 2^l equal half-open runs of its grid; with r numeric columns all L^r combinations of
levels are counted. Each combination is a partition of the rows (missing is a cell of its own), so one measurement of the
whole tree has L2 sensitivity sqrt(L^r) when a row is added or removed and sqrt(2 L^r) when one is replaced. With the
paper's closed ranges a boundary value would count twice on every level.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock, add_all
from sundog.queries.choosing import label_names, numeric_names
from sundog.queries.marginal import MOST_CELLS, Marginal
from sundog.sizes import whole_number

MOST_LEVELS = 20
MOST_TABLES = 4096


@dataclass(frozen=True)
class BinaryTree(OneBlock):
    """All tables of the tree, one after the other, coarse to fine."""

    tables: tuple[Marginal, ...]
    levels: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return self.tables[0].columns

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """One tally per table of the tree."""
        return tuple(Tally(table.axes) for table in self.tables)

    @cached_property
    def size(self) -> int:
        """The number of cells of all tables."""
        return sum(table.size for table in self.tables)

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """Every table is a partition: 1 or 2 for each."""
        return sum((table.sensitivity_squared(neighbours) for table in self.tables), Fraction())

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """Every table is a partition: 1 or 2 for each."""
        return self.sensitivity_squared(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """One row changes a single answer by at most 1."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Count the rows into all tables."""
        add_all(self.tables, rows, totals)

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """A single 1 for every table."""
        return np.concatenate([table.vectors(rows) for table in self.tables], axis=1)

    def describe(self) -> str:
        """The columns and the number of levels."""
        return f"tree of {self.levels} levels over {' x '.join(self.columns)} ({self.size} cells)"

    def to_json(self) -> dict[str, Any]:
        """The columns and the levels."""
        return {"query": "tree", "columns": list(self.columns), "levels": self.levels}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "BinaryTree":
        """The query that `to_json` described."""
        return cls.of(schema, *document["columns"], levels=document["levels"])

    @staticmethod
    def of(schema: Schema, *names: str, levels: int = 5) -> "BinaryTree":
        """The tree over named columns: numeric ones are cut dyadically, the others stay as they are."""
        columns = [schema.column(name) for name in names]
        levels = whole_number("tree: levels", levels, most=MOST_LEVELS)
        if not any(isinstance(column, Numeric) for column in columns):
            raise UserError(f"tree: none of {', '.join(names)} is numeric; use a marginal.")
        choices = [
            [dyadic(column, level) for level in range(1, levels + 1)]
            if isinstance(column, Numeric)
            else [Axis.whole(column)]
            for column in columns
        ]
        tables = math.prod(len(axes) for axes in choices)
        cells = math.prod(sum(axis.size for axis in axes) for axes in choices)  # the sum over all tables of products
        if tables > MOST_TABLES or cells > MOST_CELLS:
            raise UserError(
                f"tree: {tables} tables with {cells:.3g} cells in total; allowed are {MOST_TABLES} tables and {MOST_CELLS} cells. "
                "Choose fewer columns or levels."
            )
        return BinaryTree(tuple(Marginal(axes) for axes in itertools.product(*choices)), levels)


def dyadic(column: Numeric, level: int) -> Axis:
    """A numeric column in 2^level equal runs of its grid; missing apart."""
    parts = min(1 << level, column.steps)
    return Axis.cut(column, [-(-column.steps * k // parts) for k in range(parts)])


def trees(schema: Schema, *, levels: int = 5, numbers: int = 1, labels: int = 1) -> list[BinaryTree]:
    """Binary-tree marginals: every choice of that many categorical and numeric columns."""
    names = (
        itertools.combinations(label_names(schema), labels),
        itertools.combinations(numeric_names(schema), numbers),
    )
    return [BinaryTree.of(schema, *some, *others, levels=levels) for some, others in itertools.product(*names)]
