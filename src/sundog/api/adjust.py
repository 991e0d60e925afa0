"""sundog.adjust: measure what a user cares about with a small budget, and reweight a synthetic table to match it.

The table may come from Sundog or from any other tool. What this step spends is charged to the same ledger, and composed
in rho with what generated the table where that is known; where it is not, the certificate says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from sundog.api.charging import Terms, curator_for
from sundog.api.options import Charged, Consent, Privacy, Purpose, meanings
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours, PrivacyUnit
from sundog.errors import UserError
from sundog.evaluate.reading import as_declared, open_synthetic
from sundog.postprocess.match import Match, NotMet, check_rows_present, match
from sundog.postprocess.matching import Matching
from sundog.postprocess.measures import key_of_query, measures_of
from sundog.private.accountant import Accounting, round_up, spent_epsilon
from sundog.private.curator import Curator
from sundog.private.table import PrivateTable
from sundog.queries import Marginal, Query
from sundog.queries.workload import Workload
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, NoiseKind, Released
from sundog.select.everything import shares_of
from sundog.sizes import whole_number

COUNT_SHARE = 0.1
"""What the number of rows costs, of the budget, where it is private and has to be measured: all measures depend on it."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The adjusted rows, how well they match, and what was released for it."""

    rows: Rows
    match: Match
    released: Released
    notes: tuple[str, ...] = ()
    """What in the synthetic table did not fit the schema, how it was read, and whether few of its rows are left to count."""

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table; with a column of weights where weights were asked for."""
        return self.rows.to_arrow()


@dataclass(frozen=True, eq=False)
class TableToAdjust:
    """A synthetic table from whatever tool: a frame, a path or rows; and which of its columns says how much rows count."""

    data: Any
    weights: str | None = None

    def read(self, schema: Schema) -> tuple[Rows, tuple[str, ...]]:
        """Its rows, its columns found by name; and notes on what did not fit the schema."""
        if isinstance(self.data, Rows):
            return self.data, ()
        source = open_synthetic(self.data, schema)
        try:
            source.check(schema.fields)
        except UserError as error:
            raise UserError(f"synthetic table: {error}") from None
        rows, notes = as_declared(source, schema)
        if self.weights is None:
            return rows, notes
        notes = tuple(note for note in notes if note != f"not in the schema, so left out: {self.weights}")
        return Rows(schema, rows.codes, _checked(self.weights, source.numbers(self.weights))), notes


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
        table: TableToAdjust,
        measures: str,
        *,
        schema: Schema,
        matching: Matching,
        curator: Curator | None = None,
        released: Released | None = None,
        before: Released | None = None,
    ) -> "Adjustment":
        """The plan for a synthetic table: the measures are to be measured by the curator, or found in `released`."""
        if released is not None and isinstance(released.schema, LinkedSchema):
            raise UserError(
                "adjust: the released measurements are of linked tables, in which rows count by their root, so no single table can be "
                "matched to them; leave --released out and measure one table by itself (--real, --epsilon), with its own schema."
            )
        if released is not None and released.schema.columns != schema.columns:
            raise UserError("adjust: the released measurements were made with another schema; use that one.")
        rows, notes = table.read(schema)
        check_rows_present(rows)
        wanted = measures_of(
            measures,
            schema,
            rows=rows,
            rho=0.0 if curator is None else curator.remaining_rho,
            neighbours="add-remove" if curator is None else curator.unit.neighbours,
            released=released,
        )
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
        alone = replace(released, rows_from_elsewhere=True)
        everything = alone if self.before is None else composed(self.before, released)
        return Adjusted(done.rows, done, everything, (*self.notes, *done.notes()))

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
            or _the_same(earlier, released)
        ):
            return known
        return (*known, *earlier.measurements, *earlier.adjustments)

    def _counted(self, curator: Curator) -> bool:
        """Whether the table's own making has told the number of rows."""
        return self.before is not None and self.before.dataset == curator.spending.dataset and self.before.tells_rows


