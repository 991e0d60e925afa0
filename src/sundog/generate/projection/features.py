"""The features of soft rows: everything that queries ask of them, as one matrix (see soft_table.py for its layout)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.generate.projection.soft_table import Frame, Known, Params, SoftTable, transfer_of
from sundog.lazy_jax import Array, jax, jnp
from sundog.queries.halfspace import GRID

HARD = 1e12
SMOOTH = 4.0
FAR = 1e3
"""Beyond all places and logits: a bound that is none."""
PLACE, VALUE, EMBEDDED, MISSING = range(4)
"""The features of a number."""


def sparsemax(logits: Float[Array, "cells rows"]) -> Float[Array, "cells rows"]:
    """The closest point of the simplex (Martins and Astudillo 2016); sparse, so gradients of absent cells vanish."""
    falling = -jnp.sort(-logits, axis=0)
    ranks = jnp.arange(1, logits.shape[0] + 1)[:, None]
    sums = jnp.cumsum(falling, axis=0)
    kept = (1 + ranks * falling > sums).sum(axis=0, keepdims=True)
    shift = (jnp.take_along_axis(sums, kept - 1, axis=0) - 1) / kept
    return jnp.maximum(logits - shift, 0.0)


def onto_simplex(simplex: str) -> Callable[[Any], Any]:
    """The function that turns logits (cells, rows) into probabilities."""
    return sparsemax if simplex == "sparsemax" else partial(jax.nn.softmax, axis=0)


def features(
    params: Params,
    known: Known,
    sharpness: tuple[Any, Any],
    *,
    frame: Frame,
    simplex: str = "softmax",
    hard: bool = False,
) -> Float[Array, "features rows"]:
    """Everything that queries ask of the rows, as one matrix; sharpness of cells, and of what halfspaces see."""
    onto = onto_simplex(simplex)
    blocks: dict[str, Any] = {name: onto(logits) for name, logits in params["logits"].items()}
    for name, number in params["numbers"].items():
        place, value = _placed(number, known.quantiles.get(name), sharpness[1], hard)
        missing = _gone(params["absent"].get(name, jnp.full_like(number, -FAR)), known.missing.get(name), hard)
        blocks[name] = _number_block(frame, name, place, value, missing, hard)
    parts = [blocks[name] for name in frame.schema.names]
    for axis, transfer in zip(frame.further, known.further, strict=True):
        block = blocks[axis.column]
        held = frame.held[frame.schema.position(axis.column)]
        parts.append(transfer @ block if held is not None else _number_cells(block, transfer, sharpness[0], axis.size))
    rows = parts[0].shape[1]
    parts.append(jnp.ones((1, rows)))
    parts.append(jnp.zeros((frame.size - frame.one - 1, rows)))
    return jnp.concatenate(parts, axis=0)


def _placed(number: Any, quantiles: Any, sharpness: Any, hard: bool) -> tuple[Any, Any]:
    """A number's place, and its value: the quantile there, averaged over its surroundings unless `hard`."""
    if quantiles is None:
        clipped = jnp.clip(number, 0.0, 1.0)
        return clipped, clipped
    rows = quantiles.shape[0]
    if hard:
        ranks = jnp.argsort(jnp.argsort(number))
        return (ranks + 0.5) / rows, quantiles[ranks]
    half = SMOOTH / sharpness
    knots = jnp.arange(rows + 1) / rows
    sums = jnp.concatenate([jnp.zeros(1), jnp.cumsum(quantiles) / rows])
    upper, lower = number + half, number - half
    integral = jnp.interp(upper, knots, sums) - jnp.interp(lower, knots, sums)
    beyond = quantiles[-1] * jnp.maximum(upper - 1.0, 0.0) + quantiles[0] * jnp.maximum(-lower, 0.0)
    return number, (integral + beyond) / (2 * half)


def _gone(absent: Float[Array, " rows"], share: Any, hard: bool) -> Float[Array, " rows"]:
    """How missing each row is; with `hard` the most missing ones are, as many as were measured."""
    if not hard:
        return jax.nn.sigmoid(absent)
    rows = absent.shape[0]
    gone = absent > 0 if share is None else jnp.argsort(jnp.argsort(absent)) >= jnp.round(rows * (1.0 - share))
    return gone.astype(jnp.float32)


def _number_block(frame: Frame, name: str, place: Any, value: Any, missing: Any, hard: bool) -> Float[Array, "4 rows"]:
    """Place, value, the value on the halfspaces' grid (0 where missing), and how missing it is."""
    column = frame.schema.column(name)
    last = max(column.size - column.nullable - 1, 1)
    value = jnp.round(value * last) / last if hard else value
    place = value if hard and place is value else place
    embedded = jnp.floor(value * GRID + 0.5) / GRID if hard else value
    return jnp.stack([place, value, embedded * (1.0 - missing), missing])


def _number_cells(
    block: Float[Array, "4 rows"], cuts: Float[Array, " cuts"], sharpness: Any, size: int
) -> Float[Array, "cells rows"]:
    above = jax.nn.sigmoid(sharpness * (block[PLACE][None, :] - cuts[:, None]))
    edges = jnp.concatenate([jnp.ones((1, above.shape[1])), above, jnp.zeros((1, above.shape[1]))])
    cells = (edges[:-1] - edges[1:]) * (1.0 - block[MISSING])
    return cells if cells.shape[0] == size else jnp.concatenate([cells, block[MISSING][None, :]])


def cells_on(
    table: SoftTable, axis: Axis, held: Float[np.ndarray, "features rows"], *, known: Known
) -> Float[np.ndarray, "cells rows"]:
    """The cells of any axis from the hard features of the held ones; without compiling anything."""
    place = table.frame.schema.position(axis.column)
    start, kept = table.frame.starts[place], table.frame.held[place]
    if kept is None:
        cuts = transfer_of(table.frame, axis, table.leaves[axis.column], known).astype(np.float32)
        gone = held[start + MISSING]
        member = np.eye(len(cuts) + 1, dtype=np.float32)[np.searchsorted(cuts, held[start])].T * (1 - gone)
        return member if len(member) == axis.size else np.concatenate([member, gone[None, :]])
    block = held[start : start + kept.size]
    if kept == axis:
        return block
    return transfer_of(table.frame, axis, table.leaves[axis.column], known).astype(np.float32) @ block
