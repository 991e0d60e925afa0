"""Atoms: the coarsest pieces of each column that no measured query tells apart.

Every query sees a value only through its atom, so the genetic search works on small numbers (a column of a million grid
points with a tree of five levels has 32 atoms), while rows keep their exact codes: a column stays as fine as its grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.queries import (
    AtLeast,
    BinaryTree,
    Conditional,
    GroupSums,
    Halfspaces,
    Marginal,
    Moments,
    Query,
    Ranges,
    SigmoidSum,
)
from sundog.queries.halfspace import GRID
from sundog.queries.moment import BITS


@dataclass(frozen=True, eq=False)
class Atoms:
    """`starts[c]` are the first codes of column c's atoms; all columns' atoms stand one after the other from `first[c]`."""

    schema: Schema
    starts: tuple[Int[np.ndarray, " atoms"], ...]

    @property
    def first(self) -> Int[np.ndarray, " columns+1"]:
        """Where each column's atoms begin among all."""
        return np.cumsum([0, *(len(starts) for starts in self.starts)])

    def of(self, place: int, codes: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
        """The atom of every code of a column."""
        return np.searchsorted(self.starts[place], codes, side="right") - 1

    def codes(self) -> tuple[Int[np.ndarray, " all"], Int[np.ndarray, " all"]]:
        """The first code of every atom, and how many codes it has."""
        columns = zip(self.starts, self.schema.columns, strict=True)
        widths = [np.diff(starts, append=column.size) for starts, column in columns]
        return np.concatenate(self.starts).astype(np.int64), np.concatenate(widths).astype(np.int64)

    @staticmethod
    def of_queries(schema: Schema, queries: Sequence[Query]) -> "Atoms":
        """Each column cut wherever a query's answer can change."""
        cuts: list[list[Int[np.ndarray, " cuts"]]] = [[np.zeros(1, np.int64)] for _ in schema.columns]
        for query in queries:
            for place, where in _cuts(schema, query):
                cuts[place].append(where)
        for name, levels, within in {rounded for query in queries for rounded in _levels(query)}:
            cuts[schema.position(name)].append(_level_cuts(schema.column(name), levels, within))
        pairs = zip(schema.columns, cuts, strict=True)
        return Atoms(schema, tuple(_starts(column, places) for column, places in pairs))


def _starts(column: Column, cuts: list[Int[np.ndarray, " cuts"]]) -> Int[np.ndarray, " atoms"]:
    if not isinstance(column, Numeric):
        return np.arange(column.size)
    missing = [] if column.missing is None else [np.array([column.missing])]
    places = np.unique(np.concatenate([*cuts, *missing]))
    return places[(places >= 0) & (places < column.size)]


def _cuts(schema: Schema, query: Query) -> list[tuple[int, Int[np.ndarray, " cuts"]]]:
    """Where a query cuts its numeric columns; labels are their own atoms anyway."""
    match query:
        case Marginal() | BinaryTree() | AtLeast():
            return [_axis_cuts(schema, axis) for table in _tables(query) for axis in table.axes]
        case Ranges():
            return _range_cuts(schema, query)
        case Conditional():
            return [_axis_cuts(schema, query.label), *_cuts(schema, query.inner)]
        case GroupSums():
            return [_axis_cuts(schema, query.group)]
        case Halfspaces() | Moments() | SigmoidSum():
            return []
        case _:
            raise TypeError(f"the genetic search has no form for {type(query).__name__}")


def _levels(query: Query) -> list[tuple[str, int, tuple[int, int] | None]]:
    """The columns that a query rounds to so many levels, within a range; thousands of queries may round alike."""
    match query:
        case Halfspaces():
            return [(name, GRID, None) for name in query.columns]
        case Moments():
            return [(name, 1 << BITS, range_) for name, range_ in zip(query.columns, query.ranges, strict=True)]
        case SigmoidSum():
            return [(name, 1 << BITS, None) for name in query.columns]
        case GroupSums():
            return [(query.column, 1 << BITS, None)]
        case Conditional():
            return _levels(query.inner)
        case _:
            return []


def _tables(query: Marginal | BinaryTree | AtLeast) -> tuple[Marginal, ...]:
    if isinstance(query, BinaryTree):
        return query.tables
    return (query.marginal if isinstance(query, AtLeast) else query,)


def _axis_cuts(schema: Schema, axis: Axis) -> tuple[int, Int[np.ndarray, " cuts"]]:
    place = schema.position(axis.column)
    if axis.groups is not None:
        return place, np.flatnonzero(np.diff(axis.groups)) + 1
    return place, axis.run_starts()


def _range_cuts(schema: Schema, query: Ranges) -> list[tuple[int, Int[np.ndarray, " cuts"]]]:
    found = []
    for column, name in enumerate(query.columns):
        on = query.which == column
        found.append((schema.position(name), np.concatenate([query.low[on], query.high[on]])))
    return found


def _level_cuts(column: Column, levels: int, within: tuple[int, int] | None) -> Int[np.ndarray, " cuts"]:
    """The first code at every level k of round(levels * (code - low) / last): 2 levels (code - low) >= (2 k - 1) last."""
    low, high = within or (0, max(column.size - column.nullable - 1, 1))
    last = high - low
    if last <= levels:
        return np.arange(low, high + 1)
    return np.array([low - (-(2 * k - 1) * last // (2 * levels)) for k in range(1, levels + 1)], dtype=np.int64)
