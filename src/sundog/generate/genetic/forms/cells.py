"""Chosen cells of marginals in the genetic search: as whole tables, but most cells are counted nowhere."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import (
    Asked,
    Floats,
    Form,
    Ints,
    Lists,
    begins,
    entries,
    flat,
    mask,
    starts_and_weights,
    strided,
)
from sundog.generate.genetic.forms.marginal import cell_cuts


class Chosen(NamedTuple):
    """Entry e of a column names its query and axis; a query's cells are sorted from chosen[q] on, `answer` says which they are."""

    column: Ints
    entry_query: Ints
    entry_axis: Ints
    axis: Ints
    axis_column: Ints
    offset: Ints
    offsets: Ints
    chosen: Ints
    cell: Ints
    answer: Ints
    weight: Floats


@kernel
def found(L: Ints, first: int, end: int, cell: int) -> int:  # pragma: no cover (compiled)
    """Where a cell stands in a sorted list, or -1."""
    while first < end:
        middle = (first + end) // 2
        if L[middle] < cell:
            first = middle + 1
        else:
            end = middle
    return first if L[first] == cell else -1


@kernel
def chosen_cells(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """The old cell loses the row and the new one gains it, where they are among the chosen."""
    L, _, W, rows, _, R = opened(p)
    f = Chosen(*to_fixed_tuple(L[h : h + 11], 11))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_axis + e]
        cells = f.offsets + L[f.offset + own]
        if L[cells + a] == L[cells + b]:
            continue
        rest = 0
        for m in range(L[f.axis + q], L[f.axis + q + 1]):
            if m != own:
                rest += L[f.offsets + L[f.offset + m] + rows[i, L[f.axis_column + m]]]
        first, end = f.cell + L[f.chosen + q], f.cell + L[f.chosen + q + 1] - 1
        for side in range(2):
            at = found(L, first, end, rest + L[cells + (a if side == 0 else b)])
            if at >= 0:
                place, s = L[f.answer + at - f.cell], -1.0 if side == 0 else 1.0
                if update:
                    R[place] += s
                else:
                    change += W[f.weight + q] * (2.0 * s * R[place] + 1.0)
    return change


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    cells = strided(atoms, asked)
    sorted_cells = [np.argsort(each.query.places) for each in asked]
    fields = Chosen(
        **entries(atoms, asked),
        offset=begins(cells),
        offsets=flat(cells),
        chosen=np.cumsum([0, *(each.query.size for each in asked)]),
        cell=flat([each.query.places[some] for each, some in zip(asked, sorted_cells, strict=True)]),
        answer=flat([each.start + some for each, some in zip(asked, sorted_cells, strict=True)]),
        weight=starts_and_weights(asked)["weight"],
    )
    return Lists(fields, mask(atoms, fields.axis_column))


FORM = Form(cell_cuts, _lists, chosen_cells)
