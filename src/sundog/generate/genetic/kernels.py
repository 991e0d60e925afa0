"""What changing one cell of one row does to the weighted squared error, for every class of queries; compiled by Numba.

With residuals R = counts(synthetic) - N' * noisy proportion, weights w, and an answer that changes by s,

    loss = sum over answers of w R^2,      change of loss = sum over touched answers of w (2 s R + s^2),

where touched are only: in every table with the column, the cell that loses the row and the cell that gains it (none where
both atoms fall into one cell: coarse levels of a tree); conjunctions of which a condition on the column begins or ceases
to hold, if the others hold; thresholds that the row's product with a direction passes (the product changes by
multiples of two coefficients); t-out-of-k combinations with exactly t - 1 agreements elsewhere; the column's moments,
its sums by group and its soft thresholds (genetic_sum_kernels).

Each function walks through what atom a -> b in column j of row i touches, and either adds up the change of loss or, with
`update`, changes the residuals (and products). All lists stand in one vector of integers L and one of weights W, and a form
`f` says where each begins (genetic_forms): plain numbers cost nothing to hand on, where Numba counts references to arrays.
A form that is None has no queries. Numba sees that from its type and compiles nothing for it.
"""

from typing import Any

import numpy as np
from numba import njit

from sundog.generate.genetic.sum_kernels import group_sums, moments, sigmoids


