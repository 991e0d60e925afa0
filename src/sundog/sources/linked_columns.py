"""Columns that the structure of linked tables gives: places in a sequence, and what a parent knows of its children.

Each depends on the rows of one parent alone.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Int

from sundog.domain.linked.package import Package
from sundog.domain.linked.structure import first_values, means, sequence_places, within
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import averaged, count_name, first_name, mean_name, table_columns

Codes = Int[np.ndarray, " rows"]
Columns = dict[str, Codes]


def sequence_columns(table: LinkedTable, order: Codes, parent: Codes) -> Columns:
    """What a row's place in its sequence says: the first one's value, gaps to the one before, position and place."""
    steps = table.schema.column(table.order or "").steps  # type: ignore[union-attr]
    order, place = order.astype(np.int64), within(parent)
    before = np.concatenate([order[:1], order[:-1]])
    known = (place > 0) & (order < steps) & (before < steps)
    return {
        f"{table.name}.{table.order}": np.where(place == 0, order, steps),
        f"{table.name}.#gap": np.where(known, order - before, steps),
        **sequence_places(table, parent),
    }


def add_of_children(
    package: Package,
    table: LinkedTable,
    columns: Columns,
    *,
    parents: int,
    below: Mapping[str, tuple[Columns, Codes]],
) -> None:
    """Write what each parent knows of its children into its columns, given every table's columns and its rows' parents.

    The number of children, as declared: not below the least; where a sequence begins; the means of numbers.
    """
    for child in package.children(table.name):
        held, parent = below[child.name]
        number = np.bincount(parent, minlength=parents)
        columns[count_name(table.name, child.name)] = np.maximum(number, child.least) - child.least
        if child.order is not None:
            order = held[f"{child.name}.{child.order}"]
            columns[first_name(table.name, child.name)] = first_values(child, order, parent, parents=parents)
        for number_column in averaged(child):
            name = number_column.name
            found = means(number_column, held[f"{child.name}.{name}"], parent, parents=parents)
            columns[mean_name(table.name, child.name, name)] = found
    for column in table_columns(package, table):
        columns[column.name] = columns[column.name].astype(np.min_scalar_type(max(column.size - 1, 0)))
