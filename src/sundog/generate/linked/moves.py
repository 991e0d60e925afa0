"""The compiled part of the search for child tables: how a change moves the tables' counts, and passes of such changes.

`packed` are the tables (tables.py), `ties` who belongs together, `bonds` which cells a row may take (allowed.py) and which
numbers of rows per parent must stay (counts.py), `choices` what a cell may become: any of its column's, or, where differences between
siblings count (nearness.py), one that is near a sibling's.
"""

from typing import Any

from numba import njit

from sundog.generate.genetic.candidates import below
from sundog.generate.linked.kinds import DIFFERENCES, GIVEN, SIBLINGS, WITHIN

COPIES = 7
"""Of ten candidates, this many take their value from another row."""
DRAWN = 256
"""So many differences of a column are drawn in advance."""
EXCHANGES = 5
"""Where numbers of rows per parent must stay, of ten candidates this many exchange cells between siblings."""


@njit(cache=True, nogil=True)
def _apart(head: Any, values: Any, maps: Any) -> int:  # pragma: no cover (compiled)
    """The cell of a table of differences: given the cells of both siblings, of its first column and of its second."""
    _, _, _, offset, stride, a, b, side, other = head
    x, x_second, y, y_second = values
    return offset + maps[a + x * side + x_second] * stride + maps[b + y] + maps[b + other + y_second]


@njit(cache=True, nogil=True)
def count(cells: Any, packed: Any, ties: Any, counts: Any) -> None:  # pragma: no cover (compiled)
    """Add up all tables, row by row and pair by pair."""
    heads, _, maps, _, _, _ = packed
    row_weight, pair_weight, after, seconds, _, _ = ties
    for t in range(heads.shape[0]):
        kind, first, second, offset, stride, a, b, _, _ = heads[t]
        for i in range(cells.shape[1]):
            if kind == DIFFERENCES:
                for p in range(after[i], after[i + 1]):
                    j = seconds[p]
                    values = cells[first, i], cells[first, j], cells[second, i], cells[second, j]
                    counts[_apart(heads[t], values, maps)] += pair_weight[i]
                continue
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
        kind, first, second, offset, stride, a, b, _, _ = heads[t]
        if kind >= SIBLINGS:
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
def _apart_moved(
    i: int, t: int, step: Any, cells: Any, packed: Any, ties: Any, counts: Any
) -> float:  # pragma: no cover (compiled)
    """Move the pairs that a row is in, in a table of differences; the change of loss."""
    heads, precision, maps, _, _, target = packed
    _, pair_weight, after, seconds, before, firsts = ties
    role, old, new = step
    first, second = heads[t, 1], heads[t, 2]
    x_old, x_new = (old, new) if role == 0 else (cells[first, i], cells[first, i])
    y_old, y_new = (old, new) if role == 1 else (cells[second, i], cells[second, i])
    change, weight = 0.0, pair_weight[i]
    for way in range(2):
        begin, end = (after[i], after[i + 1]) if way == 0 else (before[i], before[i + 1])
        for p in range(begin, end):
            j = seconds[p] if way == 0 else firsts[p]
            x, y = cells[first, j], cells[second, j]
            if way == 0:
                left, entered = (
                    _apart(heads[t], (x_old, x, y_old, y), maps),
                    _apart(heads[t], (x_new, x, y_new, y), maps),
                )
            else:
                left, entered = (
                    _apart(heads[t], (x, x_old, y, y_old), maps),
                    _apart(heads[t], (x, x_new, y, y_new), maps),
                )
            if left != entered:
                change += _moved(left, entered, weight, precision[t], counts, target)
                counts[left] -= weight
                counts[entered] += weight
    return change


@njit(cache=True, nogil=True)
def _near(state: Any, i: int, c: int, cells: Any, ties: Any, choices: Any) -> int:  # pragma: no cover (compiled)
    """A cell that is as far from a sibling's as siblings are apart; -1 where there is none."""
    _, place, middles, drawn = choices
    _, _, after, seconds, before, firsts = ties
    begin, known = place[c, 0], place[c, 1]
    later, earlier = after[i + 1] - after[i], before[i + 1] - before[i]
    if known == 0 or later + earlier == 0:
        return -1
    pick = below(state, later + earlier)
    j = seconds[after[i] + pick] if pick < later else firsts[before[i] + pick - later]
    if cells[c, j] >= known:
        return -1
    step = drawn[place[c, 2] + below(state, DRAWN)]
    wanted = middles[begin + cells[c, j]] + (-step if pick < later else step)
    low, high = 0, known - 1
    while low < high:
        middle = (low + high) // 2
        if middles[begin + middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


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
        kind, first, second, offset, stride, a, b, _, _ = heads[t]
        if kind == DIFFERENCES:
            change += _apart_moved(i, t, (role, old, new), cells, packed, ties, counts)
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
    state: Any, i: int, c: int, cells: Any, packed: Any, ties: Any, bonds: Any, counts: Any, choices: Any
) -> None:  # pragma: no cover (compiled)
    """Try another cell: mostly that of another row, else any; half of the time one near a sibling's, where differences count."""
    place, flat, sizes = bonds[0], bonds[1], choices[0]
    new = _near(state, i, c, cells, ties, choices) if choices[1][c, 1] and below(state, 2) else -1
    if new < 0:
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
    state: Any, cells: Any, packed: Any, ties: Any, bonds: Any, counts: Any, movable: Any, choices: Any, moves: int
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
            _change(state, i, c, cells, packed, ties, bonds, counts, choices)
