"""Differences between siblings, given what explains them: the last part of a view of siblings.

Single columns tell which numbers depend between siblings (sundog.estimate.differences). For each of these, all tables of the
difference and one other column of both siblings are scored against what is known of them already. Those that show most are
measured, by their price: couples (both married) are of one age, a married person and an unmarried one after it are parent and child.
"""

from collections.abc import Mapping, Sequence

from sundog.domain.axis import Axis
from sundog.domain.linked.views import DIFFERENCE, SECOND, View
from sundog.estimate.bins import Bins, Leaves, coarsened, leaves_of
from sundog.estimate.differences import dependent_differences
from sundog.methods.loop import Measuring
from sundog.queries import Marginal
from sundog.released import Released
from sundog.select import wider
from sundog.select.prices import Option, allocate

SHARE = 0.3
"""The part of what is left after single columns that goes to differences, where siblings depend on each other in a number."""
MOST = 3
"""Of so many numbers, those in which siblings depend on each other most."""
EXPLAINED = 2
"""By so many columns each."""
CELLS = 6
"""In so many cells per sibling."""
SCORES = 0.1
KAPPA = 0.34
"""The share of the noise that survives, as in Allocate."""


def difference_tables(released: Released, view: View, *, bins: Bins) -> tuple[Marginal, ...]:
    """The tables of differences that are worth a score: none where siblings do not depend on each other in a number."""
    names = list(dependent_differences(released, view, bins=bins))[:MOST]
    return _candidates(leaves_of(released), view, names=names, bins=bins)


def measure_differences(curator: Measuring, tables: tuple[Marginal, ...]) -> None:
    """Score these tables, and spend what is left on those that show most."""
    curator.score(wider.scoring(tables, curator.released()), SCORES * curator.remaining_rho)
    ways = _best(list(wider.options(curator.released())))
    unit = curator.released().guarantee.unit
    chosen, prices = allocate(ways, weights=[1.0] * len(ways), unit=unit, rho=curator.remaining_rho, kappa=KAPPA)
    curator.measure(chosen, curator.remaining_rho, shares=prices)


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


def _best(ways: list[tuple[tuple[str, ...], list[Option]]]) -> list[list[Option]]:
    """Of every difference the tables that show most."""
    ranked = sorted(ways, key=lambda way: -way[1][0].bias)
    kept: dict[str, list[list[Option]]] = {}
    for columns, options in ranked:
        of_number = kept.setdefault(columns[0], [])
        if len(of_number) < EXPLAINED:
            of_number.append(options)
    return [options for each in kept.values() for options in each]
