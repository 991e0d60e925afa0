"""The particle step of PrivPGD on a CPU: sliced W2 without sorting.

Along a direction theta the squared W2 distance between m particles and the target is (1/m) sum_i (y_(i) - t_(i))^2 with
both sorted; its gradient in particle i is (2/m) theta (y_i - T(rank of y_i)), T the target's quantile function. Here a
particle's rank comes from a histogram of all projections (its bucket's cumulative count plus the linear share inside the
bucket), and the quantile from a pointer that starts at its bucket's: O(particles + buckets + cells) a direction, where
sorting is O(m log m) and, on a CPU, a hundred times slower. Only the particles of this step's window are looked up.
`particle_device.py` is the same step by exact sorting; a test holds the two together.
"""

# ruff: noqa: PLR0917 (compiled functions take no keywords)

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numba import njit, prange

from sundog.generate.penalties import Penalty
from sundog.generate.slices import Schedule, Slices

BLOCK = 2048


@njit(cache=True, fastmath=True)
def _project(positions: Any, coordinates: Any, weights: Any, start: int, length: int, out: Any) -> None:
    """The projections of `length` particles from `start`, scaled as the weights say."""
    for i in range(length):
        out[i] = 0.0
    for s in range(len(coordinates)):
        row, weight = positions[coordinates[s]], weights[s]
        for i in range(length):
            out[i] += weight * row[start + i]


@njit(cache=True, fastmath=True)
def _histogram(positions: Any, coordinates: Any, weights: Any, low: float, scale: float, counts: Any) -> None:
    particles, block = positions.shape[1], np.empty(BLOCK, np.float32)
    low32, scale32 = np.float32(low), np.float32(scale)
    counts[:] = 0
    for start in range(0, particles, BLOCK):
        length = min(BLOCK, particles - start)
        _project(positions, coordinates, weights, start, length, block)
        for i in range(length):
            counts[int((block[i] - low32) * scale32)] += 1


@njit(cache=True, fastmath=True)
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


@njit(cache=True, parallel=True, fastmath=True)
def residuals(
    positions: Any, chosen: Any, coordinates: Any, weights: Any, low: Any, span: Any, first: Any, values: Any,
    cumulative: Any, offset: int, buckets: int, out: Any,
) -> None:  # fmt: skip
    """out[k, i]: projection minus target of the window's i-th particle along the k-th chosen direction."""
    for k in prange(len(chosen)):
        d = chosen[k]
        _one_direction(
            positions, coordinates[d], weights[d], low[d], span[d], values[first[d] : first[d + 1]],
            cumulative[first[d] : first[d + 1]], offset, np.empty(buckets, np.int64), out[k],
        )  # fmt: skip


@njit(cache=True, parallel=True, fastmath=True)
def gradients(residual: Any, chosen: Any, coordinates: Any, weights: Any, factors: Any, out: Any) -> None:
    """out[c, i] += the gradient in coordinate c of the window's i-th particle; `factors` weigh the directions."""
    for c in prange(out.shape[0]):
        for k in range(len(chosen)):
            for s in range(coordinates.shape[1]):
                weight = weights[chosen[k], s] * factors[k]
                if coordinates[chosen[k], s] == c and weight != 0:
                    for i in range(out.shape[1]):
                        out[c, i] += np.float32(weight) * residual[k, i]


@njit(cache=True, parallel=True, fastmath=True)
def adam(
    positions: Any, mean: Any, square: Any, gradient: Any, touched: Any, offset: int, rate: float, steps: int
) -> None:
    """Sparse Adam on the window: moments of entries outside it stay; positions are kept in [0, 1]."""
    size = np.float32(rate * np.sqrt(1 - 0.999**steps) / (1 - 0.9**steps))
    particles, tiny = positions.shape[1], np.float32(1e-8)
    for c in prange(positions.shape[0]):
        if touched[c]:
            for i in range(gradient.shape[1]):
                row = offset + i
                if row >= particles:
                    row -= particles
                g = gradient[c, i]
                mean[c, row] = np.float32(0.9) * mean[c, row] + np.float32(0.1) * g
                square[c, row] = np.float32(0.999) * square[c, row] + np.float32(0.001) * g * g
                moved = positions[c, row] - size * mean[c, row] / (np.sqrt(square[c, row]) + tiny)
                positions[c, row] = min(max(moved, np.float32(0.0)), np.float32(1.0))


def descend(
    positions: Float[np.ndarray, "coordinates particles"],
    slices: Slices,
    *,
    schedule: Schedule,
    window: int,
    penalties: Sequence[Penalty],
    buckets: int,
) -> Float[np.ndarray, "coordinates particles"]:
    """The particles after all steps of the schedule."""
    positions = positions.copy()
    mean, square = np.zeros_like(positions), np.zeros_like(positions)
    gradient = np.empty((len(positions), window), dtype=np.float32)
    residual = np.empty((schedule.chosen.shape[1], window), dtype=np.float32)
    for step in range(len(schedule.rates)):
        offset, share = int(schedule.offsets[step]), schedule.marginals[step] / (len(slices.marginals) - 1)
        touched = _gradient(positions, slices, schedule, step, buckets=buckets, residual=residual, out=gradient)
        for penalty in penalties:
            _add(penalty, positions, offset, share=share, gradient=gradient, touched=touched)
        adam(positions, mean, square, gradient, touched, offset, float(schedule.rates[step]), step + 1)
    return positions


def _gradient(
    positions: Float[np.ndarray, "coordinates particles"],
    slices: Slices,
    schedule: Schedule,
    step: int,
    *,
    buckets: int,
    residual: Float[np.ndarray, "slots window"],
    out: Float[np.ndarray, "coordinates window"],
) -> Bool[np.ndarray, " coordinates"]:
    """One step's gradient of the sliced W2 distances for the window's particles, and which coordinates it touches."""
    used = schedule.factors[step] > 0
    chosen, factors = schedule.chosen[step][used], schedule.factors[step][used]
    residuals(
        positions, chosen, slices.coordinates, slices.weights, slices.low, slices.span, slices.first, slices.values,
        slices.cumulative, int(schedule.offsets[step]), buckets, residual,
    )  # fmt: skip
    out[:] = 0
    gradients(residual, chosen, slices.coordinates, slices.weights, factors, out)
    touched = np.zeros(len(positions), dtype=np.bool_)
    touched[slices.coordinates[chosen][slices.weights[chosen] != 0]] = True
    return touched


def _add(
    penalty: Penalty,
    positions: Float[np.ndarray, "coordinates particles"],
    offset: int,
    *,
    share: float,
    gradient: Float[np.ndarray, "coordinates window"],
    touched: Bool[np.ndarray, " coordinates"],
) -> None:
    own = np.asarray(penalty.coordinates)
    weights = np.asarray(penalty.weights, dtype=np.float32)
    slope = penalty.slope(weights @ positions[own], np)
    window = (offset + np.arange(gradient.shape[1])) % positions.shape[1]
    gradient[own] += (penalty.strength * share * weights[:, None] * slope[window]).astype(np.float32)
    touched[own] = True
