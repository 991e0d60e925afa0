"""The facts of the report: functions of released measurements and synthetic rows, and of nothing else.

Everything measured is pooled (sundog.estimate.answers) and put beside the synthetic rows' own counts, scaled to the released number
of rows. The error bar of a query class is one that a user can rely on for 95 of 100 answers: the exact answer lies within
2.24 standard deviations of the measurement with probability 97.5 %, so the synthetic one is then off by at most

    |synthetic - measured| + 2.24 stddev,

of which the 97.5 % quantile over the answers of the class is shown. At most 2.5 + 2.5 of 100 answers escape it, on average.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

from sundog.domain import Column, Numeric
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.answers import pool, quantile, table_parts
from sundog.estimate.bins import Leaves, leaves_of
from sundog.estimate.evidence import Evidence
from sundog.estimate.question import Question
from sundog.estimate.questions import released_answer
from sundog.evaluate.workload import query_class
from sundog.queries import Marginal, answer
from sundog.released import Measurement, Released
from sundog.report.bars import BARS, bar_groups, mass_axis, pair_groups, skewed
from sundog.report.distance import distance

PAIRS_LOOKED_AT = 600
CONFIDENCE = 0.95
BAR_CONFIDENCE = 0.975

Shares = Float[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """One column: the shares of its bars, synthetic and measured (None: not measured), and the error of the latter.

    `noise` is what noise alone explains on average, `reach` at most. `by_mass`: bars are ranges of about equal mass, not of equal width.
    """

    column: Column
    labels: tuple[str, ...]
    synthetic: Shares
    measured: Shares | None
    half_width: Shares | None
    disagreement: float | None
    noise: float | None
    reach: float | None = None
    by_mass: bool = False


@dataclass(frozen=True, eq=False)
class PairFacts:
    """A measured pair of columns: total variation to the synthetic rows, what noise alone explains on average and at most, and where."""

    columns: tuple[str, str]
    disagreement: float
    noise: float
    deviations: Float[np.ndarray, "first second"]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    reach: float | None = None


@dataclass(frozen=True)
class ClassFacts:
    """A query class: how much was measured, with what noise, how far the synthetic rows are, and the error bar.

    `share` is the error bar as a share of the rows, None for queries that do not count rows (moments).
    """

    name: str
    queries: int
    answers: int
    stddev: tuple[float, float]
    difference: float
    error_bar: float
    share: float | None


def class_facts(released: Released, rows: Rows) -> list[ClassFacts]:
    """One line per query class, in the order in which they were first measured; none where the number of rows is not known."""
    if not released.tells_rows:
        return []
    scale = released.rows / len(rows)
    groups: dict[str, list[tuple[Measurement, Shares]]] = {}
    for measurement in released.measurements:
        gaps = np.abs(answer(measurement.query, rows) * scale - measurement.values)
        groups.setdefault(query_class(measurement.query), []).append((measurement, gaps))
    return [_class_line(name, found, released.rows) for name, found in groups.items()]


def _class_line(name: str, found: Sequence[tuple[Measurement, Shares]], rows: int) -> ClassFacts:
    gaps = np.concatenate([gap for _, gap in found])
    bounds = np.concatenate([gap + quantile(BAR_CONFIDENCE) * m.stddev for m, gap in found])
    bar = float(np.quantile(bounds, BAR_CONFIDENCE, method="higher"))
    stddevs = [m.stddev for m, _ in found]
    counts_rows = all(m.query.sensitivity_linf("add-remove") == 1 for m, _ in found)
    return ClassFacts(
        name,
        len(found),
        len(gaps),
        (min(stddevs), max(stddevs)),
        float(gaps.mean()),
        bar,
        bar / rows if counts_rows else None,
    )


def column_facts(released: Released, rows: Rows) -> list[ColumnFacts]:
    """Every column of the schema."""
    leaves = leaves_of(released) if released.tells_rows else {}
    return [_column(released, rows, column, leaves=leaves.get(column.name)) for column in released.schema.columns]


def _column(released: Released, rows: Rows, column: Column, *, leaves: Leaves | None) -> ColumnFacts:
    axis = _measured_axis(released, column)
    query = Marginal((axis or _shown_axis(column),))
    pooled = pool(released, query) if axis is not None else None
    shares = answer(query, rows) / len(rows)
    groups, labels = bar_groups(query.axes[0], column, weight=shares if pooled is None else pooled.counts)
    synthetic = np.bincount(groups, weights=shares, minlength=len(labels))
    if pooled is None:
        return ColumnFacts(column, labels, synthetic, None, None, None, None)
    apart = distance(pooled, shares * released.rows, released.rows)
    if leaves is not None and leaves.stddev > 0 and skewed(column, synthetic):
        return _by_mass(Evidence(released), rows, leaves, apart=apart)
    measured = np.bincount(groups, weights=pooled.counts, minlength=len(labels)) / released.rows
    variance = np.bincount(groups, weights=pooled.variances, minlength=len(labels))
    return ColumnFacts(column, labels, synthetic, measured, _half(variance, released), *apart)


def _by_mass(evidence: Evidence, rows: Rows, leaves: Leaves, *, apart: tuple[float, float, float]) -> ColumnFacts:
    """The same of a number that one bar of equal width would nearly hold; wide ranges need all levels to be known well."""
    axis, labels = mass_axis(leaves)
    question = Question(by=(axis.column,), confidence=CONFIDENCE)
    found = released_answer(evidence, question, question.statistics[0], by=(axis,))
    if found is None:
        raise ValueError("ranges of a measured column are measured")
    synthetic = answer(Marginal((axis,)), rows) / len(rows)
    measured, high = (part.ravel() / evidence.rows for part in (found.estimate, found.high))
    return ColumnFacts(leaves.column, labels, synthetic, measured, high - measured, *apart, by_mass=True)


def _half(variance: Shares, released: Released) -> Shares:
    return quantile(CONFIDENCE) * np.sqrt(variance) / released.rows


def _measured_axis(released: Released, column: Column) -> Axis | None:
    """The axis of the measurement with fewest columns that holds the column; of several the finest that can be shown."""
    found = [
        (len(part.axes), axis.size > BARS + 1, axis.size if axis.size > BARS + 1 else -axis.size, axis)
        for part in measured_marginals(released)
        for axis in part.axes
        if axis.column == column.name
    ]
    return min(found, key=lambda item: item[:3])[3] if found else None


def measured_marginals(released: Released) -> list[Marginal]:
    """All marginals that were measured, also those inside trees."""
    return [table for measurement in released.measurements for table, _ in table_parts(measurement)]


def _shown_axis(column: Column) -> Axis:
    return Axis.of(column, BARS) if isinstance(column, Numeric) else Axis.whole(column)


def pair_facts(released: Released, rows: Rows) -> list[PairFacts]:
    """The measured pairs, those first whose synthetic table is furthest from the measurement, compared with its noise."""
    found = [_pair(released, rows, query) for query in _pairs(released)[:PAIRS_LOOKED_AT]]
    return sorted(found, key=lambda pair: (pair.noise - pair.disagreement, pair.columns))


def unmeasured_pairs(released: Released) -> list[tuple[str, str]]:
    """The pairs of columns that no measured table holds."""
    measured = {frozenset(query.columns) for query in _pairs(released)}
    return [pair for pair in combinations(released.schema.names, 2) if frozenset(pair) not in measured]


def _pairs(released: Released) -> list[Marginal]:
    """Each measured pair once, from the measurement with fewest columns."""
    wide = [part for part in measured_marginals(released) if len(part.axes) > 1]
    pairs: dict[frozenset[str], Marginal] = {}
    for query in sorted(wide, key=lambda query: len(query.axes)):
        for two in combinations(query.axes, 2):
            pairs.setdefault(frozenset(axis.column for axis in two), Marginal(two))
    return list(pairs.values())


def _pair(released: Released, rows: Rows, query: Marginal) -> PairFacts:
    pooled = pool(released, query)
    if pooled is None:
        raise ValueError("a pair of a measured query is measured")
    counts = answer(query, rows) * (released.rows / len(rows))
    disagreement, noise, reach = distance(pooled, counts, released.rows)
    sides = [
        pair_groups(axis, released.schema.column(axis.column), shares)
        for axis, shares in zip(query.axes, _margins(counts, query), strict=True)
    ]
    (first, rows_named), (second, columns_named) = sides
    shape = (len(rows_named), len(columns_named))
    where = (first[:, None] * shape[1] + second[None, :]).ravel()
    gap = np.bincount(where, weights=counts - pooled.counts, minlength=shape[0] * shape[1])
    spread = np.sqrt(np.bincount(where, weights=pooled.variances, minlength=shape[0] * shape[1]))
    return PairFacts(
        (query.columns[0], query.columns[1]),
        disagreement,
        noise,
        (gap / spread).reshape(shape),
        (rows_named, columns_named),
        reach,
    )


def _margins(counts: Shares, query: Marginal) -> tuple[Shares, Shares]:
    table = counts.reshape(query.shape)
    return table.sum(axis=1), table.sum(axis=0)
