"""Query: a sum over rows of a bounded integer vector. The idea on which the whole design rests (docs/explanation/architecture.md).

Its sensitivity is a property of the query; its exact answer is additive over rows, so batching and engines cannot
matter; its noise is an integer; and a noisy answer is all that a generator ever knows.

A query holds one or many questions of a kind. What belongs together, and is chosen or measured as a whole, is a block:
all cells of a marginal, the labels and the complement of one conditional threshold, a single prefix. A class whose queries
are one block takes from `OneBlock` all that follows from the rest, and has to say only: its columns and size, its norms, how
rows are added, a few words, and JSON.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from jaxtyping import Int

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import Neighbours
from sundog.errors import UserError

AQuery = TypeVar("AQuery")


class Query(Protocol):
    """What every class of queries offers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""

    @property
    def size(self) -> int:
        """How many integers its answer has."""

    @property
    def block(self) -> int:
        """How many consecutive answers belong together."""

    @property
    def partition(self) -> bool:
        """Whether every row adds 1 to exactly one cell, so that the answer sums to the number of rows."""

    @property
    def scale(self) -> int:
        """What one row counts as in an answer: 1, or more where fractions are added up as whole numbers."""

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """The square of the L2 sensitivity of the whole answer, exactly."""

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """The L1 sensitivity of the whole answer, exactly."""

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """The most by which one row can change any single answer, exactly."""

    def block_l1(self, neighbours: Neighbours) -> Fraction:
        """The L1 sensitivity of any one block, exactly."""

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Add the exact answer on these rows to the totals, in place."""

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """What every single row adds to the answer; for tables small enough to hold rows times answers."""

    def block_keys(self) -> list[bytes]:
        """A name for every block: equal in two queries where they ask the same, so that none is measured twice."""

    def subset(self, blocks: Sequence[int]) -> "Query":
        """The query that asks only these blocks."""

    def describe(self) -> str:
        """The query in a few words."""

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads back, under the key 'query' the class's registered name."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Query":
        """The query that `to_json` described."""


class OneBlock:
    """A query whose answers all belong together, each counting rows: what then follows from the rest."""

    partition: ClassVar[bool] = False
    scale: ClassVar[int] = 1

    @property
    def block(self: Query) -> int:
        """The number of answers in a block: all of them."""
        return self.size

    def block_l1(self: Query, neighbours: Neighbours) -> Fraction:
        """That of the whole answer."""
        return self.sensitivity_l1(neighbours)

    def block_keys(self: Query) -> list[bytes]:
        """One name: what it is saved as."""
        return [json.dumps(self.to_json(), sort_keys=True).encode()]

    def subset(self: AQuery, blocks: Sequence[int]) -> AQuery:
        """There is one block, so this is the query itself."""
        return self

    def vectors(self: Query, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """The answer on every distinct row, one by one; classes that know better say it."""
        codes = np.stack([rows.column(name) for name in self.columns])
        _, first, which = np.unique(codes, axis=1, return_index=True, return_inverse=True)
        singles = [Rows(rows.schema, tuple(column[[place]] for column in rows.codes)) for place in first]
        return np.stack([answer(self, single) for single in singles])[which.ravel()]


def answer(query: Query, rows: Rows) -> Int[np.ndarray, " cells"]:
    """The exact answer of a query on some rows."""
    totals = np.zeros(query.size, dtype=np.int64)
    query.add(rows, totals)
    return totals


@dataclass(frozen=True)
class Counting:
    """What adds the answers of several queries on a batch of rows to the totals; or says it as tallies, for a server."""

    queries: Sequence[Query]

    def __call__(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Add the answers on these rows."""
        add_all(self.queries, rows, totals)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """All queries as counts of rows; refused where one of them is a sum of something else."""
        made: list[Tally] = []
        for query in self.queries:
            own = getattr(query, "tallies", None)
            if own is None:
                raise UserError(
                    f"push-down: {query.describe()} ({type(query).__name__}) is no count that a server makes; marginals, trees, "
                    "ranges and conditional ranges are. Choose another method or workload, or leave out push-down."
                )
            made += own
        return tuple(made)


def add_all(queries: Sequence[Query], rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
    """Add the answers of several queries, one after the other in one vector."""
    start = 0
    for query in queries:
        query.add(rows, totals[start : start + query.size])
        start += query.size


def segments(
    groups: Int[np.ndarray, " rows"], number: int
) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " number+1"]]:
    """An order that puts the rows of each group together, and where each group begins and the last one ends."""
    if number == 1:
        return np.arange(len(groups)), np.array([0, len(groups)])
    order = np.argsort(groups, kind="stable")
    return order, np.searchsorted(groups[order], np.arange(number + 1))
