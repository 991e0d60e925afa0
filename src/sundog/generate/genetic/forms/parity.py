"""Parities in the genetic search: a row that leaves one cell for another switches every combination with either cell."""

from collections.abc import Sequence
from typing import NamedTuple

from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import (
    Asked,
    Floats,
    Form,
    Ints,
    Lists,
    combinations,
    mask,
)
from sundog.generate.genetic.forms.marginal import cell_cuts
from sundog.generate.genetic.forms.sums import moved


class Parities(NamedTuple):
    """Entry e of a column names its query and axis; query q has the axes axis[q]..axis[q + 1]."""

    column: Ints
    entry_query: Ints
    entry_axis: Ints
    axis: Ints
    axis_column: Ints
    size: Ints
    stride: Ints
    offset: Ints
    cells: Ints
    start: Ints
    weight: Floats


@kernel
def parities(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """Combinations with the old cell lose the row's agreement there, those with the new cell gain one."""
    L, _, W, rows, _, R = opened(p)
    f = Parities(*to_fixed_tuple(L[h : h + 11], 11))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_axis + e]
        cells = f.cells + L[f.offset + own]
        if L[cells + a] == L[cells + b]:
            continue
        combinations = 1
        for m in range(L[f.axis + q], L[f.axis + q + 1]):
            if m != own:
                combinations *= L[f.size + m]
        for rest in range(combinations):
            cell, left, agree = L[f.start + q], rest, 0
            for m in range(L[f.axis + q], L[f.axis + q + 1]):
                if m != own:
                    at = left % L[f.size + m]
                    left //= L[f.size + m]
                    agree += at == L[f.cells + L[f.offset + m] + rows[i, L[f.axis_column + m]]]
                    cell += at * L[f.stride + m]
            s = 1.0 if agree % 2 else -1.0  # without its own column a combination of the old cell is left with `agree`
            weight = W[f.weight + q]
            change += moved(R, cell + L[cells + a] * L[f.stride + own], s, weight, update)
            change += moved(R, cell + L[cells + b] * L[f.stride + own], -s, weight, update)
    return change


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    fields = Parities(**combinations(atoms, asked))
    return Lists(fields, mask(atoms, fields.axis_column))


FORM = Form(cell_cuts, _lists, parities)
