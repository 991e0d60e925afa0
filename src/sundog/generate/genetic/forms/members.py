"""0/1 queries in the genetic search, with or without a label: where their members are counted (ranges.py, halfspaces.py)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from sundog.domain.axis import Axis
from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.calls import kernel
from sundog.generate.genetic.forms.base import Asked, Floats, Ints, flat, pointers


class Member(NamedTuple):
    """0/1 queries, where their answers begin, their weight, and the axis by whose cells their members are counted."""

    query: Any
    start: int
    weight: float
    label: Axis | None = None


class Places(NamedTuple):
    """Where members of 0/1 query q are counted: inside[q] (plus the label's cell, if it has a label), else outside[q].

    outside = -1: not counted. Queries label[c] <= e < label[c + 1] (named by label_query[e]) take their label from column c.
    """

    inside: Ints
    outside: Ints
    weight: Floats
    label_column: Ints
    label_offset: Ints
    label_cells: Ints
    label: Ints
    label_query: Ints


def unlabelled(asked: Sequence[Asked]) -> list[Member]:
    """The same queries, without a label."""
    return [Member(*each) for each in asked]


def places_of(atoms: Atoms, asked: Sequence[Member], order: Int[np.ndarray, " queries"] | None = None) -> Places:
    """The places of all queries, in another order if one is given; with a label a block is its cells and the complement."""
    sizes = np.array([each.query.size for each in asked], dtype=np.int64)
    blocks = [1 if each.label is None else each.label.size + 1 for each in asked]
    inside = [each.start + block * np.arange(size) for each, block, size in zip(asked, blocks, sizes, strict=True)]
    outside = [
        np.full(len(own), -1) if each.label is None else own + each.label.size
        for each, own in zip(asked, inside, strict=True)
    ]
    columns = [-1 if each.label is None else atoms.schema.position(each.label.column) for each in asked]
    cells = [np.empty(0, np.int64) if each.label is None else atoms.cells(each.label) for each in asked]
    offsets = np.cumsum([0, *(len(each) for each in cells)])[:-1]
    some = slice(None) if order is None else order
    column = np.repeat(np.array(columns, dtype=np.int64), sizes)[some]
    label, query = pointers(column[column >= 0], len(atoms.axes))
    return Places(
        inside=flat(inside)[some],
        outside=flat(outside)[some],
        weight=np.repeat([each.weight for each in asked], sizes)[some],
        label_column=column,
        label_offset=np.repeat(offsets, sizes)[some],
        label_cells=flat(cells),
        label=label,
        label_query=np.flatnonzero(column >= 0)[query],
    )


@kernel
def member(
    L: Any, W: Any, p: Any, rows: Any, R: Any, i: int, q: int, s: float, update: bool
) -> float:  # pragma: no cover (compiled)
    """Row i becomes (s = 1) or ceases to be (s = -1) a member of 0/1 query q."""
    inside, outside, label = L[p.inside + q], L[p.outside + q], L[p.label_column + q]
    if label >= 0:
        inside += L[p.label_cells + L[p.label_offset + q] + rows[i, label]]
    if update:
        R[inside] += s
        if outside >= 0:
            R[outside] -= s
        return 0.0
    change = 2.0 * s * R[inside] + 1.0
    if outside >= 0:
        change += 1.0 - 2.0 * s * R[outside]
    return W[p.weight + q] * change


@kernel
def relabelled(
    L: Any, W: Any, p: Any, R: Any, q: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover (compiled)
    """A member of q changes its label from atom a to atom b."""
    cells = p.label_cells + L[p.label_offset + q]
    old, new = L[p.inside + q] + L[cells + a], L[p.inside + q] + L[cells + b]
    if old == new:
        return 0.0
    if update:
        R[old] -= 1.0
        R[new] += 1.0
        return 0.0
    return 2.0 * W[p.weight + q] * (R[new] - R[old] + 1.0)


@kernel
def counted(
    L: Any, W: Any, p: Any, rows: Any, R: Any, i: int, q: int, held: bool
) -> None:  # pragma: no cover (compiled)
    """Add row i to the answers of q, as a member or, with a label, as none."""
    if L[p.outside + q] >= 0:
        R[L[p.outside + q]] += 1.0
    if held:
        member(L, W, p, rows, R, i, q, 1.0, True)
