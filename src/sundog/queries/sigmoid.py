"""A smooth threshold count: the sum over rows of sigmoid(k (<w, x> - b)), which PrivPGD's protected statistic needs.

x holds the columns scaled to [0, 1]: numbers by their public bounds (missing: the middle), labels at (code + 1/2) / codes.
k is the sharpness, 5 in the paper. In fixed point: weights and positions are rounded to 2^-10, their sum to 2^-12, and a
table gives the sigmoid in units of 1/1000, so that the answer is an exact integer, the same on every engine and in any
batching. One row adds a number between the table's least and greatest entry, whatever the sharpness: sensitivity greatest -
least (replace), greatest (add-remove).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Column, Numeric, Schema
from sundog.domain.constraints.kinds import LEAST_SHARPNESS, MOST_SHARPNESS, MOST_WEIGHT, ProtectedStatistic
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock

SCALE = 1000
"""Answers are counted in units of 1/SCALE rows."""
BITS, COARSE = 10, 8
PAPERS_SHARPNESS = 5.0
"""Also that of saved queries which name none."""
MOST_EXPONENT = 700.0
"""Keeps the exponential within floats; the sigmoid is zero long before."""


@dataclass(frozen=True)
class SigmoidSum(OneBlock):
    """One answer: how many rows lie above the threshold, softly."""

    columns: tuple[str, ...]
    weights: tuple[float, ...]
    threshold: float
    sharpness: float = PAPERS_SHARPNESS
    scale = SCALE
    size = 1

    def __post_init__(self) -> None:
        if not self.columns or len(self.weights) != len(self.columns):
            raise UserError(f"soft threshold: found {len(self.weights)} weights for {len(self.columns)} columns.")
        for number in (*self.weights, self.threshold):
            if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= MOST_WEIGHT:
                raise UserError(
                    f"soft threshold: weights and threshold must be numbers in -{MOST_WEIGHT}..{MOST_WEIGHT}."
                )
        if sum(map(abs, self.weights)) > MOST_WEIGHT:
            raise UserError(f"soft threshold: the weights may add up to {MOST_WEIGHT} in absolute value.")
        if isinstance(self.sharpness, bool) or not isinstance(self.sharpness, int | float) or not self._allowed():
            raise UserError(
                f"soft threshold: the sharpness must be a number in {LEAST_SHARPNESS:g}..{MOST_SHARPNESS:g}."
            )

    def _allowed(self) -> bool:
        return LEAST_SHARPNESS <= self.sharpness <= MOST_SHARPNESS

    @classmethod
    def of(cls, statistic: ProtectedStatistic) -> "SigmoidSum":
        """The query whose noisy answer a protected statistic needs."""
        return cls(statistic.columns, statistic.weights, statistic.threshold, statistic.sharpness)

    @cached_property
    def whole_weights(self) -> list[int]:
        """The weights in units of 2^-10."""
        return [round(weight * (1 << BITS)) for weight in self.weights]

    @cached_property
    def least(self) -> int:
        """The least place that the weighted sum can take: where the table begins."""
        return sum(min(weight, 0) for weight in self.whole_weights) << BITS >> COARSE

    @cached_property
    def table(self) -> Int[np.ndarray, " places"]:
        """The sigmoid at every place that the weighted sum can take."""
        greatest = sum(max(weight, 0) for weight in self.whole_weights) << BITS >> COARSE
        places = range(self.least, greatest + 1)
        step = 1 << (2 * BITS - COARSE)
        return np.array([self._entry(place / step) for place in places])

    def _entry(self, at: float) -> int:
        return round(SCALE / (1 + math.exp(min(-self.sharpness * (at - self.threshold), MOST_EXPONENT))))

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """In units of 1/SCALE, squared."""
        return self.sensitivity_l1(neighbours) ** 2

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The table's range, or its greatest entry."""
        least = int(self.table.min()) if neighbours == "replace" else 0
        return Fraction(int(self.table.max()) - least)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """The same as L1, because there is one answer."""
        return self.sensitivity_l1(neighbours)

    def add(self, rows: Rows, totals: Int[np.ndarray, " one"]) -> None:
        """Add up the table's entries."""
        totals += self._values(rows).sum()

    def above(self, rows: Rows) -> int:
        """How many rows lie above the threshold itself: what is reported of a protected statistic."""
        return int((self.sums(rows) > self.threshold).sum())

    def sums(self, rows: Rows) -> Float[np.ndarray, " rows"]:
        """The weighted sums that are compared with the threshold."""
        return self._sums(rows) / (1 << (2 * BITS))

    def _values(self, rows: Rows) -> Int[np.ndarray, " rows"]:
        return self.table[(self._sums(rows) >> COARSE) - self.least]

    def _sums(self, rows: Rows) -> Int[np.ndarray, " rows"]:
        """The weighted sums, in units of 2^-20."""
        summed = np.zeros(len(rows), dtype=np.int64)
        for name, weight in zip(self.columns, self.whole_weights, strict=True):
            summed += weight * positions(rows.schema.column(name), rows.column(name))
        return summed

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows one"]:
        """Every row's entry of the table."""
        return self._values(rows)[:, None]

    def describe(self) -> str:
        """The columns and the threshold."""
        return f"soft threshold {self.threshold:g} of {', '.join(self.columns)}"

    def to_json(self) -> dict[str, Any]:
        """Columns, weights, threshold and sharpness."""
        return {
            "query": "sigmoid",
            "columns": list(self.columns),
            "weights": list(self.weights),
            "threshold": self.threshold,
            "sharpness": self.sharpness,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "SigmoidSum":
        """The query that `to_json` described."""
        for name in document["columns"]:
            schema.position(name)
        sharpness = document.get("sharpness", PAPERS_SHARPNESS)
        return cls(tuple(document["columns"]), tuple(document["weights"]), document["threshold"], sharpness)


def positions(column: Column, codes: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
    """A column's codes scaled to [0, 1] in units of 2^-10, in whole-number arithmetic."""
    codes = codes.astype(np.int64)
    if not isinstance(column, Numeric):
        return ((2 * codes + 1) << BITS) // (2 * column.size)
    if column.steps == 1:
        return np.full(len(codes), 1 << (BITS - 1))
    scaled = (codes.astype(np.float64) * (1 << BITS) / (column.steps - 1) + 0.5).astype(np.int64)
    return np.where(codes == column.steps, 1 << (BITS - 1), scaled)
