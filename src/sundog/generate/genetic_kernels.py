"""What changing one cell of one row does to the weighted squared error, for every class of queries; compiled by Numba.

With residuals R = counts(synthetic) - N' * noisy proportion, weights w, and an answer that changes by s,

    loss = sum over answers of w R^2,      change of loss = sum over touched answers of w (2 s R + s^2),

where touched are only: in every table with the column, the cell that loses the row and the cell that gains it (none where
both atoms fall into one cell: coarse levels of a tree); conjunctions of which a condition on the column begins or ceases
to hold, if the others hold; thresholds that the row's product with a direction passes (the product changes by a
multiple of one coefficient); t-out-of-k combinations with exactly t - 1 agreements elsewhere; moments of the column.

Functions come in pairs: `*_change` adds up the change of loss, `*_apply` updates residuals (and products) in place.
"""

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def tables_change(f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int) -> float:  # pragma: no cover (compiled)
    """All tables with column j: w 2 (R[new] - R[old] + 1)."""
    change = 0.0
    for e in range(f.column[j], f.column[j + 1]):
        old = f.offsets[f.own[e] + a]
        new = f.offsets[f.own[e] + b]
        if old != new:
            cell = 0
            for o in range(f.others[e], f.others[e + 1]):
                cell += f.offsets[f.other[o] + rows[i, f.other_column[o]]]
            change += f.weight[e] * (R[cell + new] - R[cell + old] + 1.0)
    return 2.0 * change


@njit(cache=True, nogil=True)
def tables_apply(f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int) -> None:  # pragma: no cover (compiled)
    """One cell of every table with column j loses the row, another gains it."""
    for e in range(f.column[j], f.column[j + 1]):
        old = f.offsets[f.own[e] + a]
        new = f.offsets[f.own[e] + b]
        if old != new:
            cell = 0
            for o in range(f.others[e], f.others[e + 1]):
                cell += f.offsets[f.other[o] + rows[i, f.other_column[o]]]
            R[cell + new] += 1.0
            R[cell + old] -= 1.0


@njit(cache=True, nogil=True)
def member_cell(p: Any, rows: Any, i: int, q: int) -> int:  # pragma: no cover (compiled)
    """Where row i is counted if it is a member of 0/1 query q."""
    cell = p.inside[q]
    if p.label_column[q] >= 0:
        cell += p.label_cells[p.label_offset[q] + rows[i, p.label_column[q]]]
    return cell


@njit(cache=True, nogil=True)
def member_change(p: Any, rows: Any, R: Any, i: int, q: int, s: float) -> float:  # pragma: no cover (compiled)
    """Row i becomes (s = 1) or ceases to be (s = -1) a member of q."""
    change = 2.0 * s * R[member_cell(p, rows, i, q)] + 1.0
    if p.outside[q] >= 0:
        change += 1.0 - 2.0 * s * R[p.outside[q]]
    return p.weight[q] * change


@njit(cache=True, nogil=True)
def member_apply(p: Any, rows: Any, R: Any, i: int, q: int, s: float) -> None:  # pragma: no cover (compiled)
    """Row i becomes (s = 1) or ceases to be (s = -1) a member of q."""
    R[member_cell(p, rows, i, q)] += s
    if p.outside[q] >= 0:
        R[p.outside[q]] -= s


@njit(cache=True, nogil=True)
def label_change(p: Any, R: Any, q: int, a: int, b: int) -> float:  # pragma: no cover (compiled)
    """A member of q changes its label from atom a to atom b."""
    old = p.inside[q] + p.label_cells[p.label_offset[q] + a]
    new = p.inside[q] + p.label_cells[p.label_offset[q] + b]
    return 0.0 if old == new else 2.0 * p.weight[q] * (R[new] - R[old] + 1.0)


@njit(cache=True, nogil=True)
def label_apply(p: Any, R: Any, q: int, a: int, b: int) -> None:  # pragma: no cover (compiled)
    """A member of q changes its label from atom a to atom b."""
    R[p.inside[q] + p.label_cells[p.label_offset[q] + a]] -= 1.0
    R[p.inside[q] + p.label_cells[p.label_offset[q] + b]] += 1.0


@njit(cache=True, nogil=True)
def holds(f: Any, rows: Any, i: int, q: int, but: int) -> bool:  # pragma: no cover (compiled)
    """Whether row i satisfies all conditions of conjunction q, one column left aside."""
    for k in range(f.condition[q], f.condition[q + 1]):
        column = f.column[k]
        if column != but:
            atom = rows[i, column]
            if atom < f.low[k] or atom >= f.high[k]:
                return False
    return True


