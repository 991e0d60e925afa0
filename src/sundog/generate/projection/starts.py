"""Where a descent starts: rows drawn from the measured columns, rows of a public table, or rows held over other cells."""

import numpy as np
from jaxtyping import Float

from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves
from sundog.generate.independent import systematic
from sundog.generate.projection.features import onto_simplex
from sundog.generate.projection.soft_table import Frame, Known, Params, missing_share, transfer_of
from sundog.lazy_jax import jnp
from sundog.random.keys import Key, fold_in, permutation, split, uniforms

SURE = 0.98
"""How sure a fresh row is of being missing or not."""
PUBLIC = 0.98
"""How sure a row that starts from a public one is of its labels."""


def fresh_params(key: Key, frame: Frame, *, leaves: dict[str, Leaves], rows: int, simplex: str = "softmax") -> Params:
    """Rows that follow every column's own distribution; half of each row's probability is a cell drawn for it."""
    params: Params = {"logits": {}, "numbers": {}, "absent": {}}
    for column_key, column, axis in zip(split(key, len(frame.held)), frame.schema.columns, frame.held, strict=True):
        known = leaves[column.name]
        if axis is not None:
            chances = _fresh_chances(column_key, known.shares(axis), rows)
            logits = np.log(chances) if simplex == "softmax" else chances
            params["logits"][column.name] = jnp.asarray(logits, jnp.float32)
            continue
        order_key, gone_key = split(column_key, 2)
        places = (permutation(order_key, rows) + 0.5) / rows
        params["numbers"][column.name] = jnp.asarray(places, jnp.float32)
        if column.nullable:
            gone = permutation(gone_key, rows) < missing_share(known) * rows
            params["absent"][column.name] = jnp.asarray(np.where(gone, 1, -1) * np.log(SURE / (1 - SURE)), jnp.float32)
    return params


def public_params(
    key: Key, frame: Frame, *, leaves: dict[str, Leaves], rows: int, simplex: str, public: Rows
) -> Params:
    """Rows of a public table, a little of every column's own distribution mixed in so that any cell can be reached.

    A number is its rank among these rows: their relations are the public table's, every column is as measured.
    """
    params = fresh_params(key, frame, leaves=leaves, rows=rows, simplex=simplex)
    ends = np.arange(rows) * (len(public) / rows) + float(uniforms(key, 1)[0]) * len(public) / rows
    chosen = permutation(key, len(public))[ends.astype(np.int64) % len(public)]
    for column, axis in zip(frame.schema.columns, frame.held, strict=True):
        codes = public.column(column.name)[chosen]
        if axis is not None:
            chances = np.repeat((1 - PUBLIC) * leaves[column.name].shares(axis)[:, None], rows, axis=1) + 1e-6
            chances[axis.cells(codes), np.arange(rows)] += PUBLIC
            logits = np.log(chances / chances.sum(axis=0)) if simplex == "softmax" else chances / chances.sum(axis=0)
            params["logits"][column.name] = jnp.asarray(logits, jnp.float32)
            continue
        ranks = np.argsort(np.argsort(codes + uniforms(fold_in(key, frame.schema.position(column.name)), rows)))
        params["numbers"][column.name] = jnp.asarray((ranks + 0.5) / rows, jnp.float32)
        if column.nullable:
            gone = np.where(codes == column.missing, 1, -1) * np.log(SURE / (1 - SURE))
            params["absent"][column.name] = jnp.asarray(gone, jnp.float32)
    return params


def carried_params(params: Params, before: Frame, frame: Frame, *, leaves: dict[str, Leaves], simplex: str) -> Params:
    """The same rows held over other cells: each row's chances go over by P(new cell | old cell), numbers stay."""
    carried = {**params, "logits": dict(params["logits"])}
    onto = onto_simplex(simplex)
    for column, old, new in zip(frame.schema.columns, before.held, frame.held, strict=True):
        if old is None or new is None or old == new:
            continue
        transfer = transfer_of(before, new, leaves[column.name], Known())
        chances = (transfer @ np.asarray(onto(params["logits"][column.name]), dtype=np.float64)) + 1e-6
        carried["logits"][column.name] = jnp.asarray(np.log(chances) if simplex == "softmax" else chances, jnp.float32)
    return carried


def _fresh_chances(key: Key, shares: Float[np.ndarray, " cells"], rows: int) -> Float[np.ndarray, "cells rows"]:
    drawn = systematic(shares, rows, offset=0.5)[permutation(key, rows)]
    probabilities = np.repeat(0.5 * shares[:, None], rows, axis=1) + 1e-4
    probabilities[drawn, np.arange(rows)] += 0.5
    return probabilities / probabilities.sum(axis=0)
