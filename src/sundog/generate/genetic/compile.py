"""From measurements to flat forms: one builder a class of queries (see genetic_forms for what the arrays mean)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.forms import (
    Agreements,
    Conjunctions,
    Forms,
    Packed,
    Planes,
    Tables,
    pack,
)
from sundog.generate.genetic.members import PlacesBuilder, conditions_of, embedded, flat, pointers
from sundog.generate.genetic.sum_forms import group_sum_forms, product_forms, sigmoid_forms
from sundog.queries import (
    AtLeast,
    BinaryTree,
    Conditional,
    GroupSums,
    Halfspaces,
    Marginal,
    Moments,
    Query,
    Ranges,
    SigmoidSum,
)
from sundog.queries.halfspace import GRID, width


def compile_forms(schema: Schema, queries: Sequence[Query], weights: Sequence[float]) -> tuple[Atoms, Packed]:
    """The atoms and forms of some queries, answered one after the other, each answer weighted by its query's weight."""
    atoms = Atoms.of_queries(schema, queries)
    builder = Builder(atoms)
    start = 0
    for query, weight in zip(queries, weights, strict=True):
        builder.add(query, start, weight)
        start += query.size
    return atoms, builder.packed()


class Builder:
    """Collects all queries' parts."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms, self.schema = atoms, atoms.schema
        self.number = len(self.schema.columns)
        self._cells: dict[Axis, Int[np.ndarray, " atoms"]] = {}
        self._tables: list[tuple[list[int], list[int], float]] = []
        self._offsets: list[Any] = []
        self._held = 0
        self._conditions: list[Any] = []
        self._ranges = PlacesBuilder(self.number)
        self._asked = 0
        self._theta: list[Any] = []
        self._cuts: list[Any] = []
        self._planes = PlacesBuilder(self.number)
        self._agreements: list[tuple[AtLeast, int, float]] = []
        self._products: list[tuple[Moments, int, float]] = []
        self._group_sums: list[tuple[GroupSums, int, float]] = []
        self._sigmoids: list[tuple[SigmoidSum, int, float]] = []

    def add(self, query: Query, start: int, weight: float) -> None:
        """One query whose answers begin at `start`."""
        match query:
            case Marginal():
                self._add_table(query, start, weight)
            case BinaryTree():
                for table in query.tables:
                    self._add_table(table, start, weight)
                    start += table.size
            case Ranges() | Halfspaces():
                self._add_members(query, start, weight, label=None)
            case Conditional():
                label = (self.schema.position(query.label.column), self.cells(query.label))
                self._add_members(query.inner, start, weight, label=label)
            case AtLeast():
                self._agreements.append((query, start, weight))
            case Moments():
                self._products.append((query, start, weight))
            case GroupSums():
                self._group_sums.append((query, start, weight))
            case SigmoidSum():
                self._sigmoids.append((query, start, weight))

    def cells(self, axis: Axis) -> Int[np.ndarray, " atoms"]:
        """The cell of every atom of an axis's column."""
        if axis not in self._cells:
            codes = self.atoms.starts[self.schema.position(axis.column)]
            if axis.groups is not None:
                self._cells[axis] = np.asarray(axis.groups)[codes]
            else:
                self._cells[axis] = np.searchsorted(axis.run_starts(), codes, side="right") - 1
        return self._cells[axis]

    def _add_table(self, table: Marginal, start: int, weight: float) -> None:
        pointers_ = []
        for k, axis in enumerate(table.axes):
            stride = math.prod(table.shape[k + 1 :])
            self._offsets.append(self.cells(axis) * stride + (start if k == 0 else 0))
            pointers_.append(self._held)
            self._held += len(self._offsets[-1])
        self._tables.append(([self.schema.position(name) for name in table.columns], pointers_, weight))

    def _add_members(
        self, query: Ranges | Halfspaces, start: int, weight: float, *, label: tuple[int, Any] | None
    ) -> None:
        if isinstance(query, Ranges):
            self._conditions.append(conditions_of(query, self.atoms) + np.array([[self._asked], [0], [0], [0]]))
            self._asked += query.size
            self._ranges.add(query.size, start, weight, label=label)
        else:
            directions, thresholds = query.thresholds.shape
            self._theta.append(np.repeat(embedded(self.schema, query), thresholds, axis=0))
            self._cuts.append(query.thresholds.ravel())
            self._planes.add(directions * thresholds, start, weight, label=label)

    def packed(self) -> Packed:
        """All forms."""
        code, codes = self.atoms.codes()
        planes, theta = self._built_planes()
        parts = (
            self._built_tables(),
            self._built_conjunctions(),
            planes,
            self._built_agreements(),
            product_forms(self.atoms, self._products),
            group_sum_forms(self.atoms, self._group_sums, self.cells),
            sigmoid_forms(self.atoms, self._sigmoids),
        )
        active = self._active(*parts)
        return pack(Forms(self.atoms.first, code, codes, active, len(active), *parts), theta)

    def _active(
        self, tables: Tables, conjunctions: Conjunctions | None, planes: Planes | None, *more: Any
    ) -> Int[np.ndarray, " active"]:
        """The columns with more than one atom in which a change can touch something."""
        touched = np.diff(tables.column) > 0
        for members in (conjunctions, planes):
            if members is not None:
                touched |= np.diff(members.places.label) > 0
        if conjunctions is not None:
            touched[conjunctions.column] = True
        if planes is not None:
            touched |= planes.touched > 0
        for form in more:
            if form is not None:
                touched |= np.diff(form.column) > 0
        return np.flatnonzero(touched & (np.diff(self.atoms.first) > 1)).astype(np.int64)

    def _built_tables(self) -> Tables:
        columns = np.array([column for held, _, _ in self._tables for column in held], dtype=np.int64)
        column, order = pointers(columns, self.number)
        entries = [(t, k) for t, (held, _, _) in enumerate(self._tables) for k in range(len(held))]
        chosen = [entries[e] for e in order]
        rest = [[m for m in range(len(self._tables[t][0])) if m != k] for t, k in chosen]
        return Tables(
            column=column,
            own=flat([self._tables[t][1][k] for t, k in chosen]),
            weight=flat([self._tables[t][2] for t, _ in chosen], np.float64),
            others=np.cumsum([0, *(len(some) for some in rest)]),
            other=flat([self._tables[t][1][m] for (t, _), some in zip(chosen, rest, strict=True) for m in some]),
            other_column=flat([self._tables[t][0][m] for (t, _), some in zip(chosen, rest, strict=True) for m in some]),
            offsets=flat(self._offsets),
        )

    def _built_conjunctions(self) -> Conjunctions | None:
        if not self._asked:
            return None
        query, column, low, high = np.concatenate(self._conditions, axis=1)
        total, first = int(self.atoms.first[-1]), self.atoms.first
        alone, crossed = high == low + 1, (high != low + 1) & (low < high)
        point, point_order = pointers((first[column] + low)[alone], total)
        begins, ends = crossed & (low > 0), crossed & (high < np.diff(first)[column])
        edges = np.concatenate([np.flatnonzero(begins), np.flatnonzero(ends)])
        keys = np.concatenate([(first[column] + low)[begins], (first[column] + high)[ends]])
        edge, edge_order = pointers(keys, total)
        edges = edges[edge_order]
        return Conjunctions(
            queries=self._asked,
            condition=np.searchsorted(query, np.arange(self._asked + 1)),
            column=column,
            low=low,
            high=high,
            point=point,
            point_query=query[alone][point_order],
            edge=edge,
            edge_query=query[edges],
            edge_low=low[edges],
            edge_high=high[edges],
            places=self._ranges.built(),
        )

    def _built_planes(self) -> tuple[Planes | None, Int[np.ndarray, "features directions"]]:
        if not self._theta:
            return None, np.zeros((0, 0), dtype=np.int32)
        widths = [width(column) for column in self.schema.columns]
        theta = np.concatenate(self._theta)
        directions, owner = np.unique(theta, axis=0, return_inverse=True)
        cuts = flat(self._cuts)
        order = np.lexsort((cuts, owner.ravel()))
        places = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
        features, factors = zip(*(self._features(k, int(place[0])) for k, place in enumerate(places)), strict=True)
        planes = Planes(
            queries=len(theta),
            direction=np.searchsorted(owner.ravel()[order], np.arange(len(directions) + 1)),
            threshold=cuts[order],
            owner=owner.ravel()[order].astype(np.int64),
            feature=flat(features),
            factor=flat(factors),
            touched=np.array([bool((directions[:, place] != 0).any()) for place in places], dtype=np.int64),
            places=self._planes.built(order),
        )
        return planes, np.ascontiguousarray(directions.T.astype(np.int32))

    def _features(self, place: int, first: int) -> tuple[Int[np.ndarray, " atoms"], Int[np.ndarray, " atoms"]]:
        """Each atom's place in the embedding and what stands there (see queries.halfspace.embed)."""
        column, codes = self.schema.columns[place], self.atoms.starts[place].astype(np.int64)
        if not isinstance(column, Numeric):
            return first + codes, np.full(len(codes), GRID)
        last, absent = max(column.steps - 1, 1), codes == column.steps
        return first + absent, np.where(absent, GRID, (2 * GRID * codes + last) // (2 * last))

    def _built_agreements(self) -> Agreements | None:
        if not self._agreements:
            return None
        made = [(query, axis) for query, _, _ in self._agreements for axis in query.marginal.axes]
        columns = np.array([self.schema.position(axis.column) for _, axis in made], dtype=np.int64)
        column, order = pointers(columns, self.number)
        sizes = np.cumsum([0, *(len(query.marginal.axes) for query, _, _ in self._agreements)])
        cells = [self.cells(axis) for _, axis in made]
        shapes = [query.marginal.shape for query, _, _ in self._agreements]
        return Agreements(
            column=column,
            entry_query=(np.searchsorted(sizes, np.arange(len(made)), side="right") - 1)[order],
            entry_axis=np.arange(len(made))[order],
            axis=sizes,
            axis_column=columns,
            size=flat(shapes),
            stride=flat([[math.prod(shape[k + 1 :]) for k in range(len(shape))] for shape in shapes]),
            offset=np.cumsum([0, *(len(each) for each in cells)])[:-1],
            cells=flat(cells),
            least=flat([query.least for query, _, _ in self._agreements]),
            start=flat([start for _, start, _ in self._agreements]),
            weight=flat([weight for _, _, weight in self._agreements], np.float64),
        )
