"""Curator: the only code that opens private rows and draws privacy noise.

Every method does, in this order: validate, charge the budget, compute, add noise, return. Sensitivities are stated by the
queries, for one row; queries/sensitivity.py applies the neighbour relation and the rows per unit. With D for one unit:

    stddev = D / sqrt(2 rho);      top-K scale = D sqrt K / sqrt(2 rho).

This file is what may be asked; spending.py keeps the budget, the charges and the guarantee.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
from jaxtyping import Int

from sundog.domain import Schema
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private import noise
from sundog.private.accountant import JSON, Charge
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable, open_private
from sundog.queries import Counting, Query, Shared, sensitivity
from sundog.released import Measurement, NoiseKind, Released, Scores, Selection
from sundog.released.measurement import KeyGround
from sundog.sources.base import Source
from sundog.sources.linked import LinkedSource
from sundog.sources.server.table import ServerTable

NOISE = "Gaussian: OpenDP 0.16 discrete Gaussian on a lattice of step <= stddev * 2^-40, rounded to integers; Laplace: OpenDP 0.16 discrete Laplace; selection: OpenDP 0.16 noisy top-k; entropy: operating system"

MOST_ROWS, MOST_SCORE = 2**40, 2**62
LEAST_SHARE = 2.0**-40


class Curator:
    """Answers questions about one private table, each paid for out of `spending`. Schema and spending are public."""

    def __init__(self, table: PrivateTable, schema: Schema, *, spending: Spending) -> None:
        self.schema, self.spending, self.unit = schema, spending, spending.unit
        self._source = open_private(table)
        self._public_rows: int | None = None
        self._scored: dict[int, tuple[Query, Int[np.ndarray, " cells"]]] = {}  # by identity: the last candidates
        self._kept: dict[int, tuple[Query, Int[np.ndarray, " cells"]]] = {}  # by identity: what was chosen
        self._scores_released: list[Scores] = []
        self._measurements: list[Measurement] = []
        self._adjustments: list[Measurement] = []
        linked = isinstance(self._source, LinkedSource), isinstance(schema, LinkedSchema)
        if set(linked) != {self.unit.below}:
            raise UserError(
                "unit: linked tables are protected per root with every row that carries its key, and only they are."
            )
        self._source.check(schema.fields, unit=self.unit.column)
        spending.check()
        self._keys = _checked_keys(self._source, spending) if isinstance(self._source, LinkedSource) else {}

    @property
    def remaining_rho(self) -> float:
        """What is left of this run's budget, less what is reserved: all of it can be spent."""
        return self.spending.remaining_rho

    def count(self) -> int | None:
        """The number of rows where it is public (one row replaced), else None: estimate it from measured totals."""
        if self._public_rows is None:
            self._public_rows = _public_rows(self._source, self.schema, self.unit)
        return self._public_rows

    def check(self, queries: Sequence[Query]) -> None:
        """Refuse, before anything is spent, queries that the source cannot count."""
        if queries:
            self._check_queries(self.schema, queries)

    def measure(
        self,
        queries: Sequence[Query],
        rho: float,
        *,
        shares: Sequence[float] | None = None,
        kind: NoiseKind = "gaussian",
    ) -> list[Measurement]:
        """Noisy answers of all queries in one pass; `rho` is divided by `shares` (default: equally)."""
        if kind == "laplace" and self.spending.accounting == "gaussian":
            raise UserError("measure: this run is accounted for as Gaussian only; Laplace noise needs 'zcdp'.")
        measured = self._measure(self.schema, queries, rho=rho, shares=shares, kind=kind)
        self._measurements += measured
        return measured

    def measure_adjustments(self, queries: Sequence[Query], rho: float, *, shares: Sequence[float]) -> None:
        """Noisy answers that the synthetic rows will be adjusted to after they are drawn."""
        self._adjustments += self._measure(self.schema, queries, rho=rho, shares=shares, kind="gaussian")

    def select(self, selection: Selection, rho: float) -> list[Query]:
        """The k blocks that differ most from their estimates, by noisy top-k; those of one candidate as one query."""
        if self.spending.accounting == "gaussian":
            raise UserError("select: this run is accounted for as Gaussian only; use a run accounted for as 'zcdp'.")
        self._check_selection(selection)
        bound = max(norm * max(weights) for norm, weights in self._score_sensitivities(selection))
        k = min(selection.k, selection.blocks)
        scale = noise.top_k_scale(bound, k, rho=_positive("rho", rho))
        details: dict[str, JSON] = {
            "sensitivity": str(bound),
            "scale": scale,
            "k": k,
            "candidates": selection.blocks,
        }
        label = f"choose {k} of {selection.blocks} by {selection.score} error"
        cost = noise.top_k_cost(bound, k, scale=scale)
        self.spending.charge([Charge("exponential", cost, label=label, details=details)])
        chosen = noise.top_k(self._scores(selection), k, scale=scale)
        return self._chosen(selection.candidates, chosen)

    def score(self, selection: Selection, rho: float) -> Scores:
        """The scores of all blocks themselves, with Gaussian noise: no choice is made here, so none is paid for.

        One unit moves every score by at most its own sensitivity, so D^2 is the sum of their squares.
        """
        self._check_selection(selection)
        bounds = self._score_sensitivities(selection)
        square = sum((norm**2 * sum(weight**2 for weight in weights) for norm, weights in bounds), Fraction())
        scale = noise.gaussian_scale(square, _positive("rho", rho))
        label = f"{selection.score} errors of {selection.blocks} candidates"
        details: dict[str, JSON] = {"cells": selection.blocks, "sensitivity_squared": str(square), "stddev": scale}
        cost = noise.gaussian_cost(square, scale)
        receipts = self.spending.charge([Charge("gaussian", cost, label=label, details=details)])
        noisy = noise.add_gaussian(self._scores(selection), scale)
        scores = Scores(selection.candidates, noisy, scale, receipts[0])
        self._scores_released.append(scores)
        return scores

    def released(self) -> Released:
        """All that this run may let out, with its guarantee."""
        return Released(
            self.schema,
            tuple(self._measurements),
            replace(self.spending.guarantee(), keys=self._keys),
            payments=self.spending.payments,
            dataset=self.spending.dataset,
            public_rows=self.count(),
            noise=NOISE,
            scores=tuple(self._scores_released),
            adjustments=tuple(self._adjustments),
        )

    def categories(self, column: str, rho: float, *, delta: float) -> tuple[str, ...]:
        """The values of a text column that are common enough to be named: count + noise above a threshold.

        A value held by one unit alone passes with probability at most `delta`; order is alphabetical.
        """
        if self.unit.below:
            raise UserError(
                f"categories: the labels of {column!r} must be declared; they cannot be paid for in linked tables."
            )
        self._source.check((column,))
        squared = sensitivity.partition_squared(self.unit)
        scale = noise.gaussian_scale(squared, _positive("rho", rho))
        least = noise.threshold(scale, delta, rows=self.unit.rows)
        details: dict[str, JSON] = {"sensitivity_squared": str(squared), "stddev": scale, "threshold": least}
        cost = noise.gaussian_cost(squared, scale)
        self.spending.charge([Charge("threshold", cost, label=f"categories of {column}", delta=delta, details=details)])
        counts = self._source.value_counts(column, self.unit)
        values = sorted(value for value in counts if value not in self.schema.column(column).missing_values)
        noisy = noise.add_gaussian(np.array([counts[value] for value in values], dtype=np.int64), scale)
        return tuple(value for value, count in zip(values, noisy, strict=True) if count >= least)

    def measure_domain(self, schema: Schema, query: Query, *, rho: float) -> Measurement:
        """A noisy answer under another schema: for a column whose bounds are not declared yet."""
        self._source.check(schema.fields)
        return self._measure(schema, [query], rho=rho, shares=None, kind="gaussian")[0]

    def _measure(
        self,
        schema: Schema,
        queries: Sequence[Query],
        *,
        rho: float,
        shares: Sequence[float] | None,
        kind: NoiseKind,
    ) -> list[Measurement]:
        self._check_queries(schema, queries)
        parts = _parts(_positive("rho", rho), shares, len(queries))
        plan = self._gaussian if kind == "gaussian" else self._laplace
        scales, charges = zip(*(plan(query, part) for query, part in zip(queries, parts, strict=True)), strict=True)
        receipts = self.spending.charge(list(charges))
        exact = self._answers(schema, queries)
        add, spread = (noise.add_gaussian, 1.0) if kind == "gaussian" else (noise.add_laplace, math.sqrt(2.0))
        return [
            Measurement(query, add(answer, scale), scale * spread, receipt, kind)
            for query, answer, scale, receipt in zip(queries, exact, scales, receipts, strict=True)
        ]

    def _gaussian(self, query: Query, rho: float) -> tuple[float, Charge]:
        """The scale of Gaussian noise at this price, and the charge for it."""
        square = sensitivity.squared(query, self.unit)
        scale = noise.gaussian_scale(square, rho)
        details: dict[str, JSON] = {"cells": query.size, "sensitivity_squared": str(square), "stddev": scale}
        return scale, Charge("gaussian", noise.gaussian_cost(square, scale), label=query.describe(), details=details)

    def _laplace(self, query: Query, rho: float) -> tuple[float, Charge]:
        """The scale of Laplace noise at this price, and the charge for it."""
        bound = sensitivity.l1(query, self.unit)
        scale = noise.laplace_scale(bound, rho)
        details: dict[str, JSON] = {"cells": query.size, "sensitivity": str(bound), "scale": scale}
        return scale, Charge("laplace", noise.laplace_cost(bound, scale), label=query.describe(), details=details)

    def _chosen(self, candidates: tuple[Query, ...], blocks: Sequence[int]) -> list[Query]:
        """The chosen blocks among all of the candidates, those of one candidate as one query; exact answers are kept."""
        exact, ends = self._exact(candidates), np.cumsum([query.size // query.block for query in candidates])
        places: dict[int, list[int]] = {}
        for block in blocks:
            candidate = int(np.searchsorted(ends, block, side="right"))
            query = candidates[candidate]
            places.setdefault(candidate, []).append(int(block - ends[candidate] + query.size // query.block))
        made = []
        for candidate, own in places.items():
            query = candidates[candidate].subset(own)
            self._kept[id(query)] = (query, exact[candidate].reshape(-1, query.block)[own].ravel())
            made.append(query)
        return made

    def _answers(self, schema: Schema, queries: Sequence[Query]) -> list[Int[np.ndarray, " cells"]]:
        """Exact answers: those kept from choosing the queries, the others counted in one pass."""
        new = [query for query in queries if id(query) not in self._kept]
        counted = iter(self._counted(schema, new) if new else [])
        return [self._kept[id(query)][1] if id(query) in self._kept else next(counted) for query in queries]

    def _counted(self, schema: Schema, queries: Sequence[Query]) -> list[Int[np.ndarray, " cells"]]:
        sizes = [query.size for query in queries]
        totals = self._source.add_up(schema, self.unit, add=Counting(queries), size=sum(sizes))
        return np.split(totals, np.cumsum(sizes)[:-1])

    def _exact(self, candidates: tuple[Query, ...]) -> list[Int[np.ndarray, " cells"]]:
        """The candidates' exact answers; those of the candidates of the last round are not counted again."""
        new = list({id(query): query for query in candidates if id(query) not in self._scored}.values())
        counted = self._answers(self.schema, new) if new else []
        known = self._scored | {id(query): (query, counts) for query, counts in zip(new, counted, strict=True)}
        self._scored = {id(query): known[id(query)] for query in candidates}
        return [self._scored[id(query)][1] for query in candidates]

    def _scores(self, selection: Selection) -> Int[np.ndarray, " candidates"]:
        exact = self._exact(selection.candidates)
        estimates = (np.asarray(estimate, dtype=np.int64) for estimate in selection.estimates)
        errors = [np.abs(counts - estimate) for counts, estimate in zip(exact, estimates, strict=True)]
        reduce = np.sum if selection.score == "L1" else np.max
        norms = np.concatenate(
            [
                reduce(error.reshape(-1, query.block), axis=1)
                for error, query in zip(errors, selection.candidates, strict=True)
            ]
        )
        weights = np.ones_like(norms) if selection.weights is None else np.asarray(selection.weights, dtype=np.int64)
        penalties = 0 if selection.penalties is None else np.asarray(selection.penalties, dtype=np.int64)
        return norms * weights - penalties

    def _score_sensitivities(self, selection: Selection) -> list[tuple[Fraction, list[int]]]:
        """For every candidate: how much one unit can change the norm of any of its blocks, and the blocks' weights."""
        norm = sensitivity.block_l1 if selection.score == "L1" else sensitivity.linf
        weights = iter([1] * selection.blocks if selection.weights is None else map(int, selection.weights))
        return [
            (norm(query, self.unit), list(islice(weights, query.size // query.block))) for query in selection.candidates
        ]

    def _check_queries(self, schema: Schema, queries: Sequence[Query]) -> None:
        if not queries:
            raise UserError("measure: no query was given.")
        for name in {name for query in queries for name in query.columns}:
            schema.position(name)
        if isinstance(self._source, ServerTable):
            self._source.check_counts(schema, Counting(queries).tallies)
        if self.unit.below and not all(isinstance(query, Shared) and query.is_of(schema) for query in queries):
            raise UserError(
                "measure: of linked tables only shared queries can be asked; others have no bound per root."
            )

    def _check_selection(self, selection: Selection) -> None:
        """Public rules may propose anything; a score that overflowed would have no sensitivity."""
        self._check_queries(self.schema, selection.candidates)
        most = max(float(np.abs(np.asarray(estimate, dtype=np.float64)).sum()) for estimate in selection.estimates)
        weight = 1 if selection.weights is None else max(selection.weights)
        penalty = 0 if selection.penalties is None else max(map(abs, selection.penalties))
        scale = max(query.scale if isinstance(query, Shared) else 1 for query in selection.candidates)
        if not (most + MOST_ROWS * scale) * weight + penalty < MOST_SCORE:
            raise UserError(
                "selection: its estimates, weights or penalties are too large; scores must stay below 2^62."
            )


def _checked_keys(source: LinkedSource, spending: Spending) -> dict[str, KeyGround]:
    """How it is known that keys name one record each; refused where they do not, after the disclosure is on the ledger."""
    names = source.package.named_by_key
    _disclose_check(spending, [name for name in names if name not in source.ensured])
    try:
        source.check_keys()
    except UserError:  # a key that the database does not keep, whatever its catalogue says
        _disclose_check(spending, [name for name in names if name in source.ensured])
        raise
    return {name: "ensured" if name in source.ensured else "checked" for name in names}


def _disclose_check(spending: Spending, names: Sequence[str]) -> None:
    """Record the bits that a check of these tables' keys tells."""
    if names:
        bits = "one bit" if len(names) == 1 else "one bit each"
        said = f"whether the keys of {' and '.join(names)} are present and unique: {bits}, checked before measuring"
        spending.ledger.disclose(spending.dataset, said, bits=len(names))


def public_rows(table: PrivateTable, schema: Schema, *, unit: PrivacyUnit) -> int | None:
    """The number of rows where it is public, else None."""
    return _public_rows(open_private(table), schema, unit)


def _public_rows(source: Source, schema: Schema, unit: PrivacyUnit) -> int | None:
    if not unit.public_count:
        return None
    return int(source.add_up(schema, unit, add=_add_length, size=1)[0])


class _Length:
    """A tally that counts rows."""

    tallies = (Tally(),)

    def __call__(self, rows: Rows, total: Int[np.ndarray, " 1"]) -> None:
        total += len(rows)


_add_length = _Length()


def _parts(rho: float, shares: Sequence[float] | None, count: int) -> list[float]:
    """The parts of rho, slightly smaller than their shares so that rounding can never make their sum exceed rho.

    None is less than LEAST_SHARE of the largest: a rule may price a query at next to nothing.
    """
    weights = [1.0] * count if shares is None else [_positive("share", share) for share in shares]
    if len(weights) != count:
        raise UserError(f"measure: found {len(weights)} shares for {count} queries; give one share per query.")
    least = LEAST_SHARE * max(weights)
    weights = [max(weight, least) for weight in weights]
    total = math.fsum(weights)
    return [rho * (1 - 2.0**-40) * weight / total for weight in weights]


def _positive(name: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise UserError(f"{name}: found {value!r}; it must be finite and above 0.")
    return float(value)
