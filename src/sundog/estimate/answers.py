"""Answers with intervals: what released measurements say about any query. Post-processing, so it costs nothing.

A query is known from a measurement if each measured cell lies inside one cell of the query: the query itself, a marginal
over fewer of its columns, or one with coarser cells. Sums of independent noise have known variance,

    answer = sum of values,   variance = cells * (stddev^2 + 1/12)      (1/12: noise is rounded to integers)

and several such answers are pooled by inverse variance. A query that holds several marginals one after the other (a tree
of resolutions, in `tables`) is taken apart into them. The interval covers the exact count of the private table with the
stated probability, cell by cell. It says nothing of how the private table differs from the world it was drawn from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from sundog.errors import UserError
from sundog.queries import Marginal, Query
from sundog.released import Measurement, Released

ROUNDING = 1 / 12

Counts = Float[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class Pooled:
    """What all measurements together say of a query: counts, their variances, and which measurements were used."""

    counts: Counts
    variances: Counts
    sources: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """A query's answer in counts of rows. `low` and `high` are None where no measurement covers the query."""

    query: Query
    estimate: Counts
    synthetic: Counts
    low: Counts | None
    high: Counts | None
    confidence: float
    basis: Literal["measured", "not measured"]
    sources: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.low is None or self.high is None:
            return (
                f"Answer({self.query.describe()}: not measured; the synthetic table's own answer, without an error bar)"
            )
        width = float(np.mean(self.high - self.low)) / 2
        return f"Answer({self.query.describe()}: measured, ± {width:.4g} rows at {self.confidence:.0%} a cell)"


def answer_with_interval(released: Released, query: Query, *, synthetic: Counts, confidence: float) -> Answer:
    """The released estimate with its interval where there is one, else the synthetic answer marked "not measured"."""
    if not 0 < confidence < 1:
        raise UserError(f"confidence: found {confidence!r}; it must lie between 0 and 1, such as 0.95.")
    pooled = pool(released, query)
    if pooled is None:
        return Answer(query, synthetic, synthetic, None, None, confidence, "not measured")
    half = quantile(confidence) * np.sqrt(pooled.variances)
    low, high = pooled.counts - half, pooled.counts + half
    if query.partition:
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    return Answer(query, pooled.counts, synthetic, low, high, confidence, "measured", pooled.sources)


def quantile(confidence: float) -> float:
    """How many standard deviations either side hold this probability."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def pool(released: Released, query: Query) -> Pooled | None:
    """The inverse-variance mean of all measurements that can be summed to the query; None if there is none."""
    weighted, precision = np.zeros(query.size), np.zeros(query.size)
    sources = []
    for measurement in released.measurements:
        for part, values in parts(measurement):
            cells = coarsening(part, query)
            if cells is None:
                continue
            sums = np.bincount(cells, weights=values, minlength=query.size)
            variances = np.bincount(cells, minlength=query.size) * (measurement.stddev**2 + ROUNDING)
            weighted += sums / variances
            precision += 1 / variances
            sources.append(measurement.query.describe())
    return Pooled(weighted / precision, 1 / precision, tuple(dict.fromkeys(sources))) if sources else None


def parts(measurement: Measurement) -> Iterator[tuple[Query, Int[np.ndarray, " cells"]]]:
    """The measured query and its values, or the marginals that it holds one after the other, each with its own."""
    start = 0
    tables: tuple[Query, ...] = getattr(measurement.query, "tables", (measurement.query,))
    for table in tables:
        yield table, measurement.values[start : start + table.size]
        start += table.size


def coarsening(fine: Query, coarse: Query) -> Int[np.ndarray, " cells"] | None:
    """The cell of `coarse` in which each cell of `fine` lies; None where some cell lies in several."""
    if isinstance(fine, Marginal) and isinstance(coarse, Marginal):
        return _marginal_coarsening(fine, coarse)
    return np.arange(fine.size) if fine.to_json() == coarse.to_json() else None


def _marginal_coarsening(fine: Marginal, coarse: Marginal) -> Int[np.ndarray, " cells"] | None:
    places = dict(zip(fine.columns, np.indices(fine.shape, sparse=True), strict=True))
    axes = dict(zip(fine.columns, fine.axes, strict=True))
    where: Int[np.ndarray, " cells"] = np.zeros(fine.shape, dtype=np.int64)
    for axis in coarse.axes:
        fine_axis = axes.get(axis.column)
        if fine_axis is None or not fine_axis.refines(axis):
            return None
        where = where * axis.size + fine_axis.parents(axis)[places[axis.column]]
    return where.ravel()
