"""Conjunctions of ranges: rows in which every one of a few columns lies in a half-open run of codes.

One class for the 0/1 queries of the papers: prefixes (x <= t; Private-GSD, Definition 2.5), ranges (Definition 2.3),
mixed marginals (labels and thresholds; RAP++, Definition 3) and single cells of marginals. The papers' closed ranges
count a boundary value twice; half-open runs of codes do not.

A missing number lies above every threshold and in no range: it satisfies no condition on its column, unless the range
names the missing code itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numba import njit

from sundog.arrays import MOST, whole_array
from sundog.domain import Numeric, Schema
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally, Within
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import segments
from sundog.queries.choosing import label_names, numeric_names, uniform_rows
from sundog.random.keys import Key, key_of, split, uniforms

ROW_BLOCK = 8192
ENUMERATE = 2048
"""Up to this many elementary cells and queries the sensitivity is enumerated; beyond, the general bound is used."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """Query q asks: low[q, k] <= code of column which[q, k] < high[q, k] for every k (which = -1: no condition)."""

    columns: tuple[str, ...]
    which: Int[np.ndarray, "queries conditions"]
    low: Int[np.ndarray, "queries conditions"]
    high: Int[np.ndarray, "queries conditions"]
    partition = False
    scale = 1
    block = 1

    def __post_init__(self) -> None:
        for name, most in (("which", len(self.columns) - 1), ("low", MOST), ("high", MOST)):
            least = -1 if name == "which" else -MOST
            array = whole_array(f"ranges: {name}", getattr(self, name), dimensions=2, least=least, most=most)
            object.__setattr__(self, name, array)
        if not self.which.shape == self.low.shape == self.high.shape:
            raise UserError("ranges: columns, low and high ends do not fit together; give one of each per condition.")
        if not len(self.which) or not (self.which >= 0).any(axis=1).all():
            raise UserError("ranges: every query needs at least one condition.")
        if ((self.which >= 0) & (self.low >= self.high)).any():
            raise UserError("ranges: a condition holds no code; its low must be below its high.")

    @property
    def size(self) -> int:
        """The number of queries."""
        return len(self.which)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """One tally per query."""
        return tuple(Tally(within=conditions) for conditions in self.conditions)

    @property
    def conditions(self) -> list[tuple[Within, ...]]:
        """Every query as the conditions that a row must satisfy."""
        lists = zip(self.which.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return [
            tuple(Within(self.columns[k], low, high) for k, low, high in zip(*each, strict=True) if k >= 0)
            for each in lists
        ]

    @cached_property
    def _enumerated(self) -> Bool[np.ndarray, "points queries"] | None:
        """Which queries each elementary cell satisfies, where there are few; None where there are many."""
        points = []
        for column in range(len(self.columns)):
            on = self.which == column
            points.append(np.unique(np.concatenate([[0], self.low[on], self.high[on]])))
        if self.size > ENUMERATE or np.prod([len(p) for p in points], dtype=float) > ENUMERATE:
            return None
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*points, indexing="ij")])
        held = np.ones((grid.shape[1], self.size), dtype=bool)
        for k in range(self.which.shape[1]):
            codes = grid[np.maximum(self.which[:, k], 0)].T
            inside = (codes >= self.low[:, k]) & (codes < self.high[:, k])
            held &= inside | (self.which[:, k] < 0)
        return held

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """The most queries one row can satisfy (add-remove) or switch (replace); at most their number."""
        held = self._enumerated
        if held is None:
            return Fraction(self.size)
        counts = held.sum(axis=1)
        if neighbours == "add-remove":
            return Fraction(int(counts.max()))
        both = held.astype(np.float32) @ held.astype(np.float32).T
        return Fraction(int((counts[:, None] + counts[None, :] - 2 * both).max()))

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The same number: every switched query changes by 1."""
        return self.sensitivity_squared(neighbours)

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
        counts = np.zeros((self.size, number), dtype=np.int64)
        order, ends = segments(groups, number)
        for start in range(0, len(rows), ROW_BLOCK):
            codes = self.codes(rows, order[start : start + ROW_BLOCK])
            bounds = np.clip(ends - start, 0, codes.shape[1])
            _count(codes, bounds, self.which, self.low, self.high, counts)
        return counts

    def codes(self, rows: Rows, some: Int[np.ndarray, " some"]) -> Int[np.ndarray, "columns some"]:
        """The codes of the query's columns for some rows, one column after the other."""
        wide = max(rows.schema.column(name).size for name in self.columns) >= 1 << 31
        return np.stack([rows.column(name)[some] for name in self.columns]).astype(np.int64 if wide else np.int32)

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows queries"]:
        """Which queries every row satisfies."""
        codes = self.codes(rows, np.arange(len(rows)))
        held = np.ones((len(rows), self.size), dtype=bool)
        for k in range(self.which.shape[1]):
            values = codes[self.which[:, k]].T
            inside = (values >= self.low[:, k]) & (values < self.high[:, k])
            held &= inside | (self.which[:, k] < 0)
        return held.astype(np.int64)

    def block_keys(self) -> list[bytes]:
        """The names and bounds of each query's columns, in order."""
        return self._keys

    @cached_property
    def _keys(self) -> list[bytes]:
        names = np.array([*self.columns, ""], dtype=object)
        conditions = zip(names[self.which], self.low.tolist(), self.high.tolist(), strict=True)
        return [repr(sorted(zip(*each, strict=True))).encode() for each in conditions]

    def subset(self, blocks: Sequence[int]) -> "Ranges":
        """Some of the queries."""
        chosen = np.asarray(blocks, dtype=np.int64)
        return Ranges(self.columns, self.which[chosen], self.low[chosen], self.high[chosen])

    def describe(self) -> str:
        """One query in words, or how many there are."""
        if self.size > 1:
            return f"{self.size} ranges over {', '.join(self.columns)}"
        parts = [
            f"{low} <= {self.columns[column]} < {high}"
            for column, low, high in zip(self.which[0], self.low[0], self.high[0], strict=True)
            if column >= 0
        ]
        return " and ".join(parts) + " (codes)"

    def to_json(self) -> dict[str, Any]:
        """The conditions of every query, as a document."""
        lists = {"which": self.which.tolist(), "low": self.low.tolist(), "high": self.high.tolist()}
        return {"query": "ranges", "columns": list(self.columns), **lists}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Ranges":
        """The query that `to_json` described."""
        names = tuple(document["columns"])
        for name in names:
            schema.position(name)
        return cls(names, *(document[key] for key in ("which", "low", "high")))


