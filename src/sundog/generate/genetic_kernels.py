"""What changing one cell of one row does to the weighted squared error, for every class of queries; compiled by Numba.

With residuals R = counts(synthetic) - N' * noisy proportion, weights w, and an answer that changes by s,

    loss = sum over answers of w R^2,      change of loss = sum over touched answers of w (2 s R + s^2),

where touched are only: in every table with the column, the cell that loses the row and the cell that gains it (none where
both atoms fall into one cell: coarse levels of a tree); conjunctions of which a condition on the column begins or ceases
to hold, if the others hold; thresholds that the row's product with a direction passes (the product changes by
multiples of two coefficients); t-out-of-k combinations with exactly t - 1 agreements elsewhere; the column's moments.

Each function walks through what atom a -> b in column j of row i touches, and either adds up the change of loss or, with
`update`, changes the residuals (and products). All lists stand in one vector of integers I and one of weights W, and a form
`f` says where each begins (genetic_forms): plain numbers cost nothing to hand on, where Numba counts references to arrays.
"""

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def tables(I: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover
    """All tables with column j: w 2 (R[new] - R[old] + 1)."""
    change = 0.0
    for e in range(I[f.column + j], I[f.column + j + 1]):
        own = f.offsets + I[f.own + e]
        old, new = I[own + a], I[own + b]
        if old != new:
            cell = 0
            for o in range(I[f.others + e], I[f.others + e + 1]):
                cell += I[f.offsets + I[f.other + o] + rows[i, I[f.other_column + o]]]
            if update:
                R[cell + new] += 1.0
                R[cell + old] -= 1.0
            else:
                change += W[f.weight + e] * (R[cell + new] - R[cell + old] + 1.0)
    return 2.0 * change


@njit(cache=True, nogil=True)
def member(I: Any, W: Any, p: Any, rows: Any, R: Any, i: int, q: int, s: float, update: bool) -> float:  # pragma: no cover
    """Row i becomes (s = 1) or ceases to be (s = -1) a member of 0/1 query q."""
    inside, outside, label = I[p.inside + q], I[p.outside + q], I[p.label_column + q]
    if label >= 0:
        inside += I[p.label_cells + I[p.label_offset + q] + rows[i, label]]
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
def relabelled(I: Any, W: Any, p: Any, R: Any, q: int, a: int, b: int, update: bool) -> float:  # pragma: no cover
    """A member of q changes its label from atom a to atom b."""
    cells = p.label_cells + I[p.label_offset + q]
    old, new = I[p.inside + q] + I[cells + a], I[p.inside + q] + I[cells + b]
    if old == new:
        return 0.0
    if update:
        R[old] -= 1.0
        R[new] += 1.0
        return 0.0
    return 2.0 * W[p.weight + q] * (R[new] - R[old] + 1.0)


@njit(cache=True, nogil=True)
def holds(I: Any, f: Any, rows: Any, i: int, q: int, but: int) -> bool:  # pragma: no cover
    """Whether row i satisfies all conditions of conjunction q, those on one column left aside."""
    for k in range(I[f.condition + q], I[f.condition + q + 1]):
        column = I[f.column + k]
        if column != but:
            atom = rows[i, column]
            if atom < I[f.low + k] or atom >= I[f.high + k]:
                return False
    return True


@njit(cache=True, nogil=True)
def conjunctions(
    I: Any, W: Any, f: Any, first: int, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover
    """Conjunctions of which a condition on column j begins or ceases to hold; members whose label is column j."""
    change = 0.0
    for s, atom in ((-1.0, a), (1.0, b)):
        for e in range(I[f.point + first + atom], I[f.point + first + atom + 1]):
            q = I[f.point_query + e]
            if holds(I, f, rows, i, q, j):
                change += member(I, W, f.places, rows, R, i, q, s, update)
    for e in range(I[f.edge + first + min(a, b) + 1], I[f.edge + first + max(a, b) + 1]):
        q, low, high = I[f.edge_query + e], I[f.edge_low + e], I[f.edge_high + e]
        now = low <= b < high
        if (low <= a < high) != now and holds(I, f, rows, i, q, j):
            change += member(I, W, f.places, rows, R, i, q, 1.0 if now else -1.0, update)
    for e in range(I[f.places.label + j], I[f.places.label + j + 1]):
        q = I[f.places.label_query + e]
        if holds(I, f, rows, i, q, j):
            change += relabelled(I, W, f.places, R, q, a, b, update)
    return change


@njit(cache=True, nogil=True)
def planes(
    I: Any, W: Any, f: Any, first: int, theta: Any, span: Any, products: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover
    """Thresholds between the row's old and new products; members whose label is column j."""
    change = 0.0
    if I[f.touched + j]:
        gone, come = I[f.feature + first + a], I[f.feature + first + b]
        less, more = I[f.factor + first + a], I[f.factor + first + b]
        for d in range(theta.shape[1]):
            old = products[i, d]
            new = old + more * theta[come, d] - less * theta[gone, d]
            below, above = min(old, new), max(old, new)
            if above <= span[0, d] or below > span[1, d]:  # no threshold in between
                if update:
                    products[i, d] = new
                continue
            for k in range(I[f.direction + d], I[f.direction + d + 1]):
                cut = I[f.threshold + k]
                if below <= cut < above:
                    change += member(I, W, f.places, rows, R, i, k, 1.0 if new <= cut else -1.0, update)
            if update:
                products[i, d] = new
    for e in range(I[f.places.label + j], I[f.places.label + j + 1]):
        k = I[f.places.label_query + e]
        if products[i, I[f.owner + k]] <= I[f.threshold + k]:
            change += relabelled(I, W, f.places, R, k, a, b, update)
    return change


@njit(cache=True, nogil=True)
def agreements(I: Any, W: Any, f: Any, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover
    """Combinations that agree with row i in exactly t - 1 of the other axes: those at b gain it, those at a lose it."""
    change = 0.0
    for e in range(I[f.column + j], I[f.column + j + 1]):
        q, own = I[f.entry_query + e], I[f.entry_axis + e]
        cells = f.cells + I[f.offset + own]
        old, new = I[cells + a] * I[f.stride + own], I[cells + b] * I[f.stride + own]
        begin, end = I[f.axis + q], I[f.axis + q + 1]
        if old == new:
            continue
        for chosen in range(1 << (end - begin)):  # which axes agree, the column's own among them
            agree, combinations = 0, 1
            for m in range(end - begin):
                if chosen >> m & 1:
                    agree += 1
                else:
                    combinations *= I[f.size + begin + m] - 1
            if agree != I[f.least + q] or not chosen >> (own - begin) & 1:
                continue
            for combination in range(combinations):
                rest, cell = combination, I[f.start + q]
                for m in range(begin, end):
                    if m != own:
                        at = I[f.cells + I[f.offset + m] + rows[i, I[f.axis_column + m]]]
                        if not chosen >> (m - begin) & 1:  # the rest-th of the cells with which the row does not agree
                            other = rest % (I[f.size + m] - 1)
                            rest //= I[f.size + m] - 1
                            at = other + (1 if other >= at else 0)
                        cell += at * I[f.stride + m]
                if update:
                    R[cell + new] += 1.0
                    R[cell + old] -= 1.0
                else:
                    change += 2.0 * W[f.weight + q] * (R[cell + new] - R[cell + old] + 1.0)
    return change


@njit(cache=True, nogil=True)
def moments(
    I: Any, W: Any, f: Any, atom: int, rows: Any, R: Any, i: int, j: int, a: int, b: int, update: bool
) -> float:  # pragma: no cover
    """The column's mean, its square and its products with the other columns of the query."""
    change = 0.0
    old, new = I[f.value + I[atom + j] + a], I[f.value + I[atom + j] + b]
    for e in range(I[f.column + j], I[f.column + j + 1]):
        q, place = I[f.entry_query + e], I[f.entry_place + e]
        begin, number = I[f.member + q], I[f.member + q + 1] - I[f.member + q]
        for m in range(number + 1):
            if m == number:
                answer, step = I[f.start + q] + place, 1024.0 * (new - old)
            else:
                low, high = min(m, place), max(m, place)
                answer = I[f.start + q] + number + low * number - low * (low - 1) // 2 + high - low
                column = I[f.member_column + begin + m]
                other = I[f.value + I[atom + column] + rows[i, column]]
                step = float(new * new - old * old) if m == place else float((new - old) * other)
            if update:
                R[answer] += step
            else:
                change += W[f.weight + q] * (2.0 * step * R[answer] + step * step)
    return change


@njit(cache=True, nogil=True, inline="always")
def walk(
    I: Any, W: Any, theta: Any, span: Any, forms: Any, rows: Any, products: Any, R: Any, i: int, j: int, b: int, update: bool
) -> float:  # pragma: no cover
    """The change of loss if row i's cell in column j became atom b; with `update` it becomes that."""
    a, first = rows[i, j], I[forms.atom + j]
    change = tables(I, W, forms.tables, rows, R, i, j, a, b, update)
    if forms.conjunctions.queries:
        change += conjunctions(I, W, forms.conjunctions, first, rows, R, i, j, a, b, update)
    if forms.planes.queries:
        change += planes(I, W, forms.planes, first, theta, span, products, rows, R, i, j, a, b, update)
    if forms.agreements.present:
        change += agreements(I, W, forms.agreements, rows, R, i, j, a, b, update)
    if forms.products.present:
        change += moments(I, W, forms.products, forms.atom, rows, R, i, j, a, b, update)
    if update:
        rows[i, j] = b
    return change


@njit(cache=True, nogil=True)
def fill_products(I: Any, theta: Any, forms: Any, rows: Any, products: Any) -> None:  # pragma: no cover
    """Every row's product with every direction."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            atom = I[forms.atom + j] + rows[i, j]
            feature, factor = I[forms.planes.feature + atom], I[forms.planes.factor + atom]
            if factor:
                for d in range(theta.shape[1]):
                    products[i, d] += factor * theta[feature, d]


@njit(cache=True, nogil=True)
def count_members(
    I: Any, W: Any, theta: Any, span: Any, forms: Any, rows: Any, products: Any, R: Any
) -> None:  # pragma: no cover
    """Add the members of all 0/1 queries, and with labels those that are none, to their answers."""
    for ask, number in ((0, forms.conjunctions.queries), (1, forms.planes.queries)):
        p = forms.planes.places if ask else forms.conjunctions.places
        for q in range(number):
            for i in range(rows.shape[0]):
                if ask:
                    held = products[i, I[forms.planes.owner + q]] <= I[forms.planes.threshold + q]
                else:
                    held = holds(I, forms.conjunctions, rows, i, q, -1)
                if I[p.outside + q] >= 0:
                    R[I[p.outside + q]] += 1.0
                if held:
                    member(I, W, p, rows, R, i, q, 1.0, True)
