"""What changing one cell of one row does to answers that add up numbers: moments, sums by group, soft thresholds.

The same contract as in genetic_kernels: an answer that changes by s changes the loss by w (2 s R + s^2), and with `update`
the residuals change instead. The steps are whole numbers in the units of the queries.
"""

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def moved(R: Any, answer: int, step: float, weight: float, update: bool) -> float:  # pragma: no cover (compiled)
    """One answer changes by a step."""
    if update:
        R[answer] += step
        return 0.0
    return weight * (2.0 * step * R[answer] + step * step)


@njit(cache=True, nogil=True)
def moments(
    L: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover (compiled)
    """The column's mean, its square and its products with the other columns of the query."""
    if f is None:
        return 0.0
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, place = L[f.entry_query + e], L[f.entry_place + e]
        begin, number = L[f.member + q], L[f.member + q + 1] - L[f.member + q]
        own = f.value + L[f.member_value + begin + place]
        old, new, weight = L[own + a], L[own + b], W[f.weight + q]
        change += moved(R, L[f.start + q] + place, 1024.0 * (new - old), weight, update)
        for m in range(number):
            low, high = min(m, place), max(m, place)
            answer = L[f.start + q] + number + low * number - low * (low - 1) // 2 + high - low
            if m == place:
                step = float(new * new - old * old)
            else:
                atom = rows[i, L[f.member_column + begin + m]]
                step = float((new - old) * L[f.value + L[f.member_value + begin + m] + atom])
            change += moved(R, answer, step, weight, update)
    return change


@njit(cache=True, nogil=True)
def group_sums(
    L: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover (compiled)
    """The row's number moves from group to group, or changes within its group."""
    if f is None:
        return 0.0
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q = L[f.entry_query + e]
        cells, values, weight = f.cells + L[f.cell + q], f.cells + L[f.value + q], W[f.weight + q]
        if j == L[f.group_column + q]:
            number = float(L[values + rows[i, L[f.value_column + q]]])
            old, new = L[cells + a], L[cells + b]
            if old != new:
                change += moved(R, L[f.start + q] + old, -number, weight, update)
                change += moved(R, L[f.start + q] + new, number, weight, update)
        else:
            group = L[cells + rows[i, L[f.group_column + q]]]
            change += moved(R, L[f.start + q] + group, float(L[values + b] - L[values + a]), weight, update)
    return change


@njit(cache=True, nogil=True)
def sigmoids(
    L: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover (compiled)
    """The row's weighted sum moves along the table of the sigmoid."""
    if f is None:
        return 0.0
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_member + e]
        old = 0
        for m in range(L[f.member + q], L[f.member + q + 1]):
            old += L[f.parts + L[f.part + m] + rows[i, L[f.member_column + m]]]
        new = old + L[f.parts + L[f.part + own] + b] - L[f.parts + L[f.part + own] + a]
        table = f.parts + L[f.table + q]
        step = float(L[table + (new >> L[f.shift])] - L[table + (old >> L[f.shift])])
        change += moved(R, L[f.start + q], step, W[f.weight + q], update)
    return change
