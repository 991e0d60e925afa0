"""Expected errors of a release before anything is spent: from the schema, a number of rows and a budget, and nothing else.

What the recipe would measure is known in advance: every column's cells, their part of the budget and so their noise s; the pairs,
their cells, and by the rule of `Allocate` what each is worth. What is not known is the table. It is replaced by assumptions
that hold on the average of public tables: labels follow Zipf's law, numbers fall off over their declared range, and
pairs depend on each other by DEPENDENCE. The error of a cell with m rows under noise s is about 0.8 s, and never much more than m:

    error(m, s) = 0.8 s (1 - exp(-m / 0.8 s))

A column's error is half the sum of that over its cells (total variation, as `evaluate` measures it), times a constant. A pair's is
put together of its columns' errors, of the noise of its own table as far as it survives, of what leaving it out or
measuring it coarsely misses, and of sampling: cells of 32 bins by 32 are finer than anything that is measured, so real and synthetic
rows differ in them by chance, 0.8 sqrt(2 m). The constants were fitted to half of the public tables (benchmarks/plan.py).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.methods.recipe import First, Recipe
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import gaussian_stddev
from sundog.select import Allocate
from sundog.select.prices import Option, allocate
from sundog.select.screen import SHARE as CHOOSING
from sundog.select.wider import PREDICTORS, SCORES, kept

MEAN_ABSOLUTE = 0.8
"""The mean absolute value of a standard normal."""
BINS = 32
"""The bins in which `evaluate` compares numbers."""
ZIPF = 1.0
NARROW, WIDE = 0.13, 0.06
"""Numbers fall off by e over this part of their declared range: up to SHORT values (ages, hours), and above (amounts)."""
SHORT = 200
FEW = 3
"""This many labels are few: flags and sexes."""
TREE = 1.4
"""The noise in one of 32 bins, put together from a tree of counts, in units of the noise of one count."""
DEPENDENCE = 0.08
"""The total variation between a pair of columns and independent ones, on the average of public tables."""
COARSELY = 0.5
"""The part of it that bins of six by six cells miss."""
COARSE = 6
"""A column has this many cells at the second resolution."""


@dataclass(frozen=True)
class Weights:
    """How the parts of an error add up; fitted to public tables."""

    labels: float = 0.7
    few: float = 0.4
    numbers: float = 0.65
    margins: float = 1.0
    noise: float = 0.35
    sampling: float = 0.05
    missed: float = 0.05


WEIGHTS = Weights()


@dataclass(frozen=True)
class ColumnPlan:
    """One column: the noise per cell in rows, the expected total variation, and of numbers the error of mean and median.

    The latter are standard errors, in per cent of the declared range.
    """

    name: str
    cells: int
    stddev: float
    error: float
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class PairPlan:
    """One pair: the parts of its expected total variation before they are weighted, and whether it would be measured."""

    columns: tuple[str, str]
    measured: bool
    margins: float
    noise: float
    sampling: float
    missed: float

    def error(self, weights: Weights = WEIGHTS) -> float:
        """The expected total variation."""
        parts = weights.margins * self.margins + weights.noise * self.noise + weights.sampling * self.sampling
        return min(parts + weights.missed * self.missed, 1.0)


@dataclass(frozen=True)
class Expected:
    """All that is expected at one budget."""

    rho: float
    columns: tuple[ColumnPlan, ...]
    pairs: tuple[PairPlan, ...]

    @property
    def column_error(self) -> float:
        """The mean over the columns."""
        return float(np.mean([column.error for column in self.columns]))

    @property
    def pair_error(self) -> float | None:
        """The mean over the pairs; None where there are none."""
        return float(np.mean([pair.error() for pair in self.pairs])) if self.pairs else None


def expected(
    schema: Schema,
    *,
    rows: int,
    rho: float,
    unit: PrivacyUnit,
    recipe: Recipe,
    weights: Weights = WEIGHTS,
    known: Mapping[str, ColumnPlan] = MappingProxyType({}),
) -> Expected:
    """What to expect of a recipe at a budget of rho; `known` are columns that it does not measure alone."""
    assert recipe.first is not None  # noqa: S101 (every named method measures its columns first; a law checks it)
    workload = recipe.workload(schema)
    share = recipe.first.share if workload else 1.0
    columns = column_plans(schema, recipe.first, rows=rows, rho=share * rho, unit=unit, weights=weights)
    if not isinstance(recipe.rule, Allocate):
        return Expected(rho, columns, ())
    left = _for_tables(recipe.rule, workload, schema, rows=rows, rho=(1 - share) * rho, unit=unit)
    sides = {column.name: (schema.column(column.name), column) for column in (*known.values(), *columns)}
    pairs = [(query.columns[0], query.columns[1]) for query in workload]
    return Expected(rho, columns, pair_plans(pairs, sides, rows=rows, rho=left, unit=unit, rule=recipe.rule))


def _for_tables(
    rule: Allocate, workload: Sequence[Query], schema: Schema, *, rows: int, rho: float, unit: PrivacyUnit
) -> float:
    """What choosing and scoring leave for tables."""
    left = rho * (1 - CHOOSING if rule.screens else 1.0)
    left *= 1 - (rule.for_scores(workload, unit, rows=rows, rho=left) if workload else 0.0)
    pairs = math.comb(min(len(schema.names) - 1, PREDICTORS), 2) * len(schema.targets) if workload else 0
    if not pairs:
        return left
    return left - SCORES * kept(pairs, workload[0], unit=unit, rows=rows, rho=left, share=rule.share_wider)


def column_plans(
    schema: Schema, first: First, *, rows: int, rho: float, unit: PrivacyUnit, weights: Weights
) -> tuple[ColumnPlan, ...]:
    """Every column that is measured alone, from its part of the budget."""
    queries = first.queries(schema)
    shares = first.shares(schema) if first.shares is not None else [query.size ** (2 / 3) for query in queries]
    made = []
    for column in schema.columns:
        own = [(query, share) for query, share in zip(queries, shares, strict=True) if query.columns == (column.name,)]
        if not own:
            continue
        finest, share = max(own, key=lambda each: each[0].size)
        stddev = gaussian_stddev(finest, rho * share / sum(shares), unit=unit)
        made.append(_column(column, rows=rows, stddev=stddev, cut=(finest.size, len(own)), weights=weights))
    return tuple(made)


def _column(column: Column, *, rows: int, stddev: float, cut: tuple[int, int], weights: Weights) -> ColumnPlan:
    """One column, counted in this many cells on this many levels."""
    cells, shares = shown_cells(column)
    inside = TREE if cut[1] > 1 else math.sqrt(max(cut[0] / cells, 1.0))
    weight = weights.numbers if isinstance(column, Numeric) else weights.few if cells <= FEW else weights.labels
    error = min(weight * float(_errors(rows * shares, inside * stddev).sum()) / (2 * rows), 1.0)
    mean = median = None
    if isinstance(column, Numeric):
        mean, median = _mean_error(shares, stddev, rows), _median_error(shares, stddev, rows)
    return ColumnPlan(column.name, cells, stddev, error, mean, median)


def shown_cells(column: Column) -> tuple[int, Float[np.ndarray, " cells"]]:
    """In how many cells `evaluate` compares a column, and the shares that are assumed for them."""
    if isinstance(column, Numeric):
        cells = min(BINS, column.steps)
        falling = np.exp(-np.arange(cells) / ((NARROW if column.steps <= SHORT else WIDE) * cells))
    else:
        cells = len(column.labels)
        falling = 1 / np.arange(1, cells + 1) ** ZIPF
    return cells, falling / falling.sum()


def _errors(counts: Float[np.ndarray, " cells"], stddev: float) -> Float[np.ndarray, " cells"]:
    """error(m, s) of the module."""
    scale = MEAN_ABSOLUTE * stddev
    return scale * -np.expm1(-counts / scale)


def _mean_error(shares: Float[np.ndarray, " cells"], stddev: float, rows: int) -> float:
    """The standard error of the mean, in per cent of the range: noise in every bin, times its distance from the mean."""
    places = (np.arange(len(shares)) + 0.5) / len(shares)
    distance = places - float(shares @ places)
    return 100 * min(TREE * stddev * float(np.sqrt((distance**2).sum())) / rows, 1.0)


def _median_error(shares: Float[np.ndarray, " cells"], stddev: float, rows: int) -> float:
    """The same of the median: the noise of the rows below it over the density there."""
    below = int(np.searchsorted(np.cumsum(shares), 0.5))
    density = rows * float(shares[min(below, len(shares) - 1)]) * len(shares)
    return 100 * min(TREE * stddev * math.sqrt(below + 1) / density, 1.0)


def pair_plans(
    pairs: Sequence[tuple[str, str]],
    sides: Mapping[str, tuple[Column, ColumnPlan]],
    *,
    rows: int,
    rho: float,
    unit: PrivacyUnit,
    rule: Allocate,
) -> tuple[PairPlan, ...]:
    """Every pair, measured as the rule of `auto` would at the assumed dependence."""
    chosen = _allocated(pairs, sides, rows=rows, rho=rho, unit=unit, rule=rule) if pairs else {}
    made = []
    for names in pairs:
        (first, one), (second, other) = (sides[name] for name in names)
        shares = np.multiply.outer(shown_cells(first)[1], shown_cells(second)[1]).ravel()
        sampling = MEAN_ABSOLUTE * float(np.sqrt(2 * rows * shares).sum()) / (2 * rows)
        cells, stddev = chosen.get(names, (0, 0.0))
        noise = cells * MEAN_ABSOLUTE * stddev / (2 * rows)
        missed = DEPENDENCE * (1.0 if not cells else COARSELY if cells <= COARSE**2 else 0.0)
        margins = one.error + other.error
        made.append(PairPlan(names, bool(cells), margins, min(noise, DEPENDENCE), min(sampling, 1.0), missed))
    return tuple(made)


def _allocated(
    pairs: Sequence[tuple[str, str]],
    sides: Mapping[str, tuple[Column, ColumnPlan]],
    *,
    rows: int,
    rho: float,
    unit: PrivacyUnit,
    rule: Allocate,
) -> dict[tuple[str, ...], tuple[int, float]]:
    """The cells and the noise of every pair that would be measured."""
    axes = {name: _binned(column, plan, rows) for name, (column, plan) in sides.items()}
    options = []
    for one, other in pairs:
        fine, coarse = (Marginal((axes[one][k], axes[other][k])) for k in (0, 1))
        bias = 2 * rows * DEPENDENCE
        options.append([Option(bias), Option(0.0, fine), Option(COARSELY * bias, coarse)])
    weights = rule.weights or (1.0,) * len(options)
    queries, prices = allocate(options, weights=weights, unit=unit, rho=rho, kappa=rule.kappa)
    total = sum(prices)
    return {
        query.columns: (query.size, gaussian_stddev(query, rho * price / total, unit=unit))
        for query, price in zip(queries, prices, strict=True)
    }


def _binned(column: Column, plan: ColumnPlan, rows: int) -> tuple[Axis, Axis]:
    """The cells in which a column would be measured with others: about 16, or its labels that are no noise; and six."""
    if isinstance(column, Numeric):
        return Axis.of(column, min(16, column.steps)), Axis.of(column, min(COARSE, column.steps))
    shares = shown_cells(column)[1]
    kept = int((shares > max(0.005, 3 * plan.stddev / rows)).sum())
    return _first_labels(column, max(kept, 1)), _first_labels(column, COARSE - 1)


def _first_labels(column: Column, kept: int) -> Axis:
    """This many labels as they are, the others together."""
    if kept + 1 >= column.size:
        return Axis.whole(column)
    return Axis.grouped(column, [min(code, kept) for code in range(column.size)])