@njit(cache=True, nogil=True)
def tables(
    L: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover
    """All tables with column j: w 2 (R[new] - R[old] + 1)."""
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        own = f.offsets + L[f.own + e]
        old, new = L[own + a], L[own + b]
        if old != new:
            cell = 0
            for o in range(L[f.others + e], L[f.others + e + 1]):
                cell += L[f.offsets + L[f.other + o] + rows[i, L[f.other_column + o]]]
            if update:
                R[cell + new] += 1.0
                R[cell + old] -= 1.0
            else:
                change += W[f.weight + e] * (R[cell + new] - R[cell + old] + 1.0)
    return 2.0 * change


@njit(cache=True, nogil=True)
def member(
    L: Any, W: Any, p: Any, rows: Any, R: Any, i: int, q: int, s: float, update: bool
) -> float:  # pragma: no cover
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


@njit(cache=True, nogil=True)
def relabelled(L: Any, W: Any, p: Any, R: Any, q: int, a: int, b: int, update: bool) -> float:  # pragma: no cover
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


@njit(cache=True, nogil=True)
def holds(L: Any, f: Any, rows: Any, i: int, q: int, but: int) -> bool:  # pragma: no cover
    """Whether row i satisfies all conditions of conjunction q, those on one column left aside."""
    for k in range(L[f.condition + q], L[f.condition + q + 1]):
        column = L[f.column + k]
        if column != but:
            atom = rows[i, column]
            if atom < L[f.low + k] or atom >= L[f.high + k]:
                return False
    return True


@njit(cache=True, nogil=True)
def conjunctions(
    L: Any, W: Any, f: Any, first: int, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover
    """Conjunctions of which a condition on column j begins or ceases to hold; members whose label is column j."""
    if f is None:
        return 0.0
    change = 0.0
    for s, atom in ((-1.0, a), (1.0, b)):
        for e in range(L[f.point + first + atom], L[f.point + first + atom + 1]):
            q = L[f.point_query + e]
            if holds(L, f, rows, i, q, j):
                change += member(L, W, f.places, rows, R, i, q, s, update)
    for e in range(L[f.edge + first + min(a, b) + 1], L[f.edge + first + max(a, b) + 1]):
        q, low, high = L[f.edge_query + e], L[f.edge_low + e], L[f.edge_high + e]
        now = low <= b < high
        if (low <= a < high) != now and holds(L, f, rows, i, q, j):
            change += member(L, W, f.places, rows, R, i, q, 1.0 if now else -1.0, update)
    for e in range(L[f.places.label + j], L[f.places.label + j + 1]):
        q = L[f.places.label_query + e]
        if holds(L, f, rows, i, q, j):
            change += relabelled(L, W, f.places, R, q, a, b, update)
    return change


@njit(cache=True, nogil=True)
def planes(
    L: Any,
    W: Any,
    f: Any,
    first: int,
    theta: Any,
    span: Any,
    products: Any,
    rows: Any,
    R: Any,
    i: int,
    j: int,
    a: int,
    b: int,
    update: bool,
) -> float:  # pragma: no cover
    """Thresholds between the row's old and new products; members whose label is column j.

    The last row of `products` belongs to no synthetic row: it is room to note directions in.
    """
    if f is None:
        return 0.0
    change = 0.0
    if L[f.touched + j]:
        gone, come = L[f.feature + first + a], L[f.feature + first + b]
        less, more = L[f.factor + first + a], L[f.factor + first + b]
        found, scratch = 0, products.shape[0] - 1
        for d in range(theta.shape[1]):  # gather the directions with a threshold in between, without branching
            old = products[i, d]
            new = old + more * theta[come, d] - less * theta[gone, d]
            products[scratch, found] = d
            found += (max(old, new) > span[0, d]) & (min(old, new) <= span[1, d])
        for c in range(found):
            d = products[scratch, c]
            old = products[i, d]
            new = old + more * theta[come, d] - less * theta[gone, d]
            for k in range(L[f.direction + d], L[f.direction + d + 1]):
                cut = L[f.threshold + k]
                if min(old, new) <= cut < max(old, new):
                    change += member(L, W, f.places, rows, R, i, k, 1.0 if new <= cut else -1.0, update)
        if update:
            for d in range(theta.shape[1]):
                products[i, d] += more * theta[come, d] - less * theta[gone, d]
    for e in range(L[f.places.label + j], L[f.places.label + j + 1]):
        k = L[f.places.label_query + e]
        if products[i, L[f.owner + k]] <= L[f.threshold + k]:
            change += relabelled(L, W, f.places, R, k, a, b, update)
    return change


@njit(cache=True, nogil=True)
def combination_cell(
    L: Any, f: Any, rows: Any, i: int, q: int, own: int, chosen: int, rest: int
) -> int:  # pragma: no cover
    """The rest-th combination that agrees with row i in the chosen axes and nowhere else, its own axis left aside."""
    cell = L[f.start + q]
    for m in range(L[f.axis + q], L[f.axis + q + 1]):
        if m != own:
            at = L[f.cells + L[f.offset + m] + rows[i, L[f.axis_column + m]]]
            if not chosen >> (m - L[f.axis + q]) & 1:
                other = rest % (L[f.size + m] - 1)
                rest //= L[f.size + m] - 1
                at = other + (1 if other >= at else 0)
            cell += at * L[f.stride + m]
    return cell


@njit(cache=True, nogil=True)
def agreements(
    L: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover
    """Combinations that agree with row i in exactly t - 1 of the other axes: those at b gain it, those at a lose it."""
    if f is None:
        return 0.0
    change = 0.0
    for e in range(L[f.column + j], L[f.column + j + 1]):
        q, own = L[f.entry_query + e], L[f.entry_axis + e]
        cells = f.cells + L[f.offset + own]
        old, new = L[cells + a] * L[f.stride + own], L[cells + b] * L[f.stride + own]
        begin, end = L[f.axis + q], L[f.axis + q + 1]
        if old == new:
            continue
        for chosen in range(1 << (end - begin)):  # which axes agree, the column's own among them
            agree, combinations = 0, 1
            for m in range(end - begin):
                if chosen >> m & 1:
                    agree += 1
                else:
                    combinations *= L[f.size + begin + m] - 1
            if agree == L[f.least + q] and chosen >> (own - begin) & 1:
                for rest in range(combinations):
                    cell = combination_cell(L, f, rows, i, q, own, chosen, rest)
                    if update:
                        R[cell + new] += 1.0
                        R[cell + old] -= 1.0
                    else:
                        change += 2.0 * W[f.weight + q] * (R[cell + new] - R[cell + old] + 1.0)
    return change


@njit(cache=True, nogil=True, inline="always")
def walk(
    L: Any,
    W: Any,
    theta: Any,
    span: Any,
    forms: Any,
    rows: Any,
    products: Any,
    R: Any,
    i: int,
    j: int,
    b: int,
    update: bool,
) -> float:  # pragma: no cover
    """The change of loss if row i's cell in column j became atom b; with `update` it becomes that."""
    a, first = int(np.int64(rows[i, j])), L[forms.atom + j]
    change = tables(L, W, forms.tables, rows, R, i, j, a, b, update)
    change += conjunctions(L, W, forms.conjunctions, first, rows, R, i, j, a, b, update)
    change += planes(L, W, forms.planes, first, theta, span, products, rows, R, i, j, a, b, update)
    change += agreements(L, W, forms.agreements, rows, R, i, j, a, b, update)
    change += moments(L, W, forms.products, rows, R, i, j, a, b, update)
    change += group_sums(L, W, forms.group_sums, rows, R, i, j, a, b, update)
    change += sigmoids(L, W, forms.sigmoids, rows, R, i, j, a, b, update)
    if update:
        rows[i, j] = b
    return change


@njit(cache=True, nogil=True)
def fill_products(L: Any, theta: Any, atom: int, f: Any, rows: Any, products: Any) -> None:  # pragma: no cover
    """Every row's product with every direction (`products` has one row more, see planes)."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            place = L[atom + j] + rows[i, j]
            feature, factor = L[f.feature + place], L[f.factor + place]
            if factor:
                for d in range(theta.shape[1]):
                    products[i, d] += factor * theta[feature, d]


@njit(cache=True, nogil=True)
def count_conjunctions(L: Any, W: Any, f: Any, rows: Any, R: Any) -> None:  # pragma: no cover
    """Add the members of all conjunctions, and with labels those that are none, to their answers."""
    for q in range(f.queries):
        for i in range(rows.shape[0]):
            counted(L, W, f.places, rows, R, i, q, holds(L, f, rows, i, q, -1))


@njit(cache=True, nogil=True)
def count_planes(L: Any, W: Any, f: Any, rows: Any, products: Any, R: Any) -> None:  # pragma: no cover
    """The same for all thresholds."""
    for q in range(f.queries):
        for i in range(rows.shape[0]):
            counted(L, W, f.places, rows, R, i, q, products[i, L[f.owner + q]] <= L[f.threshold + q])


@njit(cache=True, nogil=True)
def counted(L: Any, W: Any, p: Any, rows: Any, R: Any, i: int, q: int, held: bool) -> None:  # pragma: no cover
    """Row i counts for 0/1 query q."""
    if L[p.outside + q] >= 0:
        R[L[p.outside + q]] += 1.0
    if held:
        member(L, W, p, rows, R, i, q, 1.0, True)
