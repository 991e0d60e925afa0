"""The closest probability measure to a signed one, in sliced W1 (PrivPGD, Eq. 5), and its quantisation.

    min over probabilities p of  SW1(p, v) = mean over directions of  sum_s |P_s - V_s| (y_(s+1) - y_(s)),

P, V the cumulative sums of p, v along the cells sorted by their projections y (Vallender's identity, which also makes sense
for signed v). Adam on p = softmax(x), as the authors do; but directions are few and fixed, so that cells are sorted once,
and the signed tables have been made consistent first, which together takes seconds instead of minutes.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import njit

FLOOR = 1e-9


def project(
    signed: Float[np.ndarray, " cells"],
    projections: Float[np.ndarray, "directions cells"],
    *,
    iterations: int = 400,
    rate: float = 0.1,
) -> Float[np.ndarray, " cells"]:
    """The probability measure on the same cells that is closest in sliced W1; `projections` are their centres'."""
    if len(signed) == 1:
        return np.ones(1)
    order = np.argsort(projections, axis=1, kind="stable")
    ordered = np.take_along_axis(projections, order, axis=1)
    gaps = np.diff(ordered, axis=1, append=ordered[:, -1:])
    start = np.maximum(signed, 0.0)
    start = start / start.sum() if start.sum() > 0 else np.full(len(signed), 1 / len(signed))
    return _descend(signed / _total(signed), start, order.astype(np.int32), gaps, iterations, rate)


def _total(signed: Float[np.ndarray, " cells"]) -> float:
    total = float(signed.sum())
    return total if total > 0 else 1.0


def sliced_w1(
    a: Float[np.ndarray, " cells"], b: Float[np.ndarray, " cells"], projections: Float[np.ndarray, "directions cells"]
) -> float:
    """SW1 between two (signed) measures on the same cells."""
    order = np.argsort(projections, axis=1, kind="stable")
    gaps = np.diff(np.take_along_axis(projections, order, axis=1), axis=1)
    return float((np.abs(np.cumsum((a - b)[order], axis=1))[:, :-1] * gaps).sum(axis=1).mean())


def largest_remainder(proportions: Float[np.ndarray, " cells"], total: int) -> Int[np.ndarray, " cells"]:
    """Whole numbers with the given sum that are closest to the proportions of it.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    exact = proportions / proportions.sum() * total
    counts = np.floor(exact).astype(np.int64)
    lacking = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:lacking]] += 1
    return counts


@njit(cache=True, fastmath=True, nogil=True)
def _descend(target: Any, start: Any, order: Any, gaps: Any, iterations: int, rate: float) -> Any:
    directions, cells = order.shape
    x, mean, square, slope = np.log(start + FLOOR), np.zeros(cells), np.zeros(cells), np.empty(cells)
    for t in range(1, iterations + 1):
        p = np.exp(x - x.max())
        p /= p.sum()
        gradient = np.zeros(cells)
        for d in range(directions):
            cumulative, later = 0.0, 0.0
            for s in range(cells):
                cumulative += p[order[d, s]] - target[order[d, s]]
                slope[s] = gaps[d, s] if cumulative > 0 else -gaps[d, s]
            for s in range(cells - 1, -1, -1):
                later += slope[s]
                gradient[order[d, s]] += later
        gradient /= directions
        gradient = p * (gradient - (p * gradient).sum())
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient * gradient
        step = rate * 0.02 ** (t / iterations)
        x -= step * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    p = np.exp(x - x.max())
    return p / p.sum()
