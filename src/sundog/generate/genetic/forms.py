"""Flat forms: measured queries as arrays that the genetic kernels walk through, indexed by the column that changes.

All answers stand in one flat vector. For each class of queries a form lists, for every column, what a change in that column
can touch (genetic_kernels has the formulas). Once built, all lists are packed into one vector of integers and one of
weights, and each field of a form becomes the place where its list begins. Shapes never enter a type, so nothing is
compiled again for another workload, round or size; only which classes have queries does.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

Ints = Int[np.ndarray, " any"]
Floats = Float[np.ndarray, " any"]


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


class Conjunctions(NamedTuple):
    """Query q holds where low[k] <= atom of column[k] < high[k] for all its conditions k.

    `point` lists, by atom, the conditions that hold at this atom only; `edge` those that begin or end there.
    """

    queries: int
    condition: Ints
    column: Ints
    low: Ints
    high: Ints
    point: Ints
    point_query: Ints
    edge: Ints
    edge_query: Ints
    edge_low: Ints
    edge_high: Ints
    places: Places


class Planes(NamedTuple):
    """Threshold k (of direction d: direction[d] <= k < direction[d + 1]) holds where the row's product is at most it.

    The product's part of an atom is factor[atom] times the directions' coefficients of feature[atom].
    """

    queries: int
    direction: Ints
    threshold: Ints
    owner: Ints
    feature: Ints
    factor: Ints
    touched: Ints
    places: Places


class Agreements(NamedTuple):
    """t-out-of-k queries: entry e of a column names its axis; query q has the axes axis[q]..axis[q + 1]."""

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


class Products(NamedTuple):
    """Moments: entry e of a column names its query and place; from member_value[m] on stand the atoms' centred numbers."""

    column: Ints
    entry_query: Ints
    entry_place: Ints
    member: Ints
    member_column: Ints
    member_value: Ints
    start: Ints
    weight: Floats
    value: Ints


class GroupSums(NamedTuple):
    """Sums of numbers by group: in `cells` stand the group of every atom (from cell[q]) and its number (from value[q])."""

    column: Ints
    entry_query: Ints
    group_column: Ints
    value_column: Ints
    cell: Ints
    value: Ints
    start: Ints
    weight: Floats
    cells: Ints


class Sigmoids(NamedTuple):
    """Soft thresholds: a row's place is the sum over the members m of its atoms' parts (from part[m] on), shifted.

    `table` is where each query's sigmoid of place zero stands among the parts.
    """

    column: Ints
    entry_query: Ints
    entry_member: Ints
    member: Ints
    member_column: Ints
    part: Ints
    table: Ints
    shift: Ints
    start: Ints
    weight: Floats
    parts: Ints


class Forms(NamedTuple):
    """Everything the kernels read: the atoms, the `active` columns that matter, and a form per class that has queries."""

    atom: Ints
    code: Ints
    codes: Ints
    columns: Ints
    active: int
    tables: Tables
    conjunctions: Conjunctions | None
    planes: Planes | None
    agreements: Agreements | None
    products: Products | None
    group_sums: GroupSums | None
    sigmoids: Sigmoids | None


@dataclass(frozen=True, eq=False)
class Packed:
    """Forms ready for the kernels: the fields of `forms` are places in `integers` and `weights`; directions stand apart."""

    forms: Forms
    integers: Ints
    weights: Floats
    theta: Int[np.ndarray, "features directions"]
    span: Int[np.ndarray, "2 directions"]


def pack(forms: Forms, theta: Int[np.ndarray, "features directions"]) -> Packed:
    """All lists in two vectors; `span` holds each direction's lowest and highest threshold."""
    integers: list[Ints] = []
    weights: list[Floats] = []

    def place(value: Any) -> Any:
        if isinstance(value, tuple):
            return type(value)(*(place(part) for part in value))
        if value is None or isinstance(value, int):
            return value
        held = weights if value.dtype == np.float64 else integers
        held.append(value)
        return sum(len(each) for each in held[:-1])

    placed = place(forms)
    return Packed(
        placed, np.concatenate(integers).astype(np.int64), np.concatenate(weights), theta, _span(forms.planes)
    )


def _span(planes: Planes | None) -> Int[np.ndarray, "2 directions"]:
    if planes is None:
        return np.zeros((2, 0), dtype=np.int32)
    ends = (planes.direction[:-1], planes.direction[1:] - 1)
    return np.stack([planes.threshold[end] for end in ends]).astype(np.int32)
