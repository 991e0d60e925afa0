"""Allocate: score every pair of columns with a little noise, then measure those that pay, at the resolution that pays.

1. Scores. For all pairs, at a fine and at a coarse resolution, the L1 distance between the table and independence, as one
   Gaussian vector. No choice is made privately, so the run is Gaussian only and the conversion exact.
2. Tables. Every pair is left out, measured finely or measured coarsely, by its price (sundog.select.prices).
3. Checks. Where scores suggest that one column determines another, their table is measured label by label, and a hundredth of the
   budget left then counts the rows that break the likeliest map (sundog.estimate.pairs.determined).
4. Residuals. How other columns go with a number to predict, beyond one that it follows (sundog.select.residuals).
5. Wider tables. Where the budget can tell which tables of a target and two and more other columns show more than their pairs do,
   a part of it is kept until pairs are known. A twentieth of that part scores these tables; the rest is divided, by price, among those
   that pay and the pairs, which are measured once more (sundog.select.wider). Nothing is lost by measuring a pair twice.
"""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import coarse_for_tables, leaves_of
from sundog.estimate.pairs.determined import checks, most_checked, near_targets, proposed, suspicions
from sundog.estimate.pairs.independent import independent
from sundog.estimate.trends import Hidden
from sundog.generate import Generator, SizeLimited
from sundog.queries import Joined, Marginal, Query
from sundog.queries.sensitivity import block_l1
from sundog.released import Proposal, Released, Selection
from sundog.select import residuals, wider
from sundog.select.base import spent_up
from sundog.select.prices import Option, allocate, dependence, missed
from sundog.select.screen import MANY, screening

SHARP = 8.0
"""How many times as much errors count in a pair that all but fixes a target: noise there puts rows where none are."""
BLURRED = 0.06
"""Scores with more noise than this, as a share of the rows, take more of the budget, in proportion."""
MOST_TIMES, MOST_SCORES = 2.0, 0.5
"""At most so many times their usual part, and at most this part."""
FEW_MORE = 2
"""A pair that may be a function is measured code by code, where that takes at most this many times the cells of a column."""


