"""Answers to questions from released measurements alone.

Counts, shares, means, sums and quantiles, of the rows that satisfy a condition, by cells of up to three columns. Intervals:

- counts and sums: the estimate and this many standard deviations either side;
- shares and means, ratios n/d of two sums: Fieller's, all r with |n - r d| <= z stddev(n - r d), within the declared bounds;
- quantiles: all values that noise does not rule out (sundog.estimate.crossing).

Cells of a table of counts are shown without negative ones: the closest such table with the same total.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import All
from sundog.errors import UserError
from sundog.estimate.asked import Asked, Ground, asked
from sundog.estimate.crossing import Rising
from sundog.estimate.evidence import Evidence, Names
from sundog.estimate.nonnegative import nonnegative
from sundog.estimate.question import Found, Numbers, Question, Statistic, bounds_of, cell_name

MOST_CELLS = 20_000
SHOWN = 40
"""A number on its own is shown in at most this many cells, where it was measured so coarsely."""
MOST_SHARES = 200
THRESHOLDS, FEWEST_THRESHOLDS = 200, 20
"""This many values are tried for a quantile among others; fewer where tables are large."""
WEIGHTS = 1 << 24
"""This many weights may be held at once."""


def by_axes(evidence: Evidence, question: Question, schema: Schema) -> tuple[Axis, ...]:
    """The cells to show of every `by` column: the finest that all statistics' tables can be added up to.

    The schema may have columns that were not measured: they are shown in equal cells.
    """
    made = []
    for name in question.by:
        if name not in evidence.schema.names:
            column = schema.column(name)
            made.append(Axis.of(column, None if column.size <= SHOWN else SHOWN))
            continue
        found = [_resolution(evidence, question.columns(s), name) for s in question.statistics]
        wide = [axis for axis in found if axis is not None]
        made.append(reduce(Axis.coarsen, wide) if wide else alone(evidence, name))
    cells = int(np.prod([axis.size for axis in made], dtype=float))
    if cells > MOST_CELLS:
        raise UserError(f"by: these columns make {cells} cells; at most {MOST_CELLS} are shown. Name fewer columns.")
    return tuple(made)


def _resolution(evidence: Evidence, columns: Names, name: str) -> Axis | None:
    """How finely a column was measured together with others; None where it was not."""
    ordered = tuple(known for known in evidence.schema.names if known in columns)
    table = evidence.pooled(ordered) if len(ordered) > 1 else None
    return None if table is None else table.axes[table.columns.index(name)]


def alone(evidence: Evidence, name: str) -> Axis:
    """The cells of a column on its own: labels, small grids, or the measured bins that can be shown."""
    atoms = evidence.margin(name).atoms
    if atoms.size <= SHOWN or not isinstance(evidence.schema.column(name), Numeric):
        return atoms
    axes = [table.axes[0] for table in evidence.tables if table.columns == (name,)]
    few = [axis for axis in axes if axis.size <= SHOWN]
    return max(few, key=lambda axis: axis.size) if few else min([*axes, atoms], key=lambda axis: axis.size)


def released_answer(
    evidence: Evidence, question: Question, statistic: Statistic, *, by: tuple[Axis, ...]
) -> Found | None:
    """The answer from what was released; None where no released table holds all its columns."""
    columns = question.columns(statistic)
    if not columns:
        return _all_rows(evidence, question, statistic)
    cuts = [part for part in (question.where, statistic.label) if part is not None]
    values = statistic.kind in ("mean", "sum", "quantile")
    ground = asked(
        evidence,
        columns,
        cuts=All(tuple(cuts)) if cuts else None,
        every=statistic.column if values else None,
    )
    if ground is None:
        return None
    ask = _ASKING[statistic.kind]
    return ask(_Case(evidence, question, statistic, by, ground))


def _all_rows(evidence: Evidence, question: Question, statistic: Statistic) -> Found:
    half = question.z * evidence.rows_variance**0.5
    rows = np.array([[evidence.rows]])
    return Found((statistic.name,), rows, np.maximum(rows - half, 0.0), rows + half, "measured")


@dataclass(frozen=True, eq=False)
class _Case:
    """One statistic of one question on its ground."""

    evidence: Evidence
    question: Question
    statistic: Statistic
    by: tuple[Axis, ...]
    ground: Ground
    held: Float[np.ndarray, "..."] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", self.ground.held(self.question.where))

    def answers(
        self,
        weights: Sequence[Float[np.ndarray, "..."]],
        spread: Sequence[Float[np.ndarray, "..."]] | None = None,
    ) -> tuple[Numbers, Numbers]:
        """Estimates and variances of several weights."""
        inside = None if spread is None else np.stack(spread)
        return Asked(self.evidence, self.by, self.ground, np.stack(weights), inside).answers()

    def along(self, values: Float[np.ndarray, " pieces"]) -> Float[np.ndarray, "..."]:
        """Values of the statistic's column."""
        return self.ground.along(str(self.statistic.column), values)

    def found(self, estimate: Numbers, low: Numbers, high: Numbers, items: tuple[str, ...] | None = None) -> Found:
        """The answer; every interval holds its estimate."""
        origin: Literal["measured", "composed"] = "measured" if self.ground.measured else "composed"
        low, high = np.minimum(low, estimate), np.maximum(high, estimate)
        return Found(items or (self.statistic.name,), estimate, low, high, origin)


