"""Turn new shares of the synthetic rows into rows again, or into weights."""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from sundog.adjust.support import Support
from sundog.keys import Key, permutation, split, uniforms
from sundog.rows import Rows

Resampling = Literal["systematic", "multinomial", "weights"]


def row_weights(support: Support, shares: Float[np.ndarray, " points"], rows: Rows) -> Float[np.ndarray, " rows"]:
    """Every row's new share: its point's, divided among the point's rows as before."""
    old = np.ones(len(rows)) if rows.weights is None else rows.weights
    return old * (shares / np.exp(support.base))[support.point] / old.sum()


def resampled(
    key: Key,
    rows: Rows,
    *,
    weights: Float[np.ndarray, " rows"],
    order: Float[np.ndarray, " rows"],
    count: int,
    how: Resampling,
) -> Rows:
    """So many rows with these weights; systematic draws walk along `order`, so that neighbours stand in for each other."""
    if how == "weights":
        return Rows(rows.schema, rows.codes, weights * len(rows))
    draw, shuffle = split(key, 2)
    if how == "multinomial":
        chosen = _inverse(weights, uniforms(draw, count), np.arange(len(rows)))
    else:
        positions = (np.arange(count) + uniforms(draw, 1)[0]) / count
        chosen = _inverse(weights, positions, np.argsort(order, kind="stable"))[permutation(shuffle, count)]
    return Rows(rows.schema, tuple(codes[chosen] for codes in rows.codes))


def _inverse(
    weights: Float[np.ndarray, " rows"], positions: Float[np.ndarray, " count"], order: Int[np.ndarray, " rows"]
) -> Int[np.ndarray, " count"]:
    ends = np.cumsum(weights[order])
    return order[np.minimum(np.searchsorted(ends, positions * ends[-1], side="right"), len(order) - 1)]
