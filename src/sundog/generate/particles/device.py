"""The particle step of PrivPGD on an accelerator, in JAX: exact ranks by sorting, which is what a GPU does well.

The same step as `particle_kernels.py` (its formulas are there); whole epochs run as one compiled scan. Runs on whatever
device is JAX's default, but on a CPU sorting makes it a hundred times slower than the kernels.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sundog.generate.particles.penalties import Penalty
from sundog.generate.particles.slices import Schedule, Slices


def descend(
    positions: Float[np.ndarray, "coordinates particles"],
    slices: Slices,
    *,
    schedule: Schedule,
    window: int,
    penalties: Sequence[Penalty],
) -> Float[np.ndarray, "coordinates particles"]:
    """The particles after all steps of the schedule."""
    tables = _tables(slices)
    start = jnp.asarray(positions)
    carry = (start, jnp.zeros_like(start), jnp.zeros_like(start), jnp.zeros((), jnp.int32))
    steps = _steps(schedule, len(slices.marginals) - 1)
    for chunk in range(0, len(schedule.rates), schedule.batches):
        part = jax.tree.map(lambda column, at=chunk: column[at : at + schedule.batches], steps)
        carry = _epoch(carry, tables, part, window=window, penalties=tuple(penalties))
    return np.asarray(carry[0])


def _tables(slices: Slices) -> dict[str, Array]:
    """The slices as rectangular arrays: padded points repeat the last, and no rank ever reaches them."""
    lengths = np.diff(slices.first)
    place = np.minimum(np.arange(lengths.max())[None, :], lengths[:, None] - 1) + slices.first[:-1, None]
    cumulative = np.where(np.arange(lengths.max())[None, :] >= lengths[:, None] - 1, 2.0, slices.cumulative[place])
    return {
        "coordinates": jnp.asarray(slices.coordinates),
        "weights": jnp.asarray(slices.weights),
        "values": jnp.asarray(slices.values[place]),
        "cumulative": jnp.asarray(cumulative, jnp.float32),
    }


def _steps(schedule: Schedule, marginals: int) -> dict[str, Array]:
    return {
        "chosen": jnp.asarray(schedule.chosen, jnp.int32),
        "factors": jnp.asarray(schedule.factors, jnp.float32),
        "offset": jnp.asarray(schedule.offsets, jnp.int32),
        "rate": jnp.asarray(schedule.rates, jnp.float32),
        "progress": jnp.arange(len(schedule.rates), dtype=jnp.float32) / len(schedule.rates),
        "share": jnp.asarray(schedule.marginals / marginals, jnp.float32),
    }


@partial(jax.jit, static_argnames=("window", "penalties"), donate_argnums=0)
def _epoch(carry: Any, tables: Any, steps: Any, *, window: int, penalties: tuple[Penalty, ...]) -> Any:
    def one(carry: Any, step: Any) -> tuple[Any, None]:
        positions, mean, square, count = carry
        gradient, touched = gradients(positions, tables, chosen=step["chosen"], factors=step["factors"])
        for penalty in penalties:
            factor = step["share"] * penalty.strength_at(step["progress"], jnp)
            gradient, touched = _add(penalty, positions, gradient, touched, factor=factor)
        rows = (jnp.arange(positions.shape[1]) - step["offset"]) % positions.shape[1] < window
        moving = touched[:, None] & rows[None, :]
        return _adam((positions, mean, square, count + 1), gradient, moving=moving, rate=step["rate"]), None

    return jax.lax.scan(one, carry, steps)[0]


def gradients(
    positions: Float[Array, "coordinates particles"], tables: dict[str, Array], *, chosen: Array, factors: Array
) -> tuple[Float[Array, "coordinates particles"], Array]:
    """The gradient of the sliced W2 distances along the chosen directions, and which coordinates it touches."""
    coordinates, weights = tables["coordinates"][chosen], tables["weights"][chosen]
    projections = jnp.einsum("ks,ksm->km", weights, positions[coordinates])
    residual = jax.vmap(_residual)(projections, tables["values"][chosen], tables["cumulative"][chosen])
    scaled = weights * factors[:, None]
    gradient = jnp.zeros_like(positions)
    for s in range(weights.shape[1]):
        gradient = gradient.at[coordinates[:, s]].add(scaled[:, s, None] * residual)
    touched = jnp.zeros(positions.shape[0], bool).at[coordinates.ravel()].max((scaled != 0).ravel())
    return gradient, touched


def _residual(projections: Array, values: Array, cumulative: Array) -> Array:
    particles = projections.shape[0]
    ordered, order = jax.lax.sort_key_val(projections, jnp.arange(particles))
    ranks = (jnp.arange(particles) + 0.5) / particles
    targets = values[jnp.searchsorted(cumulative, ranks)]
    return jnp.zeros_like(projections).at[order].set(ordered - targets)


def _add(penalty: Penalty, positions: Array, gradient: Array, touched: Array, *, factor: Array) -> tuple[Array, Array]:
    own = jnp.asarray(penalty.coordinates)
    return gradient.at[own].add(factor * penalty.gradient(positions[own], jnp)), touched.at[own].max(factor > 0)


def _adam(carry: Any, gradient: Array, *, moving: Array, rate: Array) -> Any:
    positions, mean, square, count = carry
    size = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    mean = jnp.where(moving, 0.9 * mean + 0.1 * gradient, mean)
    square = jnp.where(moving, 0.999 * square + 0.001 * gradient**2, square)
    moved = jnp.clip(positions - size * mean / (jnp.sqrt(square) + 1e-8), 0.0, 1.0)
    return jnp.where(moving, moved, positions), mean, square, count
