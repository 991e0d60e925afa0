"""The compiled parts of PrivPGD's particle step on a CPU: sliced W2 without sorting.

Along a direction theta the squared W2 distance between m particles and the target is (1/m) sum_i (y_(i) - t_(i))^2 with
both sorted; its gradient in particle i is (2/m) theta (y_i - T(rank of y_i)), T the target's quantile function. Here a
particle's rank comes from a histogram of all projections (its bucket's cumulative count plus the linear share inside the
bucket), and the quantile from a pointer that starts at its bucket's: O(particles + buckets + cells) a direction, where
sorting is O(m log m) and, on a CPU, a hundred times slower. Only the particles of this step's window are looked up.
`particle_device.py` is the same step by exact sorting; a test holds the two together. `particle_threads.py` drives this one.
"""

from typing import Any

import numpy as np
from numba import njit

BLOCK = 2048


@njit(cache=True, fastmath=True, nogil=True)
def _project(positions: Any, coordinates: Any, weights: Any, start: int, length: int, out: Any) -> None:
    """The projections of `length` particles from `start`, scaled as the weights say."""
    for i in range(length):
        out[i] = 0.0
    for s in range(len(coordinates)):
        row, weight = positions[coordinates[s]], weights[s]
        for i in range(length):
            out[i] += weight * row[start + i]


@njit(cache=True, fastmath=True, nogil=True)
def _histogram(positions: Any, coordinates: Any, weights: Any, low: float, scale: float, counts: Any) -> None:
    particles, block = positions.shape[1], np.empty(BLOCK, np.float32)
    low32, scale32 = np.float32(low), np.float32(scale)
    counts[:] = 0
    for start in range(0, particles, BLOCK):
        length = min(BLOCK, particles - start)
        _project(positions, coordinates, weights, start, length, block)
        for i in range(length):
            counts[int((block[i] - low32) * scale32)] += 1


@njit(cache=True, fastmath=True, nogil=True)
def _one_direction(
    positions: Any, coordinates: Any, weights: Any, low: float, span: float, values: Any, cumulative: Any,
    offset: int, counts: Any, out: Any,
) -> None:  # fmt: skip
    """Projection minus target for the particles of the window, along one direction."""
    particles, window, buckets = positions.shape[1], len(out), len(counts)
    scale = buckets / span * 0.999999
    _histogram(positions, coordinates, weights, low, scale, counts)
    ranks, pointers = np.empty(buckets), np.empty(buckets, np.int32)
    below, pointer = 0.0, 0
    for b in range(buckets):
        ranks[b] = below / particles
        while pointer < len(cumulative) - 1 and cumulative[pointer] < ranks[b]:
            pointer += 1
        pointers[b] = pointer
        below += counts[b]
    for i in range(window):
        row = offset + i
        if row >= particles:
            row -= particles
        y = np.float32(0.0)
        for s in range(len(coordinates)):
            y += weights[s] * positions[coordinates[s], row]
        v = (y - low) * scale
        b = int(v)
        rank, pointer = ranks[b] + (v - b) * counts[b] / particles, pointers[b]
        while pointer < len(cumulative) - 1 and cumulative[pointer] < rank:
            pointer += 1
        out[i] = y - values[pointer]


@njit(cache=True, fastmath=True, nogil=True)
def residuals(
    positions: Any, chosen: Any, coordinates: Any, weights: Any, low: Any, span: Any, first: Any, values: Any,
    cumulative: Any, offset: int, buckets: int, out: Any,
) -> None:  # fmt: skip
    """out[k, i]: projection minus target of the window's i-th particle along the k-th chosen direction."""
    counts = np.empty(buckets, np.int64)
    for k in range(len(chosen)):
        d = chosen[k]
        _one_direction(
            positions, coordinates[d], weights[d], low[d], span[d], values[first[d] : first[d + 1]],
            cumulative[first[d] : first[d + 1]], offset, counts, out[k],
        )  # fmt: skip


@njit(cache=True, fastmath=True, nogil=True)
def gradients(
    residual: Any, chosen: Any, coordinates: Any, weights: Any, factors: Any, start: int, end: int, out: Any
) -> None:
    """out[c, i] += the gradient in coordinate c of the window's particles from `start` to `end`."""
    for k in range(len(chosen)):
        for s in range(coordinates.shape[1]):
            weight = np.float32(weights[chosen[k], s] * factors[k])
            if weight != 0:
                row, own = out[coordinates[chosen[k], s]], residual[k]
                for i in range(start, end):
                    row[i] += weight * own[i]


@njit(cache=True, fastmath=True, nogil=True)
def adam(
    positions: Any, mean: Any, square: Any, gradient: Any, touched: Any, offset: int, start: int, end: int,
    rate: float, steps: int,
) -> None:  # fmt: skip
    """Sparse Adam on a part of the window: moments of other entries stay; positions are kept in [0, 1]."""
    size = np.float32(rate * np.sqrt(1 - 0.999**steps) / (1 - 0.9**steps))
    particles, tiny = positions.shape[1], np.float32(1e-8)
    for c in range(positions.shape[0]):
        if touched[c]:
            for i in range(start, end):
                row = offset + i
                if row >= particles:
                    row -= particles
                g = gradient[c, i]
                mean[c, row] = np.float32(0.9) * mean[c, row] + np.float32(0.1) * g
                square[c, row] = np.float32(0.999) * square[c, row] + np.float32(0.001) * g * g
                moved = positions[c, row] - size * mean[c, row] / (np.sqrt(square[c, row]) + tiny)
                positions[c, row] = min(max(moved, np.float32(0.0)), np.float32(1.0))
