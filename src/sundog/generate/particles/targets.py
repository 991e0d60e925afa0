"""From noisy tables to the measures that particles are to match.

Tables are cleaned together (sundog.estimate.pairs.pool), or each signed table is projected onto probability measures by itself
(in sliced W1, on its own cells, as in the paper). They are then carried over to the grain and quantised by largest remainder. The grain of
a column is the common refinement of its axes in tables of several columns: particles live on it, so that tables that cut a
column differently can all be matched, and a column's own, finer measurement turns cells into values. A coarse cell's mass is divided among
the grain's cells as the largest table over the same columns says, else as if the columns were independent inside the cell.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves
from sundog.estimate.consistency import Estimate, consistent, estimates_of
from sundog.estimate.nonnegative import nonnegative
from sundog.estimate.pairs.pool import pool
from sundog.generate.particles.embedding import Embedding
from sundog.generate.particles.sliced_projection import largest_remainder, project
from sundog.generate.particles.slices import TargetMeasure
from sundog.queries import Marginal
from sundog.random.keys import Key, fold_in
from sundog.released import Released

Projection = Literal["together", "sliced W1", "least squares"]
UNMEASURED_BINS = 32
DIRECTIONS = 50


def estimated(
    released: Released, leaves: Mapping[str, Leaves], *, projection: Projection, agree: bool
) -> tuple[Estimate, ...]:
    """The tables to match, cleaned together, made to `agree`, or as they came; and the columns that are in none of them."""
    if projection == "together":
        pooled = pool(released, leaves)
        found = [Estimate(*table) for table in (*pooled.tables, *pooled.wider)]
    else:
        found = [each for each in (consistent(released) if agree else estimates_of(released)) if _several(each)]
    held = {name for each in found for name in each.query.columns}
    alone = [own for name, own in leaves.items() if name not in held and own.stddev > 0]
    return (*found, *(_of_column(own, rows=released.rows) for own in alone))


def _several(estimate: Estimate) -> bool:
    return len(estimate.query.axes) > 1


def _of_column(leaves: Leaves, *, rows: int) -> Estimate:
    return Estimate(Marginal((leaves.axis,)), leaves.proportions * rows, leaves.stddev * rows)


def grains(schema: Schema, queries: Sequence[Marginal]) -> tuple[Axis, ...]:
    """For every column the common refinement of its axes in these tables; equal bins where it is in none."""
    measured: dict[str, list[Axis]] = {name: [] for name in schema.names}
    for query in queries:
        for axis in query.axes:
            measured[axis.column].append(axis)
    return tuple(
        own[0].refine(*own[1:]) if (own := measured[column.name]) else Axis.of(column, UNMEASURED_BINS)
        for column in schema.columns
    )


def make_targets(
    key: Key,
    *,
    estimates: Sequence[Estimate],
    axes: tuple[Axis, ...],
    embed: Callable[[Sequence[Axis]], Embedding],
    projection: Projection,
    particles: int,
) -> tuple[TargetMeasure, ...]:
    """The quantised probability measures of all tables, on the grain."""
    own = {axis.column: (axis, one_way(estimates, axis)) for axis in axes}
    lifted: dict[int, tuple[Marginal, Float[np.ndarray, " cells"]]] = {}
    for number in sorted(range(len(estimates)), key=lambda number: -estimates[number].query.size):
        estimate = estimates[number]
        measure = _probabilities(fold_in(key, number), estimate, embed=embed, projection=projection)
        finer = [lifted[k] for k in lifted if set(estimate.query.columns) <= set(estimates[k].query.columns)]
        lifted[number] = _on_grain(estimate.query, measure, own, finer=finer)
    found = [lifted[number] for number in range(len(estimates))]
    return tuple(TargetMeasure(query, largest_remainder(measure, particles)) for query, measure in found)


def _probabilities(
    key: Key, estimate: Estimate, *, embed: Callable[[Sequence[Axis]], Embedding], projection: Projection
) -> Float[np.ndarray, " cells"]:
    if projection != "sliced W1":
        return nonnegative(estimate.counts, 1.0 if estimate.counts.sum() <= 0 else float(estimate.counts.sum()))
    embedding = embed(estimate.query.axes)
    directions = embedding.directions(key, estimate.query, count=DIRECTIONS)
    return project(estimate.counts, embedding.along(estimate.query, directions))


def one_way(estimates: Sequence[Estimate], grain: Axis) -> Float[np.ndarray, " cells"]:
    """The proportions of a column's cells by its finest table (the most precise of these), evenly inside its cells."""
    having = [(e, axis) for e in estimates for axis in e.query.axes if axis.column == grain.column]
    if not having:
        return grain.widths / grain.codes
    best, axis = min(having, key=lambda pair: (-pair[1].size, pair[0].stddev ** 2 * pair[0].query.size))
    others = tuple(k for k, own in enumerate(best.query.axes) if own != axis)
    counts = nonnegative(best.counts.reshape(best.query.shape).sum(axis=others), max(float(best.counts.sum()), 1.0))
    onto = grain.parents(axis)
    lifted = counts[onto] * _shares(np.zeros(grain.size), grain.widths, onto)
    return lifted / lifted.sum()


def _on_grain(
    query: Marginal,
    measure: Float[np.ndarray, " cells"],
    own: dict[str, tuple[Axis, Float[np.ndarray, " cells"]]],
    *,
    finer: Sequence[tuple[Marginal, Float[np.ndarray, " cells"]]],
) -> tuple[Marginal, Float[np.ndarray, " cells"]]:
    """A measure on a table's cells as one on the grain's, divided as a finer table or the single columns say."""
    grain = Marginal(tuple(own[axis.column][0] for axis in query.axes))
    if grain == query:
        return query, measure
    onto = np.zeros(grain.shape, dtype=np.intp)
    likely, width = np.ones(grain.shape), np.ones(grain.shape)
    for k, (axis, coarse) in enumerate(zip(grain.axes, query.axes, strict=True)):
        along = [-1 if k == j else 1 for j in range(onto.ndim)]
        onto = onto * coarse.size + axis.parents(coarse).reshape(along)
        likely = likely * own[axis.column][1].reshape(along)
        width = width * (axis.widths / axis.codes).reshape(along)
    if finer:
        likely = _margin(*finer[0], grain)
    return grain, measure[onto.ravel()] * _shares(likely.ravel(), width.ravel(), onto.ravel())


def _margin(
    query: Marginal, measure: Float[np.ndarray, " cells"], wanted: Marginal
) -> Float[np.ndarray, " wanted_cells"]:
    """The sub-marginal of a measure, its axes in the wanted order."""
    others = tuple(k for k, name in enumerate(query.columns) if name not in wanted.columns)
    kept = [name for name in query.columns if name in wanted.columns]
    return measure.reshape(query.shape).sum(axis=others).transpose([kept.index(name) for name in wanted.columns])


def _shares(
    proportions: Float[np.ndarray, " grain"], width: Float[np.ndarray, " grain"], onto: Int[np.ndarray, " grain"]
) -> Float[np.ndarray, " grain"]:
    """How a coarse cell's mass is divided among the grain's cells in it."""
    likely = proportions + 1e-12 * width
    return likely / np.bincount(onto, likely)[onto]