def prefixes(
    schema: Schema,
    *,
    count: int = 1000,
    labels: int = 1,
    numbers: int = 2,
    seed: int = 0,
    reference: Rows | None = None,
) -> list[Ranges]:
    """Random prefixes: conjunctions of labels (column = value) and thresholds from below (Private-GSD, Section 5)."""
    return [
        conjunctions(schema, count, labels=labels, numbers=numbers, seed=seed, reference=reference, closed_below=False)
    ]


def ranges(
    schema: Schema,
    *,
    count: int = 1000,
    labels: int = 1,
    numbers: int = 1,
    seed: int = 0,
    reference: Rows | None = None,
) -> list[Ranges]:
    """Random ranges: conjunctions of labels and half-open intervals."""
    return [
        conjunctions(schema, count, labels=labels, numbers=numbers, seed=seed, reference=reference, closed_below=True)
    ]


def conjunctions(
    schema: Schema,
    count: int,
    *,
    labels: int,
    numbers: int,
    seed: int,
    reference: Rows | None,
    closed_below: bool,
    without: str | None = None,
) -> Ranges:
    """Random conjunctions of labels with thresholds from below, or with intervals."""
    label_columns = [name for name in label_names(schema) if name != without]
    number_columns = [name for name in numeric_names(schema) if name != without]
    fits = 0 <= labels <= len(label_columns) and 0 <= numbers <= len(number_columns)
    if count < 1 or not fits or labels + numbers < 1:
        raise UserError(
            f"workload: {count} queries of {labels} labels and {numbers} numbers were asked for; "
            f"the schema has {len(label_columns)} categorical and {len(number_columns)} numeric columns to use."
        )
    keys = split(key_of(seed), 5)
    rows = reference if reference is not None else uniform_rows(keys[0], schema)
    names = (*label_columns, *number_columns)
    chosen_labels = _choose(keys[1], count, labels, len(label_columns))
    chosen_numbers = _choose(keys[2], count, numbers, len(number_columns)) + len(label_columns)
    which = np.concatenate([chosen_labels, chosen_numbers], axis=1)
    first, second = (_drawn_codes(key, schema, names, which, rows) for key in keys[3:5])
    is_label = which < len(label_columns)
    low = np.where(is_label, first, np.minimum(first, second) if closed_below else 0)
    high = np.where(is_label, first + 1, (np.maximum(first, second) if closed_below else first) + 1)
    used = sorted(set(which.ravel().tolist()))
    place = {column: k for k, column in enumerate(used)}
    return Ranges(tuple(names[column] for column in used), np.vectorize(place.__getitem__)(which), low, high)


def _choose(key: Key, count: int, chosen: int, number: int) -> Int[np.ndarray, "count chosen"]:
    """For every query this many distinct columns."""
    if chosen == 0:
        return np.empty((count, 0), dtype=np.int64)
    return np.argsort(uniforms(key, count * number).reshape(count, number), axis=1)[:, :chosen]


def _drawn_codes(
    key: Key, schema: Schema, names: tuple[str, ...], which: Int[np.ndarray, "q k"], rows: Rows
) -> Int[np.ndarray, "q k"]:
    """For every condition the code of a reference row; numbers that may be missing are drawn among those present."""
    pick = uniforms(key, which.size).reshape(which.shape)
    codes = np.empty(which.shape, dtype=np.int64)
    for column, name in enumerate(names):
        on = which == column
        values = np.sort(rows.column(name))
        if isinstance(schema.column(name), Numeric):
            values = values[values != schema.column(name).missing]
        values = values if len(values) else np.zeros(1, dtype=np.int64)
        codes[on] = values[(pick[on] * len(values)).astype(np.int64)]
    return codes


@njit(cache=True, nogil=True)
def _count(codes: Any, bounds: Any, which: Any, low: Any, high: Any, counts: Any) -> None:  # pragma: no cover
    """Count the rows of every query, segment by segment, with a mask per block of rows: loops that vectorise."""
    inside = np.empty(codes.shape[1], dtype=np.uint8)
    for q in range(which.shape[0]):
        inside[:] = 1
        for k in range(which.shape[1]):
            column = which[q, k]
            if column >= 0:
                values = codes[column]
                least = low[q, k]
                most = high[q, k] - 1
                for row in range(values.shape[0]):
                    inside[row] &= np.uint8(values[row] >= least) & np.uint8(values[row] <= most)
        for group in range(counts.shape[1]):
            segment = inside[bounds[group] : bounds[group + 1]]
            held = np.int32(0)
            for row in range(segment.shape[0]):
                held += np.int32(segment[row])
            counts[q, group] += held
