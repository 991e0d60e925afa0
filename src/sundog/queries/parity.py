"""Parities (RAP, Appendix D): for every combination of cells of k columns, rows that agree with it in an odd number of them.

Not a partition. With sizes s_i of the axes, each row adds 1 to

    N = (prod_i s_i - prod_i (s_i - 2)) / 2                                              (add-remove: D^2 = N)

combinations. Two rows that differ in the columns of a set A disagree about the combinations that agree with either row in
an odd number of these columns; a replaced row changes the answer by the most of them:

    replace: D^2 = max over A of prod_{i not in A} s_i * (prod_{i in A} s_i - prod_{i in A} (s_i - 4)) / 2.

The relaxation is the polynomial extension: the chance that independent columns agree in an odd number of places.
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
from sundog.queries.at_least import MOST_COLUMNS, agreements
from sundog.queries.base import OneBlock, answer
from sundog.queries.choosing import label_names, sampled
from sundog.queries.marginal import Marginal


@dataclass(frozen=True)
class Parity(OneBlock):
    """How many rows agree with each combination of cells in an odd number of the columns."""

    marginal: Marginal

    def __post_init__(self) -> None:
        if len(self.marginal.axes) > MOST_COLUMNS:
            raise UserError(f"parity: found {len(self.marginal.axes)} columns; allowed are at most {MOST_COLUMNS}.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return self.marginal.columns

    @property
    def size(self) -> int:
        """The number of combinations."""
        return self.marginal.size

    @cached_property
    def _switched(self) -> int:
        """The most combinations about which two rows disagree."""
        differ = [(False, True) if size > 1 else (False,) for size in self.marginal.shape]
        most = 0
        for chosen in itertools.product(*differ):
            inside = [size for size, apart in zip(self.marginal.shape, chosen, strict=True) if apart]
            outside = math.prod(size for size, apart in zip(self.marginal.shape, chosen, strict=True) if not apart)
            most = max(most, outside * (math.prod(inside) - math.prod(size - 4 for size in inside)) // 2)
        return most

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """N, or the most combinations about which two rows disagree."""
        if neighbours == "replace":
            return Fraction(self._switched)
        shape = self.marginal.shape
        return Fraction(math.prod(shape) - math.prod(size - 2 for size in shape), 2)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The same number: every touched cell changes by 1."""
        return self.sensitivity_squared(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """One row changes a parity by at most 1."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """From the marginal table, by adding up what agrees and what does not along each axis."""
        totals += odd(answer(self.marginal, rows).reshape(self.marginal.shape)).ravel()

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """Which combinations every row agrees with in an odd number of columns."""
        agreeing = np.zeros((len(rows), *self.marginal.shape), dtype=np.int64)
        for place, axis in enumerate(self.marginal.axes):
            matches = np.eye(axis.size, dtype=np.int64)[rows.cells(axis)]
            agreeing += matches.reshape(len(rows), *(axis.size if k == place else 1 for k in range(len(self.columns))))
        return (agreeing % 2).reshape(len(rows), self.size)

    def describe(self) -> str:
        """Name the columns of the parities."""
        return f"parities of {self.marginal.describe()}"

    def to_json(self) -> dict[str, Any]:
        """The axes as plain JSON."""
        return {**self.marginal.to_json(), "query": "parities"}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Parity":
        """The query that `to_json` described."""
        return cls(Marginal.from_json(document, schema))

    @staticmethod
    def of(schema: Schema, *columns: str, bins: int | None = None) -> "Parity":
        """The query over named columns with their public default cells."""
        return Parity(Marginal(tuple(Axis.of(schema.column(name), bins) for name in columns)))


def odd(table: Any) -> Any:
    """From a table of counts: for every cell, the rows that agree with it in an odd number of axes."""
    return sum(agreements(table)[1::2], start=table * 0)


def parities(
    schema: Schema, *, k: int = 3, sample: int | None = None, seed: int = 0, bins: int | None = None
) -> list[Parity]:
    """Parities over all (or a sample of the) sets of k categorical columns (RAP, Appendix D)."""
    chosen = sampled(list(itertools.combinations(label_names(schema), k)), sample, seed=seed)
    return [Parity.of(schema, *names, bins=bins) for names in chosen]
