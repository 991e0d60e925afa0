"""The particle descent of PrivPGD on a CPU: the compiled kernels, step by step, on a few threads.

The kernels release the interpreter lock, and every thread has its own directions, then its own particles, so that the
result is the same for any number of threads.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.generate.particles.kernels import adam, gradients, residuals
from sundog.generate.particles.penalties import Penalty
from sundog.generate.particles.slices import Schedule, Slices
from sundog.progress import tell_share

Positions = Float[np.ndarray, "coordinates particles"]
THREADS = 2


def descend(
    positions: Positions,
    slices: Slices,
    *,
    schedule: Schedule,
    window: int,
    penalties: Sequence[Penalty],
    buckets: int,
) -> Positions:
    """The particles after all steps of the schedule."""
    positions = positions.copy()
    mean, square = np.zeros_like(positions), np.zeros_like(positions)
    gradient = np.empty((len(positions), window), dtype=np.float32)
    residual = np.empty((schedule.chosen.shape[1], window), dtype=np.float32)
    parts = _parts(window, min(THREADS, os.cpu_count() or 1))
    with ThreadPoolExecutor(len(parts)) as pool:
        for step in range(len(schedule.rates)):
            tell_share(step / len(schedule.rates))
            used = schedule.factors[step] > 0
            chosen, factors = schedule.chosen[step][used], schedule.factors[step][used]
            offset, rate = int(schedule.offsets[step]), float(schedule.rates[step])
            _project(pool, positions, slices, chosen=chosen, offset=offset, buckets=buckets, out=residual)
            touched = _touched(slices, chosen, len(positions))
            gradient[:] = 0
            for penalty in penalties:
                share = schedule.marginals[step] / (len(slices.marginals) - 1)
                part = share * float(penalty.strength_at(step / len(schedule.rates), np))
                _add(penalty, positions, offset, factor=part, gradient=gradient, touched=touched)

            def move(part: tuple[int, int], step: int = step) -> None:
                gradients(residual, chosen, slices.coordinates, slices.weights, factors, *part, gradient)  # noqa: B023
                adam(positions, mean, square, gradient, touched, offset, *part, rate, step + 1)  # noqa: B023

            _all(pool, move, parts)
    return positions


def _parts(count: int, parts: int) -> list[tuple[int, int]]:
    edges = np.linspace(0, count, min(parts, count) + 1).astype(int).tolist()
    return list(pairwise(edges))


def _all(pool: ThreadPoolExecutor, work: Callable[[tuple[int, int]], None], parts: Sequence[tuple[int, int]]) -> None:
    for done in [pool.submit(work, part) for part in parts]:
        done.result()


def _project(
    pool: ThreadPoolExecutor,
    positions: Positions,
    slices: Slices,
    *,
    chosen: Int[np.ndarray, " directions"],
    offset: int,
    buckets: int,
    out: Float[np.ndarray, "slots window"],
) -> None:
    """Projection minus target for the window's particles along every chosen direction."""

    def work(part: tuple[int, int]) -> None:
        residuals(
            positions, chosen[slice(*part)], slices.coordinates, slices.weights, slices.low, slices.span, slices.first,
            slices.values, slices.cumulative, offset, buckets, out[slice(*part)],
        )  # fmt: skip

    _all(pool, work, _parts(len(chosen), min(THREADS, os.cpu_count() or 1)))


def _touched(slices: Slices, chosen: Int[np.ndarray, " directions"], coordinates: int) -> Bool[np.ndarray, " all"]:
    touched = np.zeros(coordinates, dtype=np.bool_)
    touched[slices.coordinates[chosen][slices.weights[chosen] != 0]] = True
    return touched


def _add(
    penalty: Penalty,
    positions: Positions,
    offset: int,
    *,
    factor: float,
    gradient: Float[np.ndarray, "coordinates window"],
    touched: Bool[np.ndarray, " coordinates"],
) -> None:
    """Add one penalty's gradient times a factor: its strength and the share of the marginals that this step sees."""
    if factor == 0:
        return
    own = np.asarray(penalty.coordinates)
    slope = np.asarray(penalty.gradient(positions[own], np))
    window = (offset + np.arange(gradient.shape[1])) % positions.shape[1]
    gradient[own] += (factor * slope[:, window]).astype(np.float32)
    touched[own] = True
