"""Joined cells of a marginal: how many rows fall into each group of its cells.

Groups may cut across columns: "price above what is usual for the weight" is a group of cells of the table of price and weight. A
row sits in one cell, and so in one group: a partition, with the sensitivities of a marginal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.arrays import whole_array
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock, answer
from sundog.queries.marginal import Marginal


@dataclass(frozen=True)
class Joined(OneBlock):
    """A marginal, and for every cell of its flattened table the group in which it counts."""

    marginal: Marginal
    groups: tuple[int, ...]
    partition = True

    def __post_init__(self) -> None:
        groups = whole_array("joined: groups", self.groups, dimensions=1, least=0, most=self.marginal.size - 1)
        object.__setattr__(self, "groups", tuple(groups.tolist()))
        if len(groups) != self.marginal.size or not np.bincount(groups).all():
            raise UserError(
                f"joined: {self.marginal.describe()} has {self.marginal.size} cells; each needs a group, and the groups are 0, 1, ..."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return self.marginal.columns

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the marginal."""
        return self.marginal.axes

    @cached_property
    def size(self) -> int:
        """The number of groups."""
        return max(self.groups) + 1

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """One, over all axes, its cells joined."""
        return (Tally(self.marginal.axes, joined=self.groups),)

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove) or 2 (replace): that of a marginal."""
        return self.marginal.sensitivity_squared(neighbours)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove) or 2 (replace)."""
        return self.marginal.sensitivity_l1(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """1: a row sits in one group."""
        return self.marginal.sensitivity_linf(neighbours)

    def add(self, rows: Rows, totals: Int[np.ndarray, " groups"]) -> None:
        """Count the rows into the cells, and these into the groups."""
        np.add.at(totals, np.array(self.groups), answer(self.marginal, rows))

    def describe(self) -> str:
        """How many groups, of which table."""
        return f"{self.size} groups of cells of {self.marginal.describe()}"

    def to_json(self) -> dict[str, Any]:
        """The axes and the groups."""
        return {**self.marginal.to_json(), "query": "joined", "groups": list(self.groups)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Joined":
        """The query that `to_json` described."""
        return cls(Marginal.from_json(document, schema), document["groups"])

    def over(
        self, axes: tuple[Axis, ...], cells: Sequence[Int[np.ndarray, " finer"]]
    ) -> "tuple[Joined, Int[np.ndarray, ' groups']]":
        """The query in terms of other axes, and which groups it still has; `cells` are the own cells of those axes' cells."""
        table = np.array(self.groups).reshape(self.marginal.shape)[np.ix_(*cells)]
        used, groups = np.unique(table, return_inverse=True)
        return Joined(Marginal(axes), tuple(groups.ravel().tolist())), used
