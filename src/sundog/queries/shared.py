"""Shared: a query on a view of linked tables, in which each root counts as one whatever the number of its rows.

A root with k rows in the view gives each row the weight floor(W / k), with W = lcm(1..s) for small bounds s and 2^20 beyond,
so that answers stay whole numbers and every root adds a total weight of at most W. Let v be the query of one row, with norms
D (add-remove) and R (replace). For a root added or removed:

    || sum_t w_t v(x_t) || <= sum_t w_t max || v || <= W D.

For a root replaced, with totals a <= b of the weights before and after: pair the weights up; what is paired moves by at most
a R, the rest adds at most (b - a) D, together at most W max(D, R). Both relations are applied by queries/sensitivity.py, since
a unit that is replaced may also change its number of rows. This holds for every norm. Rows of other views add nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Schema
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock
from sundog.queries.marginal import Marginal

MOST_WEIGHT = 2**20


def whole_weight(most: int) -> int:
    """What a root counts as, in whole numbers: divisible by every number of rows up to a small bound."""
    weight = math.lcm(*range(1, min(most, 20) + 1))
    return weight if most <= 20 and weight <= MOST_WEIGHT else MOST_WEIGHT


@dataclass(frozen=True)
class Shared(OneBlock):
    """A marginal of a view; `shares` names the column with the root's number of rows in it, at most `most`."""

    marginal: Marginal
    shares: str
    most: int
    every: bool = False
    """Whether every root has exactly one row in the view: it is the view of the roots."""

    @property
    def partition(self) -> bool:  # type: ignore[override]
        """Whether the answer adds up to the number of roots."""
        return self.every

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return (*self.marginal.columns, self.shares)

    def is_of(self, schema: Schema) -> bool:
        """Whether the schema has its view, with its columns: another one would not tell the root's number of rows."""
        if not isinstance(schema, LinkedSchema):
            return False
        return any(
            (self.shares, self.most, self.every) == (view.shares, view.most, view.root)
            and set(self.marginal.columns) <= set(schema.of_view(view).names)
            for view in schema.views
        )

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.marginal.size

    @property
    def scale(self) -> int:  # type: ignore[override]
        """What one root counts as."""
        return whole_weight(self.most)

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """That of the marginal, for rows that count as much."""
        return self.scale**2 * self.marginal.sensitivity_squared(neighbours)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """That of the marginal, for rows that count as much."""
        return self.scale * self.marginal.sensitivity_l1(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """That of the marginal, for rows that count as much."""
        return self.scale * self.marginal.sensitivity_linf(neighbours)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Add the weights of the view's rows; rows of other views have no such column."""
        if self.shares not in rows.schema.names or not len(rows):
            return
        numbers = rows.column(self.shares)
        if int(numbers.min()) == int(numbers.max()):
            self._add_equal(rows, totals, int(numbers[0]) + 1)
            return
        for number in np.unique(numbers):
            chosen = np.flatnonzero(numbers == number)
            part = Rows(rows.schema, tuple(column[chosen] for column in rows.codes))
            self._add_equal(part, totals, int(number) + 1)

    def _add_equal(self, rows: Rows, totals: Int[np.ndarray, " cells"], number: int) -> None:
        counts = np.zeros(self.size, dtype=np.int64)
        self.marginal.add(rows, counts)
        totals += counts * (self.scale // number)

    def describe(self) -> str:
        """The marginal, and what it is shared among."""
        return f"{self.marginal.describe()}, each root counting once" if self.most > 1 else self.marginal.describe()

    def to_json(self) -> dict[str, Any]:
        """The marginal and its view."""
        return {
            "query": "shared",
            "marginal": self.marginal.to_json(),
            "shares": self.shares,
            "most": self.most,
            "every": self.every,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Shared":
        """The query that `to_json` described."""
        shares, most, every = document["shares"], document["most"], document["every"]
        made = cls(Marginal.from_json(document["marginal"], schema), shares, most, every is True)
        fits = (
            isinstance(shares, str)
            and type(most) is int
            and schema.column(shares).size == most
            and not (every and most > 1)
        )
        if not fits or (isinstance(schema, LinkedSchema) and not made.is_of(schema)):
            raise UserError("query 'shared': its view is none of the schema's.")
        return made
