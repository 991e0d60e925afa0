"""sundog.postprocess: measure what a user cares about with a little budget, and reweight a synthetic table to match it.

The table may come from Sundog or from any other tool. What this step spends is charged to the same ledger, and composed
in rho with what generated the table where that is known; where it is not, the certificate says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours, PrivacyUnit
from sundog.errors import UserError
from sundog.evaluate.reading import as_declared
from sundog.postprocess.match import Match, Matching, NotMet, check_rows_present, match
from sundog.postprocess.measures import key_of_query, measures_of
from sundog.private.accountant import Accounting, Budget, default_delta, round_up, spent_epsilon
from sundog.private.curator import Curator, public_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.queries import Marginal, Query
from sundog.queries.workload import Workload
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, NoiseKind, Released
from sundog.select.everything import shares_of
from sundog.sources import open_table
from sundog.sources.base import check_columns

COUNT_SHARE = 0.1
"""What the number of rows costs, of the budget, where it is private and has to be measured: all measures depend on it."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The adjusted rows, how well they match, and what was released for it."""

    rows: Rows
    match: Match
    released: Released
    notes: tuple[str, ...] = ()
    """What in the synthetic table did not fit the schema, and how it was read."""

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table; with a column of weights where weights were asked for."""
        return self.rows.to_arrow()


@dataclass(frozen=True)
class AdjustmentBudget:
    """Who pays for measuring: the budget, the unit it protects, the account, and the kind of noise."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    dataset: str | None = None
    noise: NoiseKind = "gaussian"
    ledger: Path | None = None

    def curator(self, real: Any, schema: Schema, *, delimiter: str | None = None) -> Curator:
        """The curator of the private table; refuses what the ledger does not allow."""
        table = PrivateTable(real, delimiter=delimiter)
        delta = self.delta
        if delta is None and self.rho is None and self.unit.neighbours == "replace" and self.unit.column is None:
            delta = default_delta(public_rows(table, schema, unit=self.unit))
        return Curator(
            table,
            schema,
            budget=Budget(self.epsilon, delta, self.rho),
            dataset=self.dataset or schema.name or "unnamed",
            unit=self.unit,
            accounting="gaussian" if self.noise == "gaussian" else "zcdp",
            ledger=Ledger(self.ledger),
        )


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What is to be matched in which synthetic rows. All of it is checked before anything is measured."""

    rows: Rows
    measures: Workload
    matching: Matching
    before: Released | None = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        table: Any,
        measures: str,
        *,
        schema: Schema,
        matching: Matching,
        rho: float = 0.02,
        neighbours: Neighbours = "add-remove",
        released: Released | None = None,
        before: Released | None = None,
        weights: str | None = None,
        delimiter: str | None = None,
    ) -> "Adjustment":
        """Read the synthetic table and the measures (to be measured with `rho`, or found in `released`)."""
        if released is not None and released.schema.columns != schema.columns:
            raise UserError("adjust: the released measurements were made with another schema; use that one.")
        rows, notes = _read(table, schema, weights=weights, delimiter=delimiter)
        check_rows_present(rows)
        wanted = measures_of(measures, schema, rows=rows, rho=rho, neighbours=neighbours, released=released)
        return Adjustment(rows, wanted, matching, before, notes)

    def measured(self, curator: Curator, *, noise: NoiseKind = "gaussian") -> Released:
        """The measures with noise, and the number of rows where nothing else tells it."""
        self._check_unit(curator.unit)
        queries = list(self.measures.queries)
        shares = shares_of(queries, self.measures.weights, curator.unit.neighbours)
        if curator.count() is None and not any(query.partition for query in queries) and not self._counted(curator):
            queries.append(Marginal((Axis.cut(curator.schema.columns[0], [0]),)))
            shares.append(COUNT_SHARE / (1 - COUNT_SHARE) * sum(shares))
        curator.measure(queries, curator.remaining_rho, shares=shares, kind=noise)
        return curator.released()

    def matched(self, released: Released, *, seed: int = 0) -> Adjusted:
        """The rows, adjusted to what was measured."""
        if self.before is not None:
            self._check_unit(released.guarantee.unit)
        counted = self._telling_rows(released)
        try:
            done = match(
                key_of(seed),
                self.rows,
                measurements=chosen(released, self.measures.queries),
                total=float(counted.rows),
                total_stddev=counted.rows_stddev,
                known=self._known(released),
                matching=self.matching,
            )
        except NotMet as error:
            error.released = released
            raise
        everything = released if self.before is None else composed(self.before, released)
        return Adjusted(done.rows, done, everything, self.notes)

    def _check_unit(self, unit: PrivacyUnit) -> None:
        if self.before is not None and self.before.guarantee.unit != unit:
            raise UserError(
                f"adjust: the table protects {self.before.guarantee.unit.describe()}, the measures {unit.describe()}; "
                "guarantees for different units do not add up. Measure for the same unit."
            )

    def _telling_rows(self, released: Released) -> Released:
        """Of this release and the table's own, the one that tells the number of rows more precisely."""
        if self.before is None or not self.before.tells_rows or self.before.dataset != released.dataset:
            return released
        less = released.tells_rows and released.rows_stddev <= self.before.rows_stddev
        return released if less else self.before

    def _known(self, released: Released) -> tuple[Measurement, ...]:
        """All that is known of the same private table: this release, and the table's own if it is another one."""
        known = (*released.measurements, *released.adjustments)
        earlier = self.before
        if (
            earlier is None
            or earlier.dataset != released.dataset
            or earlier.schema.columns != released.schema.columns
            or earlier.to_json() == released.to_json()
        ):
            return known
        return (*known, *earlier.measurements, *earlier.adjustments)

    def _counted(self, curator: Curator) -> bool:
        """Whether the table's own making has told the number of rows."""
        return self.before is not None and self.before.dataset == curator.dataset and self.before.tells_rows


