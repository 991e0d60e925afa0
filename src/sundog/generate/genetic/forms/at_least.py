"""t-out-of-k queries in the genetic search: combinations with exactly t - 1 agreements outside the column."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    flat,
    mask,
)
from sundog.generate.genetic.forms.marginal import cell_cuts


class Agreements(NamedTuple):
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
    least: Ints
    start: Ints
    weight: Floats


@kernel
def combination_cell(
    L: Any, f: Any, rows: Any, i: int, q: int, own: int, chosen: int, rest: int
) -> int:  # pragma: no cover (compiled)
    """The rest-th combination that agrees with row i in the chosen axes and nowhere else, its own axis left aside."""
    cell = L[f.start + q]
    for m in range(L[f.axis + q], L[f.axis + q + 1]):
        if m != own:
            at = L[f.cells + L[f.offset + m] + rows[i, L[f.axis_column + m]]]
            if not chosen >> (m - L[f.axis + q]) & 1:
                other = rest % (L[f.size + m] - 1)
                rest //= L[f.size + m] - 1
                at = other + (1 if other >= at else 0)
            cell += at * L[f.stride + m]
    return cell


@kernel
def agreements(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """Combinations that agree with row i in exactly t - 1 of the other axes: those at b gain it, those at a lose it."""
    L, _, W, rows, _, R = opened(p)
    f = Agreements(*to_fixed_tuple(L[h : h + 12], 12))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_axis + e]
        cells = f.cells + L[f.offset + own]
        old, new = L[cells + a] * L[f.stride + own], L[cells + b] * L[f.stride + own]
        begin, end = L[f.axis + q], L[f.axis + q + 1]
        if old == new:
            continue
        for chosen in range(1 << (end - begin)):  # which axes agree, the column's own among them
            agree, combinations = 0, 1
            for m in range(end - begin):
                if chosen >> m & 1:
                    agree += 1
                else:
                    combinations *= L[f.size + begin + m] - 1
            if agree == L[f.least + q] and chosen >> (own - begin) & 1:
                for rest in range(combinations):
                    cell = combination_cell(L, f, rows, i, q, own, chosen, rest)
                    if update:
                        R[cell + new] += 1.0
                        R[cell + old] -= 1.0
                    else:
                        change += 2.0 * W[f.weight + q] * (R[cell + new] - R[cell + old] + 1.0)
    return change


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    fields = Agreements(**combinations(atoms, asked), least=flat([each.query.least for each in asked]))
    return Lists(fields, mask(atoms, fields.axis_column))


FORM = Form(cell_cuts, _lists, agreements)
