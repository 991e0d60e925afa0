"""Single columns among the measures: all that was ever measured of a column, as one estimate to match.

A column is counted at several resolutions, and the table's own making has often counted it before, alone and in tables with
others. Raw counts of rare labels and thin cells are mostly noise, and rows bent to them would be worse than they were. So what is
matched is the best estimate from all of it (sundog.estimate.hierarchy, sundog.estimate.pairs.margins): as fine as it is where it is
short, else in bins (sundog.estimate.bins). Free: released values only.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.estimate.bins import Bins, Leaves, coarsened, leaves_from
from sundog.estimate.nonnegative import nonnegative
from sundog.estimate.pairs.margins import Counts, Sums, pooled_column, table_sums
from sundog.estimate.repeats import without_repeats
from sundog.queries import Marginal
from sundog.queries.marginal import one_way_axis
from sundog.released import Measurement

IN_ALL = 400
"""This many cells in all columns together: what the denoising still solves exactly (adjust/denoise.py)."""
LEAST = 4
"""Every column may have this many all the same."""
MOST_NUMBERS = 1 << 27
"""Rows times the cells of columns that are only held, at most: a gigabyte."""
RARE = 0.001
"""Labels that are rarer may be matched as one, in a long column."""


def column_estimates(
    measurements: Sequence[Measurement],
    schema: Schema,
    *,
    known: Sequence[Measurement] = (),
    rows: float,
    in_all: int = IN_ALL,
) -> list[Measurement]:
    """The measurements, those of single columns replaced by one estimate a column.

    Measurements of the same queries that are `known` from elsewhere add to it.
    """
    asked = _by_column(measurements)
    others = [m for m in known if not any(m is each for each in measurements)]
    alone, said = _by_column(others), table_sums(_tables(others), rows)
    own = {name: [*levels, *_alike(levels, alone.get(name, []))] for name, levels in asked.items()}
    leaves = {name: leaves_from(schema.column(name), levels, rows=rows) for name, levels in own.items()}
    most = _most(leaves, in_all)
    made = [m for m in measurements if one_way_axis(m.query) is None]
    for name, levels in asked.items():
        axis = _axis(leaves[name], most)
        counts, stddev = leaves[name].shares(axis) * rows, leaves[name].stddev * rows * _joined(levels, axis)
        if name in said:
            counts, better = _pooled(leaves[name], own[name], said[name], axis=axis, rows=rows)
            stddev = min(stddev, better)
        values = np.rint(counts).astype(np.int64)
        made.append(replace(levels[0], query=Marginal((axis,)), values=values, stddev=stddev))
    return made


def held_columns(
    asked: Sequence[Measurement], schema: Schema, *, known: Sequence[Measurement], rows: float, synthetic: int
) -> list[Measurement]:
    """What is known of every single column that is not asked about: rows that are adjusted should not leave it.

    The more synthetic rows there are, the coarser; nothing where even a few cells a column would be too many numbers.
    """
    names, room = _by_column(asked), MOST_NUMBERS // synthetic
    alone = {name: levels for name, levels in _by_column(known).items() if name not in names}
    if LEAST * len(alone) > room:
        return []
    levels = [m for each in alone.values() for m in each]
    return column_estimates(levels, schema, known=known, rows=rows, in_all=min(IN_ALL, room))


def _pooled(
    leaves: Leaves, own: Sequence[Measurement], said: Sequence[Sums], *, axis: Axis, rows: float
) -> tuple[Counts, float]:
    """The counts of a column's bins from its own measurements and the sums of tables, and the noise that they have on average."""
    atoms = axis.refine(*(coarse for coarse, _, _ in said))
    counts, spread = pooled_column(leaves, own, said, axis=atoms, rows=rows)
    inside = atoms.parents(axis)
    adding = (inside == np.arange(axis.size)[:, None]).astype(float)
    held = nonnegative(adding @ counts, rows)
    return held, math.sqrt(float(np.mean(np.diag(adding @ spread @ adding.T))))


def _tables(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Those of several columns."""
    tables = [m for m in without_repeats(measurements) if isinstance(m.query, Marginal)]
    return [m for m in tables if len(m.query.columns) > 1]


def _alike(levels: Sequence[Measurement], known: Sequence[Measurement]) -> list[Measurement]:
    """The known measurements that ask the same as one of these."""
    return [m for m in known if any(m.query == level.query for level in levels)]


def _joined(levels: Sequence[Measurement], axis: Axis) -> float:
    """How much larger the noise is where cells were joined that only one level has counted."""
    return math.sqrt(levels[0].query.size / axis.size) if len(levels) == 1 else 1.0


def _most(leaves: Mapping[str, Leaves], in_all: int) -> int:
    """How many cells a column may have, so that all have at most `in_all`: short columns leave their rest to long ones."""
    sizes = [each.axis.size for each in leaves.values()]
    fits = (most for most in range(in_all, LEAST, -1) if sum(min(size, most) for size in sizes) <= in_all)
    return next(fits, LEAST)


def _axis(leaves: Leaves, most: int) -> Axis:
    """The leaves themselves, or bins that cut tails more finely than by mass."""
    if leaves.axis.size <= most:
        return leaves.axis
    axis = Bins(most=most, rare=RARE, taper=0.5).axis(leaves)
    return coarsened(axis, leaves.shares(axis), column=leaves.column, most=most)


def _by_column(measurements: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = {}
    for measurement in measurements:
        axis = one_way_axis(measurement.query)
        if axis is not None:
            found.setdefault(axis.column, []).append(measurement)
    return found
