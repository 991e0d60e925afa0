"""Turn new shares of the synthetic rows into rows again, or into weights. Rows are copied or left out, never altered.

Systematic (the default): every row is drawn floor(w) or floor(w) + 1 times, w its expected number, along an order that puts
rows of like weight together. What rounding leaves is then balanced: of random pairs of rows one gives its extra copy to
the other wherever that brings the sums closer to what they should be, those of the measures and the counts of every
column's values (long columns in groups, small ones at both ends), each relative to its standard deviation: the noise of a
measure, the chance of a count. Without that rare values would bear the rounding of common ones. Pairs are proposed as a Metropolis walk would, so that rows keep their chances to
have an extra copy. What remains is a few rows, far below the privacy noise, where independent draws
would add about sqrt(rows) to every sum.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import njit

from sundog.domain.rows import Rows
from sundog.postprocess.support import Support
from sundog.random.keys import Key, permutation, split, uniforms, words

SWAPS, SWAPS_A_ROW = 1 << 20, 16
"""How many pairs of rows are looked at, at most; and at most this many for every row."""
GROUPS = 32
LEAST_GROUP = 4
"""Rows in the outermost group of a long column."""
CELL_WEIGHT = 0.1
"""How much the count of a value counts beside a measure, both in standard deviations: of chance, and of the noise."""


def row_weights(support: Support, shares: Float[np.ndarray, " points"], rows: Rows) -> Float[np.ndarray, " rows"]:
    """Every row's new share: its point's, divided among the point's rows as before."""
    old = np.ones(len(rows)) if rows.weights is None else rows.weights
    return old * (shares / np.exp(support.base))[support.point] / old.sum()


def drawn(
    key: Key,
    rows: Rows,
    support: Support,
    *,
    weights: Float[np.ndarray, " rows"],
    order: Float[np.ndarray, " rows"],
    scale: Float[np.ndarray, " measures"],
    count: int,
    multinomial: bool = False,
) -> Int[np.ndarray, " rows"]:
    """How often each row is drawn, `count` times in total; `scale` says how small an error of each measure matters."""
    first, second = split(key, 2)
    share = weights / weights.sum()
    if multinomial:
        return _inverse(share, uniforms(first, count), np.arange(len(share)))
    copies = _inverse(share, (np.arange(count) + uniforms(first, 1)[0]) / count, np.argsort(order, kind="stable"))
    _balance(second, copies, rows, support, expected=count * share, scale=count * scale)
    return copies


def taken(key: Key, rows: Rows, copies: Int[np.ndarray, " rows"]) -> Rows:
    """The rows as often as they were drawn, in a random order."""
    chosen = np.repeat(np.arange(len(rows)), copies)[permutation(key, int(copies.sum()))]
    return Rows(rows.schema, tuple(codes[chosen] for codes in rows.codes))


def _inverse(
    share: Float[np.ndarray, " rows"], positions: Float[np.ndarray, " count"], order: Int[np.ndarray, " rows"]
) -> Int[np.ndarray, " rows"]:
    """How many of the positions fall to each row, when the shares lie side by side in this order."""
    ends = np.cumsum(share[order])
    places = np.minimum(np.searchsorted(ends, positions * ends[-1], side="right"), len(order) - 1)
    return np.bincount(order[places], minlength=len(share))


def _balance(
    key: Key,
    copies: Int[np.ndarray, " rows"],
    rows: Rows,
    support: Support,
    *,
    expected: Float[np.ndarray, " rows"],
    scale: Float[np.ndarray, " measures"],
) -> None:
    """Move extra copies between rows, in place, wherever that brings the sums closer to their expectation."""
    low = np.floor(expected).astype(np.int64)
    raised = np.flatnonzero(copies > low)
    resting = np.flatnonzero((copies <= low) & (expected > low))
    if not len(raised) or not len(resting):
        return
    tries = min(SWAPS, SWAPS_A_ROW * len(copies))
    pairing, choosing = split(key, 2)
    random = words(pairing, 2 * tries)
    given = (random[:tries] % np.uint64(len(raised))).astype(np.int64)
    to = (random[tries:] % np.uint64(len(resting))).astype(np.int64)
    chance = expected - low
    odds = chance / np.maximum(1 - chance, 1e-12)
    over = copies - expected
    cells, off_cells, held = _cells(rows, over, expected)
    off = np.bincount(support.point, weights=over, minlength=len(support.base)) @ support.vectors
    weight = 1 / np.square(np.maximum(scale, 1.0))
    draws = (given, to, uniforms(choosing, tries))
    sums = (support.point, support.vectors, off, weight)
    _swap(copies, raised, resting, odds, draws, sums, (cells, off_cells, CELL_WEIGHT / np.maximum(held, 1.0)))


def _cells(
    rows: Rows, over: Float[np.ndarray, " rows"], expected: Float[np.ndarray, " rows"]
) -> tuple[Int[np.ndarray, "rows columns"], Float[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    """Every row's value in every column as a number, different for all columns; by how many rows each is over, and how many it has.

    Many values are put in groups of like size, smaller and smaller ones towards both ends.
    """
    cells, sums, start = np.empty((len(rows), len(rows.codes)), dtype=np.int32), [], 0
    for place, codes in enumerate(rows.codes):
        values, cell = np.unique(codes, return_inverse=True)
        if len(values) > GROUPS:
            cell = np.searchsorted(np.unique(np.sort(codes)[_ends(len(codes))]), codes, side="right")
        sums.append(np.stack([np.bincount(cell.ravel(), weights=each) for each in (over, expected)]))
        cells[:, place] = cell.ravel() + start
        start += sums[-1].shape[1]
    off, held = np.concatenate(sums, axis=1)
    return cells, off, held


def _ends(count: int) -> Int[np.ndarray, " ends"]:
    """Where groups of sorted rows end: equal ones, of which the outer ones are halved until few rows are left."""
    even = (np.arange(1, GROUPS) * count) // GROUPS
    tail = LEAST_GROUP << np.arange(max(int(np.log2(count / GROUPS / LEAST_GROUP)) + 1, 0))
    return np.unique(np.concatenate([even, tail[tail < count], (count - tail)[tail < count]]))


@njit(cache=True)
def _swap(
    copies: Any, raised: Any, resting: Any, odds: Any, draws: Any, sums: Any, columns: Any
) -> None:  # pragma: no cover
    """Of each pair, give the copy where that lowers the weighted sum of squares of what the sums are off by."""
    given, to, uniform = draws
    point, vectors, off, weight = sums
    cells, off_cells, cell_weight = columns
    for k in range(len(given)):
        one, other = raised[given[k]], resting[to[k]]
        if uniform[k] * odds[one] > odds[other]:
            continue
        change = 0.0
        for c in range(cells.shape[1]):
            here, there = cells[one, c], cells[other, c]
            if here != there:
                change += cell_weight[here] * (1 - 2 * off_cells[here]) + cell_weight[there] * (
                    1 + 2 * off_cells[there]
                )
        for m in range(len(off)):
            step = vectors[point[other], m] - vectors[point[one], m]
            change += weight[m] * step * (2 * off[m] + step)
        if change < 0:
            for m in range(len(off)):
                off[m] += vectors[point[other], m] - vectors[point[one], m]
            for c in range(cells.shape[1]):
                off_cells[cells[one, c]] -= 1
                off_cells[cells[other, c]] += 1
            copies[one] -= 1
            copies[other] += 1
            raised[given[k]], resting[to[k]] = other, one
