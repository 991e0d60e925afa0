"""Slices: what the particles are to match — every target marginal, projected and sorted along a pool of directions.

Also the schedule of a descent: which marginals, directions and particles each step looks at. Both are plain arrays made
once per fit, shared by the step on a CPU (`particle_kernels.py`) and on a device (`particle_device.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from sundog.generate.particles.embedding import Directions, Embedding
from sundog.queries import Marginal
from sundog.random.keys import Key, fold_in, split, uniforms

POINTS = 1 << 16
"""A large table is looked at along fewer directions, so that directions times cells stay about this number."""


@dataclass(frozen=True, eq=False)
class TargetMeasure:
    """How many particles should lie in each cell of a marginal."""

    query: Marginal
    counts: Int[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class Slices:
    """All directions of all marginals, one after the other; `marginals[q]` is the first direction of the q-th.

    `values` and `cumulative` hold each direction's sorted target positions and their cumulative shares, from `first[d]`.
    """

    marginals: Int[np.ndarray, " marginals_plus_one"]
    coordinates: Int[np.ndarray, "directions entries"]
    weights: Float[np.ndarray, "directions entries"]
    low: Float[np.ndarray, " directions"]
    span: Float[np.ndarray, " directions"]
    first: Int[np.ndarray, " directions_plus_one"]
    values: Float[np.ndarray, " points"]
    cumulative: Float[np.ndarray, " points"]


@dataclass(frozen=True, eq=False)
class Schedule:
    """Step by step: directions with their factors (0: none), the window's first particle, the rate, how many marginals.

    An epoch has `batches` steps.
    """

    chosen: Int[np.ndarray, "steps slots"]
    factors: Float[np.ndarray, "steps slots"]
    offsets: Int[np.ndarray, " steps"]
    rates: Float[np.ndarray, " steps"]
    marginals: Int[np.ndarray, " steps"]
    batches: int


def make_slices(key: Key, embedding: Embedding, targets: Sequence[TargetMeasure], *, pool: int) -> Slices:
    """Project and sort every target along its own pool of directions."""
    parts, counts = [], []
    for number, target in enumerate(targets):
        few = int(np.clip(POINTS // max(target.query.size, 1), 8, pool))
        directions = embedding.directions(fold_in(key, number), target.query, count=few)
        weights = directions.weights.astype(np.float32)
        parts.append((directions.coordinates, weights, *_sorted(embedding, target, directions)))
        counts.append(len(directions.weights))
    entries = max(part[0].shape[1] for part in parts)
    weights = np.concatenate([_padded(part[1], entries) for part in parts])
    lengths = np.concatenate([np.full(count, len(part[2][0])) for part, count in zip(parts, counts, strict=True)])
    return Slices(
        marginals=np.cumsum([0, *counts]),
        coordinates=np.concatenate([_padded(part[0], entries) for part in parts]).astype(np.int32),
        weights=weights,
        low=np.minimum(weights, 0).sum(axis=1).astype(np.float64),
        span=np.abs(weights).sum(axis=1).astype(np.float64),
        first=np.cumsum([0, *lengths]),
        values=np.concatenate([part[2].ravel() for part in parts]),
        cumulative=np.concatenate([part[3].ravel() for part in parts]),
    )


def _sorted(
    embedding: Embedding, target: TargetMeasure, directions: Directions
) -> tuple[Float[np.ndarray, "directions points"], Float[np.ndarray, "directions points"]]:
    """Along each direction the occupied cells' positions in order, and the cumulative share of particles."""
    occupied = np.flatnonzero(target.counts)
    projections = embedding.along(target.query, directions)[:, occupied]
    order = np.argsort(projections, axis=1, kind="stable")
    cumulative = np.cumsum(target.counts[occupied][order], axis=1) / target.counts.sum()
    return np.take_along_axis(projections.astype(np.float32), order, axis=1), cumulative


def _padded(array: Shaped[np.ndarray, "directions own"], entries: int) -> Shaped[np.ndarray, "directions entries"]:
    return np.pad(array, ((0, 0), (0, entries - array.shape[1])))


def make_schedule(
    key: Key, slices: Slices, *, epochs: int, batch: int, directions: int, particles: int, rates: tuple[float, float]
) -> Schedule:
    """Every epoch sees every marginal once, in a new order, in even batches, along stratified directions."""
    order_key, angle_key, offset_key = split(key, 3)
    marginals = len(slices.marginals) - 1
    batches = -(-marginals // batch)
    order = np.argsort(uniforms(order_key, epochs * marginals).reshape(epochs, marginals), axis=1)
    slots = -(-marginals // batches)
    grid = np.full((epochs, batches * slots), -1)
    grid[:, np.concatenate([np.arange(b, b + n) for b, n in _even(marginals, batches, slots)])] = order
    members = grid.reshape(epochs * batches, slots)
    start = uniforms(angle_key, members.size).reshape(members.shape)
    chosen, factors = _directions(slices, members, start, directions)
    decay = np.repeat(rates[0] * (rates[1] / rates[0]) ** np.linspace(0, 1, epochs), batches)
    offsets = np.floor(uniforms(offset_key, len(members)) * particles).astype(np.int64)
    return Schedule(chosen, factors, offsets, decay, (members >= 0).sum(axis=1), batches)


def _even(marginals: int, batches: int, slots: int) -> list[tuple[int, int]]:
    sizes = [len(part) for part in np.array_split(np.arange(marginals), batches)]
    return [(b * slots, size) for b, size in enumerate(sizes)]


def _directions(
    slices: Slices, members: Int[np.ndarray, "steps slots"], start: Float[np.ndarray, "steps slots"], directions: int
) -> tuple[Int[np.ndarray, "steps all"], Float[np.ndarray, "steps all"]]:
    """Equally spaced members of each marginal's pool, from a random start."""
    sizes = np.diff(slices.marginals)[members]
    used = np.minimum(sizes, directions)[..., None]
    turn = np.arange(directions)
    picks = (np.floor(start * sizes).astype(np.int64)[..., None] + (turn * sizes[..., None]) // used) % sizes[..., None]
    valid = (turn < used) & (members >= 0)[..., None]
    chosen = np.where(valid, slices.marginals[:-1][members][..., None] + picks, 0)
    factors = np.where(valid, 2.0 / used, 0.0)
    return chosen.reshape(len(members), -1), factors.reshape(len(members), -1)
