"""Allocate: score every pair of columns with a little noise, then measure those that pay, at the resolution that pays.

1. Scores. For all pairs, at a fine and at a coarse resolution, the L1 distance between the table and independence, as one
   Gaussian vector. No choice is made privately, so the run is Gaussian only and the conversion exact.
2. Price. A pair left out costs its dependence (the score, less what sampling alone would show); measured with c cells at
   price r of rho it costs what the resolution misses plus the noise, kappa D c / sqrt(2 r). At a price lambda of rho the
   best r is (kappa D c / (2 sqrt 2 lambda))^(2/3), and the option costs its bias plus 3 lambda r. Every pair takes its
   cheapest option; lambda is found by bisection so that the budget is used up.

kappa is the share of the noise that survives in the synthetic rows: they average over many overlapping tables.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.axis import Axis
from sundog.bins import Leaves, coarsened, leaves_of
from sundog.generate import Generator
from sundog.proposal import Proposal, Selection
from sundog.queries import Marginal, Query
from sundog.released import Released
from sundog.schema import Schema
from sundog.select.base import noise_stddev

SAMPLING = 0.8
"""The mean absolute deviation of a count of mean m is about 0.8 sqrt(m)."""


@dataclass(frozen=True)
class Option:
    """A way to treat a pair: what it misses (in rows), and the query to measure, if any."""

    bias: float
    query: Query | None = None


@dataclass(frozen=True)
class Allocate:
    """`share_scores` of the budget left goes to scores; `coarse` cells a column at the second resolution."""

    share_scores: float = 0.04
    coarse: int = 6
    kappa: float = 0.48
    target_weight: float = 1.0
    selects = False
    refits = False

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """First the scores, then the tables, then nothing."""
        if previous is None:
            return self._scoring(workload, released, rho=self.share_scores * remaining_rho)
        if not released.scores or previous.scoring is None:
            return None
        options = self._options(workload, released)
        chosen, prices = allocate(options, released, rho=remaining_rho, kappa=self.kappa)
        return Proposal(queries=tuple(chosen), rho_measure=remaining_rho, shares=prices)

    def _scoring(self, workload: tuple[Query, ...], released: Released, *, rho: float) -> Proposal:
        leaves = leaves_of(released)
        candidates = (*workload, *self._coarse(workload, released.schema, leaves))
        estimates = tuple(np.rint(_independent(query, leaves, released.rows)).astype(np.int64) for query in candidates)
        return Proposal(scoring=Selection(candidates, estimates), rho_score=rho)

    def _coarse(self, workload: Sequence[Query], schema: Schema, leaves: dict[str, Leaves]) -> list[Marginal]:
        """The workload's marginals on coarser axes, where that makes a difference."""
        axes: dict[Axis, Axis] = {}
        for axis in {axis for query in workload if isinstance(query, Marginal) for axis in query.axes}:
            shares = leaves[axis.column].shares(axis)
            axes[axis] = coarsened(axis, shares, column=schema.column(axis.column), most=self.coarse)
        coarse = [Marginal(tuple(axes[axis] for axis in q.axes)) for q in workload if isinstance(q, Marginal)]
        return [small for small, query in zip(coarse, workload, strict=True) if small != query]

    def _options(self, workload: tuple[Query, ...], released: Released) -> list[list[Option]]:
        """For every pair: leave it out, measure it finely, measure it coarsely."""
        scores = released.scores[-1]
        leaves = leaves_of(released)
        found = {
            query: dependence(float(value), _independent(query, leaves, released.rows))
            for query, value in zip(scores.candidates, scores.values, strict=True)
        }
        coarse = {query.columns: query for query in scores.candidates if query not in set(workload)}
        options = []
        for query in workload:
            weight = self._weight(query, released.schema)
            ways = [Option(weight * found[query]), Option(0.0, query)]
            small = coarse.get(query.columns)
            if small is not None:
                missed = math.sqrt(max(found[query] ** 2 - found[small] ** 2, 0.0))
                ways.append(Option(weight * missed, small))
            options.append(ways)
        return options

    def _weight(self, query: Query, schema: Schema) -> float:
        return self.target_weight if set(query.columns) & set(schema.targets) else 1.0


def dependence(score: float, expected: Float[np.ndarray, " cells"]) -> float:
    """The L1 distance from independence that a noisy score shows, beyond what sampling alone would give."""
    sampling = SAMPLING * float(np.sqrt(np.maximum(expected, 0.0)).sum())
    return math.sqrt(max(score * abs(score) - sampling**2, 0.0))


def _independent(query: Query, leaves: dict[str, Leaves], rows: int) -> Float[np.ndarray, " cells"]:
    table = np.array([float(rows)])
    for axis in query.axes:  # type: ignore[attr-defined]
        table = np.multiply.outer(table, leaves[axis.column].shares(axis)).ravel()
    return table


def allocate(
    options: list[list[Option]], released: Released, *, rho: float, kappa: float
) -> tuple[list[Query], list[float]]:
    """The queries to measure and the parts of rho for each, by the price at which the budget is used up."""
    unit = released.guarantee.unit
    strengths = [
        [kappa * noise_stddev(way.query, 0.5, unit) * way.query.size if way.query else 0.0 for way in ways]
        for ways in options
    ]
    low, high = 1e-12, 1e18
    for _ in range(200):
        price = math.sqrt(low * high)
        _, spent = _choices(options, strengths, price)
        low, high = (price, high) if spent.sum() > rho else (low, price)
    chosen, spent = _choices(options, strengths, high)
    if not spent.any():  # even the strongest pair is not worth its noise: measure it alone, so that rho is used
        best = int(np.argmax([ways[0].bias for ways in options]))
        return [_cheapest_table(options[best])], [1.0]
    measured = [
        (options[k][way].query, part) for k, (way, part) in enumerate(zip(chosen, spent, strict=True)) if part > 0
    ]
    return [query for query, _ in measured if query is not None], [float(part) for _, part in measured]


def _choices(
    options: list[list[Option]], strengths: list[list[float]], price: float
) -> tuple[Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """At a price of rho: the cheapest option of every pair, and what it would spend."""
    chosen, spent = np.zeros(len(options), dtype=np.int64), np.zeros(len(options))
    for k, (ways, strong) in enumerate(zip(options, strengths, strict=True)):
        parts = [(strength / (2 * math.sqrt(2) * price)) ** (2 / 3) for strength in strong]
        costs = [way.bias + 3 * price * part for way, part in zip(ways, parts, strict=True)]
        chosen[k] = int(np.argmin(costs))
        spent[k] = parts[chosen[k]]
    return chosen, spent


def _cheapest_table(ways: list[Option]) -> Query:
    return min((way.query for way in ways if way.query is not None), key=lambda query: query.size)
