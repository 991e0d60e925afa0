"""Marginals in the genetic search: in every table with the column, one cell loses the row and another gains it.

The change of loss is w 2 (R[new] - R[old] + 1); nothing where both atoms fall into one cell (coarse levels of a tree).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut, axis_cuts
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import Asked, Floats, Form, Ints, Lists, flat, mask, pointers
from sundog.queries import Marginal


class Tables(NamedTuple):
    """Entry e (of column c: column[c] <= e < column[c + 1]) is a table that holds the column, as one of its axes.

    A row's cell is the sum over the table's axes of offsets[axis + atom]; `own` is the column's axis in the table, `other`
    and `other_column` are the rest.
    """

    column: Ints
    own: Ints
    weight: Floats
    others: Ints
    other: Ints
    other_column: Ints
    offsets: Ints


@kernel
def tables(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """All tables with column j."""
    L, _, W, rows, _, R = opened(p)
    f = Tables(*to_fixed_tuple(L[h : h + 7], 7))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        own = f.offsets + L[f.own + e]
        old, new = L[own + a], L[own + b]
        if old != new:
            cell = 0
            for o in range(L[f.others + e], L[f.others + e + 1]):
                cell += L[f.offsets + L[f.other + o] + rows[i, L[f.other_column + o]]]
            if update:
                R[cell + new] += 1.0
                R[cell + old] -= 1.0
            else:
                change += W[f.weight + e] * (R[cell + new] - R[cell + old] + 1.0)
    return 2.0 * change


def table_cuts(schema: Schema, queries: Sequence[Marginal]) -> Iterator[Cut]:
    """The borders of all axes."""
    return (axis_cuts(axis) for axis in dict.fromkeys(axis for query in queries for axis in query.axes))


def cell_cuts(schema: Schema, queries: Sequence[Any]) -> Iterator[Cut]:
    """The same, of queries that are made of a marginal's cells."""
    return table_cuts(schema, [query.marginal for query in queries])


def table_lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    """Every table under each of its columns."""
    offsets = []
    for query, start, _ in asked:
        for k, axis in enumerate(query.axes):
            stride = math.prod(query.shape[k + 1 :])
            offsets.append(atoms.cells(axis) * stride + (start if k == 0 else 0))
    places = np.cumsum([0, *(len(each) for each in offsets)])
    first = np.cumsum([0, *(len(each.query.axes) for each in asked)])
    columns = flat([atoms.schema.position(name) for each in asked for name in each.query.columns])
    column, order = pointers(columns, len(atoms.axes))
    table = np.searchsorted(first, order, side="right") - 1
    rest = [[m for m in range(first[t], first[t + 1]) if m != e] for t, e in zip(table, order, strict=True)]
    others = flat([m for some in rest for m in some])
    return Lists(
        Tables(
            column=column,
            own=places[order],
            weight=flat([asked[t].weight for t in table], np.float64),
            others=np.cumsum([0, *(len(some) for some in rest)]),
            other=places[others],
            other_column=columns[others],
            offsets=flat(offsets),
        ),
        mask(atoms, columns),
    )


FORM = Form(table_cuts, table_lists, tables)
