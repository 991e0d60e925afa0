"""Adaptive: all at once, or T rounds of K choices, for each class of queries (Algorithm 2 of RAP and of RAP++).

The classes are tables (marginals, trees) and thresholds (everything else): ten thousand thresholds must not starve the few
tables, so `tables` is the tables' part of the budget where both are asked. A class with one round and no K is measured at
once, with the budget divided by use; otherwise its T rounds, in turn with those of the other class, choose the K worst
answered by noisy top-k and measure them. Nothing is measured twice. With `candidates` = "queries" tables are chosen cell by
cell, as RAP does.

Where T is left open it is chosen by public values, the workload and the budget (`settled`), before anything is spent: one
shot needs no choice and is accounted for exactly as Gaussian; rounds win where the workload is so large that its noise would
hide most of its answers. On Adult 64 three-way tables were still no better in rounds (docs: projection).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np

from sundog.declare import Range, check_declared
from sundog.generate import Generator
from sundog.queries import BinaryTree, Cells, Marginal, Query
from sundog.released import Proposal, Released, Score
from sundog.select.base import leftover, selections, spent_up
from sundog.select.everything import shares_of
from sundog.select.worst_error import choice, fresh_blocks

ROUNDS, TABLES, THRESHOLDS = 10, 3, 50
"""T where rounds are taken and none is given; and K, of tables (or a twentieth of them, if that is more) and of thresholds."""
NOISY = 2e6
"""Tables are chosen in rounds where the noise of one shot, summed over the cells of a table, is more than this many rows."""
MANY = 50_000
"""Thresholds are chosen in rounds where there are more than this many."""


@dataclass(frozen=True)
class Adaptive:
    """T and K of tables and of thresholds; None: chosen by public values."""

    rounds: Annotated[
        int | None,
        "T: rounds in which tables are chosen; 1: all at once; null: by workload and budget.",
        Range(1, 10**4),
    ] = None
    per_round: Annotated[
        int | None, "K: how many tables (or queries) are chosen per round; null: by their number.", Range(1, 10**5)
    ] = None
    threshold_rounds: Annotated[
        int | None, "T of all other queries (thresholds, ranges); 1: all at once; null: as for tables.", Range(1, 10**4)
    ] = None
    thresholds_per_round: Annotated[int | None, "K of all other queries; null: by their number.", Range(1, 10**5)] = (
        None
    )
    candidates: Annotated[
        Literal["tables", "queries"], "What is chosen of a marginal: the whole table, or single cells."
    ] = "tables"
    tables: Annotated[
        float, "The part of the budget for marginals and trees, where there is anything else.", Range(0.001, 0.999)
    ] = 0.2
    share_select: Annotated[float, "The part of each round's budget that choosing takes.", Range(0.001, 0.999)] = 0.1
    score: Annotated[Score, "How an answer's error is taken: the sum over its cells, or the largest."] = "L1"
    megabytes: Annotated[float, "The largest model, for generators whose model grows.", Range(0.0001, 10**5)] = 1.0
    weights: tuple[float, ...] | None = None
    columns_first = True

    def __post_init__(self) -> None:
        check_declared(self)

    @property
    def selects(self) -> bool:
        """Unless both classes are known to be measured at once."""
        return not (self._at_once(tables=True) and self._at_once(tables=False))

    @property
    def reads_model(self) -> bool:
        """True where something is chosen."""
        return self.selects

    @property
    def refits(self) -> bool:
        """True where something is chosen."""
        return self.selects

    @property
    def measures_all(self) -> bool:
        """True where nothing is chosen."""
        return not self.selects

    def _at_once(self, *, tables: bool) -> bool:
        return self._asked(tables=tables) == (1, None)

    def _asked(self, *, tables: bool) -> tuple[int | None, int | None]:
        """T and K of a class."""
        return (self.rounds, self.per_round) if tables else (self.threshold_rounds, self.thresholds_per_round)

    def weighted(self, weights: tuple[float, ...]) -> "Adaptive":
        """The rule with the workload's weights, by which one shot divides the budget."""
        return replace(self, weights=weights)

    def accepts(self, query: Query) -> bool:
        """The rule can choose among queries of every class."""
        return True

    def split(self, workload: tuple[Query, ...]) -> tuple[Query, ...]:
        """What it may measure: with single queries, cells instead of marginals, where those are chosen."""
        cells = self.candidates == "queries" and not self._at_once(tables=True)
        return _cells(workload) if cells else workload

    def settled(self, workload: tuple[Query, ...], *, rho: float) -> "Adaptive":
        """T and K of both classes, as the workload and the budget have it."""
        found: list[int | None] = []
        for tables in (True, False):
            rounds, k = self._asked(tables=tables)
            own = [query for query in self.split(workload) if is_table(query) == tables]
            many = sum(query.size // query.block for query in own)
            large = summed_noise(own, rho) > NOISY if tables else many > MANY
            if rounds is None and k is None and not large:
                rounds = 1
            if (rounds, k) != (1, None):
                rounds, k = rounds or ROUNDS, k or max(TABLES if tables else THRESHOLDS, -(-many // (20 * ROUNDS)))
            found += [rounds, k]
        return replace(
            self, rounds=found[0], per_round=found[1], threshold_rounds=found[2], thresholds_per_round=found[3]
        )

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """What is measured at once, then the next round, or None after the last one."""
        if spent_up(released, remaining_rho):
            return None
        plan = self.settled(workload, rho=remaining_rho + released.guarantee.rho)
        parts = plan._parts(workload)
        if previous is None and (at_once := [tables for tables in parts if plan._at_once(tables=tables)]):
            return plan._all_of(at_once, parts, workload, released, remaining_rho)
        return plan._round(parts, workload, model=model, released=released, remaining_rho=remaining_rho)

    def _parts(self, workload: tuple[Query, ...]) -> dict[bool, float]:
        """The budget's part of each class (True: tables) that is there."""
        there = {is_table(query) for query in workload}
        return {True: self.tables, False: 1 - self.tables} if len(there) == 2 else dict.fromkeys(there, 1.0)

    def _all_of(
        self,
        classes: Sequence[bool],
        parts: dict[bool, float],
        workload: tuple[Query, ...],
        released: Released,
        remaining_rho: float,
    ) -> Proposal:
        weights = self.weights or (1.0,) * len(workload)
        use = np.array(shares_of(workload, weights, released.guarantee.unit.neighbours))
        kinds = np.array([is_table(query) for query in workload])
        for tables in classes:
            use[kinds == tables] *= parts[tables] / use[kinds == tables].sum()
        some = np.isin(kinds, classes)
        queries = tuple(query for query, taken in zip(workload, some, strict=True) if taken)
        rho = remaining_rho * sum(parts[tables] for tables in classes) / sum(parts.values())
        return Proposal(queries=queries, rho_measure=rho, shares=use[some].tolist())

    def _round(
        self,
        parts: dict[bool, float],
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
    ) -> Proposal | None:
        left = list(self._turns(parts))[selections(released) :]
        for place, tables in enumerate(left):
            own = tuple(query for query in self.split(workload) if is_table(query) == tables)
            if fresh_blocks(own, released).any():
                prices = [parts[each] / self._rounds(tables=each) for each in left[place:]]
                rho = remaining_rho * prices[0] / sum(prices)
                k = self._asked(tables=tables)[1] or 1
                return choice(self, own, k=k, rho=rho, model=model, released=released)
        return leftover(released, remaining_rho) if left else None

    def _rounds(self, *, tables: bool) -> int:
        return 0 if self._at_once(tables=tables) else self._asked(tables=tables)[0] or ROUNDS

    def _turns(self, parts: dict[bool, float]) -> Iterator[bool]:
        """The classes of all rounds, in turn."""
        counts = {tables: self._rounds(tables=tables) for tables in sorted(parts, reverse=True)}
        for turn in range(max(counts.values(), default=0)):
            yield from (tables for tables, rounds in counts.items() if turn < rounds)


def is_table(query: Query) -> bool:
    """Whether a query is a table, or cells of one."""
    return isinstance(query, Marginal | BinaryTree | Cells)


def summed_noise(tables: Sequence[Query], rho: float) -> float:
    """The noise of one shot, in rows per table: cells * sqrt(tables / 2 rho), for a sensitivity of 1."""
    if not tables:
        return 0.0
    cells = sum(query.size for query in tables) / len(tables)
    return cells * math.sqrt(len(tables) / (2 * rho))


@lru_cache(maxsize=2)
def _cells(workload: tuple[Query, ...]) -> tuple[Query, ...]:
    """Every marginal cell by cell; kept from round to round, so that answers are not counted again."""
    return tuple(Cells.of(query) if isinstance(query, Marginal) else query for query in workload)
