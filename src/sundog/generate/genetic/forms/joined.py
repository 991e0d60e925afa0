"""Joined cells of marginals in the genetic search: the group of the old cell loses the row, and that of the new one gains it."""

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


class Groups(NamedTuple):
    """Entry e of a column names its query and axis; the answers of a query's cells stand from first[q] on in `answer`."""

    column: Ints
    entry_query: Ints
    entry_axis: Ints
    axis: Ints
    axis_column: Ints
    offset: Ints
    offsets: Ints
    first: Ints
    answer: Ints
    weight: Floats


@kernel
def joined_cells(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """Nothing changes where both cells are in one group."""
    L, _, W, rows, _, R = opened(p)
    f = Groups(*to_fixed_tuple(L[h : h + 10], 10))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_axis + e]
        cells = f.offsets + L[f.offset + own]
        if L[cells + a] == L[cells + b]:
            continue
        rest = f.answer + L[f.first + q]
        for m in range(L[f.axis + q], L[f.axis + q + 1]):
            if m != own:
                rest += L[f.offsets + L[f.offset + m] + rows[i, L[f.axis_column + m]]]
        old, new = L[rest + L[cells + a]], L[rest + L[cells + b]]
        if old != new:
            if update:
                R[new] += 1.0
                R[old] -= 1.0
            else:
                change += W[f.weight + q] * (R[new] - R[old] + 1.0)
    return 2.0 * change


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    cells = strided(atoms, asked)
    fields = Groups(
        **entries(atoms, asked),
        offset=begins(cells),
        offsets=flat(cells),
        first=np.cumsum([0, *(len(each.query.groups) for each in asked)]),
        answer=flat([each.start + np.array(each.query.groups) for each in asked]),
        weight=starts_and_weights(asked)["weight"],
    )
    return Lists(fields, mask(atoms, fields.axis_column))


FORM = Form(cell_cuts, _lists, joined_cells)
