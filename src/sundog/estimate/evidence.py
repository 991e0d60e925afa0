"""Evidence: one weighted least-squares estimate over all marginals that were released, and the variance of any sum of it.

A table of counts over columns S is a sum of effects, one per subset T of S (analysis of variance): the number of rows, each
column's deviations, the interactions of each pair, and so on. The noise in a measured table is independent and equal in
all cells, so its parts in different effects are independent, and each effect is estimated from the tables that hold it:

- the number of rows as everywhere (`Released.rows`);
- a column's deviations by least squares over all tables with that column (sundog.estimate.margin);
- an interaction of T from the tables over T (wider ones summed), pooled by inverse variance where they are cut alike; of
  several cuts the one with the least noise that is fine enough is taken.

A linear function Q of the table over S is answered by carrying it down: its part that is centred along every axis meets the
interactions of S, what is left is a function of the tables over the subsets,

    Q - centred(Q) = sum over T < S of (-1)^(|S| - |T| + 1) mean(Q over the axes not in T),

each on the cells of T's own estimate, down to the number of rows. Contributions of different tables are independent, so
variances add up. Where all tables cut columns alike this is the least-squares solution of sundog.estimate.consistency;
where they do not, it is still unbiased and its variance is exact. All answers agree: cells add up to margins, margins to
the number of rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.estimate.answers import ROUNDING, table_parts
from sundog.estimate.bins import Leaves, leaves_of
from sundog.estimate.margin import Margin
from sundog.queries import Marginal
from sundog.released import Released

Names = tuple[str, ...]
Functions = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class Table:
    """Noisy counts over some axes, in the schema's order of columns; `variance` is that of each cell."""

    axes: tuple[Axis, ...]
    counts: Float[np.ndarray, "..."]
    variance: float
    own: bool = True
    """Whether it was measured over just these columns, not summed from a wider table."""

    @property
    def columns(self) -> Names:
        """The columns that it is about."""
        return tuple(axis.column for axis in self.axes)

    def onto(self, columns: Names) -> "Table":
        """Summed over all other columns."""
        kept = [k for k, name in enumerate(self.columns) if name in columns]
        others = tuple(k for k in range(len(self.axes)) if k not in kept)
        cells = prod(self.axes[k].size for k in others)
        summed = self.counts.sum(axis=others)
        return Table(tuple(self.axes[k] for k in kept), summed, self.variance * cells, self.own and not others)


