"""A calibrated junction tree: the joint proportions of each clique of columns, from which any marginal and rows follow.

With cliques C_1, C_2, ... in tree order and separators S_k = C_k ∩ parent,  p(x) = p(C_1) prod_k p(C_k) / p(S_k).

A marginal over columns that no clique holds together is gathered along the tree: each neighbour sends the sum over what
nobody asks for, and what it sent is kept for the next marginal. Rows are drawn clique after clique, systematically within each value of the separator (draws.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.random.draws import draw_within
from sundog.random.keys import Key, split

Clique = tuple[int, ...]
"""Positions of columns, ascending."""
Table = tuple[Clique, Float[np.ndarray, "..."]]
"""Proportions, one axis for each column of the clique."""


@dataclass(frozen=True, eq=False)
class CalibratedTree:
    """Cliques in an order in which each one's `parents` entry comes before it (-1: the first), with their proportions."""

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    tables: tuple[Float[np.ndarray, "..."], ...]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """The tree's edges, from each clique."""
        edges: list[list[int]] = [[] for _ in self.cliques]
        for child, parent in enumerate(self.parents):
            if parent >= 0:
                edges[child].append(parent)
                edges[parent].append(child)
        return edges

    def holds(self, columns: Clique) -> bool:
        """Whether one clique holds all of these columns."""
        return any({*columns} <= {*clique} for clique in self.cliques)

    def marginal(self, columns: Clique) -> Float[np.ndarray, "..."]:
        """The joint proportions of some columns, axes in the order asked for."""
        root = max(range(len(self.cliques)), key=lambda k: (len({*columns} & {*self.cliques[k]}), -self.tables[k].size))
        found = self._gather(root, origin=None, wanted=frozenset(columns))
        return _contract([found], columns)

    def _gather(self, node: int, *, origin: int | None, wanted: frozenset[int]) -> Table:
        """What a clique and all behind it say about the wanted columns and about the separator towards `origin`."""
        clique = self.cliques[node]
        shared = () if origin is None else _shared(clique, self.cliques[origin])
        factors: list[Table] = [(clique, self.tables[node])]
        for neighbour in self.neighbours[node]:
            if neighbour != origin and not (wanted - {*clique}).isdisjoint(self._behind[(neighbour, node)]):
                factors.append(self._message(neighbour, node, wanted & self._behind[(neighbour, node)]))
        keep = tuple(sorted({*shared} | (wanted & {column for columns, _ in factors for column in columns})))
        table = _contract(factors, keep)
        if origin is None:
            return keep, table
        base = _contract([(clique, self.tables[node])], shared)
        return keep, _ratio(table, base[_spread(shared, keep)])

    def _message(self, node: int, origin: int, wanted: frozenset[int]) -> Table:
        """What is gathered from behind an edge, kept: many marginals need the same."""
        if (node, origin, wanted) not in self._gathered:
            self._gathered[(node, origin, wanted)] = self._gather(node, origin=origin, wanted=wanted)
        return self._gathered[(node, origin, wanted)]

    @cached_property
    def _gathered(self) -> dict[tuple[int, int, frozenset[int]], Table]:
        return {}

    @cached_property
    def _behind(self) -> dict[tuple[int, int], frozenset[int]]:
        """For each directed edge (node, origin) the columns of the node and of all behind it, seen from the origin."""
        behind: dict[tuple[int, int], frozenset[int]] = {}
        for child in reversed(range(1, len(self.cliques))):
            below = [behind[(k, child)] for k in self.neighbours[child] if self.parents[k] == child]
            behind[(child, self.parents[child])] = frozenset(self.cliques[child]).union(*below)
        for child in range(1, len(self.cliques)):
            parent = self.parents[child]
            others = [behind[(k, parent)] for k in self.neighbours[parent] if k != child]
            behind[(parent, child)] = frozenset(self.cliques[parent]).union(*others)
        return behind

    def given(self, evidence: Mapping[int, Bool[np.ndarray, " cells"]]) -> tuple["CalibratedTree", float]:
        """The tree to sample from given that columns lie in some of their cells, and the share of rows in which they do.

        From the leaves up, each clique is p(C | S) on the evidence times what the cliques below it found, and hands its
        sum over C - S to its parent. Its tables are right within each value of the separator, which is all that drawing
        rows from the root down needs.
        """
        tables = list(self.tables)
        seen: set[int] = set()
        for node, clique in enumerate(self.cliques):
            shared = () if self.parents[node] < 0 else _shared(clique, self.cliques[self.parents[node]])
            base = _contract([(clique, tables[node])], shared)
            tables[node] = _ratio(tables[node], base[_spread(shared, clique)])
            for column in (set(clique) & set(evidence)) - seen:
                tables[node] = tables[node] * evidence[column][_spread((column,), clique)]
            seen |= set(clique)
        for node in reversed(range(1, len(self.cliques))):
            parent = self.parents[node]
            shared = _shared(self.cliques[node], self.cliques[parent])
            message = _contract([(self.cliques[node], tables[node])], shared)
            tables[parent] = tables[parent] * message[_spread(shared, self.cliques[parent])]
        return CalibratedTree(self.cliques, self.parents, tuple(tables)), float(tables[0].sum())

    def sample(self, key: Key, columns: int, *, rows: int) -> list[Int[np.ndarray, " rows"]]:
        """The cells of every column for this many rows."""
        cells: list[Int[np.ndarray, " rows"]] = [np.zeros(rows, dtype=np.int64) for _ in range(columns)]
        keys = split(key, len(self.cliques))
        for node, clique in enumerate(self.cliques):
            parent = self.parents[node]
            known = () if parent < 0 else _shared(clique, self.cliques[parent])
            new = tuple(column for column in clique if column not in known)
            if new:
                table = _contract([(clique, self.tables[node])], (*known, *new))
                drawn = _draw(keys[node], table, given=[cells[column] for column in known], rows=rows)
                for column, values in zip(new, drawn, strict=True):
                    cells[column] = values
        return cells


def _draw(
    key: Key, table: Float[np.ndarray, "..."], *, given: list[Int[np.ndarray, " rows"]], rows: int
) -> tuple[Int[np.ndarray, " rows"], ...]:
    """The cells of a table's last axes, for rows whose cells on the first axes are given."""
    held, free = table.shape[: len(given)], table.shape[len(given) :]
    groups = np.ravel_multi_index(given, held) if given else np.zeros(rows, dtype=np.int64)
    count, items = int(np.prod(held)), int(np.prod(free))
    drawn = draw_within(key, groups, weights=table.reshape(-1), sizes=np.full(count, items))
    return np.unravel_index(drawn - groups * items, free)


def _contract(factors: list[Table], keep: Clique) -> Float[np.ndarray, "..."]:
    """The product of tables, summed over all columns but those kept."""
    names = {column: k for k, column in enumerate(sorted({c for columns, _ in factors for c in columns}))}
    operands: list[Any] = []
    for columns, table in factors:
        operands += [table, [names[column] for column in columns]]
    return np.einsum(*operands, [names[column] for column in keep], optimize=len(factors) > 2)


def _ratio(table: Float[np.ndarray, "..."], base: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return np.divide(table, base, out=np.zeros_like(table), where=base > 0)


def _shared(clique: Clique, other: Clique) -> Clique:
    return tuple(column for column in clique if column in other)


def _spread(columns: Clique, within: Clique) -> tuple[slice | None, ...]:
    """The index that lines a table over some columns up with one over more."""
    return tuple(slice(None) if column in columns else None for column in within)
