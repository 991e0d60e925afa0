"""Sums by group in the genetic search: the row's number moves from group to group, or changes within its group."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut, axis_cuts, level_cuts
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
from sundog.queries import GroupSums
from sundog.queries.moment import BITS, centred_codes


class Sums(NamedTuple):
    """Entry e of a column names its query; in `cells` stand every atom's group (from cell[q]) and number (from value[q])."""

    column: Ints
    entry_query: Ints
    group_column: Ints
    value_column: Ints
    cell: Ints
    value: Ints
    cells: Ints
    start: Ints
    weight: Floats


@kernel
def group_sums(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """All sums with column j, as the group or as the number."""
    L, _, W, rows, _, R = opened(p)
    f = Sums(*to_fixed_tuple(L[h : h + 9], 9))
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q = L[f.entry_query + e]
        cells, values, weight = f.cells + L[f.cell + q], f.cells + L[f.value + q], W[f.weight + q]
        if j == L[f.group_column + q]:
            number = float(L[values + rows[i, L[f.value_column + q]]])
            old, new = L[cells + a], L[cells + b]
            if old != new:
                change += moved(R, L[f.start + q] + old, -number, weight, update)
                change += moved(R, L[f.start + q] + new, number, weight, update)
        else:
            group = L[cells + rows[i, L[f.group_column + q]]]
            change += moved(R, L[f.start + q] + group, float(L[values + b] - L[values + a]), weight, update)
    return change


def _cuts(schema: Schema, queries: Sequence[GroupSums]) -> Iterator[Cut]:
    yield from (axis_cuts(query.group) for query in queries)
    yield from (level_cuts(schema.column(name), 1 << BITS) for name in {query.column for query in queries})


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    columns, _ = members(atoms, asked)
    column, order = pointers(columns, len(atoms.axes))
    values = [centred_codes(atoms.schema.columns[place], atoms.axes[place].firsts) for place in columns[1::2]]
    lists = [part for each, value in zip(asked, values, strict=True) for part in (atoms.cells(each.query.group), value)]
    fields = Sums(
        column=column,
        entry_query=order // 2,
        group_column=columns[::2],
        value_column=columns[1::2],
        cell=begins(lists)[::2],
        value=begins(lists)[1::2],
        cells=flat(lists),
        **starts_and_weights(asked),
    )
    return Lists(fields, mask(atoms, columns))


FORM = Form(_cuts, _lists, group_sums)