@njit(cache=True, nogil=True)
def conjunctions_change(f: Any, first: int, rows: Any, R: Any, i: int, j: int, a: int, b: int) -> float:  # pragma: no cover
    """Conjunctions of which a condition on column j begins or ceases to hold; members whose label is column j."""
    change = 0.0
    for e in range(f.point[first + a], f.point[first + a + 1]):
        if holds(f, rows, i, f.point_query[e], j):
            change += member_change(f.places, rows, R, i, f.point_query[e], -1.0)
    for e in range(f.point[first + b], f.point[first + b + 1]):
        if holds(f, rows, i, f.point_query[e], j):
            change += member_change(f.places, rows, R, i, f.point_query[e], 1.0)
    for e in range(f.edge[first + min(a, b) + 1], f.edge[first + max(a, b) + 1]):
        was = f.edge_low[e] <= a < f.edge_high[e]
        now = f.edge_low[e] <= b < f.edge_high[e]
        if was != now and holds(f, rows, i, f.edge_query[e], j):
            change += member_change(f.places, rows, R, i, f.edge_query[e], 1.0 if now else -1.0)
    for e in range(f.places.label[j], f.places.label[j + 1]):
        if holds(f, rows, i, f.places.label_query[e], j):
            change += label_change(f.places, R, f.places.label_query[e], a, b)
    return change


@njit(cache=True, nogil=True)
def conjunctions_apply(f: Any, first: int, rows: Any, R: Any, i: int, j: int, a: int, b: int) -> None:  # pragma: no cover
    """The same walk, updating the residuals."""
    for e in range(f.point[first + a], f.point[first + a + 1]):
        if holds(f, rows, i, f.point_query[e], j):
            member_apply(f.places, rows, R, i, f.point_query[e], -1.0)
    for e in range(f.point[first + b], f.point[first + b + 1]):
        if holds(f, rows, i, f.point_query[e], j):
            member_apply(f.places, rows, R, i, f.point_query[e], 1.0)
    for e in range(f.edge[first + min(a, b) + 1], f.edge[first + max(a, b) + 1]):
        was = f.edge_low[e] <= a < f.edge_high[e]
        now = f.edge_low[e] <= b < f.edge_high[e]
        if was != now and holds(f, rows, i, f.edge_query[e], j):
            member_apply(f.places, rows, R, i, f.edge_query[e], 1.0 if now else -1.0)
    for e in range(f.places.label[j], f.places.label[j + 1]):
        if holds(f, rows, i, f.places.label_query[e], j):
            label_apply(f.places, R, f.places.label_query[e], a, b)


@njit(cache=True, nogil=True)
def planes_change(f: Any, first: int, rows: Any, products: Any, R: Any, i: int, j: int, a: int, b: int) -> float:  # pragma: no cover
    """Thresholds between a row's old and new products; members whose label is column j."""
    change = 0.0
    if f.touched[j]:
        gone = f.theta[f.feature[first + a]]
        come = f.theta[f.feature[first + b]]
        less, more = f.factor[first + a], f.factor[first + b]
        for d in range(gone.shape[0]):
            old = products[i, d]
            new = old + more * come[d] - less * gone[d]
            below, above = min(old, new), max(old, new)
            for k in range(f.direction[d], f.direction[d + 1]):
                cut = f.threshold[k]
                if below <= cut < above:
                    change += member_change(f.places, rows, R, i, k, 1.0 if new <= cut else -1.0)
    for e in range(f.places.label[j], f.places.label[j + 1]):
        k = f.places.label_query[e]
        if products[i, f.owner[k]] <= f.threshold[k]:
            change += label_change(f.places, R, k, a, b)
    return change


@njit(cache=True, nogil=True)
def planes_apply(f: Any, first: int, rows: Any, products: Any, R: Any, i: int, j: int, a: int, b: int) -> None:  # pragma: no cover
    """The same walk, updating the row's products and the residuals."""
    if f.touched[j]:
        gone = f.theta[f.feature[first + a]]
        come = f.theta[f.feature[first + b]]
        less, more = f.factor[first + a], f.factor[first + b]
        for d in range(gone.shape[0]):
            old = products[i, d]
            new = old + more * come[d] - less * gone[d]
            products[i, d] = new
            below, above = min(old, new), max(old, new)
            for k in range(f.direction[d], f.direction[d + 1]):
                cut = f.threshold[k]
                if below <= cut < above:
                    member_apply(f.places, rows, R, i, k, 1.0 if new <= cut else -1.0)
    for e in range(f.places.label[j], f.places.label[j + 1]):
        k = f.places.label_query[e]
        if products[i, f.owner[k]] <= f.threshold[k]:
            label_apply(f.places, R, k, a, b)


