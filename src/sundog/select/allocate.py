"""Allocate: score every pair of columns with a little noise, then measure those that pay, at the resolution that pays.

1. Scores. For all pairs, at a fine and at a coarse resolution, the L1 distance between the table and independence, as one
   Gaussian vector. No choice is made privately, so the run is Gaussian only and the conversion exact.
2. Price. A pair left out costs its dependence (the score, less what sampling alone would show); measured with c cells at
   price r of rho it costs what the resolution misses plus the noise, kappa D c / sqrt(2 r). At a price lambda of rho the
   best r is (kappa D c / (2 sqrt 2 lambda))^(2/3), and the option costs its bias plus 3 lambda r. Every pair takes its
   cheapest option; lambda is found by bisection so that the budget is used up.

kappa is the share of the noise that survives in the synthetic rows: they average over many overlapping tables.

3. Checks. Where scores suggest that one column determines another, their table is measured label by label, and a hundredth of the
   budget left then counts the rows that break the likeliest map (sundog.estimate.pairs.determined).
"""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float, Int

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import Leaves, coarsened, leaves_of
from sundog.estimate.pairs.determined import checks, most_checked, proposed, suspicions
from sundog.generate import Generator
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import gaussian_stddev
from sundog.released import Proposal, Released, Selection

FEW_MORE = 2
"""A pair that may be a function is measured code by code, where that takes at most this many times the cells of a column."""
SAMPLING = 0.8
"""The mean absolute deviation of a count of mean m is about 0.8 sqrt(m)."""


@dataclass(frozen=True)
class Option:
    """A way to treat a pair: what it misses (in rows), and the query to measure, if any."""

    bias: float
    query: Query | None = None


@dataclass(frozen=True)
class Allocate:
    """Scores, then tables; errors count by the workload's `weights`."""

    share_scores: Annotated[float, "The part of the budget left that scores take.", Range(0.001, 0.999)] = 0.04
    coarse: Annotated[int, "Cells per column at the second resolution; many: no second one.", Range(2, 1000)] = 6
    kappa: Annotated[float, "The share of the noise that is taken to survive in the rows.", Range(0.001, 10)] = 0.34
    target_weight: Annotated[
        float, "How many times as much errors count in pairs with a target.", Range(0.001, 1000)
    ] = 2.0
    share_checks: Annotated[
        float, "The part of the tables' budget that checks of suspected dependencies take, if any.", Range(0.001, 0.5)
    ] = 0.01
    weights: tuple[float, ...] | None = None
    checks_maps: bool = True
    """Whether suspected dependencies are checked: not where no generator would follow them."""
    selects = False
    reads_model = False
    columns_first = True
    measures_all = False
    refits = False

    def __post_init__(self) -> None:
        check_declared(self)

    def weighted(self, weights: tuple[float, ...]) -> "Allocate":
        """The rule with the workload's weights."""
        return replace(self, weights=weights)

    def accepts(self, query: Query) -> bool:
        """Marginals of one or two columns."""
        return isinstance(query, Marginal) and len(query.axes) <= 2

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """First the scores, then the tables, then checks of what they suggest, then nothing."""
        if previous is None:
            return self._scoring(workload, released, rho=self.share_scores * remaining_rho)
        if len(released.scores) != 1:
            return None
        if previous.scoring is None:
            return _checking(released, rho=remaining_rho) if self.checks_maps else None
        suspected = suspicions(released, leaves_of(released))
        if not (self.checks_maps and most_checked(released, rho=self.share_checks * remaining_rho)):
            suspected = {}
        weights = self._weights(workload, released.schema)
        options = self._options(_by_label(workload, released.schema, suspected), workload, released)
        rho = remaining_rho * (1 - self.share_checks if suspected else 1.0)
        unit = released.guarantee.unit
        chosen, prices = allocate(options, weights=weights, unit=unit, rho=rho, kappa=self.kappa)
        return Proposal(queries=tuple(chosen), rho_measure=rho, shares=prices)

    def _scoring(self, workload: tuple[Query, ...], released: Released, *, rho: float) -> Proposal:
        leaves = leaves_of(released)
        candidates = (*workload, *self._coarse(workload, released.schema, leaves))
        estimates = tuple(np.rint(table).astype(np.int64) for table in _independent(candidates, released))
        return Proposal(scoring=Selection(candidates, estimates), rho_score=rho)

    def _coarse(self, workload: Sequence[Query], schema: Schema, leaves: dict[str, Leaves]) -> list[Marginal]:
        """The workload's marginals on coarser axes, where that makes a difference."""
        axes: dict[Axis, Axis] = {}
        for axis in {axis for query in workload if isinstance(query, Marginal) for axis in query.axes}:
            shares = leaves[axis.column].shares(axis)
            axes[axis] = coarsened(axis, shares, column=schema.column(axis.column), most=self.coarse)
        coarse = [Marginal(tuple(axes[axis] for axis in q.axes)) for q in workload if isinstance(q, Marginal)]
        return [small for small, query in zip(coarse, workload, strict=True) if small != query]

    def _options(self, finest: Sequence[Query], workload: tuple[Query, ...], released: Released) -> list[list[Option]]:
        """For every pair: leave it out, measure it as finely as it gets, measure it coarsely."""
        scores = released.scores[0]
        found = [
            dependence(float(value), expected)
            for value, expected in zip(scores.values, _independent(scores.candidates, released), strict=True)
        ]
        fine = found[: len(workload)]
        coarse = {
            query.columns: (query, seen)
            for query, seen in zip(scores.candidates[len(workload) :], found[len(workload) :], strict=True)
        }
        options = []
        for query, seen in zip(finest, fine, strict=True):
            ways = [Option(seen), Option(0.0, query)]
            if query.columns in coarse:
                small, seen_coarsely = coarse[query.columns]
                ways.append(Option(math.sqrt(max(seen**2 - seen_coarsely**2, 0.0)), small))
            options.append(ways)
        return options

    def _weights(self, workload: tuple[Query, ...], schema: Schema) -> list[float]:
        given = self.weights or (1.0,) * len(workload)
        targets = set(schema.targets)
        return [
            weight * (self.target_weight if targets & set(query.columns) else 1.0)
            for query, weight in zip(workload, given, strict=True)
        ]