def _count(case: _Case) -> Found:
    values, variances = case.answers([case.held])
    half = case.question.z * np.sqrt(variances)
    total = float(values.sum())
    shown = nonnegative(values[:, 0], total)[:, None] if total > 0 else np.zeros_like(values)
    return case.found(shown, np.maximum(values - half, 0.0), np.maximum(values + half, 0.0))


def _sum(case: _Case) -> Found:
    column = case.evidence.schema.column(str(case.statistic.column))
    lowest, reach = bounds_of(column)
    piece = case.ground.piece(column.name)
    weight = case.held * case.along(piece.present * (lowest + reach * piece.values))
    values, variances = case.answers([weight], [case.held * case.along(reach**2 * piece.spread)])
    half = case.question.z * np.sqrt(variances)
    return case.found(values, values - half, values + half)


def _mean(case: _Case) -> Found:
    column = case.evidence.schema.column(str(case.statistic.column))
    lowest, reach = bounds_of(column)
    piece = case.ground.piece(column.name)
    rows, inside = case.held * case.along(piece.present), case.held * case.along(piece.spread)
    weight = rows * case.along(piece.values)
    values, variances = case.answers([rows, weight, rows + weight], [0 * inside, inside, inside])
    ratio = fieller(values, variances, z=case.question.z)
    estimate, low, high = (lowest + reach * each[:, :1] for each in ratio)
    return case.found(estimate, low, high)


def _share(case: _Case) -> Found:
    name = str(case.statistic.column)
    if case.statistic.label is not None:
        parts, items = [case.ground.held(case.statistic.label)], [case.statistic.name]
    else:
        piece = case.ground.piece(name)
        axis = case.statistic.cells or piece.axis
        if axis.size > MOST_SHARES:
            raise UserError(
                f"share: {name!r} has {axis.size} cells; at most {MOST_SHARES} are shown. Ask for {name}=LABEL, or count by it."
            )
        places = axis.cells(piece.first)
        parts = [case.along((places == cell).astype(float)) for cell in range(axis.size)]
        items = [f"{case.statistic.name} = {cell_name(axis, piece.column, cell)}" for cell in range(axis.size)]
    weights = [case.held, *(case.held * part for part in parts), *(case.held * (1 + part) for part in parts)]
    values, variances = case.answers(weights)
    estimate, low, high = fieller(values, variances, z=case.question.z)
    return case.found(estimate, low, high, tuple(items))


def fieller(values: Numbers, variances: Numbers, *, z: float) -> tuple[Numbers, Numbers, Numbers]:
    """Ratios n/d with their intervals within 0 and 1, from columns d, n_1 ... n_k, d + n_1 ... d + n_k."""
    k = (values.shape[1] - 1) // 2
    d, vd = values[:, :1], variances[:, :1]
    n, vn = values[:, 1 : k + 1], variances[:, 1 : k + 1]
    covariance = (variances[:, k + 1 :] - vn - vd) / 2
    a, b, c = d**2 - z**2 * vd, n * d - z**2 * covariance, n**2 - z**2 * vn
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    clear = (a > 0) & (d > 0)
    safe = np.where(clear, a, 1.0)
    low, high = np.where(clear, (b - root) / safe, 0.0), np.where(clear, (b + root) / safe, 1.0)
    estimate = np.where(d > 0, n / np.where(d > 0, d, 1.0), 0.5)
    return np.clip(estimate, 0, 1), np.clip(low, 0, 1), np.clip(high, 0, 1)


def _quantile(case: _Case) -> Found:
    column = case.evidence.schema.column(str(case.statistic.column))
    piece = case.ground.piece(column.name)
    probability = float(case.statistic.probability or 0.5)
    there = np.flatnonzero(piece.present)
    kept = there if len(case.ground.pieces) == 1 else _spaced(case, there)
    rows = case.held * case.along(piece.present)
    gaps = [rows * (case.along((piece.first <= piece.first[k]).astype(float)) - probability) for k in kept]
    values, variances = case.answers(gaps)
    rising = Rising.of(values, variances, ends=piece.first[kept] + piece.width[kept] - 1)
    lowest, reach = bounds_of(column)
    top = max(column.size - column.nullable - 1, 1)
    codes = (rising.crossing(), *rising.interval(case.question.z))
    shown, least, most = (lowest + reach * each[:, None] / top for each in codes)
    return case.found(shown, least, most)


def _spaced(case: _Case, there: Float[np.ndarray, " some"]) -> Float[np.ndarray, " fewer"]:
    """Pieces to try as thresholds: about equally many rows apart, and the last."""
    piece = case.ground.piece(str(case.statistic.column))
    most = min(THRESHOLDS, max(WEIGHTS // max(case.held.size, 1), FEWEST_THRESHOLDS))
    if len(there) <= most:
        return there
    counts = np.maximum(case.evidence.margin(piece.column.name).onto(piece.axis), 0.0)
    mass = np.cumsum((piece.smooth * counts[piece.cells])[there])
    places = np.searchsorted(mass, np.linspace(0, mass[-1], most + 1)[1:], side="left")
    return there[np.unique(np.minimum(places, len(there) - 1))]


_ASKING = {"count": _count, "sum": _sum, "mean": _mean, "share": _share, "quantile": _quantile}
