"""Wider tables: a target with two and more other columns, where they show more of it than pairs do.

Candidates, by a public rule: every target with two of the columns that depend on it most (by the noisy scores of pairs), on
coarse cells; every target with three of the narrow columns that do, since structure such as a parity shows in no
fewer columns; and every target with as many narrow columns as there are cells whose counts the noise would not hide. In a table with
few columns these are all of them.

A score is the L1 distance of the table from what its pairs say of it (sundog.estimate.pairs.wider). It counts as far as it
exceeds its noise by Z standard deviations, sampling, and what a table of fewer of its columns shows. A table enters where that is
more than measuring it costs; and unless pairs will be nearly exact (a count that took all of the budget left would have
noise below EXACT of the rows), only where it is at least STRONG of the rows: what no pair shows at all is worth more than
sharper pairs. Where scores could not tell that much from noise, nothing is kept for wider tables.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import coarsened, leaves_of
from sundog.estimate.pairs.pool import pool
from sundog.estimate.repeats import without_repeats
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import block_l1, gaussian_stddev
from sundog.released import Released, Selection
from sundog.select.prices import Option, dependence

SCORES = 0.05
"""The part of what is kept for wider tables that their scores take."""
EXACT = 1e-4
STRONG = 0.15
LESS = 0.5
"""Where only strong structure is looked for, so much less is kept."""
HIDDEN = 1.5
"""In a table of many narrow columns, the mean count is at least so many times the noise that FOR_WIDEST of the tables' budget would leave."""
FOR_WIDEST = 0.4
MOST_CELLS = 2**14
"""Of such a table, so that its cost stays small."""
PREDICTORS = 25
"""Of one target; several share the number of tables, at most 520."""
NARROW = 3
"""Columns with at most this many cells are narrow."""
NARROW_PREDICTORS = 12
Z = 3.0
WEIGHT = 0.25
"""How much errors in a wider table count, in errors of a pair: pairs are part of many more tables."""
NOISE = 2.0
"""How many times as much noise survives as in pairs, which share more of their columns with other tables."""

Ways = tuple[tuple[str, ...], list[Option]]


def candidates(workload: Sequence[Query], released: Released, *, cells: int, rho: float) -> tuple[Marginal, ...]:
    """The wider tables to score, on at most this many cells per column; `rho` is the budget of all tables."""
    axes, strengths = _axes(workload, released, cells=cells), _strengths(released)
    targets = [target for target in released.schema.targets if target in axes]
    noise = gaussian_stddev(workload[0], FOR_WIDEST * rho, unit=released.guarantee.unit)
    most = min(released.rows / (HIDDEN * noise), MOST_CELLS)
    found = dict.fromkeys(
        frozenset(names)
        for target in targets
        for names in _named(target, axes, strengths, targets=len(targets), most=most)
    )
    return tuple(Marginal(tuple(axes[name] for name in axes if name in names)) for names in found)


def kept(tables: int, example: Query, *, unit: PrivacyUnit, rows: float, rho: float, share: float) -> float:
    """What is kept of the tables' budget for so many candidates: `share` where pairs will be nearly exact, less, or nothing."""
    if not (tables and share):
        return 0.0
    if exact_pairs(example, unit=unit, rows=rows, rho=rho):
        return share * rho
    noise = float(block_l1(example, unit)) * math.sqrt(tables / (2 * SCORES * LESS * share * rho))
    return LESS * share * rho if Z * noise <= STRONG * rows else 0.0


def exact_pairs(example: Query, *, unit: PrivacyUnit, rows: float, rho: float) -> bool:
    """Whether this budget makes pairs nearly exact."""
    return gaussian_stddev(example, rho, unit=unit) <= EXACT * rows


