"""Halfspaces of soft rows: one product of the rows with the directions serves all their thresholds."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.features import EMBEDDED
from sundog.generate.projection.forms.members import (
    MEMBERS,
    Member,
    Membership,
    Pieces,
    adding,
    held_at_once,
    member_form,
    padded,
)
from sundog.generate.projection.panels import Matrix
from sundog.generate.projection.soft_table import Frame, Known
from sundog.lazy_jax import Array, jax, jit, jnp
from sundog.queries import Halfspaces
from sundog.queries.halfspace import GRID


def label_axes(query: Any, schema: Schema) -> list[Axis]:
    """The columns of labels, label by label."""
    return [Axis.whole(schema.column(name)) for name in query.columns if not isinstance(schema.column(name), Numeric)]


def _pieces(frame: Frame, query: Halfspaces, known: Known) -> Pieces:
    lengths = np.maximum(np.linalg.norm(query.theta, axis=1, keepdims=True), 1.0)
    theta, cuts = query.theta / lengths, (query.thresholds + 0.5) / (GRID * lengths)
    number = np.arange(query.size).reshape(cuts.shape)
    wide = min(cuts.shape[1], MEMBERS[-1])
    high = held_at_once(query.size) // wide or 1
    places = np.concatenate([_embedding(frame, name) for name in query.columns])
    pieces = []
    for first in range(0, len(theta), high):
        for start in range(0, cuts.shape[1], wide):
            part = (slice(first, first + high), slice(start, start + wide))
            arrays = (places, padded(theta[part[0]], (high, theta.shape[1])), padded(cuts[part], (high, wide)))
            pieces.append((arrays, padded(number[part], (high, wide), fill=-1).ravel()))
    return pieces


def _embedding(frame: Frame, name: str) -> Int[np.ndarray, " features"]:
    """The features of a column in the halfspaces' embedding."""
    column, number = frame.schema.column(name), frame.number(name)
    if number is None:
        return frame.cells(Axis.whole(column))
    return np.arange(number + EMBEDDED, number + EMBEDDED + 1 + column.nullable)


@jit()
def _counts(
    matrix: Matrix, sharpness: Any, labels: Any, places: Any, theta: Any, cuts: Any
) -> Float[Array, "queries labels"]:
    products = jnp.matmul(theta, matrix[places], precision="highest")
    members = jax.nn.sigmoid(sharpness * (cuts[:, :, None] - products[:, None, :]))
    return (
        jnp.einsum("dtn,ln->dtl", members, matrix[labels], precision="highest").reshape(-1, labels.shape[0])
        / matrix.shape[1]
    )


def _merged(queries: Sequence[Halfspaces]) -> Halfspaces:
    """The directions of several, over the same columns with as many thresholds each."""
    theta, thresholds = (
        np.concatenate([getattr(query, name) for query in queries]) for name in ("theta", "thresholds")
    )
    return Halfspaces(queries[0].columns, queries[0].widths, theta, thresholds)


def _alike(query: Halfspaces) -> Hashable:
    return query.columns, query.thresholds.shape[1]


MEMBERSHIP = Membership(
    "halfspaces",
    axes=label_axes,
    cuts=None,
    pieces=_pieces,
    counts=_counts,
    add=adding(_counts),
    merged=_merged,
    alike=_alike,
)


def _membership(query: Halfspaces) -> tuple[Membership, Member]:
    return MEMBERSHIP, Member(query)


FORM = member_form(_membership)
