"""Child tables by search: rows that have all cleaned tables at once, with their parents' values fixed.

Every row has one cell per free column. A table is over two free columns of a row, a free column and one that is given (the
parent's, or the place in the sequence), or a column of a row and one of its sibling. A row counts 1/k, with k the number of
rows of its root in the view, as in what was measured. A change of one cell is kept if it lowers

    sum over tables of precision * sum over cells of (count - target)^2,

where a changed cell of one sibling moves all pairs that the row is in. Pairs may share a cell, so they are moved one by one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import njit

from sundog.errors import UserError
from sundog.generate.genetic.candidates import below

MARGIN, WITHIN, GIVEN, SIBLINGS = 0, 1, 2, 3
COPIES = 7
"""Of ten candidates, so many take their value from another row."""


@dataclass(frozen=True, eq=False)
class Table:
    """Targets of a table, and how free cells (`first`, `second`) and given ones become its cells."""

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
    banned: Int[np.ndarray, " columns"],
    passes: int,
    tolerance: float,
) -> Int[np.ndarray, "columns rows"]:
    """The cells after the search; `movable` says which may change, `banned` names a cell that no row may take (or -1)."""
    cells = np.ascontiguousarray(cells, dtype=np.int32)
    for table in tables:
        _check(table, cells)
    packed = _packed(tables, len(cells))
    counts = np.zeros(len(packed.target))
    ties = (family.row_weight, family.pair_weight, *family.after, *family.before)
    _count(cells, packed.arrays, ties, counts)
    state = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
    moves = int(movable.sum())
    loss = _loss(counts, packed.target, packed.weight)
    for _ in range(passes if moves else 0):
        _pass(state, cells, packed.arrays, ties, counts, movable, banned, packed.sizes, moves)
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
    known = all(cells[column].min(initial=0) >= 0 and cells[column].max(initial=0) < len(each) for column, each in held)
    if not (inside and known and (table.kind != GIVEN or len(table.second_map) == cells.shape[1])):
        raise UserError("linked search: a table does not fit the rows; its cells lie outside its axes.")


@dataclass(frozen=True, eq=False)
class _Packed:
    arrays: tuple[Any, ...]
    target: Float[np.ndarray, " cells"]
    weight: Float[np.ndarray, " cells"]
    sizes: Int[np.ndarray, " columns"]
    """How many cells each column has."""


def _packed(tables: list[Table], columns: int) -> _Packed:
    """All tables as flat arrays: what the compiled search can read."""
    heads = np.zeros((len(tables), 7), dtype=np.int64)  # kind, first, second, offset, stride, place of maps
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
        )
        maps += [table.first_map, table.second_map]
        place += len(table.first_map) + len(table.second_map)
        offset += table.target.size
        of_column[table.first].append((number, 0))
        sizes[table.first] = len(table.first_map)
        if table.kind in (WITHIN, SIBLINGS):
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


@njit(cache=True, nogil=True)
def _count(cells: Any, packed: Any, ties: Any, counts: Any) -> None:  # pragma: no cover (compiled)
    heads, _, maps, _, _, _ = packed
    row_weight, pair_weight, after, seconds, _, _ = ties
    for t in range(heads.shape[0]):
        kind, first, second, offset, stride, a, b = heads[t]
        for i in range(cells.shape[1]):
            cell = offset + maps[a + cells[first, i]] * stride
            if kind == SIBLINGS:
                for p in range(after[i], after[i + 1]):
                    counts[cell + maps[b + cells[second, seconds[p]]]] += pair_weight[i]
            elif kind == GIVEN:
                counts[cell + maps[b + i]] += row_weight[i]
            elif kind == WITHIN:
                counts[cell + maps[b + cells[second, i]]] += row_weight[i]
            else:
                counts[cell] += row_weight[i]


@njit(cache=True, nogil=True)
def _moved(
    old: int, new: int, weight: float, precision: float, counts: Any, target: Any
) -> float:  # pragma: no cover (compiled)
    """How much the loss changes when `weight` moves from one cell to another, not moved yet."""
    gain = counts[new] - target[new] - counts[old] + target[old]
    return 2.0 * precision * weight * (gain + weight)


@njit(cache=True, nogil=True)
def _own(
    i: int, c: int, new: int, cells: Any, packed: Any, ties: Any, counts: Any, apply: bool
) -> float:  # pragma: no cover (compiled)
    """The change of loss in the tables of the row itself; applied if asked."""
    heads, precision, maps, ends, uses, target = packed
    row_weight = ties[0]
    change = 0.0
    for u in range(ends[c], ends[c + 1]):
        t, role = uses[u]
        kind, first, second, offset, stride, a, b = heads[t]
        if kind == SIBLINGS:
            continue
        if role == 0:
            rest = 0
            if kind == WITHIN:
                rest = maps[b + cells[second, i]]
            elif kind == GIVEN:
                rest = maps[b + i]
            left = offset + maps[a + cells[c, i]] * stride + rest
            entered = offset + maps[a + new] * stride + rest
        else:
            rest = offset + maps[a + cells[first, i]] * stride
            left = rest + maps[b + cells[c, i]]
            entered = rest + maps[b + new]
        if left != entered:
            if apply:
                counts[left] -= row_weight[i]
                counts[entered] += row_weight[i]
            else:
                change += _moved(left, entered, row_weight[i], precision[t], counts, target)
    return change


@njit(cache=True, nogil=True)
def _pairs(
    i: int, c: int, old: int, new: int, cells: Any, packed: Any, ties: Any, counts: Any
) -> float:  # pragma: no cover (compiled)
    """Move the pairs that a row is in, one by one; the change of loss."""
    heads, precision, maps, ends, uses, target = packed
    _, pair_weight, after, seconds, before, firsts = ties
    change, weight = 0.0, pair_weight[i]
    for u in range(ends[c], ends[c + 1]):
        t, role = uses[u]
        kind, first, second, offset, stride, a, b = heads[t]
        if kind != SIBLINGS:
            continue
        here = a if role == 0 else b
        if maps[here + old] == maps[here + new]:
            continue
        begin, end = (after[i], after[i + 1]) if role == 0 else (before[i], before[i + 1])
        for p in range(begin, end):
            if role == 0:
                rest = offset + maps[b + cells[second, seconds[p]]]
                left, entered = rest + maps[a + old] * stride, rest + maps[a + new] * stride
            else:
                rest = offset + maps[a + cells[first, firsts[p]]] * stride
                left, entered = rest + maps[b + old], rest + maps[b + new]
            change += _moved(left, entered, weight, precision[t], counts, target)
            counts[left] -= weight
            counts[entered] += weight
    return change


@njit(cache=True, nogil=True)
def _pass(
    state: Any, cells: Any, packed: Any, ties: Any, counts: Any, movable: Any, banned: Any, sizes: Any, moves: int
) -> None:  # pragma: no cover (compiled)
    """Try as many changes as there are cells: most take the value of another row, the others any value."""
    columns, rows = cells.shape
    for _ in range(moves):
        i, c = below(state, rows), below(state, columns)
        if not movable[c, i]:
            continue
        new = cells[c, below(state, rows)] if below(state, 10) < COPIES else below(state, sizes[c])
        old = cells[c, i]
        if new == old or new == banned[c]:
            continue
        change = _own(i, c, new, cells, packed, ties, counts, False)
        change += _pairs(i, c, old, new, cells, packed, ties, counts)
        if change < 0.0:
            _own(i, c, new, cells, packed, ties, counts, True)
            cells[c, i] = new
        else:
            _pairs(i, c, new, old, cells, packed, ties, counts)
