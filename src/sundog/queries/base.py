"""Query: a sum over rows of a bounded integer vector. The one idea the whole design rests on (see docs/architecture.md).

Its sensitivity is a property of the query; its exact answer is additive over rows, so batching and engines cannot
matter; its noise is an integer; and a noisy answer is all that a generator ever knows.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from jaxtyping import Int

from sundog.rows import Rows
from sundog.schema import Schema
from sundog.unit import Neighbours


class Query(Protocol):
    """What every class of queries offers. `partition` says that every row falls into exactly one cell."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""

    @property
    def size(self) -> int:
        """How many integers its answer has."""

    @property
    def partition(self) -> bool:
        """Whether every row adds 1 to exactly one cell, so that the answer sums to the number of rows."""

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """The square of the L2 sensitivity in counts, exactly."""

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The L1 sensitivity in counts, exactly."""

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """The most by which one row can change any one cell, exactly."""

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Add the exact answer on these rows to the totals, in place."""

    def subset(self, cells: Sequence[int]) -> "Query":
        """The query that answers only these cells of this one."""

    def describe(self) -> str:
        """The query in a few words."""

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads back, under the key 'query' the class's registered name."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Query":
        """The query that `to_json` described."""


def answer(query: Query, rows: Rows) -> Int[np.ndarray, " cells"]:
    """The exact answer of a query on some rows."""
    totals = np.zeros(query.size, dtype=np.int64)
    query.add(rows, totals)
    return totals


def add_all(queries: Sequence[Query], rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
    """Add the answers of several queries, one after the other in one vector."""
    start = 0
    for query in queries:
        query.add(rows, totals[start : start + query.size])
        start += query.size
