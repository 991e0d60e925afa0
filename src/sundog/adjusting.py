"""sundog.adjust: measure what a user cares about with a little budget, and reweight a synthetic table to match it.

The table may come from Sundog or from any other tool. What this step spends is charged to the same ledger, and composed
in rho with what generated the table where that is known; where it is not, the certificate says so.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from sundog.adjust.match import GAMMA, Match, match
from sundog.adjust.measures import measures_of
from sundog.adjust.resample import Resampling
from sundog.axis import Axis
from sundog.errors import UserError
from sundog.keys import key_of
from sundog.private.accountant import Accounting, Budget, round_up, spent_epsilon
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.queries import Marginal, Query
from sundog.released import Guarantee, Measurement, NoiseKind, Released
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.select.everything import shares_of
from sundog.sources import open_table
from sundog.unit import PrivacyUnit

COUNT_SHARE = 0.05
"""The part of the budget that counts the rows, where their number is private and no measure tells it."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The adjusted rows, how well they match, and what was released for it."""

    rows: Rows
    match: Match
    released: Released

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table; with a column `weight` where weights were asked for."""
        table = self.rows.to_arrow()
        return table if self.rows.weights is None else table.append_column("weight", pa.array(self.rows.weights))


@dataclass(frozen=True)
class Matching:
    """How to match: the tolerance, the way of resampling, and whether the closest will do."""

    gamma: float = GAMMA
    how: Resampling = "systematic"
    closest: bool = False


def adjust(
    table: Any,
    measures: str = "correlations",
    *,
    schema: Schema | str | Path,
    real: Any = None,
    released: Released | None = None,
    budget: Budget | None = None,
    unit: PrivacyUnit | None = None,
    dataset: str | None = None,
    before: Released | None = None,
    matching: Matching | None = None,
    noise: NoiseKind = "gaussian",
    rows: int | None = None,
    seed: int = 0,
    ledger: str | Path | None = None,
) -> Adjusted:
    """Reweight a synthetic table so that chosen measures match.

    Args:
        table: the synthetic table: a frame or a path.
        measures: what to match, in words (see sundog.adjust.measures).
        schema: the public schema of both tables.
        real: the private table, measured within `budget`; or give `released`, measured before, at no further cost.
        released: earlier measurements that include the measures.
        budget: what measuring may spend.
        unit: whom the guarantee protects.
        dataset: the ledger's account; by default the schema's name.
        before: what was released to make the table, if known: its cost is added to the certificate's.
        matching: tolerance, resampling, and whether the closest will do.
        noise: "gaussian" or "laplace".
        rows: how many rows to draw; by default as many as the table has.
        seed: fixes the resampling.
        ledger: the path of the ledger.
    """
    public = schema if isinstance(schema, Schema) else Schema.load(schema)
    synthetic = _synthetic(table, public)
    queries = measures_of(measures, public, rows=synthetic)
    if (real is None) == (released is None):
        raise UserError("adjust: give either the real table with a budget, or measurements released before.")
    if released is None:
        if budget is None:
            raise UserError("adjust: measuring the real table needs a budget: epsilon and delta, or rho.")
        curator = Curator(
            PrivateTable(real),
            public,
            budget=budget,
            dataset=dataset or public.name or "unnamed",
            unit=unit,
            accounting="gaussian" if noise == "gaussian" else "zcdp",
            ledger=Ledger(None if ledger is None else Path(ledger)),
        )
        released = measured(curator, queries, rho=curator.remaining_rho, noise=noise)
    how = matching or Matching()
    done = match(
        key_of(seed),
        synthetic,
        measurements=chosen(released, queries),
        total=float(released.rows),
        gamma=how.gamma,
        how=how.how,
        count=rows,
        closest=how.closest,
    )
    return Adjusted(done.rows, done, released if before is None else composed(before, released))


def measured(curator: Curator, queries: tuple[Query, ...], *, rho: float, noise: NoiseKind = "gaussian") -> Released:
    """The measures, and the number of rows where nothing else tells it."""
    if curator.count() is None and not any(query.partition for query in queries):
        counting = Marginal((Axis.cut(curator.schema.columns[0], [0]),))
        curator.measure([counting], COUNT_SHARE * rho, kind=noise)
        rho *= 1 - COUNT_SHARE
    shares = shares_of(queries, (1.0,) * len(queries), curator.unit.neighbours)
    curator.measure(queries, min(rho, curator.remaining_rho), shares=shares, kind=noise)
    return curator.released()


def chosen(released: Released, queries: tuple[Query, ...]) -> list[Measurement]:
    """The measurements of these queries among all that were released; of several the most precise."""
    best: dict[bytes, Measurement] = {}
    for measurement in sorted(released.measurements, key=lambda m: -m.stddev):
        best[b"".join(measurement.query.block_keys())] = measurement
    found = []
    for query in queries:
        key = b"".join(query.block_keys())
        if key not in best:
            raise UserError(
                f"adjust: {query.describe()!r} is not among the released measurements; measure it with --real."
            )
        found.append(best[key])
    return found


def composed(before: Released, now: Released) -> Released:
    """One release out of two from the same data: costs add up in rho, and the weaker accounting holds for both."""
    if before.guarantee.unit != now.guarantee.unit:
        raise UserError(
            f"adjust: the table protects {before.guarantee.unit.describe()}, the measures {now.guarantee.unit.describe()}; "
            "guarantees for different units do not add up."
        )
    first, second = before.guarantee, now.guarantee
    accounting: Accounting = "gaussian" if first.accounting == second.accounting == "gaussian" else "zcdp"
    rho = round_up(Fraction(first.rho) + Fraction(second.rho))
    spent = round_up(Fraction(first.delta_spent) + Fraction(second.delta_spent))
    delta = max((each.delta for each in (first, second) if each.delta is not None), default=None)
    epsilon = None if delta is None else spent_epsilon(rho, delta - spent, accounting=accounting)
    guarantee = Guarantee(first.unit, accounting, rho, spent, epsilon=epsilon, delta=delta)
    return replace(now, guarantee=guarantee, payments=(*before.payments, *now.payments))


def _synthetic(table: Any, schema: Schema) -> Rows:
    return table if isinstance(table, Rows) else open_table(table).read(schema)