@dataclass(frozen=True)
class Allocate:
    """Scores, then tables; errors count by the workload's `weights`."""

    share_scores: Annotated[
        float,
        "The part of the budget left that scores take; at small budgets up to twice that.",
        Range(0.001, 0.999),
    ] = 0.04
    coarse: Annotated[int, "Cells per column at the second resolution; many: no second one.", Range(2, 1000)] = 6
    kappa: Annotated[float, "The share of the noise that is taken to survive in the rows.", Range(0.001, 10)] = 0.34
    target_weight: Annotated[
        float, "How many times as much errors count in pairs with a target.", Range(0.001, 1000)
    ] = 2.0
    share_wider: Annotated[
        float, "The part of the tables' budget that waits for wider tables, at most.", Range(0, 0.9)
    ] = 0.4
    share_residuals: Annotated[
        float,
        "The part of the tables' budget that tells how columns go with a number to predict, beyond one that it follows.",
        Range(0, 0.5),
    ] = 0.03
    share_checks: Annotated[
        float, "The part of the tables' budget that checks of suspected dependencies take, if any.", Range(0.001, 0.5)
    ] = 0.01
    weights: tuple[float, ...] | None = None
    checks_maps: bool = True
    """Whether suspected dependencies are checked: not where no generator would follow them."""
    screens: bool = False
    """Whether pairs are chosen before they are scored: where there are very many."""
    reads_model = False
    columns_first = True
    measures_all = False
    refits = False

    def __post_init__(self) -> None:
        check_declared(self)

    @property
    def selects(self) -> bool:
        """True where pairs are chosen first."""
        return self.screens

    def weighted(self, weights: tuple[float, ...]) -> "Allocate":
        """The rule with the workload's weights."""
        return replace(self, weights=weights)

    def for_scores(self, workload: Sequence[Query], unit: PrivacyUnit, *, rows: float, rho: float) -> float:
        """The part of what is left that scores take: more where their noise would otherwise hide the pairs."""
        usual, change = self.share_scores, float(block_l1(workload[0], unit))
        noise = change * math.sqrt(2 * len(workload) / (2 * usual * rho)) / rows
        return min(usual * min(max(noise / BLURRED, 1.0), MOST_TIMES), max(usual, MOST_SCORES))

    def settled(self, workload: tuple[Query, ...], *, rho: float) -> "Allocate":
        """The rule that chooses first where the workload has very many pairs."""
        return replace(self, screens=len(workload) > MANY)

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
        """First the scores, then the tables, then checks of what they suggest, then wider tables, then nothing."""
        rule = self
        if self.screens and previous is None:
            return screening(workload, released, rho=remaining_rho, kappa=self.kappa, cells=self.coarse)
        if self.screens and previous is not None:
            chosen = released.scores[0].candidates if previous.selection is None else previous.queries
            rule, workload = self._among(workload, {query.columns for query in chosen})
        if previous is None or previous.selection is not None:
            return rule._scoring(workload, released, rho=remaining_rho)
        return rule._next(workload, model[0], released, rho=remaining_rho, previous=previous)

    def _next(
        self,
        workload: tuple[Query, ...],
        generator: Generator[Any],
        released: Released,
        *,
        rho: float,
        previous: Proposal,
    ) -> Proposal | None:
        """What comes after the scores."""
        asked = () if previous.scoring is None else previous.scoring.candidates
        if len(released.scores) == 1 and asked:
            return self._tables(workload, released, rho=rho, generator=generator)
        if spent_up(released, rho) or not released.scores:
            return None
        if asked and len(asked[0].columns) > 2:
            return self._last(workload, released, rho=rho)
        if previous.queries:
            return self._after_tables(workload, generator, released, rho=rho, previous=previous)
        return self._scoring_wider(workload, released, rho=rho)

    def _after_tables(
        self,
        workload: tuple[Query, ...],
        generator: Generator[Any],
        released: Released,
        *,
        rho: float,
        previous: Proposal,
    ) -> Proposal | None:
        """Residuals, checks, or wider tables; where nothing waits for these, pairs take what checks would have taken."""
        whole = previous.rho_measure + rho
        if isinstance(previous.queries[0], Joined):
            whole += wider.spent_on_pairs(released)
        else:
            beyond = residuals.price(workload, released, rho=self.share_residuals * whole, generator=generator)
            found = residuals.tables(workload, released) if 0 < beyond <= rho else []
            if found:
                return Proposal(queries=tuple(found), rho_measure=beyond, shares=[1.0] * len(found))
        checks = _checking(released, rho=min(self.share_checks * whole, rho)) if self.checks_maps else None
        if checks is not None:
            return checks
        if self.share_wider and rho >= 0.99 * wider.LESS * self.share_wider * whole:
            return self._scoring_wider(workload, released, rho=rho)
        return self._last(workload, released, rho=rho)

    def _among(
        self, workload: tuple[Query, ...], kept: Container[tuple[str, ...]]
    ) -> "tuple[Allocate, tuple[Query, ...]]":
        """The rule for those pairs of the workload that were chosen."""
        places = [place for place, query in enumerate(workload) if query.columns in kept]
        weights = None if self.weights is None else tuple(self.weights[place] for place in places)
        return replace(self, screens=False, weights=weights), tuple(workload[place] for place in places)

    def _scoring(self, workload: tuple[Query, ...], released: Released, *, rho: float) -> Proposal:
        coarse = zip(self._coarsely(workload, released), workload, strict=True)
        candidates = (*workload, *(small for small, query in coarse if small != query))
        estimates = tuple(np.rint(table).astype(np.int64) for table in independent(candidates, released))
        part = self.for_scores(workload, released.guarantee.unit, rows=released.rows, rho=rho)
        return Proposal(scoring=Selection(candidates, estimates), rho_score=part * rho)

    def _tables(
        self, workload: tuple[Query, ...], released: Released, *, rho: float, generator: Generator[Any]
    ) -> Proposal:
        leaves = leaves_of(released)
        suspected, near = suspicions(released, leaves), near_targets(released, leaves)
        if not (self.checks_maps and most_checked(released, rho=self.share_checks * rho)):
            suspected = {}
        finest = _by_label(workload, released.schema, near.keys() | suspected)
        options = self._options(finest, workload, released, near=near)
        tables, unit = rho * (1 - self.share_checks if suspected else 1.0), released.guarantee.unit
        weights = self._weights(workload, released)
        chosen, prices = allocate(options, weights=weights, unit=unit, rho=tables, kappa=self.kappa)
        later = self._kept(workload, released, rho=rho, generator=generator)
        later += residuals.price(workload, released, rho=self.share_residuals * rho, generator=generator)
        return Proposal(queries=tuple(chosen), rho_measure=tables - later, shares=prices)

    def _kept(self, workload: tuple[Query, ...], released: Released, *, rho: float, generator: Generator[Any]) -> float:
        """The part of the budget that is kept for wider tables: none where the generator does not take them."""
        if not self.share_wider or isinstance(generator, SizeLimited):
            return 0.0
        found = wider.candidates(workload, released, cells=self.coarse, rho=rho)
        if not all(generator.supports(query) for query in found):
            return 0.0
        unit, rows = released.guarantee.unit, released.rows
        return wider.kept(len(found), workload[0], unit=unit, rows=rows, rho=rho, share=self.share_wider)

    def _scoring_wider(self, workload: tuple[Query, ...], released: Released, *, rho: float) -> Proposal | None:
        whole = rho + wider.spent_on_pairs(released)
        found = wider.candidates(workload, released, cells=self.coarse, rho=whole)
        if not found:
            return self._last(workload, released, rho=rho)
        return Proposal(scoring=wider.scoring(found, released), rho_score=wider.SCORES * rho)

    def _last(self, workload: tuple[Query, ...], released: Released, *, rho: float) -> Proposal | None:
        """What is left, for wider tables that pay and for pairs, once more."""
        unit, whole = released.guarantee.unit, rho + wider.spent_on_pairs(released)
        exact = wider.exact_pairs(workload[0], unit=unit, rows=released.rows, rho=whole)
        least = 0.0 if exact else wider.STRONG * released.rows
        ways = [*wider.measured_pairs(released), *wider.options(released, least=least)]
        if not ways:
            return None
        weights = dict(zip([query.columns for query in workload], self._weights(workload, released), strict=True))
        counts = [weights.get(columns, wider.WEIGHT) for columns, _ in ways]
        chosen, prices = allocate([own for _, own in ways], weights=counts, unit=unit, rho=rho, kappa=self.kappa)
        return Proposal(queries=tuple(chosen), rho_measure=rho, shares=prices)

    def _coarsely(self, workload: Sequence[Query], released: Released) -> list[Query]:
        """The workload's marginals on coarser axes."""
        leaves, axes = leaves_of(released), dict[Axis, Axis]()
        for axis in {axis for query in workload if isinstance(query, Marginal) for axis in query.axes}:
            shares, column = leaves[axis.column].shares(axis), released.schema.column(axis.column)
            axes[axis] = coarse_for_tables(axis, shares, column=column, most=self.coarse)
        return [Marginal(tuple(axes[axis] for axis in q.axes)) for q in workload if isinstance(q, Marginal)]

    def _options(
        self,
        finest: Sequence[Query],
        workload: tuple[Query, ...],
        released: Released,
        *,
        near: Container[tuple[str, ...]],
    ) -> list[list[Option]]:
        """For every pair: leave it out, measure it as finely as it gets, or measure it coarsely (not those that are `near`)."""
        scores, hidden = released.scores[0], Hidden(leaves_of(released))
        found = [
            dependence(float(value), expected)
            for value, expected in zip(scores.values, independent(scores.candidates, released), strict=True)
        ]
        fine = found[: len(workload)]
        coarse = {
            query.columns: (query, seen)
            for query, seen in zip(scores.candidates[len(workload) :], found[len(workload) :], strict=True)
        }
        options = []
        for query, asked, seen in zip(finest, workload, fine, strict=True):
            ways = [Option(seen), Option(0.0, query)]
            if query.columns in coarse and query.columns not in near:
                small, seen_coarsely = coarse[query.columns]
                ways.append(Option(missed(seen, seen_coarsely, hidden=hidden.of(asked, small)), small))
            options.append(ways)
        return options

    def _weights(self, workload: tuple[Query, ...], released: Released) -> list[float]:
        """How much errors count in each pair: more with a target, and most where labels all but fix it."""
        given = self.weights or (1.0,) * len(workload)
        targets, near = set(released.schema.targets), near_targets(released, leaves_of(released))
        return [
            weight
            * (self.target_weight if targets & set(query.columns) else 1.0)
            * (SHARP if query.columns in near else 1.0)
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
