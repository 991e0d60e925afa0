"""Bins that follow a released one-way measurement, and values inside them. Post-processing: it uses released values only.

First every column is measured alone, on fine public cells (its leaves). Tables of several columns then use few cells
that matter: a leaf that is heavy stands alone, the others are joined in order to about equal mass, labels too rare to be
distinguished from noise are merged (under their parents where these are declared), missing stands alone. A synthetic cell is turned into a value by the leaves inside it:
cell -> leaf by the leaves' proportions (systematically) -> uniform on the leaf's grid points.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.declare import Range, check_declared
from sundog.domain import Categorical, Column
from sundog.domain.axis import Axis, cells_in_order
from sundog.estimate.families import families
from sundog.estimate.hierarchy import estimate_leaves
from sundog.estimate.repeats import as_one
from sundog.queries import Marginal, Query
from sundog.queries.marginal import one_way_axis
from sundog.random.draws import at_positions, draw_within
from sundog.random.keys import Key, split, uniforms
from sundog.released import Measurement, Released

HEAVY = 0.8
"""A numeric leaf stands alone from this share of an equal-mass bin on."""
SLIVER = 0.25
"""What is left over before a heavy leaf joins the bin before it, if lighter than this share of a bin."""
TYPICAL = 0.0015
"""The noise in one leaf, as a share of the rows, from which on bins may be finer: that of 40,000 rows at epsilon 1."""
NOISE = 3.0
"""A label is distinguished from noise from this many standard deviations on (as in MST)."""
FEW_ROWS = 0.5
"""Labels that stand apart on a coarser axis hold this share of the rows at least; otherwise labels are joined in runs."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The finest that is known of one column: cells that are runs of codes, their proportions, and the noise in them."""

    column: Column
    axis: Axis
    proportions: Float[np.ndarray, " leaves"]
    stddev: float = 0.0

    def cells(self, axis: Axis) -> Int[np.ndarray, " leaves"]:
        """The cell of a coarser axis in which each leaf lies."""
        return self.axis.parents(axis)

    def within(self, axis: Axis) -> "Leaves":
        """Leaves of which none crosses a border of the axis; what is cut is divided by its number of codes."""
        if self.axis.refines(axis):
            return self
        return _divided(self, self.axis.refine(axis) if axis.groups is None else Axis.whole(self.column))

    def shares(self, axis: Axis) -> Float[np.ndarray, " cells"]:
        """The proportions of a coarser axis's cells."""
        fine = self.within(axis)
        return np.bincount(fine.cells(axis), weights=fine.proportions, minlength=axis.size)

    def decode(
        self,
        key: Key,
        axis: Axis,
        *,
        cells: Int[np.ndarray, " rows"],
        positions: Float[np.ndarray, " rows"] | None = None,
    ) -> Int[np.ndarray, " rows"]:
        """Codes for cells of an axis: anywhere inside a cell by its leaves, or at relative positions in [0, 1)."""
        leaf_key, inside_key = split(key, 2)
        fine = self.within(axis)
        places = fine.cells(axis)
        order = np.argsort(places, kind="stable")
        weights, sizes = fine.proportions[order], np.bincount(places, minlength=axis.size)
        if positions is None:
            drawn = draw_within(leaf_key, cells, weights=weights, sizes=sizes)
            return fine.axis.decode(order[drawn], uniforms(inside_key, len(cells)))
        drawn, inside = at_positions(cells, positions, weights=weights, sizes=sizes)
        return fine.axis.decode(order[drawn], inside)


def leaves_of(released: Released) -> dict[str, Leaves]:
    """Every column's leaves: the estimate from its one-way measurements on all levels; uniform where there is none."""
    own = tuple(m for m in released.measurements if one_way_axis(m.query) is not None)
    return dict(_leaves_of(released.schema.columns, own, float(released.rows) if own else 1.0))


@lru_cache(maxsize=4)
def _leaves_of(columns: tuple[Column, ...], own: tuple[Measurement, ...], rows: float) -> Mapping[str, Leaves]:
    """Kept, since every step of a run asks for them and a wide table has many columns."""
    measured: dict[str, list[Measurement]] = {}
    for measurement in own:
        measured.setdefault(measurement.query.columns[0], []).append(measurement)
    return {
        column.name: leaves_from(column, measured[column.name], rows=rows)
        if column.name in measured
        else uniform_leaves(column)
        for column in columns
    }


