"""t-out-of-k queries (RAP, Appendix D): for every combination of cells of k columns, rows that agree in at least t.

Not a partition: a row adds 1 to every combination it agrees with often enough. Their number does not depend on the row,
so the sensitivities are exact sums over which columns agree:

    N_t = sum over sets A with |A| >= t of prod_{i not in A} (size_i - 1)            (add-remove: D^2 = N_t)
    replace: D^2 = 2 N_t - 2 * (combinations that agree often enough with both rows), least when the rows differ everywhere.

The relaxation is the polynomial extension: the chance that independent columns agree in at least t places.
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

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock, answer
from sundog.queries.choosing import label_names, sampled
from sundog.queries.marginal import Marginal
from sundog.sizes import whole_number

MOST_COLUMNS = 12
"""The sensitivity looks at 3^columns ways in which two rows can agree with a combination."""


@dataclass(frozen=True)
class AtLeast(OneBlock):
    """How many rows agree with each combination of cells in at least `least` of the columns."""

    marginal: Marginal
    least: int

    def __post_init__(self) -> None:
        whole_number("at least: t", self.least, most=len(self.marginal.axes))
        if len(self.marginal.axes) > MOST_COLUMNS:
            raise UserError(f"at least: found {len(self.marginal.axes)} columns; allowed are at most {MOST_COLUMNS}.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return self.marginal.columns

    @property
    def size(self) -> int:
        """The number of combinations."""
        return self.marginal.size

    @cached_property
    def _agreeing(self) -> int:
        """N_t: how many combinations one row agrees with in at least t columns."""
        shape = self.marginal.shape
        sets = itertools.product((True, False), repeat=len(shape))
        return sum(
            math.prod(size - 1 for size, agrees in zip(shape, chosen, strict=True) if not agrees)
            for chosen in sets
            if sum(chosen) >= self.least
        )

    @cached_property
    def _agreeing_with_both(self) -> int:
        """Combinations that agree often enough with two rows that differ wherever a column has two cells."""
        kinds = [("both",) if size == 1 else ("first", "second", "neither") for size in self.marginal.shape]
        total = 0
        for chosen in itertools.product(*kinds):
            first = sum(kind in ("first", "both") for kind in chosen)
            second = sum(kind in ("second", "both") for kind in chosen)
            if min(first, second) >= self.least:
                total += math.prod(
                    size - 2 for size, kind in zip(self.marginal.shape, chosen, strict=True) if kind == "neither"
                )
        return total

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """N_t, or twice what N_t does not share between two rows."""
        if neighbours == "add-remove":
            return Fraction(self._agreeing)
        return Fraction(2 * (self._agreeing - self._agreeing_with_both))

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The same number: every touched cell changes by 1."""
        return self.sensitivity_squared(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """One row changes a single answer by at most 1."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """From the marginal table, by adding up what agrees and what does not along each axis."""
        table = answer(self.marginal, rows).reshape(self.marginal.shape)
        totals += sum(agreements(table)[self.least :], start=table * 0).ravel()

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """Which combinations every row agrees with in at least t columns."""
        agreeing = np.zeros((len(rows), *self.marginal.shape), dtype=np.int64)
        for place, axis in enumerate(self.marginal.axes):
            matches = np.eye(axis.size, dtype=np.int64)[rows.cells(axis)]
            agreeing += matches.reshape(len(rows), *(axis.size if k == place else 1 for k in range(len(self.columns))))
        return (agreeing >= self.least).reshape(len(rows), self.size).astype(np.int64)

    def describe(self) -> str:
        """The columns and t."""
        return f"at least {self.least} of {self.marginal.describe()}"

    def to_json(self) -> dict[str, Any]:
        """The axes and t."""
        return {**self.marginal.to_json(), "query": "at_least", "least": self.least}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "AtLeast":
        """The query that `to_json` described."""
        return cls(Marginal.from_json(document, schema), document["least"])

    @staticmethod
    def of(schema: Schema, *columns: str, least: int, bins: int | None = None) -> "AtLeast":
        """The query over named columns with their public default cells."""
        return AtLeast(Marginal(tuple(Axis.of(schema.column(name), bins) for name in columns)), least)


def agreements(table: Any) -> list[Any]:
    """From a table of counts: for every cell, the rows that agree with it in exactly 0, 1, ... of the axes.

    `agreeing[j]` holds, after some axes, the rows that agree in exactly j of them (and are not yet looked at in the
    rest); along the next axis a row agrees (the table itself) or does not (the axis total less the table).
    """
    agreeing = [table]
    for axis in range(table.ndim):
        missed = [part.sum(axis=axis, keepdims=True) - part for part in agreeing]
        nothing = table * 0
        agreeing = [miss + hit for miss, hit in zip([*missed, nothing], [nothing, *agreeing], strict=True)]
    return agreeing


def at_least(
    schema: Schema, *, k: int = 3, least: int = 2, sample: int | None = None, seed: int = 0, bins: int | None = None
) -> list[AtLeast]:
    """t-out-of-k queries over all (or a sample of the) sets of k categorical columns (RAP, Appendix D)."""
    chosen = sampled(list(itertools.combinations(label_names(schema), k)), sample, seed=seed)
    return [AtLeast.of(schema, *names, least=least, bins=bins) for names in chosen]
