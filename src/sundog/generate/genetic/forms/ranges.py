"""Ranges in the genetic search: conjunctions of which a condition on the column begins or ceases to hold.

Only conditions that begin or end between the old and the new atom are looked at, and only then whether the others hold.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import Asked, Form, Ints, Lists, mask, pointers
from sundog.generate.genetic.forms.members import (
    Member,
    Places,
    counted,
    member,
    places_of,
    relabelled,
    unlabelled,
)
from sundog.queries import Ranges


class Conjunctions(NamedTuple):
    """Query q holds where low[k] <= atom of column[k] < high[k] for all its conditions k.

    `point` lists, by atom (column c's from first[c] on), the conditions that hold at this atom only; `edge` those that begin
    or end there.
    """

    queries: int
    first: Ints
    condition: Ints
    column: Ints
    low: Ints
    high: Ints
    point: Ints
    point_query: Ints
    edge: Ints
    edge_query: Ints
    edge_low: Ints
    edge_high: Ints
    places: Any  # Places


@kernel
def holds(L: Any, f: Any, rows: Any, i: int, q: int, but: int) -> bool:  # pragma: no cover (compiled)
    """Whether row i satisfies all conditions of conjunction q, those on one column left aside."""
    for k in range(L[f.condition + q], L[f.condition + q + 1]):
        column = L[f.column + k]
        if column != but:
            atom = rows[i, column]
            if atom < L[f.low + k] or atom >= L[f.high + k]:
                return False
    return True


@kernel
def conjunctions(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """Conjunctions of which a condition on column j begins or ceases to hold; members whose label is column j."""
    L, _, W, rows, _, R = opened(p)
    f = Conjunctions(*to_fixed_tuple(L[h : h + 13], 13))
    places = Places(*to_fixed_tuple(L[f.places : f.places + 8], 8))
    change, first = 0.0, L[f.first + j]
    for s, atom in ((-1.0, a), (1.0, b)):
        for e in range(L[f.point + first + atom], L[f.point + first + atom + 1]):
            q = L[f.point_query + e]
            if holds(L, f, rows, i, q, j):
                change += member(L, W, places, rows, R, i, q, s, update)
    for e in range(L[f.edge + first + min(a, b) + 1], L[f.edge + first + max(a, b) + 1]):
        q, low, high = L[f.edge_query + e], L[f.edge_low + e], L[f.edge_high + e]
        now = low <= b < high
        if (low <= a < high) != now and holds(L, f, rows, i, q, j):
            change += member(L, W, places, rows, R, i, q, 1.0 if now else -1.0, update)
    for e in range(L[places.label + j], L[places.label + j + 1]):
        q = L[places.label_query + e]
        if holds(L, f, rows, i, q, j):
            change += relabelled(L, W, places, R, q, a, b, update)
    return change


@kernel
def count_conjunctions(p: int, h: int) -> None:  # pragma: no cover (compiled)
    """Add every row to the answers."""
    L, _, W, rows, _, R = opened(p)
    f = Conjunctions(*to_fixed_tuple(L[h : h + 13], 13))
    places = Places(*to_fixed_tuple(L[f.places : f.places + 8], 8))
    for q in range(f.queries):
        for i in range(rows.shape[0]):
            counted(L, W, places, rows, R, i, q, holds(L, f, rows, i, q, -1))


def range_cuts(schema: Schema, queries: Sequence[Ranges]) -> Iterator[Cut]:
    """Where conditions begin and end."""
    for query in queries:
        for column, name in enumerate(query.columns):
            on = query.which == column
            yield name, np.concatenate([query.low[on], query.high[on]])


def range_lists(atoms: Atoms, asked: Sequence[Member]) -> Lists:
    """Every condition under the atoms where it begins and ends."""
    first, total = atoms.first, int(atoms.first[-1])
    query, column, low, high = _conditions(atoms, [each.query for each in asked])
    asks = sum(each.query.size for each in asked)
    alone, crossed = high == low + 1, (high != low + 1) & (low < high)
    point, point_order = pointers((first[column] + low)[alone], total)
    begins, ends = crossed & (low > 0), crossed & (high < np.diff(first)[column])
    edges = np.concatenate([np.flatnonzero(begins), np.flatnonzero(ends)])
    keys = np.concatenate([(first[column] + low)[begins], (first[column] + high)[ends]])
    edge, edge_order = pointers(keys, total)
    edges = edges[edge_order]
    places = places_of(atoms, asked)
    fields = Conjunctions(
        queries=asks,
        first=first,
        condition=np.searchsorted(query, np.arange(asks + 1)),
        column=column,
        low=low,
        high=high,
        point=point,
        point_query=query[alone][point_order],
        edge=edge,
        edge_query=query[edges],
        edge_low=low[edges],
        edge_high=high[edges],
        places=places,
    )
    return Lists(fields, mask(atoms, column) | (np.diff(places.label) > 0))


def _conditions(atoms: Atoms, queries: Sequence[Ranges]) -> Int[np.ndarray, "4 conditions"]:
    """Every condition as (query, column, low atom, high atom), in the queries' order."""
    parts, before = [np.empty((4, 0), np.int64)], 0
    for query in queries:
        parts.append(_conditions_of(query, atoms) + np.array([[before], [0], [0], [0]]))
        before += query.size
    return np.concatenate(parts, axis=1)


def _conditions_of(query: Ranges, atoms: Atoms) -> Int[np.ndarray, "4 conditions"]:
    """The conditions of some conjunctions, one for each column of a query."""
    places = np.array([atoms.schema.position(name) for name in query.columns])
    which = np.where(query.which >= 0, places[query.which], -1)
    low, high = np.zeros_like(query.low), np.zeros_like(query.high)
    for place in places:
        on = which == place
        low[on] = np.searchsorted(atoms.axes[place].firsts, query.low[on])
        high[on] = np.searchsorted(atoms.axes[place].firsts, query.high[on])
    for k in range(which.shape[1]):
        for m in range(k):  # two conditions on one column: their intersection
            twice = (which[:, k] == which[:, m]) & (which[:, k] >= 0)
            low[twice, m] = np.maximum(low[twice, m], low[twice, k])
            high[twice, m] = np.minimum(high[twice, m], high[twice, k])
            which[twice, k] = -1
    held = np.nonzero(which >= 0)
    return np.stack([held[0], which[held], low[held], high[held]])


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    return range_lists(atoms, unlabelled(asked))


FORM = Form(range_cuts, _lists, conjunctions, count_conjunctions)
