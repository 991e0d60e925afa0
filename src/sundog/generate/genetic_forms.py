"""Flat forms: measured queries as arrays that the genetic kernels walk through, indexed by the column that changes.

All answers stand in one flat vector. For each class of queries a form lists, for every column, what a change in that column
can touch (genetic_kernels has the formulas). Shapes never enter a type, so nothing is compiled again for another
workload, round or size.
"""

from typing import NamedTuple

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

    The product's part of an atom is factor[atom] * theta[feature[atom]].
    """

    direction: Ints
    threshold: Ints
    owner: Ints
    theta: Int[np.ndarray, "features directions"]
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
    """Moments: entry e of a column names its query and place; `value` is each atom's centred number."""

    column: Ints
    entry_query: Ints
    entry_place: Ints
    member: Ints
    member_column: Ints
    start: Ints
    weight: Floats
    value: Ints


class Forms(NamedTuple):
    """Everything the kernels read: the atoms, the columns that matter, and one form a class of queries."""

    atom: Ints
    code: Ints
    codes: Ints
    columns: Ints
    tables: Tables
    conjunctions: Conjunctions
    planes: Planes
    agreements: Agreements
    products: Products
