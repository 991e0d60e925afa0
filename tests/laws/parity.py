"""A class of queries that Sundog does not have, written as a newcomer would: the query, and its form in the genetic search.

Parity: how many rows have an even, and how many an odd sum of codes over some columns. In the project this would be
queries/parity.py with a line in CLASSES, and generate/genetic/forms/parity.py with a line in FORMS.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import Form, Lists, mask, members, pointers, starts_and_weights
from sundog.generate.genetic.forms.sums import moved
from sundog.queries.base import OneBlock


@dataclass(frozen=True)
class Parity(OneBlock):
    """Even and odd sums of codes: a partition of the rows."""

    columns: tuple[str, ...]
    claimed: int = 1
    size = 2
    partition = True

    def sensitivity_squared(self, neighbours):
        return Fraction(self.claimed if neighbours == "add-remove" else 2 * self.claimed)

    sensitivity_l1 = sensitivity_squared

    def sensitivity_linf(self, neighbours):
        return Fraction(1)

    def add(self, rows, totals):
        odd = sum(rows.column(name).astype(np.int64) for name in self.columns) % 2
        totals += np.bincount(odd, minlength=2)

    def describe(self):
        return f"even and odd sums of {', '.join(self.columns)}"

    def to_json(self):
        return {"query": "parity", "columns": list(self.columns)}

    @classmethod
    def from_json(cls, document, schema):
        for name in document["columns"]:
            schema.position(name)
        return cls(tuple(document["columns"]))


class Parities(NamedTuple):
    """Entry e of a column names its query; `bit` has every atom's parity."""

    column: object
    entry_query: object
    member: object
    member_column: object
    first: object
    bit: object
    start: object
    weight: object


@kernel
def parities(p, h, i, j, a, b, update):  # pragma: no cover (compiled)
    """A row whose parity changes moves from one answer to the other."""
    L, _, W, rows, _, R = opened(p)
    f = Parities(*to_fixed_tuple(L[h : h + 8], 8))
    change, first = 0.0, f.bit + L[f.first + j]
    if L[first + a] == L[first + b]:
        return change
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, odd = L[f.entry_query + e], 0
        for m in range(L[f.member + q], L[f.member + q + 1]):
            column = L[f.member_column + m]
            odd ^= L[f.bit + L[f.first + column] + rows[i, column]]
        change += moved(R, L[f.start + q] + odd, -1.0, W[f.weight + q], update)
        change += moved(R, L[f.start + q] + 1 - odd, 1.0, W[f.weight + q], update)
    return change


def _cuts(schema, queries):
    return ((name, np.arange(schema.column(name).size)) for query in queries for name in query.columns)


def _lists(atoms, asked):
    columns, sizes = members(atoms, asked)
    column, order = pointers(columns, len(atoms.axes))
    fields = Parities(
        column=column,
        entry_query=np.searchsorted(sizes, order, side="right") - 1,
        member=sizes,
        member_column=columns,
        first=atoms.first,
        bit=np.concatenate([axis.firsts % 2 for axis in atoms.axes]),
        **starts_and_weights(asked),
    )
    return Lists(fields, mask(atoms, columns))


FORM = Form(_cuts, _lists, parities)
