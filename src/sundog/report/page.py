"""report.html: the public report as one self-contained page, and a short version for notebooks.

A function of released measurements and synthetic rows: the same two give the same bytes. No time, no path, no link out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sundog.domain import Numeric
from sundog.domain.rows import Rows
from sundog.evaluate.workload import query_class
from sundog.postprocess.constraints import violations
from sundog.released import Payment, Released
from sundog.report import facts as found
from sundog.report.certificate import claim
from sundog.report.charts import PER_CENT, column_chart, pair_chart, percent
from sundog.report.choices import choices
from sundog.report.template import render
from sundog.report.verdict import apart, not_modelled, verdict
from sundog.report.words import meaning, origin_warning, promise, warning_sentences
from sundog.version import __version__

CHARTS = 100
"""Wide tables show the charts of the columns that differ most; the others are listed."""
PAIRS = 6
PAIRS_NAMED = 300
PAYMENTS = 40


@dataclass(frozen=True)
class Card:
    """A column or a pair on the page; `heads` and `values` say in words what the chart shows."""

    title: str
    kind: str
    verdict: str
    chart: Markup
    heads: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


def write_report(released: Released, rows: Rows, path: Path, *, method: str, unsupported: Sequence[str] = ()) -> None:
    """Write the page report.html."""
    path.write_bytes(report_page(released, rows, method=method, unsupported=unsupported).encode())


def report_page(released: Released, rows: Rows, *, method: str, unsupported: Sequence[str] = ()) -> str:
    """The whole page; `unsupported` is what the schema asks and the method does not do."""
    columns, pairs = found.column_facts(released, rows), found.pair_facts(released, rows)
    classes, unmeasured = found.class_facts(released, rows), found.unmeasured_pairs(released)
    shown = sorted(columns, key=_excess, reverse=True)[:CHARTS] if len(columns) > CHARTS else columns
    kept = {id(column) for column in shown}
    there = math.comb(len(columns), 2)
    return render(
        "report.html",
        **about(released, method=method),
        rows=len(rows),
        verdict=verdict(columns, pairs, classes, unmeasured=len(unmeasured)),
        choices=choices(released),
        warnings=warning_sentences(released),
        not_modelled=not_modelled(released, columns, unsupported=unsupported),
        classes=classes,
        columns=[column_card(column) for column in columns if id(column) in kept],
        unshown=[column.column.name for column in columns if id(column) not in kept],
        pairs=[pair_card(pair) for pair in pairs[:PAIRS]],
        pairs_measured=there - len(unmeasured),
        pairs_there=there,
        unmeasured=[" by ".join(pair) for pair in unmeasured[:PAIRS_NAMED]],
        unmeasured_left=max(len(unmeasured) - PAIRS_NAMED, 0),
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


def column_card(facts: found.ColumnFacts) -> Card:
    """A column: its chart, and its values."""
    chart = Markup(column_chart(facts))  # noqa: S704
    heads: tuple[str, ...] = (facts.column.name, "synthetic")
    values = [(label, percent(share)) for label, share in zip(facts.labels, facts.synthetic, strict=True)]
    if facts.measured is None or facts.half_width is None:
        told: list[tuple[str, ...]] = list(values)
    else:
        heads += ("measured", "95 % interval")
        marks = zip(values, facts.measured, facts.half_width, strict=True)
        told = [(*value, percent(max(m, 0.0)), _interval(m - h, m + h)) for value, m, h in marks]
    return Card(facts.column.name, _kind(facts), apart(facts.disagreement, facts.noise), chart, heads, tuple(told))


def _interval(low: float, high: float) -> str:
    lowest, highest = (percent(min(max(each, 0.0), 1.0)) for each in (low, high))
    return f"{lowest.removesuffix(PER_CENT)} to {highest}"


def pair_card(facts: found.PairFacts) -> Card:
    """A pair: its chart, and its values."""
    chart = Markup(pair_chart(facts))  # noqa: S704
    heads = (f"{facts.columns[0]} \\ {facts.columns[1]}", *facts.labels[1])
    told = [
        (name, *(f"{deviation:+.1f}" for deviation in line))
        for name, line in zip(facts.labels[0], facts.deviations, strict=True)
    ]
    title, said = " by ".join(facts.columns), apart(facts.disagreement, facts.noise)
    return Card(title, "", said, chart, heads, tuple(told))


def _kind(facts: found.ColumnFacts) -> str:
    column = facts.column
    missing = ", may be missing" if column.nullable else ""
    if isinstance(column, Numeric):
        return f"{column.kind}{missing}{', in ranges of about equal mass' if facts.by_mass else ''}"
    return f"{len(column.labels)} {'ordered ' if column.ordered else ''}categories{missing}"