def _checking(released: Released, *, rho: float) -> Proposal | None:
    """Count the rows that break the maps that tables suggest; as many maps as this budget can check."""
    found = proposed(released)[: most_checked(released, rho=rho)]
    return Proposal(scoring=checks(found), rho_score=rho) if found else None


def _by_label(workload: Sequence[Query], schema: Schema, pairs: Container[tuple[str, ...]]) -> list[Query]:
    """The workload with these pairs on whole columns, where few labels share a cell."""

    def whole(axis: Axis) -> Axis:
        column = schema.column(axis.column)
        return Axis.whole(column) if column.size <= FEW_MORE * axis.size else axis

    return [
        Marginal(tuple(whole(axis) for axis in query.axes))
        if isinstance(query, Marginal) and query.columns in pairs
        else query
        for query in workload
    ]


def dependence(score: float, expected: Float[np.ndarray, " cells"]) -> float:
    """The L1 distance from independence that a noisy score shows, beyond what sampling alone would give."""
    sampling = SAMPLING * float(np.sqrt(np.maximum(expected, 0.0)).sum())
    return math.sqrt(max(score * abs(score) - sampling**2, 0.0))


def _independent(queries: Sequence[Query], released: Released) -> list[Float[np.ndarray, " cells"]]:
    """The tables of independent columns, in rows."""
    leaves = leaves_of(released)
    shares: dict[Axis, Float[np.ndarray, " cells"]] = {}
    tables = []
    for query in queries:
        table = np.array([float(released.rows)])
        for axis in query.axes:  # type: ignore[attr-defined]
            if axis not in shares:
                shares[axis] = leaves[axis.column].shares(axis)
            table = np.multiply.outer(table, shares[axis]).ravel()
        tables.append(table)
    return tables


def allocate(
    options: list[list[Option]], *, weights: Sequence[float], unit: PrivacyUnit, rho: float, kappa: float
) -> tuple[list[Query], list[float]]:
    """The queries to measure and the parts of rho for each, by the price at which the budget is used up."""
    biases, strengths = _laid_out(options, weights, unit=unit, kappa=kappa)
    low, high = 1e-12, 1e18
    for _ in range(200):
        price = math.sqrt(low * high)
        _, spent = _choices(biases, strengths, price)
        low, high = (price, high) if spent.sum() > rho else (low, price)
    chosen, spent = _choices(biases, strengths, high)
    if not spent.any():  # even the strongest pair is not worth its noise: measure it alone, so that rho is used
        best = int(np.argmax(biases[:, 0]))
        return [_cheapest_table(options[best])], [1.0]
    measured = [(options[k][chosen[k]].query, float(spent[k])) for k in np.flatnonzero(spent)]
    return [query for query, _ in measured if query is not None], [part for _, part in measured]


def _laid_out(
    options: list[list[Option]], weights: Sequence[float], *, unit: PrivacyUnit, kappa: float
) -> tuple[Float[np.ndarray, "pairs ways"], Float[np.ndarray, "pairs ways"]]:
    """The biases of all options, and the noise they would bring at rho = 1/2; ways that a pair lacks are infinitely bad."""
    biases = np.full((len(options), max(len(ways) for ways in options)), np.inf)
    strengths = np.zeros_like(biases)
    for k, (ways, weight) in enumerate(zip(options, weights, strict=True)):
        for place, way in enumerate(ways):
            biases[k, place] = weight * way.bias
            if way.query is not None:
                strengths[k, place] = weight * kappa * gaussian_stddev(way.query, 0.5, unit=unit) * way.query.size
    return biases, strengths


def _choices(
    biases: Float[np.ndarray, "pairs ways"], strengths: Float[np.ndarray, "pairs ways"], price: float
) -> tuple[Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """At a price of rho: the cheapest option of every pair, and what it would spend."""
    parts = (strengths / (2 * math.sqrt(2) * price)) ** (2 / 3)
    chosen = np.argmin(biases + 3 * price * parts, axis=1)
    return chosen, np.take_along_axis(parts, chosen[:, None], axis=1)[:, 0]


def _cheapest_table(ways: list[Option]) -> Query:
    return min((way.query for way in ways if way.query is not None), key=lambda query: query.size)
