"""Soft thresholds in the genetic search: the row's weighted sum moves along the table of the sigmoid."""

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
from sundog.queries import SigmoidSum
from sundog.queries.sigmoid import BITS, COARSE, positions


class Sigmoids(NamedTuple):
    """A row's place is the sum over the members m of its atoms' parts (from part[m] on), shifted.

    `table` is where each query's sigmoid of place zero stands among the parts.
    """

    column: Ints
    entry_query: Ints
    entry_member: Ints
    member: Ints
    member_column: Ints
    part: Ints
    table: Ints
    shift: int
    parts: Ints
    start: Ints
    weight: Floats


@kernel
def sigmoids(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """All soft thresholds over column j."""
    L, _, W, rows, _, R = opened(p)
    f = Sigmoids(*to_fixed_tuple(L[h : h + 11], 11))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_member + e]
        old = 0
        for m in range(L[f.member + q], L[f.member + q + 1]):
            old += L[f.parts + L[f.part + m] + rows[i, L[f.member_column + m]]]
        new = old + L[f.parts + L[f.part + own] + b] - L[f.parts + L[f.part + own] + a]
        table = f.parts + L[f.table + q]
        step = float(L[table + (new >> f.shift)] - L[table + (old >> f.shift)])
        change += moved(R, L[f.start + q], step, W[f.weight + q], update)
    return change


def _cuts(schema: Schema, queries: Sequence[SigmoidSum]) -> Iterator[Cut]:
    return (
        level_cuts(schema.column(name), 1 << BITS) for name in {name for query in queries for name in query.columns}
    )


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    columns, sizes = members(atoms, asked)
    column, order = pointers(columns, len(atoms.axes))
    weights = [weight for each in asked for weight in each.query.whole_weights]
    at = [positions(atoms.schema.columns[place], atoms.axes[place].firsts) for place in columns]
    parts = [weight * position for weight, position in zip(weights, at, strict=True)]
    tables = [each.query.table for each in asked]
    starts = begins([*parts, *tables])
    fields = Sigmoids(
        column=column,
        entry_query=np.searchsorted(sizes, order, side="right") - 1,
        entry_member=order,
        member=sizes,
        member_column=columns,
        part=starts[: len(parts)],
        table=starts[len(parts) :] - flat([each.query.least for each in asked]),
        shift=COARSE,
        parts=flat([*parts, *tables]),
        **starts_and_weights(asked),
    )
    return Lists(fields, mask(atoms, columns))


FORM = Form(_cuts, _lists, sigmoids)
