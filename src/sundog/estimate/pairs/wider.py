"""Tables of three and more columns: what pairs say of them, and how far they go beyond that. Free: released values only.

1. Expected. The table with the most entropy that has the cleaned tables of its measured pairs and the pooled margins of its
   columns, by scaling to each of them in turn (iterative proportional fitting, Deming and Stephan 1940). No three of its columns
   interact. Where a pair was measured on other cells, the finest cells that both have are scaled.
2. Cleaned. What the counts add to that is freed of all that columns and measured pairs can say: cell by cell the means along the
   other axes are taken off. Of m_1 x m_2 x m_3 cells whose pairs were all measured, a part (1 - 1/m_1)(1 - 1/m_2)(1 - 1/m_3) of the
   noise's variance is left. Most cells are then as expected, some differ (a mixture of normals, sundog.estimate.shrinkage). In
   the end the table is scaled to the pairs and margins, so that it says nothing else of them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.axis import Axis
from sundog.estimate.shrinkage import shrunk_towards
from sundog.queries import Marginal

TURNS = 12
LEAST = 1e-9
"""No cell is taken to be emptier, in rows, so that sums can always be reached."""

Table = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class _Sums:
    """What a table adds up to along some of its axes: in which of the sums each cell of these axes counts."""

    places: tuple[int, ...]
    cells: Int[np.ndarray, "..."]
    counts: Float[np.ndarray, " sums"]

    def scaled(self, table: Table) -> Table:
        """The table with these sums."""
        others = tuple(place for place in range(table.ndim) if place not in self.places)
        held = np.bincount(self.cells.ravel(), weights=table.sum(axis=others).ravel(), minlength=len(self.counts))
        return table * np.expand_dims((self.counts / np.maximum(held, LEAST))[self.cells], others)

    def freed(self, table: Table) -> Table:
        """The table without what changes these sums: the mean of the cells of each is taken off."""
        others = tuple(place for place in range(table.ndim) if place not in self.places)
        held = np.bincount(self.cells.ravel(), weights=table.mean(axis=others).ravel(), minlength=len(self.counts))
        number = np.bincount(self.cells.ravel(), minlength=len(self.counts))
        return table - np.expand_dims((held / np.maximum(number, 1))[self.cells], others)


@dataclass(frozen=True, eq=False)
class Known:
    """The pooled margins of columns on their axes, and the cleaned tables of pairs."""

    axes: Mapping[str, Axis]
    margins: Mapping[str, Float[np.ndarray, " cells"]]
    pairs: Sequence[tuple[Marginal, Float[np.ndarray, " cells"]]]

    def expected(self, query: Marginal) -> Float[np.ndarray, " cells"]:
        """What the columns and their pairs say of a table."""
        return _scaled(np.ones(query.shape), self._sums(query)).ravel()

    def cleaned(
        self, query: Marginal, values: Float[np.ndarray, " cells"], *, stddev: float
    ) -> Float[np.ndarray, " cells"]:
        """A noisy table without most of its noise."""
        guess, sums = self.expected(query), self._sums(query)
        beyond = (values - guess).reshape(query.shape)
        for each in sums:
            beyond = each.freed(beyond)
        noise, scale = np.full(guess.size, stddev * self.noise(query)), np.maximum(guess, 1.0)
        found = shrunk_towards(guess, guess + beyond.ravel(), stddev=noise, scale=scale)
        return _scaled(np.maximum(found, LEAST).reshape(query.shape), sums).ravel()

    def noise(self, query: Marginal) -> float:
        """The part of a table's noise, as a standard deviation, that columns and measured pairs say nothing of."""
        pairs = {frozenset(pair.columns) for pair, _ in self.pairs}
        free = {axis.column: axis.size - 1 for axis in query.axes}
        said = [group for group in pairs if group <= free.keys()] + [frozenset((name,)) for name in free]
        groups = {part for group in said for part in ((), *((name,) for name in group), tuple(sorted(group)))}
        return math.sqrt(max(1 - sum(math.prod(free[name] for name in part) for part in groups) / query.size, 0.0))

    def _sums(self, query: Marginal) -> list[_Sums]:
        return [*self._of_columns(query), *self._of_pairs(query)]

    def _of_columns(self, query: Marginal) -> Iterator[_Sums]:
        for place, axis in enumerate(query.axes):
            own = self.axes[axis.column]
            shared = own.coarsen(axis)
            yield _Sums((place,), axis.parents(shared), _onto(self.margins[axis.column], (own,), (shared,)))

    def _of_pairs(self, query: Marginal) -> Iterator[_Sums]:
        held = {frozenset(pair.columns): (pair, counts) for pair, counts in self.pairs}
        for places in combinations(range(len(query.axes)), 2):
            first, second = (query.axes[place] for place in places)
            if (found := held.get(frozenset((first.column, second.column)))) is None:
                continue
            (pair, counts), (own, other) = found, found[0].axes
            table = counts.reshape(pair.shape)
            if own.column != first.column:
                own, other, table = other, own, table.T
            shared = (first.coarsen(own), second.coarsen(other))
            cells = first.parents(shared[0])[:, None] * shared[1].size + second.parents(shared[1])
            yield _Sums(places, cells, _onto(table, (own, other), shared).ravel())


def _onto(counts: Table, fine: Sequence[Axis], coarse: Sequence[Axis]) -> Table:
    """Counts of fine cells added up to coarse ones."""
    for place, (own, to) in enumerate(zip(fine, coarse, strict=True)):
        lines = np.zeros((to.size, *np.delete(counts.shape, place)))
        np.add.at(lines, own.parents(to), np.moveaxis(counts, place, 0))
        counts = np.moveaxis(lines, 0, place)
    return counts


def _scaled(table: Table, sums: Sequence[_Sums]) -> Table:
    for _ in range(TURNS):
        for each in sums:
            table = each.scaled(table)
    return table