@njit(cache=True, nogil=True)
def agreements_walk(f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover
    """Combinations that agree with row i in exactly t - 1 of the other axes: those at b gain it, those at a lose it."""
    change = 0.0
    for e in range(f.column[j], f.column[j + 1]):
        q, own = f.entry_query[e], f.entry_axis[e]
        old, new = f.cells[f.offset[own] + a], f.cells[f.offset[own] + b]
        begin, end = f.axis[q], f.axis[q + 1]
        if old == new:
            continue
        for chosen in range(1 << (end - begin)):  # which axes agree, the column's own among them
            agree, combinations = 0, 1
            for m in range(end - begin):
                if chosen >> m & 1:
                    agree += 1
                else:
                    combinations *= f.size[begin + m] - 1
            if agree != f.least[q] or not chosen >> (own - begin) & 1:
                continue
            for combination in range(combinations):
                rest, cell = combination, f.start[q]
                for m in range(begin, end):
                    if m == own:
                        continue
                    at = f.cells[f.offset[m] + rows[i, f.axis_column[m]]]
                    if not chosen >> (m - begin) & 1:
                        other = rest % (f.size[m] - 1)
                        rest //= f.size[m] - 1
                        at = other + (1 if other >= at else 0)
                    cell += at * f.stride[m]
                gain, loss = cell + new * f.stride[own], cell + old * f.stride[own]
                if update:
                    R[gain] += 1.0
                    R[loss] -= 1.0
                else:
                    change += 2.0 * f.weight[q] * (R[gain] - R[loss] + 1.0)
    return change


@njit(cache=True, nogil=True)
def moments_walk(f: Any, first: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover
    """The column's mean, its square and its products with the other columns of the query."""
    change = 0.0
    old, new = f.value[first[j] + a], f.value[first[j] + b]
    for e in range(f.column[j], f.column[j + 1]):
        q, place = f.entry_query[e], f.entry_place[e]
        begin, number = f.member[q], f.member[q + 1] - f.member[q]
        for m in range(number + 1):
            if m == number:
                answer, step = f.start[q] + place, 1024.0 * (new - old)
            else:
                low, high = min(m, place), max(m, place)
                answer = f.start[q] + number + low * number - low * (low - 1) // 2 + high - low
                column = f.member_column[begin + m]
                other = f.value[first[column] + rows[i, column]]
                step = float(new * new - old * old) if m == place else float((new - old) * other)
            if update:
                R[answer] += step
            else:
                change += f.weight[q] * (2.0 * step * R[answer] + step * step)
    return change


@njit(cache=True, nogil=True)
def change_of(forms: Any, rows: Any, products: Any, R: Any, i: int, j: int, b: int) -> float:  # pragma: no cover
    """The change of loss if row i's cell in column j became atom b."""
    a = rows[i, j]
    first = forms.atom[j]
    change = 0.0
    if forms.tables.own.shape[0]:
        change += tables_change(forms.tables, rows, R, i, j, a, b)
    if forms.conjunctions.places.inside.shape[0]:
        change += conjunctions_change(forms.conjunctions, first, rows, R, i, j, a, b)
    if forms.planes.places.inside.shape[0]:
        change += planes_change(forms.planes, first, rows, products, R, i, j, a, b)
    if forms.agreements.size.shape[0]:
        change += agreements_walk(forms.agreements, rows, R, i, j, a, b, False)
    if forms.products.start.shape[0]:
        change += moments_walk(forms.products, forms.atom, rows, R, i, j, a, b, False)
    return change


@njit(cache=True, nogil=True)
def apply_to(forms: Any, rows: Any, products: Any, R: Any, i: int, j: int, b: int) -> None:  # pragma: no cover
    """Row i's cell in column j becomes atom b."""
    a = rows[i, j]
    first = forms.atom[j]
    if forms.tables.own.shape[0]:
        tables_apply(forms.tables, rows, R, i, j, a, b)
    if forms.conjunctions.places.inside.shape[0]:
        conjunctions_apply(forms.conjunctions, first, rows, R, i, j, a, b)
    if forms.planes.places.inside.shape[0]:
        planes_apply(forms.planes, first, rows, products, R, i, j, a, b)
    if forms.agreements.size.shape[0]:
        agreements_walk(forms.agreements, rows, R, i, j, a, b, True)
    if forms.products.start.shape[0]:
        moments_walk(forms.products, forms.atom, rows, R, i, j, a, b, True)
    rows[i, j] = b
