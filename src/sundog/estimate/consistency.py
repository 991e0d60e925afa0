"""Mutual consistency of overlapping marginals: the weighted least-squares tables that agree wherever they overlap.

Noisy tables of the same rows disagree on what they share. Given tables y_t with noise of standard deviation s_t, this finds

    min  sum_t |x_t - y_t|^2 / s_t^2    subject to    all x_t have equal sub-marginals on every shared set of columns.

Each requirement "agree on the sub-marginal A" is a linear subspace, and projecting onto it is closed-form: average the
tables' sub-marginals by inverse variance (s_t^2 times the number of cells added up) and spread each table's difference
evenly over those cells. Taken from small A to large, one round of these projections is the exact solution where all tables
cut a column alike (their interactions are then orthogonal and the weights proportional: Qardaji, Yang, Li 2014, "PriView",
whose average is unweighted). Where they cut it differently, tables agree on the finest common coarsening, and the rounds
are von Neumann's alternating projections, which converge to the same least-squares solution.

Looks at released values only: free, and of use to every generator.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.axis import Axis
from sundog.queries import Marginal
from sundog.released import Released


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated counts of a marginal; `stddev` is that of the measurement it came from. Counts may be negative."""

    query: Marginal
    counts: Float[np.ndarray, " cells"]
    stddev: float


@dataclass(frozen=True, eq=False)
class Overlap:
    """One requirement: which tables share a sub-marginal, and where each of their cells lies in it."""

    tables: tuple[int, ...]
    places: tuple[Int[np.ndarray, " cells"], ...]
    size: int


def consistent(released: Released, *, rounds: int = 50, tolerance: float = 1e-6) -> tuple[Estimate, ...]:
    """The measured marginals, made to agree with each other and with a public number of rows.

    Stops when a round changes no cell by more than `tolerance` of the smallest standard deviation.
    """
    estimates = estimates_of(released)
    counts = [estimate.counts.copy() for estimate in estimates]
    variances = [max(estimate.stddev, 1e-9) ** 2 for estimate in estimates]
    needed = overlaps([estimate.query for estimate in estimates])
    exact_in_one = _alike(estimates)
    for _ in range(1 if exact_in_one else rounds):
        change = max((_agree(overlap, counts, variances, total=released.public_rows) for overlap in needed), default=0)
        if change <= tolerance * min(variances, default=1.0) ** 0.5:
            break
    return tuple(Estimate(e.query, table, e.stddev) for e, table in zip(estimates, counts, strict=True))


def estimates_of(released: Released) -> tuple[Estimate, ...]:
    """The measured marginals as they came."""
    return tuple(
        Estimate(m.query, m.values.astype(np.float64), m.stddev)
        for m in released.measurements
        if isinstance(m.query, Marginal)
    )


def overlaps(queries: Sequence[Marginal]) -> list[Overlap]:
    """Every shared sub-marginal, small sets of columns first; the first is the total, shared by all."""
    found = [Overlap(tuple(range(len(queries))), tuple(np.zeros(q.size, dtype=np.intp) for q in queries), 1)]
    for columns in _shared_columns(queries):
        members = [t for t, query in enumerate(queries) if set(columns) <= set(query.columns)]
        cuts = sorted({tuple(_axis(queries[t], name) for name in columns) for t in members}, key=repr)
        meetings = [(cuts[0], cuts[0])] if len(cuts) == 1 else list(combinations(cuts, 2))
        meetings += [(cut, cut) for cut in cuts if len(cuts) > 1]
        found += [overlap for meeting in meetings if (overlap := _overlap(queries, members, meeting))]
    return found


def _shared_columns(queries: Sequence[Marginal]) -> list[tuple[str, ...]]:
    """The sets of columns that two or more tables have in common, closed under intersection, smallest first."""
    pairs = {frozenset(a.columns) & frozenset(b.columns) for a, b in combinations(queries, 2)}
    closed = set(pairs)
    while True:
        more = {a & b for a, b in product(closed, pairs)} - closed
        if not more:
            break
        closed |= more
    return sorted((tuple(sorted(columns)) for columns in closed if columns), key=lambda c: (len(c), c))


def _overlap(
    queries: Sequence[Marginal], members: Iterable[int], meeting: tuple[tuple[Axis, ...], tuple[Axis, ...]]
) -> Overlap | None:
    """The tables among `members` that can be added up to the finest common coarsening of two ways to cut the columns."""
    coarse = [a.coarsen(b) for a, b in zip(*meeting, strict=True)]
    tables = [t for t in members if all(_axis(queries[t], cut.column).refines(cut) for cut in coarse)]
    size = int(np.prod([cut.size for cut in coarse]))
    return Overlap(tuple(tables), tuple(_places(queries[t], coarse) for t in tables), size) if len(tables) > 1 else None


def _places(query: Marginal, coarse: Sequence[Axis]) -> Int[np.ndarray, " cells"]:
    """For every cell of a table the cell of the sub-marginal over coarser axes that it adds to."""
    place = np.zeros(query.shape, dtype=np.intp)
    for cut in coarse:
        along = [-1 if name == cut.column else 1 for name in query.columns]
        place = place * cut.size + _axis(query, cut.column).parents(cut).reshape(along)
    return place.ravel()


def _axis(query: Marginal, column: str) -> Axis:
    return query.axes[query.columns.index(column)]


def _alike(estimates: Sequence[Estimate]) -> bool:
    axes = {axis for estimate in estimates for axis in estimate.query.axes}
    return len(axes) == len({axis.column for axis in axes})


def _agree(
    overlap: Overlap, counts: list[Float[np.ndarray, " cells"]], variances: Sequence[float], *, total: int | None
) -> float:
    """Project the tables, in place, onto those that agree on one sub-marginal; the largest change of a cell."""
    if not overlap.tables:
        return 0.0
    sums, cells = [], []
    for t, place in zip(overlap.tables, overlap.places, strict=True):
        sums.append(np.bincount(place, counts[t], overlap.size))
        cells.append(np.bincount(place, minlength=overlap.size))
    weights = [1 / (variances[t] * number) for t, number in zip(overlap.tables, cells, strict=True)]
    average = sum(w * s for w, s in zip(weights, sums, strict=True)) / sum(weights)
    if overlap.size == 1 and total is not None:
        average = np.array([float(total)])
    largest = 0.0
    for t, place, own, number in zip(overlap.tables, overlap.places, sums, cells, strict=True):
        shift = (average - own) / number
        counts[t] += shift[place]
        largest = max(largest, float(np.abs(shift).max()))
    return largest
