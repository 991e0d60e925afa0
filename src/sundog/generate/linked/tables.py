"""Child tables by search: rows that have all cleaned tables at once, with their parents' values fixed.

Every row has one cell per free column. A table is over two free columns of a row, a free column and one that is given (the
parent's, or the place in the sequence), a column of a row and one of its sibling, or the difference of a column between two siblings
with another column of both. A row counts 1/k, with k the number of
rows of its root in the view, as in what was measured. A change of one cell is kept if it lowers

    sum over tables of precision * sum over cells of (count - target)^2,

where a changed cell of one sibling moves all pairs that the row is in. Pairs may share a cell, so they are moved one by one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.errors import UserError
from sundog.generate.linked.allowed import Allowed
from sundog.generate.linked.counts import Counts
from sundog.generate.linked.kinds import DIFFERENCES, GIVEN, MARGIN, SIBLINGS, WITHIN
from sundog.generate.linked.moves import count, run_pass
from sundog.generate.linked.nearness import Near, packed_near


@dataclass(frozen=True, eq=False)
class Table:
    """Targets of a table, and how free cells (`first`, `second`) and given ones become its cells.

    Of differences, `first` is the column of which they are, and its map has one cell for every two cells of siblings; `second` is
    that which explains them, and its map has two parts, which add up to a column of the target: for the first sibling's cell
    and for the second's.
    """

    kind: int
    first: int
    second: int
    first_map: Int[np.ndarray, " fine"]
    second_map: Int[np.ndarray, " fine_or_rows"]
    target: Float[np.ndarray, "a b"]
    precision: float


@dataclass(frozen=True, eq=False)
class Family:
    """Who belongs together: the weights of rows and of pairs, and every row's pairs as first and as second."""

    row_weight: Float[np.ndarray, " rows"]
    pair_weight: Float[np.ndarray, " rows"]
    after: tuple[Int[np.ndarray, " rows1"], Int[np.ndarray, " pairs"]]
    before: tuple[Int[np.ndarray, " rows1"], Int[np.ndarray, " pairs"]]


def search(
    seed: int,
    cells: Int[np.ndarray, "columns rows"],
    *,
    tables: list[Table],
    family: Family,
    movable: Int[np.ndarray, "columns rows"],
    allowed: Allowed,
    held: Counts,
    effort: tuple[int, float],
    near: Mapping[int, Near] = MappingProxyType({}),
) -> Int[np.ndarray, "columns rows"]:
    """The cells after the search: `movable` may change, to `allowed` ones, and the counts `held` stay within their bounds.

    `effort` is the most passes, and the part of the loss below which a pass is the last; `near` is of columns by number.
    """
    cells = np.ascontiguousarray(cells, dtype=np.int32)
    for table in tables:
        _check(table, cells)
    packed = _packed(tables, len(cells))
    counts = np.zeros(len(packed.target))
    ties = (family.row_weight, family.pair_weight, *family.after, *family.before)
    count(cells, packed.arrays, ties, counts)
    bonds = (allowed.place, allowed.flat, *held.packed(cells))
    choices = (packed.sizes, *packed_near(near, len(cells)))
    state = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
    moves = int(movable.sum())
    loss = _loss(counts, packed.target, packed.weight)
    passes, tolerance = effort
    for _ in range(passes if moves else 0):
        run_pass(state, cells, packed.arrays, ties, bonds, counts, movable, choices, moves)
        now = _loss(counts, packed.target, packed.weight)
        if loss - now < tolerance * loss:
            break
        loss = now
    return cells


def _check(table: Table, cells: Int[np.ndarray, "columns rows"]) -> None:
    """Refuse a table that the compiled search would read or write beyond its ends."""
    maps = [(table.first_map, table.target.shape[0])]
    maps += [(table.second_map, table.target.shape[1])] if table.kind != MARGIN else []
    inside = all(len(each) and each.min() >= 0 and each.max() < size for each, size in maps)
    held = [(table.first, table.first_map)]
    held += [(table.second, table.second_map)] if table.kind in (WITHIN, SIBLINGS) else []
    if table.kind == DIFFERENCES:
        inside = inside and _adds_up(table)
        held = [(table.first, np.arange(_side(table))), (table.second, table.second_map[::2])]
    known = all(cells[column].min(initial=0) >= 0 and cells[column].max(initial=0) < len(each) for column, each in held)
    if not (inside and known and (table.kind != GIVEN or len(table.second_map) == cells.shape[1])):
        raise UserError("linked search: a table does not fit the rows; its cells lie outside its axes.")


def _side(table: Table) -> int:
    """How many cells the column has of which differences are."""
    return math.isqrt(len(table.first_map))


def _adds_up(table: Table) -> bool:
    """Whether both maps of differences have parts of equal length, whose sums lie in the target."""
    first, second = np.array_split(table.second_map, 2)
    fits = _side(table) ** 2 == len(table.first_map) and len(first) == len(second) and table.first != table.second
    return fits and bool(first.max() + second.max() < table.target.shape[1])


@dataclass(frozen=True, eq=False)
class _Packed:
    arrays: tuple[Any, ...]
    target: Float[np.ndarray, " cells"]
    weight: Float[np.ndarray, " cells"]
    sizes: Int[np.ndarray, " columns"]
    """How many cells each column has."""


def _packed(tables: list[Table], columns: int) -> _Packed:
    """All tables as flat arrays: what the compiled search can read."""
    heads = np.zeros(
        (len(tables), 9), dtype=np.int64
    )  # kind, first, second, offset, stride, place of maps, their sides
    precision = np.array([table.precision for table in tables])
    maps, offset, place = [], 0, 0
    sizes = np.ones(columns, dtype=np.int64)
    of_column: list[list[tuple[int, int]]] = [[] for _ in range(columns)]
    for number, table in enumerate(tables):
        heads[number] = (
            table.kind,
            table.first,
            table.second,
            offset,
            table.target.shape[1],
            place,
            place + len(table.first_map),
            _side(table),
            len(table.second_map) // 2,
        )
        maps += [table.first_map, table.second_map]
        place += len(table.first_map) + len(table.second_map)
        offset += table.target.size
        of_column[table.first].append((number, 0))
        if table.kind != DIFFERENCES:
            sizes[table.first] = len(table.first_map)
        if table.kind in (WITHIN, SIBLINGS, DIFFERENCES):
            of_column[table.second].append((number, 1))
    ends = np.cumsum([0, *(len(each) for each in of_column)])
    uses = np.array([use for each in of_column for use in each], dtype=np.int64).reshape(-1, 2)
    target = np.concatenate([table.target.ravel() for table in tables])
    weight = np.repeat(precision, [table.target.size for table in tables])
    flat = np.concatenate(maps).astype(np.int32)
    return _Packed((heads, precision, flat, ends, uses, target), target, weight, sizes)


def _loss(
    counts: Float[np.ndarray, " cells"], target: Float[np.ndarray, " cells"], weight: Float[np.ndarray, " cells"]
) -> float:
    return float(weight @ (counts - target) ** 2)
