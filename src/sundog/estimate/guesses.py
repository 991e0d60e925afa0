"""Guesses: answers counted on synthetic rows, for questions that no released table covers, with the error to expect.

Two things are known of the rows' error. The released tables of several columns that they were fitted to are noisy: noise of
variance s^2 in each of k cells is s^2 k / rows per row of the table; its mean over these tables is `noise`. And the rows are compared with
these tables: what they differ by beyond noise and sampling is misfit, relative to the count (alpha) and, for small cells, absolute (beta),

    variance of a count m = m * rows/synthetic rows + UNSEEN * (noise m + alpha^2 m^2 + beta^2).

Rows mostly fit what was measured to within its noise; combinations that were not measured have the noise of those that they are put together
from, and relations that no released table shows. UNSEEN covers both: fitted on five public tables at epsilon 0.5 to 2, so that 95 % of counts of
three columns lie within, and held against three others (docs/how-to/answers.md). Where no table of several columns was released the rows know
nothing of relations, and alpha is NOTHING_KNOWN. A share, mean or quantile of m rows has the error of a sample of as many rows as
give a count m this relative variance. These intervals are no guarantee: they say how wrong the rows are where that can be checked.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain import Categorical, Numeric
from sundog.domain.axis import Axis
from sundog.domain.conditions import satisfied
from sundog.domain.rows import Rows
from sundog.estimate.evidence import Evidence
from sundog.estimate.question import Found, Numbers, Question, Statistic, bounds_of, cell_name
from sundog.queries import Marginal, answer

UNSEEN = 2.0
NOTHING_KNOWN = 0.5
LOOKED_AT = 60
"""This many released tables are compared, those with the least noise."""


@dataclass(frozen=True)
class Misfit:
    """How far synthetic counts are from released ones beyond noise, relative and absolute, both squared; and that noise, per row."""

    relative: float
    absolute: float
    scale: float
    noise: float = 0.0

    def variance(self, counts: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Of counts that were not measured."""
        some = np.maximum(counts, 1.0)
        return self.scale * some + UNSEEN * (self.noise * some + self.relative * counts**2 + self.absolute)


def misfit_of(evidence: Evidence, rows: Rows) -> Misfit:
    """The misfit of synthetic rows to the released tables of several columns."""
    scale = evidence.rows / max(len(rows), 1)
    wide = sorted((t for t in evidence.tables if len(t.axes) > 1), key=lambda t: t.variance * t.counts.size)
    expected, excess = [np.zeros(0)], [np.zeros(0)]
    for table in wide[:LOOKED_AT]:
        found = evidence.table(table.columns)
        counts = answer(Marginal(found.axes), rows) * scale
        gap = (counts - found.counts.ravel()) ** 2 - found.variance
        expected.append(counts)
        excess.append(gap - scale * counts)
    counts, gaps = np.concatenate(expected), np.concatenate(excess)
    if not len(counts):
        return Misfit(NOTHING_KNOWN**2, 0.0, scale)
    small = counts <= np.median(counts)
    absolute = max(float(gaps[small].mean()), 0.0)
    large = gaps[~small] - absolute if (~small).any() else gaps
    squares = float((counts[~small] ** 2).sum()) if (~small).any() else 1.0
    noise = float(np.mean([table.variance * table.counts.size for table in wide])) / max(evidence.rows, 1.0)
    return Misfit(max(float(large.sum()) / max(squares, 1.0), 0.0), absolute, scale, noise)


def guessed_answer(
    rows: Rows, misfit: Misfit, question: Question, statistic: Statistic, *, by: tuple[Axis, ...]
) -> Found:
    """The synthetic rows' own answer."""
    held = np.ones(len(rows), dtype=bool) if question.where is None else satisfied(question.where, rows)
    cells, size = np.zeros(len(rows), dtype=np.int64), 1
    for axis in by:
        cells, size = cells * axis.size + rows.cells(axis), size * axis.size
    case = _Case(rows, misfit, question, statistic, cells, size, held)
    return _ASKING[statistic.kind](case)