def uniform_leaves(column: Column) -> Leaves:
    """Every code equally likely."""
    axis = Axis.of(column)
    return Leaves(column, axis, axis.widths / axis.codes)


def leaves_from(column: Column, measurements: list[Measurement], *, rows: float) -> Leaves:
    """One column's leaves from its one-way measurements; of those not on one tree, only the finest one's count."""
    levels = nested(measurements)
    axis, counts = estimate_leaves(levels, rows=rows)
    stddev = levels[0].stddev / rows
    if axis.groups is None:
        return Leaves(column, axis, counts / rows, stddev)
    divided = (counts / rows / axis.widths)[axis.cell_of]  # merged labels: equally
    return Leaves(column, Axis.whole(column), divided, stddev)


def nested(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The finest measurement and then those on coarser axes of the same tree; those on equal axes are pooled."""
    same: dict[Axis, list[Measurement]] = {}
    for measurement in measurements:
        same.setdefault(measurement.query.axes[0], []).append(measurement)  # type: ignore[attr-defined]
    axes = sorted(same, key=lambda axis: -axis.size)
    chain = [axes[0]]
    for axis in axes[1:]:
        runs = chain[-1].groups is None and axis.groups is None
        if runs and chain[-1].refines(axis):
            chain.append(axis)
    return [as_one(same[axis]) for axis in chain]


def _divided(leaves: Leaves, finer: Axis) -> Leaves:
    place = finer.parents(leaves.axis)
    share = finer.widths / leaves.axis.widths[place]
    return Leaves(leaves.column, finer, leaves.proportions[place] * share, leaves.stddev)


@dataclass(frozen=True)
class Bins:
    """How coarse: numbers in bins of about equal mass, rare labels merged, in runs of that mass."""

    most: Annotated[int, "About this many bins per numeric column.", Range(2, 1000)] = 16
    rare: Annotated[float, "Labels with a smaller share of the rows are merged.", Range(0, 1)] = 0.005
    finest: Annotated[
        float,
        "Where the noise is small, bins are finer by the square root of that, at most this many times.",
        Range(1, 8),
    ] = 1.0
    taper: Annotated[
        float,
        "Below 1, bins in the tails are narrower and those in the middle wider; at 0 all are of equal width.",
        Range(0, 1),
    ] = 1.0

    def __post_init__(self) -> None:
        check_declared(self)

    def axes(self, released: Released) -> dict[str, Axis]:
        """The derived axis of every column that was measured alone."""
        return {name: self.axis(leaves) for name, leaves in leaves_of(released).items() if leaves.stddev > 0}

    def rebin(self, workload: tuple[Query, ...], released: Released) -> tuple[Query, ...]:
        """The workload with derived axes in its marginals of several columns; other queries stay."""
        axes = self.axes(released)
        return tuple(_rebinned(query, axes) for query in workload)

    def axis(self, leaves: Leaves) -> Axis:
        """The axis of one column."""
        if isinstance(leaves.column, Categorical) and not leaves.column.ordered:
            return self._labels(leaves)
        return self._runs(leaves)

    def _finer(self, leaves: Leaves) -> float:
        """How much finer than by default the noise allows to be."""
        return min(max(math.sqrt(TYPICAL / max(leaves.stddev, 1e-12)), 1.0), self.finest)

    def _labels(self, leaves: Leaves) -> Axis:
        column, share = leaves.column, leaves.proportions
        rare = share < max(self.rare / self._finer(leaves), NOISE * leaves.stddev)
        if column.missing is not None:
            rare[column.missing] = False
        if rare.sum() < 2:
            return Axis.whole(column)
        named = self._named(leaves, rare)
        light = np.where(rare & (named < 0), share, 0.0)
        rest = float(light.sum())
        number = max(round(rest / max(1 / (self.most * self._finer(leaves)), NOISE * leaves.stddev)), 1)
        places = np.floor((np.cumsum(light) - light / 2) / max(rest, 1e-12) * number * (1 - 1e-9))
        alone = np.cumsum(~rare) - 1
        merged = np.where(rare, 2 * len(share) + places, alone)
        _, groups = np.unique(np.where(named >= 0, len(share) + named, merged), return_inverse=True)
        if groups.max() + 1 == len(share):
            return Axis.whole(column)
        return Axis.grouped(column, [int(group) for group in groups])

    def _named(self, leaves: Leaves, rare: Bool[np.ndarray, " codes"]) -> Int[np.ndarray, " codes"]:
        """The number of the parent under which a rare label stands, -1 where it stands under none."""
        column, found = leaves.column, np.full(len(rare), -1)
        if isinstance(column, Categorical) and column.parents:
            least = max(self.rare / self._finer(leaves), NOISE * leaves.stddev)
            for number, codes in enumerate(families(column, leaves.proportions, rare=rare, least=least)):
                found[codes] = number
        return found

    def _runs(self, leaves: Leaves) -> Axis:
        """Equal along the leaves that are light, by mass to the power `taper`; a bin also ends beside a heavy one."""
        share, finer = leaves.proportions, self._finer(leaves)
        most, rare = round(self.most * finer), max(self.rare / finer, NOISE * leaves.stddev)
        alone = share > (HEAVY / most if len(share) > 1.5 * most else rare)
        if leaves.column.missing is not None:
            alone[-1] = True
        rest = float(share[~alone].sum())
        light = np.where(alone, 0.0, share**self.taper)
        step = float(light.sum()) / max(round(rest * most), 2)
        starts = _filled(light, alone, step)
        masses = np.add.reduceat(light, starts)
        sliver = [False] + [
            bool(masses[k] < SLIVER * step and not alone[starts[k]] and not alone[starts[k] - 1])
            for k in range(1, len(starts))
        ]
        kept = [start for start, thin in zip(starts, sliver, strict=True) if not thin]
        return Axis.cut(leaves.column, [int(leaves.axis.firsts[leaf]) for leaf in kept])


def _filled(light: Float[np.ndarray, " leaves"], alone: Bool[np.ndarray, " leaves"], step: float) -> list[int]:
    """Where bins of `step` of what is light start; leaves that stand alone start their own, and so does what follows."""
    bin_of = np.floor((np.cumsum(light) - light / 2) / max(step, 1e-12) * (1 - 1e-9))
    new = (np.diff(bin_of) > 0) | alone[1:] | alone[:-1]
    return [0, *(int(leaf) + 1 for leaf in np.flatnonzero(new))]


def coarsened(axis: Axis, shares: Float[np.ndarray, " cells"], *, column: Column, most: int) -> Axis:
    """A second, coarser axis made of an axis's own cells: at most `most`, by mass; missing stays apart in numbers."""
    if axis.size <= most:
        return axis
    if not cells_in_order(axis, column):
        order = np.argsort(-shares, kind="stable")
        merged = np.full(axis.size, most - 1)
        merged[order[: most - 1]] = np.arange(most - 1)
        return Axis.grouped(column, [int(cell) for cell in merged[axis.cell_of]])
    firsts = axis.firsts[np.flatnonzero(np.diff(_evenly(shares, most), prepend=-1))]
    return Axis.cut(column, [int(first) for first in firsts])


def coarse_for_tables(axis: Axis, shares: Float[np.ndarray, " cells"], *, column: Column, most: int) -> Axis:
    """The coarser axis of tables of pairs: `coarsened`, but long lists of labels of which few are frequent in runs.

    Six cells that hold the five most frequent of a hundred occupations, and all others together, tell nothing of most rows. Labels that
    are neighbours in the list (of codes, of a hierarchy) are often alike.
    """
    apart = np.sort(shares)[::-1][: most - 1].sum() >= FEW_ROWS * shares.sum()
    if axis.size <= most or cells_in_order(axis, column) or apart:
        return coarsened(axis, shares, column=column, most=most)
    order = np.argsort(axis.firsts, kind="stable")
    runs = np.empty(axis.size, dtype=np.int64)
    runs[order] = np.unique(_evenly(shares[order], most), return_inverse=True)[1]
    return Axis.grouped(column, [int(run) for run in runs[axis.cell_of]])


def _evenly(shares: Float[np.ndarray, " cells"], most: int) -> Int[np.ndarray, " cells"]:
    """Which of `most` parts of equal mass each cell's middle lies in."""
    middle = (np.cumsum(shares) - shares / 2) / max(float(shares.sum()), 1e-300)
    return np.minimum((middle * most).astype(np.int64), most - 1)


def _rebinned(query: Query, axes: Mapping[str, Axis]) -> Query:
    if not isinstance(query, Marginal) or len(query.axes) == 1:
        return query
    return Marginal(tuple(axes.get(axis.column, axis) for axis in query.axes))