def adjust(
    table: Any,
    measures: str = "correlations",
    *,
    schema: Schema | Mapping[str, Any] | str | Path,
    real: Any = None,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    neighbours: Neighbours = "add-remove",
    unit: str | None = None,
    rows_per_unit: int = 1,
    dataset: str | None = None,
    noise: NoiseKind = "gaussian",
    released: Released | None = None,
    before: Released | None = None,
    matching: Matching | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    seed: int = 0,
    ledger: str | Path | None = None,
) -> Adjusted:
    """Reweight a synthetic table so that chosen measures match.

    Args:
        table: the synthetic table: a frame or a path.
        measures: what to match, in words (docs/adjust.md).
        schema: the public schema of both tables.
        real: the private table, measured within the budget; or give `released`, measured before, at no further cost.
        epsilon: what measuring may spend, with `delta`; or give `rho` instead.
        delta: required unless rows are replaced, where 1/n^2 is the default.
        rho: the budget as zCDP.
        neighbours: "add-remove" or "replace".
        unit: the column that names the people to protect; by default each row is one.
        rows_per_unit: how many rows of one unit are used at most.
        dataset: the ledger's account; by default the schema's name.
        noise: "gaussian" or "laplace".
        released: earlier measurements that include the measures.
        before: what was released to make the table, if known: its cost is added to the certificate's.
        matching: tolerance, resampling, number of rows, and whether the closest will do.
        weights: the column of the synthetic table that says how much each row counts.
        delimiter: the separator of text files.
        seed: fixes the resampling.
        ledger: the path of the ledger.
    """
    public = Schema.of(schema)
    if (real is None) == (released is None):
        raise UserError("adjust: give either the real table with a budget, or measurements released before.")
    curator = None
    if released is None:
        protected = PrivacyUnit(neighbours, unit, rows_per_unit)
        paying = AdjustmentBudget(
            epsilon, delta, rho, protected, dataset, noise, None if ledger is None else Path(ledger)
        )
        curator = paying.curator(real, public, delimiter=delimiter)
    plan = Adjustment.of(
        table,
        measures,
        schema=public,
        matching=matching or Matching(),
        rho=0.0 if curator is None else curator.remaining_rho,
        neighbours=neighbours,
        released=released,
        before=before,
        weights=weights,
        delimiter=delimiter,
    )
    if curator is not None:
        released = plan.measured(curator, noise=noise)
    assert released is not None  # noqa: S101 - by the first check
    return plan.matched(released, seed=seed)


def chosen(released: Released, queries: tuple[Query, ...]) -> list[Measurement]:
    """The measurements of these queries among all that were released; of several the most precise."""
    everything = (*released.measurements, *released.adjustments)
    best = {key_of_query(m.query): m for m in sorted(everything, key=lambda m: -m.stddev)}
    lacking = next((query for query in queries if key_of_query(query) not in best), None)
    if lacking is not None:
        raise UserError(
            f"adjust: {lacking.describe()!r} is not among the released measurements; measure it with --real."
        )
    return [best[key_of_query(query)] for query in queries]


def composed(before: Released, now: Released) -> Released:
    """One release out of two from the same data: costs add up in rho, and the weaker accounting holds for both."""
    if before.to_json() == now.to_json():  # the very same measurements, paid for once
        return now
    first, second = before.guarantee, now.guarantee
    accounting: Accounting = "gaussian" if first.accounting == second.accounting == "gaussian" else "zcdp"
    rho = round_up(Fraction(first.rho) + Fraction(second.rho))
    spent = round_up(Fraction(first.delta_spent) + Fraction(second.delta_spent))
    delta = max((each.delta for each in (first, second) if each.delta is not None), default=None)
    stated = delta is not None and delta > spent
    epsilon = spent_epsilon(rho, delta - spent, accounting=accounting) if delta is not None and stated else None
    guarantee = Guarantee(first.unit, accounting, rho, spent, epsilon=epsilon, delta=delta if stated else None)
    return replace(now, guarantee=guarantee, payments=(*before.payments, *now.payments))


def _read(table: Any, schema: Schema, *, weights: str | None, delimiter: str | None) -> tuple[Rows, tuple[str, ...]]:
    """A synthetic table from whatever tool, its columns found by name; and notes on what did not fit the schema."""
    if isinstance(table, Rows):
        return table, ()
    source = open_table(table, delimiter=delimiter)
    try:
        check_columns(source.columns, schema.names)
    except UserError as error:
        raise UserError(f"synthetic table: {error}") from None
    rows, notes = as_declared(source, schema)
    if weights is None:
        return rows, notes
    notes = tuple(note for note in notes if note != f"not in the schema, so left out: {weights}")
    return Rows(schema, rows.codes, _checked(weights, source.numbers(weights))), notes


def _checked(name: str, weights: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " rows"]:
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise UserError(f"weights: the column {name!r} must hold a number, 0 or more, in every row.")
    return weights