class Evidence:
    """All released marginals (also those inside trees, and those that rows are adjusted to)."""

    def __init__(self, released: Released) -> None:
        self.schema = released.schema
        self.rows = float(released.rows)
        self.rows_variance = 0.0 if released.public_rows is not None else released.rows_stddev**2 + ROUNDING
        self._released = released
        self._pooled: dict[tuple[Names, tuple[Axis, ...] | None], Table | None] = {}
        self._margins: dict[str, Margin] = {}

    @cached_property
    def tables(self) -> list[Table]:
        """The marginals as they were measured."""
        every = (*self._released.measurements, *self._released.adjustments)
        return [
            _table(part, values, measurement.stddev**2 + ROUNDING, self.schema.names)
            for measurement in every
            for part, values in table_parts(measurement)
        ]

    @cached_property
    def leaves(self) -> dict[str, Leaves]:
        """Every column's own measurement, with the noise taken out."""
        return leaves_of(self._released)

    def pooled(self, columns: Names, finer: tuple[Axis, ...] | None = None) -> Table | None:
        """What was measured over these columns, cut at least as finely as asked for, with the least noise; None if nothing."""
        if (columns, finer) not in self._pooled:
            self._pooled[columns, finer] = self._pool(columns, finer)
        return self._pooled[columns, finer]

    def _pool(self, columns: Names, finer: tuple[Axis, ...] | None) -> Table | None:
        groups: dict[tuple[Axis, ...], list[Table]] = {}
        for table in self.tables:
            if set(columns) <= set(table.columns):
                summed = table.onto(columns)
                if finer is None or all(a.refines(b) for a, b in zip(summed.axes, finer, strict=True)):
                    groups.setdefault(summed.axes, []).append(summed)
        found = [_mean(group) for group in groups.values()]
        return min(found, key=lambda table: table.variance * table.counts.size, default=None)

    def margin(self, column: str) -> Margin:
        """What all tables with a column say of it; its even distribution where there is none."""
        if column not in self._margins:
            own = [table.onto((column,)) for table in self.tables if column in table.columns]
            self._margins[column] = Margin.of(
                self.schema.column(column),
                [(table.axes[0], table.counts, table.variance) for table in own],
                rows=self.rows,
            )
        return self._margins[column]

    def table(self, columns: Names, finer: tuple[Axis, ...] | None = None) -> Table:
        """The estimated counts over some measured columns; cells may be negative."""
        measured = self._need(columns, finer)
        counts = _centred(measured.counts[None])[0]
        for kept in _subsets(columns):
            sign = (-1) ** (len(columns) - len(kept) + 1)
            counts = counts + sign * self._spread(kept, measured.axes)
        return Table(measured.axes, counts, measured.variance, measured.own)

    def _spread(self, kept: Names, axes: tuple[Axis, ...]) -> Float[np.ndarray, "..."]:
        """The table over a subset of the axes' columns, spread evenly over the other axes."""
        own = tuple(axis for axis in axes if axis.column in kept)
        if not kept:
            counts = np.array(self.rows)
        elif len(kept) == 1:
            counts = self.margin(kept[0]).onto(own[0])
        else:
            found = self.table(kept, own)
            counts = _pushed(found.counts[None], found.axes, own)[0]
        others = prod(axis.size for axis in axes if axis.column not in kept)
        return np.expand_dims(counts, tuple(k for k, axis in enumerate(axes) if axis.column not in kept)) / others

    def _need(self, columns: Names, finer: tuple[Axis, ...] | None) -> Table:
        found = self.pooled(columns, finer)
        if found is None:
            raise ValueError("this table was not measured")
        return found

    def answer(
        self, functions: Mapping[tuple[Axis, ...], Functions]
    ) -> tuple[Float[np.ndarray, " functions"], Float[np.ndarray, " functions"]]:
        """Values and variances of sums: for every tuple of axes (in the schema's order) weights of the cells over them.

        The weights given for several tuples of axes are added up, function by function.
        """
        count = len(next(iter(functions.values())))
        values, variances, constant = np.zeros(count), np.zeros(count), np.zeros(count)
        waiting: dict[tuple[Axis, ...], Functions] = dict(functions)
        singles: dict[str, Functions] = {}
        while waiting:
            size = max(len(axes) for axes in waiting)
            for axes in [axes for axes in waiting if len(axes) == size]:
                weights = waiting.pop(axes)
                if size == 0:
                    constant += weights
                elif size == 1:
                    lifted = self.margin(axes[0].column).lifted(weights, axes[0])
                    singles[axes[0].column] = singles.get(axes[0].column, 0.0) + lifted
                else:
                    value, variance = self._interaction(axes, weights, waiting=waiting)
                    values, variances = values + value, variances + variance
        for column, weights in singles.items():
            value, variance, coefficient = self.margin(column).answer(weights)
            values, variances, constant = values + value, variances + variance, constant + coefficient
        return values + constant * self.rows, variances + constant**2 * self.rows_variance

    def _interaction(
        self, axes: tuple[Axis, ...], weights: Functions, *, waiting: dict[tuple[Axis, ...], Functions]
    ) -> tuple[Float[np.ndarray, " functions"], Float[np.ndarray, " functions"]]:
        """What the interactions contribute; the rest waits as functions of the tables over fewer columns."""
        columns = tuple(axis.column for axis in axes)
        table = self._need(columns, axes)
        weights = _pulled(weights, axes, table.axes)
        centred = _centred(weights)
        for kept in _subsets(columns):
            own = tuple(axis for axis in table.axes if axis.column in kept)
            others = tuple(k + 1 for k, axis in enumerate(table.axes) if axis.column not in kept)
            part = (-1) ** (len(columns) - len(kept) + 1) * weights.mean(axis=others)
            waiting[own] = waiting[own] + part if own in waiting else part
        flat = centred.reshape(len(weights), -1)
        return flat @ table.counts.ravel(), table.variance * np.einsum("fc,fc->f", flat, flat)


def _table(query: Marginal, values: Float[np.ndarray, "..."], variance: float, names: Sequence[str]) -> Table:
    order = sorted(range(len(query.axes)), key=lambda k: names.index(query.axes[k].column))
    counts = np.asarray(values, dtype=np.float64).reshape(query.shape).transpose(order)
    return Table(tuple(query.axes[k] for k in order), counts, variance)


def _mean(group: Sequence[Table]) -> Table:
    """Tables on the same axes as one, weighted by precision."""
    precision = sum(1 / table.variance for table in group)
    counts = sum(table.counts / table.variance for table in group) / precision
    return Table(group[0].axes, np.asarray(counts), 1 / precision, any(table.own for table in group))


def _subsets(columns: Names) -> list[Names]:
    """All proper subsets, the empty one included."""
    return [kept for size in range(len(columns)) for kept in combinations(columns, size)]


def _centred(weights: Functions) -> Functions:
    """Without the mean along every axis but the first."""
    for axis in range(1, weights.ndim):
        weights = weights - weights.mean(axis=axis, keepdims=True)
    return weights


def _pulled(weights: Functions, coarse: tuple[Axis, ...], fine: tuple[Axis, ...]) -> Functions:
    """Weights of coarse cells as weights of the fine cells inside them."""
    for k, (to, own) in enumerate(zip(coarse, fine, strict=True)):
        if to != own:
            weights = weights.take(own.parents(to), axis=k + 1)
    return weights


def _pushed(counts: Functions, fine: tuple[Axis, ...], coarse: tuple[Axis, ...]) -> Functions:
    """Counts of fine cells added up to coarse ones."""
    for k, (own, to) in enumerate(zip(fine, coarse, strict=True)):
        if to != own:
            moved = np.moveaxis(counts, k + 1, 0)
            summed = np.zeros((to.size, *moved.shape[1:]))
            np.add.at(summed, own.parents(to), moved)
            counts = np.moveaxis(summed, 0, k + 1)
    return counts
