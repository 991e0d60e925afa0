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
from functools import reduce
from itertools import combinations, product

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.axis import Axis
from sundog.queries import Marginal
from sundog.released import Released

Coarsening = tuple[Int[np.ndarray, " cells"], int]
"""For every cell of an axis the coarser cell it lies in, and how many of those there are."""


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
        found += [overlap for a, b in meetings if (overlap := _overlap(queries, columns, members, meeting=(a, b)))]
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
    queries: Sequence[Marginal],
    columns: tuple[str, ...],
    members: Iterable[int],
    *,
    meeting: tuple[tuple[Axis, ...], tuple[Axis, ...]],
) -> Overlap | None:
    """The tables among `members` that can be added up to the finest common coarsening of two ways to cut the columns."""
    coarse = [common_coarsening(a, b) for a, b in zip(*meeting, strict=True)]
    tables, places = [], []
    for t in members:
        steps = [coarsening(_axis(queries[t], name), cut) for name, cut in zip(columns, coarse, strict=True)]
        if all(step is not None for step in steps):
            tables.append(t)
            places.append(_places(queries[t], columns, [step for step in steps if step is not None]))
    size = int(np.prod([cut.size for cut in coarse]))
    return Overlap(tuple(tables), tuple(places), size) if len(tables) > 1 else None


def _places(query: Marginal, columns: tuple[str, ...], steps: Sequence[Coarsening]) -> Int[np.ndarray, " cells"]:
    """For every cell of a table the cell of the sub-marginal over `columns` that it adds to."""
    place = np.zeros(query.shape, dtype=np.intp)
    for name, (onto, size) in zip(columns, steps, strict=True):
        position = query.columns.index(name)
        along = [1] * len(query.shape)
        along[position] = -1
        place = place * size + onto.reshape(along)
    return place.ravel()


def common_coarsening(a: Axis, b: Axis) -> Axis:
    """The finest partition of a column that both axes refine."""
    if a == b:
        return a
    if a.groups is None and b.groups is None:
        starts = sorted(set(starts_of(a)) & set(starts_of(b)))
        return Axis(a.column, size=len(starts), codes=a.codes, starts=tuple(starts))
    joined = reduce(_join, [a.cell_of, b.cell_of], np.arange(a.codes))
    _, groups = np.unique(joined, return_inverse=True)
    return Axis(a.column, size=int(groups.max()) + 1, codes=a.codes, groups=tuple(groups.tolist()))


def _join(labels: Int[np.ndarray, " codes"], cells: Int[np.ndarray, " codes"]) -> Int[np.ndarray, " codes"]:
    """Merge the classes of `labels` that meet within a cell, by spreading the least label until nothing changes."""
    while True:
        least = np.full(int(cells.max()) + 1, labels.max())
        np.minimum.at(least, cells, labels)
        lowest = np.full(int(labels.max()) + 1, labels.max())
        np.minimum.at(lowest, labels, least[cells])
        merged = lowest[labels]
        if np.array_equal(merged, labels):
            return labels
        labels = merged


def coarsening(axis: Axis, coarse: Axis) -> Coarsening | None:
    """Where the cells of an axis lie in a coarser one; None where that is not coarser."""
    if axis == coarse:
        return np.arange(axis.size), axis.size
    if axis.groups is None and coarse.groups is None:
        if not set(starts_of(coarse)) <= set(starts_of(axis)):
            return None
        return np.searchsorted(starts_of(coarse), starts_of(axis), side="right") - 1, coarse.size
    onto = np.full(axis.size, -1, dtype=np.intp)
    onto[axis.cell_of] = coarse.cell_of
    return (onto, coarse.size) if np.array_equal(onto[axis.cell_of], coarse.cell_of) else None


def starts_of(axis: Axis) -> Sequence[int]:
    """The first code of every cell of an axis that merges no labels."""
    return axis.starts if axis.starts is not None else range(axis.codes)


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
