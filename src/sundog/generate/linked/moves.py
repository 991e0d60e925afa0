"""The compiled part of the search for child tables: how a change moves the tables' counts, and passes of such changes.

`packed` are the tables (tables.py), `ties` who belongs together, `bonds` which cells a row may take (allowed.py) and which
numbers of rows per parent must stay (counts.py).
"""

from typing import Any

from numba import njit

from sundog.generate.genetic.candidates import below
from sundog.generate.linked.kinds import GIVEN, SIBLINGS, WITHIN

COPIES = 7
"""Of ten candidates, this many take their value from another row."""
EXCHANGES = 5
"""Where numbers of rows per parent must stay, of ten candidates this many exchange cells between siblings."""


@njit(cache=True, nogil=True)
def count(cells: Any, packed: Any, ties: Any, counts: Any) -> None:  # pragma: no cover (compiled)
    """Add up all tables, row by row and pair by pair."""
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
def _placed(
    i: int, c: int, new: int, cells: Any, packed: Any, ties: Any, counts: Any
) -> float:  # pragma: no cover (compiled)
    """Change a cell; the change of loss."""
    old = cells[c, i]
    change = _own(i, c, new, cells, packed, ties, counts, False)
    change += _pairs(i, c, old, new, cells, packed, ties, counts)
    _own(i, c, new, cells, packed, ties, counts, True)
    cells[c, i] = new
    return change


@njit(cache=True, nogil=True)
def _tallied(i: int, c: int, new: int, cells: Any, bonds: Any) -> None:  # pragma: no cover (compiled)
    """Move the numbers of rows per parent as a change of a cell will."""
    _, _, flags, base, named, tally, _, parent, _ = bonds
    for r in range(named.shape[0]):
        if not named[r, c]:
            continue
        before, after = flags[r, base[c] + cells[c, i]], flags[r, base[c] + new]
        if before == after:
            continue
        others = True
        for other in range(cells.shape[0]):
            if other != c and named[r, other] and not flags[r, base[other] + cells[other, i]]:
                others = False
        if others:
            tally[r, parent[i]] += 1 if after else -1


@njit(cache=True, nogil=True)
def _kept(i: int, bonds: Any) -> bool:  # pragma: no cover (compiled)
    """Whether the row's parent has as many rows that satisfy each condition as it should."""
    _, _, _, _, _, tally, bounds, parent, _ = bonds
    for r in range(bounds.shape[0]):
        number = tally[r, parent[i]]
        if number < bounds[r, 0] or number > bounds[r, 1]:
            return False
    return True


@njit(cache=True, nogil=True)
def _change(
    state: Any, i: int, c: int, cells: Any, packed: Any, ties: Any, bonds: Any, counts: Any, sizes: Any
) -> None:  # pragma: no cover (compiled)
    """Try another cell: mostly that of another row, else any."""
    place, flat = bonds[0], bonds[1]
    new = cells[c, below(state, cells.shape[1])] if below(state, 10) < COPIES else below(state, sizes[c])
    old = cells[c, i]
    if new == old or not flat[place[c, i] + new]:
        return
    _tallied(i, c, new, cells, bonds)
    if not _kept(i, bonds):
        cells[c, i] = new
        _tallied(i, c, old, cells, bonds)
        cells[c, i] = old
        return
    change = _own(i, c, new, cells, packed, ties, counts, False)
    change += _pairs(i, c, old, new, cells, packed, ties, counts)
    if change < 0.0:
        _own(i, c, new, cells, packed, ties, counts, True)
        cells[c, i] = new
    else:
        _pairs(i, c, new, old, cells, packed, ties, counts)
        cells[c, i] = new
        _tallied(i, c, old, cells, bonds)
        cells[c, i] = old


@njit(cache=True, nogil=True)
def _exchange(
    i: int, j: int, c: int, cells: Any, packed: Any, ties: Any, bonds: Any, counts: Any
) -> None:  # pragma: no cover (compiled)
    """Try to exchange the cells of two siblings."""
    place, flat = bonds[0], bonds[1]
    mine, theirs = cells[c, i], cells[c, j]
    if mine == theirs or not flat[place[c, i] + theirs] or not flat[place[c, j] + mine]:
        return
    _tallied(i, c, theirs, cells, bonds)
    change = _placed(i, c, theirs, cells, packed, ties, counts)
    _tallied(j, c, mine, cells, bonds)
    change += _placed(j, c, mine, cells, packed, ties, counts)
    if change >= 0.0 or not _kept(i, bonds):
        _tallied(i, c, mine, cells, bonds)
        _placed(i, c, mine, cells, packed, ties, counts)
        _tallied(j, c, theirs, cells, bonds)
        _placed(j, c, theirs, cells, packed, ties, counts)


@njit(cache=True, nogil=True)
def run_pass(
    state: Any, cells: Any, packed: Any, ties: Any, bonds: Any, counts: Any, movable: Any, sizes: Any, moves: int
) -> None:  # pragma: no cover (compiled)
    """Try as many changes as there are cells that may change."""
    columns, rows = cells.shape
    named, parent, begins = bonds[4], bonds[7], bonds[8]
    for _ in range(moves):
        i, c = below(state, rows), below(state, columns)
        if not movable[c, i]:
            continue
        if named.shape[0] and below(state, 10) < EXCHANGES:
            first = begins[parent[i]]
            j = first + below(state, begins[parent[i] + 1] - first)
            if movable[c, j]:
                _exchange(i, j, c, cells, packed, ties, bonds, counts)
        else:
            _change(state, i, c, cells, packed, ties, bonds, counts, sizes)
