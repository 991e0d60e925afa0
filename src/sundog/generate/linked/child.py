"""One child table: its rows' structure from the parents, its tables from what was released, a start, and the search.

Rows start along the strongest tables, from the given columns outwards (as in pooled/tree_start.py); then the search makes all
tables agree, those between siblings too. In a sequence all rows but the first have a gap; where it begins its parent says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric
from sundog.domain.axis import Axis
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import DIFFERENCE, SECOND, View, count_name, structural
from sundog.estimate.bins import Leaves, leaves_of
from sundog.estimate.differences import difference_cells, finely, told_by_differences
from sundog.estimate.pairs.pool import Pooled, pool
from sundog.estimate.siblings import drawn_to_rows, of_both_siblings, with_own_alone
from sundog.generate.linked.bonds import Bonds
from sundog.generate.linked.kinds import DIFFERENCES, GIVEN, MARGIN, SIBLINGS, WITHIN
from sundog.generate.linked.nearness import Near
from sundog.generate.linked.tables import Family, Table, search
from sundog.generate.pooled.tree_start import drawn_given, information
from sundog.queries import Marginal
from sundog.random.keys import Key, integer_seed, split
from sundog.released import Released

MARGINS = 3.0
"""How much a margin weighs, in tables of average precision; as in pooled search."""
PLACES = 4.0
"""How many times its precision a table weighs that tells how rows differ by their place or by the number of their siblings: in it, an
error in the few large families is an error in many rows and in many more pairs."""

Codes = Int[np.ndarray, " rows"]
Measured = tuple[Marginal, Float[np.ndarray, " cells"], float]


@dataclass(frozen=True, eq=False)
class Seen:
    """What was released of a view, cleaned, and how many synthetic roots stand for one that was counted."""

    pooled: Pooled
    leaves: Mapping[str, Leaves]
    scale: float

    @staticmethod
    def of(released: Released, *, roots: int) -> "Seen":
        """Pooled margins and cleaned tables of a view that this many synthetic roots have rows in."""
        leaves = leaves_of(released)
        return Seen(pool(released, leaves), leaves, roots / released.rows)

    @staticmethod
    def of_siblings(released: Released, view: View, *, roots: int, rows: Released, seen: "Seen") -> "Seen":
        """The same of pairs of siblings, with what was released and `seen` of their rows."""
        released = released if view.ordered else drawn_to_rows(released, seen.leaves)
        leaves = leaves_of(released)
        related = of_both_siblings(seen.pooled.excesses, view.own, scale=released.rows / rows.rows)
        supported = pool(released, {**seen.leaves, **leaves}, related=related)
        pooled = with_own_alone(supported, pool(released, leaves))
        return Seen(told_by_differences(pooled, released, leaves), leaves, roots / released.rows)


class Child:
    """What is known of a child table: its free columns with their cells, and the tables that they should have."""

    def __init__(self, table: LinkedTable, bonds: Bonds, *, view: View, rows: Seen, siblings: Seen | None) -> None:
        self.table, self.bonds, self.rows, self.siblings = table, bonds, rows, siblings
        self.free = tuple(name for name in view.own if not structural(name))
        self.axes = {name: bonds.cut(self._axis(name)) for name in self.free}

    def _axis(self, name: str) -> Axis:
        """The coarsest axis on which all tables of a column can be distinguished, those of siblings too."""
        axis = self.rows.pooled.axes[name]
        if self.siblings is None:
            return axis
        others = [self.siblings.pooled.axes[each] for each in (name, f"{name}{SECOND}")]
        found = axis.refine(*(replace(other, column=name) for other in others))
        return found.refine(finely(self.rows.leaves[name])) if name in self._apart else found

    @property
    def _apart(self) -> dict[str, Axis]:
        """The columns of which differences between siblings were measured with others, and the axis of these."""
        tables = () if self.siblings is None else self.siblings.pooled.wider
        return {query.axes[0].column.removesuffix(DIFFERENCE): query.axes[0] for query, _, _ in tables}

    def near(self) -> dict[int, Near]:
        """By number of column, how far siblings are apart, where that was measured."""
        found = {}
        for name, axis in self._apart.items():
            between = self.siblings.leaves[axis.column]  # type: ignore[union-attr]  # else there is none
            column: Numeric = self.rows.leaves[name].column  # type: ignore[assignment]  # views.py chose numeric ones
            found[self.free.index(name)] = Near.of(column, self.axes[name], between)
        return found

    def margin(self, name: str) -> Float[np.ndarray, " cells"]:
        """The pooled margin of a column, divided among finer cells as its leaves are."""
        coarse, fine = self.rows.pooled.axes[name], self.axes[name]
        parents, shares = fine.parents(coarse), np.maximum(self.rows.leaves[name].shares(fine), 1e-12)
        sums = np.bincount(parents, weights=shares, minlength=coarse.size)
        return self.rows.pooled.margins[name][parents] * shares / sums[parents]

    def tables(self, given: Mapping[str, Codes]) -> list[Table]:
        """All tables: margins, pairs of a row, pairs with what is given, pairs of siblings."""
        within = [self._of_rows(each, given) for each in self.rows.pooled.tables]
        seen = self.siblings
        between = [] if seen is None else [self._of_siblings(each, seen.scale) for each in seen.pooled.tables]
        between += [] if seen is None else [self._of_differences(each, seen.scale) for each in seen.pooled.wider]
        tables = [*(table for table in within if table is not None), *between]
        usual = float(np.mean([table.precision for table in tables])) if tables else 1.0
        return [*(self._margin(name, MARGINS * usual) for name in self.free), *tables]

    def _margin(self, name: str, precision: float) -> Table:
        target = (self.margin(name) * self.rows.scale)[:, None]
        every = np.arange(len(target))
        return Table(MARGIN, self.free.index(name), 0, every, np.zeros(1, dtype=np.int64), target, precision)

    def _of_rows(self, measured: Measured, given: Mapping[str, Codes]) -> Table | None:
        query, values, stddev = measured
        first, second = query.axes
        counts = values.reshape(query.shape) * self.rows.scale
        if first.column not in self.axes:
            first, second, counts = second, first, counts.T
        if first.column not in self.axes:
            return None
        precision = 1.0 / (stddev * self.rows.scale) ** 2
        place, cells = self.free.index(first.column), self._cells(first, first.column)
        if second.column in self.axes:
            return Table(
                WITHIN,
                place,
                self.free.index(second.column),
                cells,
                self._cells(second, second.column),
                counts,
                precision,
            )
        siblings = count_name(self.table.parent or "", self.table.name)
        weight = PLACES if structural(second.column) or second.column == siblings else 1.0
        return Table(GIVEN, place, 0, cells, second.cells(given[second.column]), counts, weight * precision)

    def _of_siblings(self, measured: Measured, scale: float) -> Table:
        query, values, stddev = measured
        first, second = query.axes
        names = first.column, second.column.removesuffix(SECOND)
        counts, precision = values.reshape(query.shape) * scale, 1.0 / (stddev * scale) ** 2
        places = self.free.index(names[0]), self.free.index(names[1])
        maps = self._cells(first, names[0]), self._cells(second, names[1])
        return Table(SIBLINGS, *places, *maps, counts, precision)

    def _of_differences(self, measured: Measured, scale: float) -> Table:
        query, values, stddev = measured
        between, first, second = query.axes
        name, other = between.column.removesuffix(DIFFERENCE), first.column
        column: Numeric = self.rows.leaves[name].column  # type: ignore[assignment]  # views.py chose numeric ones
        cells = difference_cells(self.axes[name], column, between).ravel()
        sides = [self._cells(first, other) * second.size, self._cells(second, other)]
        counts = values.reshape(between.size, -1) * scale
        places = self.free.index(name), self.free.index(other)
        return Table(DIFFERENCES, *places, cells, np.concatenate(sides), counts, 1.0 / (stddev * scale) ** 2)

    def _cells(self, axis: Axis, name: str) -> Int[np.ndarray, " fine"]:
        return self.axes[name].parents(replace(axis, column=name))

    def decoded(self, key: Key, cells: Int[np.ndarray, "columns rows"]) -> dict[str, Codes]:
        """The codes of the free columns."""
        keys = split(key, len(self.free))
        return {
            name: self.rows.leaves[name].decode(each, self.axes[name], cells=held.astype(np.int64))
            for each, name, held in zip(keys, self.free, cells, strict=True)
        }


def started(key: Key, child: Child, given: Mapping[str, Codes], *, rows: int) -> Int[np.ndarray, "columns rows"]:
    """Rows along the strongest tables, from what is given and from independent columns outwards."""
    keys = split(key, len(child.free))
    edges = _edges(child)
    reached = set(given)
    cells: dict[str, Codes] = {}
    for each in keys:
        waiting = [edge for edge in edges if edge[1] in reached and edge[2] not in reached]
        if waiting:
            _, known, name, (first, second), counts = max(waiting, key=lambda edge: edge[0])
            groups = first.cells(given[known]) if known in given else child.axes[known].parents(first)[cells[known]]
        else:
            name = next(name for name in child.free if name not in reached)
            axis = child.axes[name]
            second, counts, groups = axis, child.margin(name)[None, :], np.zeros(rows, dtype=np.int64)
        fine = child.axes[name], child.margin(name)
        cells[name] = drawn_given(each, groups, table=(second, counts), fine=fine)
        reached.add(name)
    return np.stack([cells[name] for name in child.free]).astype(np.int32)


Edge = tuple[float, str, str, tuple[Axis, Axis], Float[np.ndarray, "a b"]]


def _edges(child: Child) -> list[Edge]:
    """The tables of rows in both directions, with their mutual information."""
    found: list[Edge] = []
    for query, values, _ in child.rows.pooled.tables:
        (first, second), counts = query.axes, values.reshape(query.shape)
        gain = information(counts)
        if second.column in child.axes:
            found.append((gain, first.column, second.column, (first, second), counts))
        if first.column in child.axes:
            found.append((gain, second.column, first.column, (second, first), counts.T))
    return found


def fit_child(
    key: Key, child: Child, given: Mapping[str, Codes], *, family: Family, effort: tuple[int, float]
) -> dict[str, Codes]:
    """The codes of the free columns; `effort` as the search takes it."""
    start_key, bond_key, search_key, decode_key, inside_key = split(key, 5)
    parent = child.bonds.parent
    cells = started(start_key, child, given, rows=len(parent))
    movable, filled = np.ones(cells.shape, dtype=bool), {}
    if child.table.order is not None:
        filled = _hold_gaps(child, cells, first=np.diff(parent, prepend=-1) != 0, movable=movable)
    cells, allowed, counts = child.bonds.started(
        bond_key,
        cells,
        lines=child.bonds.lines(child.axes, filled=filled),
        margins=[child.margin(name) for name in child.free],
        movable=movable,
        axes=child.axes,
    )
    cells = search(
        integer_seed(search_key),
        cells,
        tables=child.tables(given),
        family=family,
        movable=movable,
        allowed=allowed,
        held=counts,
        effort=effort,
        near=child.near(),
    )
    return child.bonds.kept_inside(inside_key, child.decoded(decode_key, cells), child.axes)


def _hold_gaps(child: Child, cells: Int[np.ndarray, "columns rows"], *, first: Codes, movable: Codes) -> dict[str, int]:
    """First rows have no gap, and the others have one: what has none stays so. The cell that means none."""
    name = f"{child.table.name}.#gap"
    place, axis = child.free.index(name), child.axes[name]
    none = int(axis.cells(np.array([axis.codes - 1]))[0])
    cells[place, first] = none
    movable[place] = ~first
    return {name: none}