@dataclass(frozen=True, eq=False)
class _Case:
    rows: Rows
    misfit: Misfit
    question: Question
    statistic: Statistic
    cells: Int[np.ndarray, " rows"]
    size: int
    held: Bool[np.ndarray, " rows"]

    @property
    def column(self) -> Categorical | Numeric:
        """The column whose statistic is asked for."""
        return self.rows.schema.column(str(self.statistic.column))

    @property
    def codes(self) -> Int[np.ndarray, " rows"]:
        """The codes of that column."""
        return self.rows.column(self.column.name)

    def counted(self, kept: Bool[np.ndarray, " rows"]) -> Numbers:
        """How many of some rows lie in each cell, in rows of the real table."""
        return np.bincount(self.cells[kept], minlength=self.size)[:, None] * self.misfit.scale

    def relative(self, kept: Bool[np.ndarray, " rows"]) -> Numbers:
        """The relative variance of these counts: one over the size of a sample as good as them."""
        counts = np.maximum(self.counted(kept), 1.0)
        return self.misfit.variance(counts) / counts**2

    @property
    def present(self) -> Bool[np.ndarray, " rows"]:
        """Rows that count and in which the column is not missing."""
        missing = self.column.missing
        return self.held if missing is None else self.held & (self.codes != missing)

    def found(self, estimate: Numbers, half: Numbers, items: tuple[str, ...], within: tuple[float, float]) -> Found:
        """The answer with an interval inside the bounds."""
        low, high = (np.clip(estimate + sign * half, *within) for sign in (-1, 1))
        return Found(items, estimate, low, high, "synthetic")


def _count(case: _Case) -> Found:
    counts = case.counted(case.held)
    half = case.question.z * np.sqrt(case.misfit.variance(counts))
    return case.found(counts, half, (case.statistic.name,), (0.0, np.inf))


def _moments(case: _Case) -> tuple[Numbers, Numbers, tuple[float, float]]:
    """The mean and variance of the column in every cell, and its bounds."""
    lowest, reach = bounds_of(case.column)
    kept = case.present
    values = lowest + reach * case.codes[kept] / max(case.column.size - case.column.nullable - 1, 1)
    number = np.maximum(np.bincount(case.cells[kept], minlength=case.size), 1)[:, None]
    mean = np.bincount(case.cells[kept], values, case.size)[:, None] / number
    square = np.bincount(case.cells[kept], values**2, case.size)[:, None] / number
    mean = np.where(case.counted(kept) > 0, mean, lowest + reach / 2)
    floor = (reach / 100) ** 2
    return mean, np.maximum(square - mean**2, floor), (lowest, lowest + reach)


def _mean(case: _Case) -> Found:
    mean, variance, within = _moments(case)
    half = case.question.z * np.sqrt(variance * np.minimum(case.relative(case.present), 1.0))
    return case.found(mean, half, (case.statistic.name,), within)


def _sum(case: _Case) -> Found:
    mean, variance, _ = _moments(case)
    counts, relative = case.counted(case.present), case.relative(case.present)
    half = case.question.z * counts * np.sqrt(relative * (variance + mean**2))
    return case.found(counts * mean, half, (case.statistic.name,), (-np.inf, np.inf))


def _share(case: _Case) -> Found:
    if case.statistic.label is not None:
        parts, items = [satisfied(case.statistic.label, case.rows)], [case.statistic.name]
    else:
        axis = case.statistic.cells or Axis.of(case.column)
        parts = [case.rows.cells(axis) == cell for cell in range(axis.size)]
        items = [f"{case.statistic.name} = {cell_name(axis, case.column, cell)}" for cell in range(axis.size)]
    total = np.maximum(case.counted(case.held), case.misfit.scale)
    shares = np.concatenate([case.counted(case.held & part) for part in parts], axis=1) / total
    spread = np.maximum(shares * (1 - shares), 1e-3)
    half = case.question.z * np.sqrt(spread * np.minimum(case.relative(case.held), 1.0))
    return case.found(shares, half, tuple(items), (0.0, 1.0))


def _quantile(case: _Case) -> Found:
    lowest, reach = bounds_of(case.column)
    p = float(case.statistic.probability or 0.5)
    top = max(case.column.size - case.column.nullable - 1, 1)
    half = case.question.z * np.sqrt(p * (1 - p) * np.minimum(case.relative(case.present), 1.0))[:, 0]
    made = np.empty((3, case.size, 1))
    for cell in range(case.size):
        codes = np.sort(case.codes[case.present & (case.cells == cell)])
        asked = np.clip([p, p - half[cell], p + half[cell]], 0, 1)
        if len(codes):
            made[:, cell, 0] = codes[np.clip(np.ceil(asked * len(codes)).astype(int) - 1, 0, len(codes) - 1)]
        else:
            made[:, cell, 0] = top / 2, 0, top
    estimate, low, high = lowest + reach * made / top
    return Found((case.statistic.name,), estimate, low, high, "synthetic")


_ASKING = {"count": _count, "sum": _sum, "mean": _mean, "share": _share, "quantile": _quantile}
