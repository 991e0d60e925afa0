"""Where rows stand below their parents: positions, sequences, pairs of siblings. For real and synthetic tables alike."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Int

from sundog.domain.columns import Column
from sundog.domain.linked.package import Package
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import Siblings

Codes = Int[np.ndarray, " rows"]


def within(groups: Codes) -> Codes:
    """The place of every row within its run of equal numbers."""
    if not len(groups):
        return np.empty(0, dtype=np.int64)
    places = np.arange(len(groups))
    return places - np.maximum.accumulate(np.where(np.diff(groups, prepend=-1) != 0, places, 0))


def sizes_of(groups: Codes) -> Codes:
    """How many rows share a row's number."""
    return np.bincount(groups)[groups] if len(groups) else np.empty(0, dtype=np.int64)


def sequence_places(table: LinkedTable, parent: Codes) -> dict[str, Codes]:
    """Position and place of rows that are sorted by parent; nothing where the table is no sequence."""
    if table.order is None:
        return {}
    position, size = within(parent), sizes_of(parent)
    place = np.where(size == 1, 0, np.where(position == 0, 1, np.where(position == size - 1, 3, 2)))
    return {f"{table.name}.#position": position, f"{table.name}.#place": place}


def first_values(table: LinkedTable, order: Codes, parent: Codes, *, parents: int) -> Codes:
    """The order column's code in the first row of every parent, of rows that are sorted by parent; missing where there is no row."""
    begins = np.flatnonzero(np.diff(parent, prepend=-1) != 0)
    found = np.full(parents, table.schema.column(table.order or "").steps)  # type: ignore[union-attr]  # table.py chose a numeric one
    found[parent[begins]] = order[begins]
    return found


def means(column: Column, codes: Codes, parent: Codes, *, parents: int) -> Codes:
    """The mean code of a column over the rows of every parent that have a value, rounded down; missing where none has."""
    steps = column.steps  # type: ignore[union-attr]  # views.py chose a numeric one
    known = codes < steps
    number = np.bincount(parent[known], minlength=parents)
    total = np.bincount(parent[known], weights=codes[known], minlength=parents)
    return np.where(number > 0, np.minimum(total // np.maximum(number, 1), steps - 1), steps).astype(np.int64)


def pairs_of(parent: Codes, rank: Codes, siblings: Siblings) -> tuple[Codes, Codes]:
    """The pairs of siblings of rows that are sorted by parent: first and second. `rank` orders what has no order."""
    if siblings in ("first", "next"):
        before = np.flatnonzero(parent[1:] == parent[:-1])
        place = within(parent)
        later = np.flatnonzero(place > 1) if siblings == "first" else np.empty(0, dtype=np.int64)
        return np.concatenate([before, later - place[later]]), np.concatenate([before + 1, later])
    order = np.lexsort((rank, parent))
    size, place = sizes_of(parent[order]), within(parent[order])
    start = np.arange(len(order)) - place
    steps = range(1, 2 if siblings == "ring" else int(size.max(initial=1)))
    there = [np.flatnonzero(size > step) for step in steps]
    firsts = [order[at] for at in there]
    seconds = [order[start[at] + (place[at] + step) % size[at]] for step, at in zip(steps, there, strict=True)]
    nothing = np.empty(0, dtype=np.int64)
    return np.concatenate([nothing, *firsts]), np.concatenate([nothing, *seconds])


def differences(column: Column, first: Codes, second: Codes) -> Codes:
    """The codes of how much more each second sibling has of a column than the first, given the codes of both (`difference_of`)."""
    steps = column.steps  # type: ignore[union-attr]  # views.py chose a numeric one
    known = (first < steps) & (second < steps)
    return np.where(known, second.astype(np.int64) - first.astype(np.int64) + steps - 1, 2 * steps - 1)


def above_of(package: Package, parents: Mapping[str, Codes], *, table: str, above: str) -> Codes:
    """For every row of a table the record of a table above it, itself where it is the same one; given every row's parent."""
    if table == above:
        return np.arange(len(parents[table]))
    parent = package.table(table).parent or ""
    return above_of(package, parents, table=parent, above=above)[parents[table]]
