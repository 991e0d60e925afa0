"""What released measurements say about a query that some of them hold. Post-processing, so it costs nothing.

A query is known from a measurement if each measured cell lies inside one cell of the query: the query itself, a marginal
over fewer of its columns, or one with coarser cells. Sums of independent noise have known variance,

    answer = sum of values,   variance = cells * (stddev^2 + 1/12)      (1/12: noise is rounded to integers)

and several such answers are pooled by inverse variance. A query that holds several marginals one after the other (a tree
of resolutions, in `tables`) is taken apart into them. For questions of all kinds, see sundog.estimate.questions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.queries import Marginal, Query
from sundog.queries.marginal import tables_of
from sundog.released import Measurement, Released

ROUNDING = 1 / 12

Counts = Float[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class Pooled:
    """What all measurements together say of a query: counts, their variances, and which measurements were used."""

    counts: Counts
    variances: Counts
    sources: tuple[str, ...]


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
    for table in tables_of(measurement.query) or (measurement.query,):
        yield table, measurement.values[start : start + table.size]
        start += table.size


def table_parts(measurement: Measurement) -> list[tuple[Marginal, Int[np.ndarray, " cells"]]]:
    """The marginals that a measurement holds, each with its values; none where it is of another kind."""
    return [(part, values) for part, values in parts(measurement) if isinstance(part, Marginal)]


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
