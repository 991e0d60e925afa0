"""Moments in the genetic search: the column's mean, its square and its products with the other columns of the query."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut, level_cuts
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import (
    Asked,
    Floats,
    Form,
    Ints,
    Lists,
    begins,
    flat,
    mask,
    members,
    pointers,
    starts_and_weights,
)
from sundog.generate.genetic.forms.sums import moved
from sundog.queries import Moments
from sundog.queries.moment import BITS, centred_codes


class Products(NamedTuple):
    """Entry e of a column names its query and place; from member_value[m] on stand the atoms' centred numbers."""

    column: Ints
    entry_query: Ints
    entry_place: Ints
    member: Ints
    member_column: Ints
    member_value: Ints
    value: Ints
    start: Ints
    weight: Floats


@kernel
def moments(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """All moments with column j."""
    L, _, W, rows, _, R = opened(p)
    f = Products(*to_fixed_tuple(L[h : h + 9], 9))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, place = L[f.entry_query + e], L[f.entry_place + e]
        begin, number = L[f.member + q], L[f.member + q + 1] - L[f.member + q]
        own = f.value + L[f.member_value + begin + place]
        old, new, weight = L[own + a], L[own + b], W[f.weight + q]
        change += moved(R, L[f.start + q] + place, 1024.0 * (new - old), weight, update)
        for m in range(number):
            low, high = min(m, place), max(m, place)
            answer = L[f.start + q] + number + low * number - low * (low - 1) // 2 + high - low
            if m == place:
                step = float(new * new - old * old)
            else:
                atom = rows[i, L[f.member_column + begin + m]]
                step = float((new - old) * L[f.value + L[f.member_value + begin + m] + atom])
            change += moved(R, answer, step, weight, update)
    return change


def _cuts(schema: Schema, queries: Sequence[Moments]) -> Iterator[Cut]:
    asked = {pair for query in queries for pair in zip(query.columns, query.ranges, strict=True)}
    return (level_cuts(schema.column(name), 1 << BITS, within) for name, within in asked)


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    columns, sizes = members(atoms, asked)
    column, order = pointers(columns, len(atoms.axes))
    owner = np.searchsorted(sizes, order, side="right") - 1
    ranges = [within for each in asked for within in each.query.ranges]
    values = [
        centred_codes(atoms.schema.columns[place], atoms.axes[place].firsts, within)
        for place, within in zip(columns, ranges, strict=True)
    ]
    fields = Products(
        column=column,
        entry_query=owner,
        entry_place=order - sizes[owner],
        member=sizes,
        member_column=columns,
        member_value=begins(values),
        value=flat(values),
        **starts_and_weights(asked),
    )
    return Lists(fields, mask(atoms, columns))


FORM = Form(_cuts, _lists, moments)
