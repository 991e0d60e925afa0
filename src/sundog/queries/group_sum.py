"""Sums of a column within groups: with the groups' counts they give means by group.

One row adds its centred value y = x - 1/2 (as in moments) to its own group and nothing to the others. A conditional mean
is never released itself: its sensitivity would depend on the size of the group. Both sums and counts are measured, and
noisy is divided by noisy.

Sensitivities: add-remove 1/2; replace: 1 within a group (from one bound to the other), sqrt(1/2) between two groups. A
missing value adds nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock
from sundog.queries.moment import centred

SCALE = 1 << 10
"""Answers are counted in units of 1/SCALE."""


@dataclass(frozen=True)
class GroupSums(OneBlock):
    """The sum of a centred column in every cell of another column."""

    group: Axis
    column: str
    scale = SCALE

    def __post_init__(self) -> None:
        if self.group.column == self.column:
            raise UserError(f"group sums: column {self.column!r} cannot be grouped by itself.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The grouping column, then the summed one."""
        return (self.group.column, self.column)

    @property
    def size(self) -> int:
        """One sum per group."""
        return self.group.size

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """In units of 1/SCALE, squared: 1/4 or 1."""
        return Fraction(1, 4 if neighbours == "add-remove" else 1) * SCALE**2

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """In units of 1/SCALE: 1/2 or 1."""
        return Fraction(1, 2 if neighbours == "add-remove" else 1) * SCALE

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """In units of 1/SCALE: 1/2 or 1."""
        return self.sensitivity_l1(neighbours)

    def add(self, rows: Rows, totals: Int[np.ndarray, " groups"]) -> None:
        """Add up centred values by group, in fixed point."""
        np.add.at(totals, rows.cells(self.group), centred(rows, self.column))

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows groups"]:
        """Every row's centred value at its group."""
        return np.eye(self.size, dtype=np.int64)[rows.cells(self.group)] * centred(rows, self.column)[:, None]

    def describe(self) -> str:
        """The group column and the summed column."""
        return f"sums of {self.column} by {self.group.column} ({self.size})"

    def to_json(self) -> dict[str, Any]:
        """The group column and the summed column."""
        return {"query": "group_sums", "group": self.group.to_json(), "column": self.column}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "GroupSums":
        """The query that `to_json` described."""
        schema.position(document["column"])
        return cls(Axis.from_json(document["group"], schema.column(document["group"]["column"])), document["column"])

    @staticmethod
    def of(schema: Schema, column: str, *, by: str) -> "GroupSums":
        """The sums of a column by the public default cells of another."""
        schema.position(column)
        return GroupSums(Axis.of(schema.column(by)), column)
