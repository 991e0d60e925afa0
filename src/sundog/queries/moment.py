"""First and second moments of columns, centred (the measures of the post-processing paper).

With x in [0, 1] (a number between its public bounds; a label by its place in the list, so 0 or 1 for two labels) and
y = x - 1/2, one row adds y_i and y_i y_j (i <= j). In fixed point: y is rounded to multiples of 2^-10, products are whole
multiples of 2^-20, and all answers are counted in units of 2^-20.

Sensitivities (docs/reference/queries.md; 2 to 16 times less variance than the paper's raw moments x_i, x_i x_j):
add-remove D^2 = d/4 + d(d+1)/32; replace D^2 = max over k of k + k(d-k)/4, both at corners of the cube. In L1:
add-remove d/2 + d(d+1)/8 at a corner; replace d(d+3)^2 / (8(d+1)), which no corner reaches. To see it, let a = |y - y'| and
b = |y + y'| entry by entry, a + b <= 1; the change is at most sum a_i (1 + b_i) + sum_{i<j} (a_i b_j + b_i a_j) / 2, with
equality if all signs are +. At b = 1 - a it is concave and symmetric in a, so greatest at equal a = (d+3) / (2(d+1)).

A missing value adds nothing (y = 0, the middle).

`within` may narrow a column's public bounds to a range of codes, chosen from public values such as synthetic rows: x is then
clamped to that range and scaled by it. y stays in [-1/2, 1/2], so the sensitivities hold as they are, and in the column's
own units the noise is smaller by the range's share of the bounds (squared, in second moments).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Column, Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock
from sundog.queries.choosing import numeric_names

BITS = 10
SCALE = 1 << (2 * BITS)
"""Answers are counted in units of 1/SCALE."""


@dataclass(frozen=True)
class Moments(OneBlock):
    """The means of d columns and of their products, centred: d answers, then d (d + 1) / 2 by rows of the triangle."""

    columns: tuple[str, ...]
    within: tuple[tuple[int, int] | None, ...] = ()
    """For each column the first and last code of its range, or None for all of its bounds; empty: None for all."""
    scale = SCALE

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise UserError(f"moments: they need one or more distinct columns; found {self.columns}.")
        if self.within and len(self.within) != len(self.columns):
            raise UserError(f"moments: found {len(self.within)} ranges for {len(self.columns)} columns; give one each.")
        if any(range_ is not None and not 0 <= range_[0] < range_[1] for range_ in self.within):
            raise UserError("moments: a range must go from a code to a higher one.")

    @property
    def _d(self) -> int:
        return len(self.columns)

    @property
    def ranges(self) -> tuple[tuple[int, int] | None, ...]:
        """The range of every column; None: all of its bounds."""
        return self.within or (None,) * self._d

    def values(self, rows: Rows) -> Int[np.ndarray, "columns rows"]:
        """Every column, centred, in units of 2^-10."""
        return np.stack([centred(rows, name, range_) for name, range_ in zip(self.columns, self.ranges, strict=True)])

    @property
    def size(self) -> int:
        """D first and d (d + 1) / 2 second moments."""
        return self._d + self._d * (self._d + 1) // 2

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """In units of 1/SCALE, squared."""
        d = self._d
        if neighbours == "add-remove":
            square = Fraction(d, 4) + Fraction(d * (d + 1), 32)
        else:
            square = max(k + Fraction(k * (d - k), 4) for k in range(1, d + 1))
        return square * SCALE**2

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """In units of 1/SCALE: d/2 + d(d+1)/8, or d(d+3)^2 / (8(d+1)) when a row is replaced."""
        d = self._d
        if neighbours == "add-remove":
            return (Fraction(d, 2) + Fraction(d * (d + 1), 8)) * SCALE
        return Fraction(d * (d + 3) ** 2, 8 * (d + 1)) * SCALE

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """A first moment moves by at most 1/2, or by 1 when a row is replaced."""
        return Fraction(SCALE, 2) if neighbours == "add-remove" else Fraction(SCALE)

    def add(self, rows: Rows, totals: Int[np.ndarray, " moments"]) -> None:
        """Add up centred values and products in fixed point."""
        values = self.values(rows)
        totals[: self._d] += values.sum(axis=1) << BITS
        totals[self._d :] += (values @ values.T)[np.triu_indices(self._d)]

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows moments"]:
        """Every row's centred values and products in fixed point."""
        values = self.values(rows).T
        first, second = np.triu_indices(self._d)
        return np.concatenate([values << BITS, values[:, first] * values[:, second]], axis=1)

    def describe(self) -> str:
        """The columns whose moments are taken, in words."""
        narrowed = [name for name, range_ in zip(self.columns, self.ranges, strict=True) if range_ is not None]
        where = f" (within ranges of {', '.join(narrowed)})" if narrowed else ""
        return f"means and products of {', '.join(self.columns)}{where}"

    def name_of(self, answer: int) -> str:
        """One answer, in words."""
        if answer < self._d:
            return f"the mean of {self.columns[answer]!r}"
        first, second = (int(part[answer - self._d]) for part in np.triu_indices(self._d))
        return f"the product of {self.columns[first]!r} and {self.columns[second]!r}"

    def to_json(self) -> dict[str, Any]:
        """The columns, and their ranges where there are any."""
        within = {"within": [list(range_) if range_ else None for range_ in self.within]} if self.within else {}
        return {"query": "moments", "columns": list(self.columns)} | within

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Moments":
        """The query that `to_json` described."""
        within = [tuple(range_) if range_ else None for range_ in document.get("within", ())]
        return cls.of(schema, *document["columns"], within=within)

    @staticmethod
    def of(schema: Schema, *columns: str, within: Sequence[tuple[int, int] | None] = ()) -> "Moments":
        """The moments of named columns."""
        made = Moments(columns, tuple(within))
        for name, range_ in zip(columns, made.ranges, strict=True):
            if range_ is not None and range_[1] >= _steps(schema.column(name)):
                raise UserError(f"moments: the range of column {name!r} ends beyond its bounds.")
            schema.position(name)
        return made


def centred(rows: Rows, name: str, within: tuple[int, int] | None = None) -> Int[np.ndarray, " rows"]:
    """A column, centred, in units of 2^-10."""
    return centred_codes(rows.schema.column(name), rows.column(name), within)


def centred_codes(
    column: Column, codes: Int[np.ndarray, " rows"], within: tuple[int, int] | None = None
) -> Int[np.ndarray, " rows"]:
    """Y in units of 2^-10: exact integer arithmetic, the same on every machine."""
    codes, steps = codes.astype(np.int64), _steps(column)
    low, high = within or (0, max(steps - 1, 1))
    last = high - low
    scaled = (2 * ((codes.clip(low, high) - low) << BITS) + last) // (2 * last) - (1 << (BITS - 1))
    return np.where(codes == steps, 0, scaled)


def _steps(column: Column) -> int:
    return column.size - column.nullable


def moments(schema: Schema, *, columns: Sequence[str] | None = None) -> list[Moments]:
    """Centred first and second moments of the numeric (or named) columns, as one query."""
    names = list(columns) if columns is not None else numeric_names(schema)
    if not names:
        raise UserError("moments: the schema has no numeric column.")
    return [Moments.of(schema, *names)]