def adjust(  # noqa: D417 - what the other arguments mean is added from where they are declared
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
    seed: int = 0,
    ledger: str | Path | None = None,
    new_account: bool = False,
    accept_unreviewed: bool = False,
    confirmed: bool = False,
    rows_about: int | None = None,
    purpose: str | None = None,
) -> Adjusted:
    """Reweight a synthetic table so that chosen measures match.

    Args:
        table: the synthetic table: a frame or a path.
        measures: what to match, in words (`sundog help adjust`).
        schema: the public schema of both tables.
        real: the private table, measured within the budget; or give `released`, measured before, at no further cost.
        noise: "gaussian" or "laplace".
        released: earlier measurements that include the measures.
        before: what was released to make the table, if known: its cost is added to the certificate's.
        matching: tolerance, resampling, number of rows, and whether the closest will do.
        weights: the column of the synthetic table that says how much each row counts.
        seed: fixes the resampling.
    """
    public = Schema.of(schema)
    if (real is None) == (released is None):
        raise UserError("adjust: give either the real table with a budget, or measurements released before.")
    whole_number("seed", seed, least=-(2**63))
    privacy = Privacy(epsilon, delta, rho, neighbours, unit, rows_per_unit)
    curator = None
    if real is not None:
        account = Charged(ledger, dataset, new_account).account(public.name, before=before)
        charged = Charged(ledger, account, new_account)
        held = PrivateTable(real, dialect=public.dialect)
        consent = Consent(confirmed, rows_about, accept_unreviewed)
        terms = measuring_terms(noise, measures, purpose=purpose)
        curator = curator_for(held, public, privacy=privacy, charged=charged, consent=consent, terms=terms)
    plan = Adjustment.of(
        TableToAdjust(table, weights),
        measures,
        schema=public,
        matching=matching or Matching(),
        curator=curator,
        released=released,
        before=before,
    )
    if curator is not None:
        released = plan.measured(curator, noise=noise)
    assert released is not None  # noqa: S101 - by the first check
    return plan.matched(released, seed=seed)


adjust.__doc__ = f"{(adjust.__doc__ or '').rstrip()}\n{meanings(Privacy, Charged, Consent, Purpose)}\n"


def measuring_terms(noise: NoiseKind, measures: str, *, purpose: str | None) -> Terms:
    """How a run that measures what is to be matched is accounted for: with Laplace noise as zCDP."""
    if noise not in get_args(NoiseKind):
        raise UserError(f"noise: found {noise!r}; allowed are {', '.join(get_args(NoiseKind))}.")
    accounting: Accounting = "gaussian" if noise == "gaussian" else "zcdp"
    return Terms(accounting, f"adjust ({measures})", Purpose(purpose).purpose)


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
    elsewhere = before.rows_from_elsewhere
    if _the_same(before, now):  # paid for once
        return replace(now, rows_from_elsewhere=elsewhere)
    first, second = before.guarantee, now.guarantee
    accounting: Accounting = "gaussian" if first.accounting == second.accounting == "gaussian" else "zcdp"
    rho = round_up(Fraction(first.rho) + Fraction(second.rho))
    spent = round_up(Fraction(first.delta_spent) + Fraction(second.delta_spent))
    delta = max((each.delta for each in (first, second) if each.delta is not None), default=None)
    stated = delta is not None and delta > spent
    epsilon = spent_epsilon(rho, delta - spent, accounting=accounting) if delta is not None and stated else None
    guarantee = Guarantee(first.unit, accounting, rho, spent, epsilon=epsilon, delta=delta if stated else None)
    schema = now.schema.unreviewed_as(before.schema)
    payments = (*before.payments, *now.payments)
    return replace(now, schema=schema, guarantee=guarantee, payments=payments, rows_from_elsewhere=elsewhere)


def _the_same(before: Released, now: Released) -> bool:
    """Whether these are the very same measurements, whatever rows were made of them."""
    return replace(now, rows_from_elsewhere=before.rows_from_elsewhere).to_json() == before.to_json()


def _checked(name: str, weights: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " rows"]:
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise UserError(f"weights: the column {name!r} must hold a number, 0 or more, in every row.")
    return weights
