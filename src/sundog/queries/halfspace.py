"""Halfspaces over the one-hot and numeric embedding (Private-GSD, Definition 2.4): rows with <theta, h(x)> <= threshold.

Everything lies on an integer grid: |theta| <= 127, features 0..255 (a label: 255 at its place; a number: its position
times 255, rounded), so sums stay below 2^24 and are exact in float32: batching can never flip a row's membership. One
product of the rows with a direction serves all thresholds of that direction.

A missing number has feature 0 and a place of its own in the embedding, with its own coefficient in every direction.

The relaxation uses unrounded features and sigmoid(sharpness * distance), with the distance to the plane in units of the
embedding; it agrees with the exact answer up to the rounding of features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import njit

from sundog.arrays import whole_array
from sundog.domain import Column, Numeric, Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import segments
from sundog.queries.choosing import uniform_rows
from sundog.random.keys import Key, key_of, split, uniforms

GRID = 255
MOST = 127
EXACT = 1 << 24
ROW_BLOCK = 8192
DIRECTION_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Halfspaces:
    """Answer (d, t): rows whose product with direction d is at most its t-th threshold (ascending)."""

    columns: tuple[str, ...]
    widths: tuple[int, ...]
    theta: Int[np.ndarray, "directions features"]
    thresholds: Int[np.ndarray, "directions thresholds"]
    partition = False
    scale = 1
    block = 1

    def __post_init__(self) -> None:
        coefficients = whole_array("halfspaces: coefficients", self.theta, dimensions=2, least=-MOST, most=MOST)
        object.__setattr__(self, "theta", coefficients.astype(np.int16))
        object.__setattr__(self, "thresholds", whole_array("halfspaces: thresholds", self.thresholds, dimensions=2))
        if not self.size or self.theta.shape[1] != sum(self.widths) or len(self.theta) != len(self.thresholds):
            raise UserError("halfspaces: directions, thresholds and columns do not fit together.")
        if len(self.columns) * MOST * GRID >= EXACT:
            raise UserError(f"halfspaces: found {len(self.columns)} columns; sums are exact for at most 500.")
        if (self.thresholds[:, 1:] < self.thresholds[:, :-1]).any():
            raise UserError("halfspaces: thresholds must ascend along each direction.")

    @property
    def size(self) -> int:
        """The number of directions times the number of thresholds."""
        return self.thresholds.size

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """A row can lie below all thresholds, or a replaced row switch them all."""
        return Fraction(self.size)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The same number: every switched query changes by 1."""
        return Fraction(self.size)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """One row changes a single answer by at most 1."""
        return Fraction(1)

    def block_l1(self, neighbours: Neighbours) -> Fraction:
        """1: a block is one query."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " queries"]) -> None:
        """Count the rows of every query."""
        totals += self.counts_by(rows, np.zeros(len(rows), dtype=np.int32), 1)[:, 0]

    def counts_by(self, rows: Rows, groups: Int[np.ndarray, " rows"], number: int) -> Int[np.ndarray, "queries groups"]:
        """How many rows of each group satisfy each query."""
        counts = np.zeros((*self.thresholds.shape, number), dtype=np.int64)
        order, ends = segments(groups, number)
        theta, cuts = self._theta, self.thresholds.astype(np.float32)
        for start in range(0, len(rows), ROW_BLOCK):
            features = self.features(rows, order[start : start + ROW_BLOCK])
            bounds = np.clip(ends - start, 0, len(features))
            for first in range(0, len(theta), DIRECTION_BLOCK):
                part = slice(first, first + DIRECTION_BLOCK)
                _count_below(theta[part] @ features.T, cuts[part], bounds, counts[part])
        return counts.reshape(self.size, number)

    @cached_property
    def _theta(self) -> Float[np.ndarray, "directions features"]:
        return self.theta.astype(np.float32)

    def features(
        self, rows: Rows, part: slice | Int[np.ndarray, " some"] = slice(None)
    ) -> Float[np.ndarray, "some features"]:
        """The embedding of some rows, as whole numbers in float32."""
        columns = [rows.schema.column(name) for name in self.columns]
        return np.concatenate([embed(column, rows.column(column.name)[part]) for column in columns], axis=1)

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows queries"]:
        """Which queries every row satisfies."""
        products = self.features(rows) @ self.theta.T.astype(np.float32)
        return (products[:, :, None] <= self.thresholds[None, :, :]).reshape(len(rows), self.size).astype(np.int64)

    def block_keys(self) -> list[bytes]:
        """The columns, the direction and the threshold of each query."""
        return self._keys

    @cached_property
    def _keys(self) -> list[bytes]:
        head = repr(self.columns).encode()
        directions = [head + theta.tobytes() for theta in self.theta.astype(np.int16)]
        return [
            direction + int(cut).to_bytes(8, signed=True)
            for direction, cuts in zip(directions, self.thresholds, strict=True)
            for cut in cuts
        ]

    def subset(self, blocks: Sequence[int]) -> "Halfspaces":
        """Some of the queries, each with a direction of its own."""
        direction, threshold = np.divmod(np.asarray(blocks, dtype=np.int64), self.thresholds.shape[1])
        cuts = self.thresholds[direction, threshold][:, None]
        return Halfspaces(self.columns, self.widths, self.theta[direction], cuts)

    def describe(self) -> str:
        """How many there are, over which columns."""
        directions, thresholds = self.thresholds.shape
        return f"{directions} x {thresholds} halfspaces over {len(self.columns)} columns"

    def to_json(self) -> dict[str, Any]:
        """The directions and thresholds as plain JSON."""
        lists = {"theta": self.theta.tolist(), "thresholds": self.thresholds.tolist()}
        return {"query": "halfspaces", "columns": list(self.columns), **lists}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Halfspaces":
        """The query that `to_json` described."""
        names = tuple(document["columns"])
        widths = tuple(width(schema.column(name)) for name in names)
        return cls(names, widths, document["theta"], document["thresholds"])


def width(column: Column) -> int:
    """How many places a column takes in the embedding."""
    return 1 + column.nullable if isinstance(column, Numeric) else column.size


def embed(column: Column, codes: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "rows features"]:
    """A column's part of the embedding."""
    if not isinstance(column, Numeric):
        return (codes[:, None] == np.arange(column.size)).astype(np.float32) * np.float32(GRID)
    absent = codes == column.steps
    last = max(column.steps - 1, 1)
    feature = np.where(absent, 0, (2 * GRID * codes.astype(np.int64) + last) // (2 * last)).astype(np.float32)
    parts = [feature, absent.astype(np.float32) * np.float32(GRID)] if column.nullable else [feature]
    return np.stack(parts, axis=1)


def halfspaces(
    schema: Schema, *, directions: int = 100, thresholds: int = 20, seed: int = 0, reference: Rows | None = None
) -> list[Halfspaces]:
    """Random directions over all columns, with thresholds where they matter under the public bounds."""
    return [random_halfspaces(schema, schema.names, directions, thresholds=thresholds, seed=seed, reference=reference)]


def random_halfspaces(
    schema: Schema, names: Sequence[str], directions: int, *, thresholds: int, seed: int, reference: Rows | None
) -> Halfspaces:
    """Random directions over some columns."""
    if directions < 1 or thresholds < 1 or not names:
        raise UserError(
            f"halfspaces: found {directions} directions x {thresholds} thresholds over {len(names)} columns."
        )
    draw, ref = split(key_of(seed), 2)
    widths = tuple(width(schema.column(name)) for name in names)
    theta = _directions(draw, directions, sum(widths))
    rows = reference if reference is not None else uniform_rows(ref, schema)
    blank = Halfspaces(tuple(names), widths, theta, np.zeros((directions, 1), dtype=np.int64))
    products = np.sort((blank.features(rows) @ theta.T.astype(np.float32)).T, axis=1)
    places = ((np.arange(thresholds) + 0.5) / thresholds * products.shape[1]).astype(np.int64)
    return Halfspaces(tuple(names), widths, theta, products[:, places].astype(np.int64))


def _directions(key: Key, directions: int, features: int) -> Int[np.ndarray, "directions features"]:
    """Normal coefficients, each direction scaled so that its largest is 127, on the integer grid."""
    from scipy.special import ndtri

    u = np.clip(uniforms(key, directions * features), 1e-12, 1 - 1e-12)
    normal: Float[np.ndarray, "directions features"] = ndtri(u).reshape(directions, features)
    scaled = normal / np.abs(normal).max(axis=1, keepdims=True) * MOST
    return np.rint(scaled).astype(np.int16)


@njit(cache=True, nogil=True)
def _count_below(products: Any, cuts: Any, bounds: Any, counts: Any) -> None:  # pragma: no cover (compiled)
    """Count products at or below every threshold, segment by segment: plain comparisons, which vectorise."""
    for d in range(products.shape[0]):
        for t in range(cuts.shape[1]):
            cut = cuts[d, t]
            for group in range(counts.shape[2]):
                segment = products[d, bounds[group] : bounds[group + 1]]
                below = np.int32(0)
                for row in range(segment.shape[0]):
                    below += np.int32(segment[row] <= cut)
                counts[d, t, group] += below
