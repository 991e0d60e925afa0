"""report.html: the public report as one self-contained page, and a short version for notebooks.

A function of released measurements and synthetic rows: the same two give the same bytes. No time, no path, no link out.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sundog.domain import Column, Numeric
from sundog.domain.rows import Rows
from sundog.evaluate.workload import query_class
from sundog.postprocess.constraints import violations
from sundog.released import Payment, Released
from sundog.report import facts as found
from sundog.report.certificate import claim
from sundog.report.charts import column_chart, pair_chart, percent
from sundog.report.choices import choices
from sundog.report.template import render
from sundog.report.words import meaning, origin_warning, promise, warning_sentences
from sundog.version import __version__

CHARTS = 100
"""Wide tables show the charts of the columns that differ most; the others are listed."""
PAYMENTS = 40


@dataclass(frozen=True)
class Card:
    """A column or a pair on the page."""

    title: str
    kind: str
    verdict: str
    chart: Markup


def write_report(released: Released, rows: Rows, path: Path, *, method: str) -> None:
    """Write the page."""
    path.write_text(report_page(released, rows, method=method), encoding="utf-8")


def report_page(released: Released, rows: Rows, *, method: str) -> str:
    """The whole page."""
    columns = found.column_facts(released, rows)
    shown = sorted(columns, key=_excess, reverse=True)[:CHARTS] if len(columns) > CHARTS else columns
    kept = {id(column) for column in shown}
    pairs = found.pair_facts(released, rows)
    return render(
        "report.html",
        **about(released, method=method),
        rows=len(rows),
        choices=choices(released),
        warnings=warning_sentences(released),
        classes=found.class_facts(released, rows),
        columns=[_column_card(column) for column in columns if id(column) in kept],
        unshown=[column.column.name for column in columns if id(column) not in kept],
        pairs=[_pair_card(pair) for pair in pairs],
        pairs_measured=found.pairs_measured(released),
        pairs_there=math.comb(len(columns), 2),
        payments=sorted(released.payments, key=lambda p: -p.rho)[:PAYMENTS],
        payments_left=max(len(released.payments) - PAYMENTS, 0),
        mechanisms=_mechanisms(released.payments),
        constraints=violations(rows),
        percent=percent,
    )


def summary_fragment(released: Released, *, method: str) -> str:
    """The short version: the guarantee and what was measured, as a piece of HTML for notebooks."""
    groups: dict[str, list[float]] = {}
    for measurement in released.measurements:
        groups.setdefault(query_class(measurement.query), []).append(measurement.stddev)
    classes = [(name, len(stddevs), max(stddevs)) for name, stddevs in groups.items()]
    return render("summary.html", **about(released, method=method), classes=classes, percent=percent)


def about(released: Released, *, method: str) -> dict[str, Any]:
    """What every page says of a release at its top."""
    guarantee = released.guarantee
    return {
        "sundog": __version__,
        "dataset": released.dataset,
        "method": method,
        "claim": claim(guarantee),
        "guarantee": guarantee,
        "protects": guarantee.unit.describe(),
        "promise": promise(guarantee),
        "meaning": meaning(guarantee),
        "unreviewed": origin_warning(released),
        "estimated_rows": released.rows if released.measurements or released.public_rows else None,
        "rows_public": released.public_rows is not None,
        "column_count": len(released.schema.columns),
        "query_count": len(released.measurements),
        "answer_count": sum(m.query.size for m in released.measurements),
    }


def _mechanisms(payments: tuple[Payment, ...]) -> list[tuple[str, int, float]]:
    names = dict.fromkeys(payment.mechanism for payment in payments)
    lines = {name: [p.rho for p in payments if p.mechanism == name] for name in names}
    return [(name, len(rhos), math.fsum(rhos)) for name, rhos in lines.items()]


def _excess(column: found.ColumnFacts) -> float:
    return (column.disagreement or 0.0) - (column.noise or 0.0)


def _column_card(facts: found.ColumnFacts) -> Card:
    chart = Markup(column_chart(facts))  # noqa: S704
    return Card(facts.column.name, _kind(facts.column), verdict(facts.disagreement, facts.noise), chart)


def _pair_card(facts: found.PairFacts) -> Card:
    chart = Markup(pair_chart(facts))  # noqa: S704
    return Card(" by ".join(facts.columns), "", verdict(facts.disagreement, facts.noise), chart)


def verdict(disagreement: float | None, noise: float | None) -> str:
    """How far synthetic and measured counts are apart, beside what noise alone explains."""
    if disagreement is None or noise is None:
        return "not measured"
    return f"{percent(disagreement)} apart; noise alone: {percent(noise)}"


def _kind(column: Column) -> str:
    missing = ", may be missing" if column.nullable else ""
    if isinstance(column, Numeric):
        return f"{column.kind}{missing}"
    return f"{len(column.labels)} {'ordered ' if column.ordered else ''}categories{missing}"
