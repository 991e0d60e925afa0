"""Differences between siblings, given what explains them: the last part of a view of siblings.

The scores of pairs tell in which numbers siblings depend on each other. The differences of these are measured alone, and then all tables
of a difference and one other column of both siblings are scored against what is known of them already. Those that show most
are measured, by their price: couples (both married) are of one age, a married person and an unmarried one after it are parent and
child. Where no number depends on its sibling's, pairs are measured once more.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.domain.linked.views import DIFFERENCE, SECOND, View
from sundog.estimate.bins import Bins, Leaves, coarsened, leaves_of
from sundog.estimate.hierarchy import level_shares, levels
from sundog.estimate.pairs.pool import pool
from sundog.methods.loop import Measuring
from sundog.queries import Marginal
from sundog.queries.sensitivity import gaussian_stddev
from sundog.released import Released, Scores, Selection
from sundog.select import Allocate, wider
from sundog.select.prices import Option, allocate, dependence

SHARE = 0.3
"""The part of what is left after single columns that goes to differences, where there are numbers and what could explain them."""
VAGUE = 0.005
"""No more than this part of the roots may be the noise in a count that takes all of it."""
FIRST = 0.2
"""The part of it that goes to differences alone."""
SCORES = 0.1
"""The part of the rest that goes to scores."""
LEAST = 0.05
"""Siblings depend on each other in a number from this total variation on, Z standard deviations of noise and sampling taken off."""
Z = 2.0
MOST = 2
"""Of so many numbers, those in which siblings depend on each other most."""
EXPLAINED = 1
"""By so many columns each."""
CELLS = 6
"""In so many cells per sibling."""
KAPPA = Allocate.kappa
"""The share of the noise that is taken to survive."""

Counts = Float[np.ndarray, " cells"]


def share_of_differences(curator: Measuring, view: View) -> float:
    """The part of what is left that is kept for differences: none where no number has anything to explain it, or noise hides all."""
    if not view.numbers or len(view.own) < 2:
        return 0.0
    released = curator.released()
    count = Marginal.of(curator.schema, view.own[0])
    stddev = gaussian_stddev(count, SHARE * curator.remaining_rho, unit=released.guarantee.unit)
    return SHARE if stddev <= VAGUE * released.rows else 0.0


def measure_differences(curator: Measuring, view: View, *, bins: Bins) -> None:
    """Spend what is left on the differences of numbers in which siblings depend on each other, or on pairs."""
    names = dependent_numbers(curator.released(), view)[:MOST]
    tables = _measured_alone(curator, view, names=names, bins=bins) if names else ()
    ways = [options for _, options in wider.measured_pairs(curator.released())]
    if tables:
        expected = _unexplained(tables, curator.released())
        estimates = tuple(np.rint(each).astype(np.int64) for each in expected)
        scores = curator.score(Selection(tables, estimates), SCORES * curator.remaining_rho)
        ways = _best(tables, expected, values=_per_root(scores))
    unit = curator.released().guarantee.unit
    chosen, prices = allocate(ways, weights=[1.0] * len(ways), unit=unit, rho=curator.remaining_rho, kappa=KAPPA)
    curator.measure(chosen, curator.remaining_rho, shares=prices)


def dependent_numbers(released: Released, view: View) -> list[str]:
    """The numbers in which siblings depend on each other by their scores, strongest first."""
    scores, leaves = released.scores[0], leaves_of(released)
    found: dict[str, float] = {}
    for query, value in zip(scores.candidates, scores.values, strict=True):
        name, *others = query.columns
        if name in view.numbers and others == [f"{name}{SECOND}"]:
            first, second = (leaves[axis.column].shares(axis) for axis in query.axes)  # type: ignore[attr-defined]
            shown = dependence(float(value) - Z * scores.stddev, released.rows * np.outer(first, second))
            found[name] = max(found.get(name, 0.0), shown / (2 * released.rows))
    return [name for name in sorted(found, key=lambda each: -found[each]) if found[name] >= LEAST]


def _measured_alone(curator: Measuring, view: View, *, names: Sequence[str], bins: Bins) -> tuple[Marginal, ...]:
    """Measure these numbers' differences alone; the tables that may explain them."""
    columns = [curator.schema.column(f"{name}{DIFFERENCE}") for name in names]
    queries = [query for column in columns for query in levels(column)]
    shares = [share for column in columns for share in level_shares(column)]
    curator.measure(queries, FIRST * curator.remaining_rho, shares=shares)
    return _candidates(leaves_of(curator.released()), view, names=names, bins=bins)


def _candidates(leaves: Mapping[str, Leaves], view: View, *, names: Sequence[str], bins: Bins) -> tuple[Marginal, ...]:
    """Every difference with every other column of both siblings."""
    found = []
    for name in names:
        between = bins.axis(leaves[f"{name}{DIFFERENCE}"])
        for other in view.own:
            if other != name:
                sides = [_coarse(leaves[each], bins=bins) for each in (other, f"{other}{SECOND}")]
                found += [Marginal((between, *sides))] if all(axis.size > 1 for axis in sides) else []
    return tuple(found)


def _coarse(leaves: Leaves, *, bins: Bins) -> Axis:
    """The axis of a column that explains."""
    axis = bins.axis(leaves)
    return coarsened(axis, leaves.shares(axis), column=leaves.column, most=CELLS)


def _unexplained(tables: Sequence[Marginal], released: Released) -> list[Counts]:
    """The tables as they would be if differences were the same whatever the other column says."""
    leaves = leaves_of(released)
    known = pool(released, leaves).known
    return [
        np.outer(leaves[between.column].shares(between), known.expected(Marginal(tuple(sides)))).ravel()
        for between, *sides in (table.axes for table in tables)
    ]


def _per_root(scores: Scores) -> Counts:
    """Scores in roots."""
    return scores.values / scores.candidates[0].scale


def _best(tables: Sequence[Marginal], expected: Sequence[Counts], *, values: Counts) -> list[list[Option]]:
    """Of every difference the tables that show most: to leave them out, or to measure them."""
    shown = [dependence(float(value), each) for value, each in zip(values, expected, strict=True)]
    kept: dict[str, list[list[Option]]] = {}
    for place in sorted(range(len(tables)), key=lambda each: -shown[each]):
        of_number = kept.setdefault(tables[place].columns[0], [])
        if len(of_number) < EXPLAINED:
            of_number.append([Option(shown[place]), Option(0.0, tables[place])])
    return [options for each in kept.values() for options in each]
