"""Answers made ahead of the page: every column, and every measured pair, with the intervals of the answer machinery.

Counts by the cells of one or two columns, shares within the other column's cells, and means of numbers by the other column's
cells: as `sundog answer` gives them, on at most CELLS cells per side of a pair. What was not measured is left to the page,
which counts synthetic rows and says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sundog.domain import Column, Numeric
from sundog.domain.axis import Axis
from sundog.estimate.bins import coarsened
from sundog.estimate.evidence import Evidence
from sundog.estimate.question import Found, Question, Statistic
from sundog.estimate.questions import alone, released_answer

ALONE = 400
"""This many cells of one column are shown."""
CELLS = 24
"""This many per side of a pair."""
COARSER = (CELLS, 12, 6)
PAIRS = 200
PAIR_CELLS = 60_000
"""This many pairs, and this many cells of pairs, are made ahead."""
PAIR_WORK, WORK = 2_000_000, 40_000_000
"""Shown cells times measured ones, of a pair and of all: about three seconds. Fine tables are shown in fewer cells."""

Names = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Answers by the cells of some axes; `shares` and `means` of a pair are by the first axis and by the second."""

    axes: tuple[Axis, ...]
    counts: Found
    shares: tuple[Found, ...] = ()
    means: tuple[Found | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Tables:
    """All of it, how every column is cut where it stands alone and beside others, and which measured pairs were left out."""

    alone: dict[str, Axis]
    beside: dict[str, Axis]
    columns: dict[str, Table]
    pairs: dict[Names, Table]
    left_out: tuple[Names, ...]


def tables_of(evidence: Evidence, *, targets: Names) -> Tables:
    """Every column and every measured pair; those with targets first, then those with least noise, where not all fit."""
    names = evidence.schema.names
    single = {name: _cut(evidence, alone(evidence, name), ALONE) for name in names}
    beside = {name: _cut(evidence, axis, CELLS) for name, axis in single.items()}
    made = {name: _column(evidence, axis) for name, axis in single.items()}
    measured = sorted(_pairs(evidence, targets), key=lambda item: item[0])
    pairs: dict[Names, Table] = {}
    left, cells, work = [], 0, 0
    for _, pair, axes, size in measured:
        cells, work = cells + axes[0].size * axes[1].size, work + axes[0].size * axes[1].size * size
        if len(pairs) < PAIRS and cells <= PAIR_CELLS and work <= WORK:
            pairs[pair] = _pair(evidence, axes)
        else:
            left.append(pair)
    return Tables(single, beside, {name: each for name, each in made.items() if each}, pairs, tuple(left))


def _pairs(
    evidence: Evidence, targets: Names
) -> Iterator[tuple[tuple[bool, float, int], Names, tuple[Axis, Axis], int]]:
    """The measured pairs: in which order they are made, how they are cut, and how many cells were measured."""
    for number, pair in enumerate(combinations(evidence.schema.names, 2)):
        table = evidence.pooled(pair)
        if table is not None:
            size = table.counts.size
            most = next((most for most in COARSER if most**2 * size <= PAIR_WORK), COARSER[-1])
            first, second = (_cut(evidence, axis, most) for axis in table.axes)
            yield (not set(pair) & set(targets), table.variance * size, number), pair, (first, second), size


def _cut(evidence: Evidence, axis: Axis, most: int) -> Axis:
    """The axis with at most this many cells, the largest ones kept apart."""
    if axis.size <= most:
        return axis
    shares = np.maximum(evidence.margin(axis.column).onto(axis), 0.0)
    return coarsened(axis, shares, column=evidence.schema.column(axis.column), most=most)


def _asked(evidence: Evidence, by: tuple[Axis, ...], statistic: Statistic) -> Found | None:
    question = Question(by=tuple(axis.column for axis in by), statistics=(statistic,))
    return released_answer(evidence, question, statistic, by=by)


def _column(evidence: Evidence, axis: Axis) -> Table | None:
    counts = _asked(evidence, (axis,), Statistic("count"))
    if counts is None:
        return None
    column = evidence.schema.column(axis.column)
    return Table((axis,), counts, means=(_mean(evidence, (), column),))


def _pair(evidence: Evidence, axes: tuple[Axis, Axis]) -> Table:
    counts = _asked(evidence, axes, Statistic("count"))
    within = [
        (_asked(evidence, (one,), Statistic("share", other.column, cells=other)), _other_mean(evidence, one, other))
        for one, other in (axes, axes[::-1])
    ]
    shares = tuple(share for share, _ in within if share is not None)
    if counts is None or len(shares) < 2:
        raise ValueError("a measured pair has answers")
    return Table(axes, counts, shares, tuple(mean for _, mean in within))


def _other_mean(evidence: Evidence, one: Axis, other: Axis) -> Found | None:
    return _mean(evidence, (one,), evidence.schema.column(other.column))


def _mean(evidence: Evidence, by: tuple[Axis, ...], column: Column) -> Found | None:
    if not isinstance(column, Numeric) or column.kind not in ("integer", "number"):
        return None
    return _asked(evidence, by, Statistic("mean", column.name))