def _axes(workload: Sequence[Query], released: Released, *, cells: int) -> dict[str, Axis]:
    """The axis of every column of the workload, coarsened; columns of one cell tell nothing."""
    leaves, finest = leaves_of(released), dict[str, Axis]()
    for axis in (axis for query in workload if isinstance(query, Marginal) for axis in query.axes):
        finest[axis.column] = max(finest.get(axis.column, axis), axis, key=lambda each: each.size)
    coarse = {
        name: coarsened(axis, leaves[name].shares(axis), column=leaves[name].column, most=cells)
        for name, axis in finest.items()
    }
    return {name: coarse[name] for name in released.schema.names if name in coarse and coarse[name].size > 1}


def _strengths(released: Released) -> dict[frozenset[str], float]:
    """How far each pair is from independence, by its noisy score at the coarsest resolution: a pair's last candidate."""
    scores = released.scores[0]
    return {frozenset(q.columns): float(value) for q, value in zip(scores.candidates, scores.values, strict=True)}


def _named(
    target: str, axes: Mapping[str, Axis], strengths: Mapping[frozenset[str], float], *, targets: int, most: float
) -> Iterator[tuple[str, ...]]:
    """The columns of a target's candidates; a pair of columns that is part of a table of four needs none of its own."""
    others = [name for name in axes if name != target]
    others.sort(key=lambda name: -strengths.get(frozenset((name, target)), 0.0))
    all_narrow = [name for name in others if axes[name].size <= NARROW]
    narrow = all_narrow[: int(NARROW_PREDICTORS / targets ** (1 / 3))]
    threes = list(combinations(narrow, 3)) if axes[target].size <= NARROW else []
    inside = {frozenset(pair) for three in threes for pair in combinations(three, 2)}
    pairs = combinations(others[: int(PREDICTORS / math.sqrt(targets))], 2)
    yield from ((*three, target) for three in threes)
    yield from ((*pair, target) for pair in pairs if frozenset(pair) not in inside)
    widest = _widest([target, *all_narrow], axes, most=most)
    if len(widest) > 4:
        yield widest


def _widest(names: Sequence[str], axes: Mapping[str, Axis], *, most: float) -> tuple[str, ...]:
    """The first of these columns, as many as have at most this many cells together."""
    cells = np.cumprod([float(axes[name].size) for name in names])
    return tuple(names[: int((cells <= most).sum())])


def scoring(tables: Sequence[Marginal], released: Released) -> Selection:
    """The scores of candidates against what their pairs say."""
    known = pool(released, leaves_of(released)).known
    return Selection(tuple(tables), tuple(np.rint(known.expected(table)).astype(np.int64) for table in tables))


def measured_pairs(released: Released) -> Iterator[Ways]:
    """Every measured pair, to be measured once more; what was spent on it is told by its noise."""
    for m in without_repeats(released.measurements):
        if isinstance(m.query, Marginal) and len(m.query.columns) == 2:
            spent = 0.5 * (gaussian_stddev(m.query, 0.5, unit=released.guarantee.unit) / m.stddev) ** 2
            yield m.query.columns, [Option(0.0, m.query, spent)]


def spent_on_pairs(released: Released) -> float:
    """The rho that measured pairs took, by their noise."""
    return sum(way.spent for _, ways in measured_pairs(released) for way in ways)


def options(released: Released, *, least: float) -> Iterator[Ways]:
    """Every scored wider table that shows at least so many rows: leave it out, or measure it."""
    scores = released.scores[-1]
    tables = [query for query in scores.candidates if isinstance(query, Marginal) and len(query.columns) > 2]
    if not tables:
        return
    known = pool(released, leaves_of(released)).known
    seen = {
        query: dependence(max(float(value) - Z * scores.stddev, 0.0), known.expected(query))
        for query, value in zip(tables, scores.values, strict=True)
    }
    for query, shown in seen.items():
        parts = (other for part, other in seen.items() if set(part.columns) < set(query.columns))
        beyond = math.sqrt(max(shown**2 - max(parts, default=0.0) ** 2, 0.0))
        if beyond >= least:
            yield query.columns, [Option(beyond), Option(0.0, query, noise=NOISE * known.noise(query))]
