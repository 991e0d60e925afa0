"""Ranges of soft rows: products of sigmoids and of probabilities of labels."""

from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.forms.halfspaces import label_axes
from sundog.generate.projection.forms.members import (
    Member,
    Membership,
    Pieces,
    adding,
    held_at_once,
    member_form,
    padded,
)
from sundog.generate.projection.panels import Matrix
from sundog.generate.projection.soft_table import FAR, MISSING, Frame, Known, place_of
from sundog.lazy_jax import Array, jax, jit, jnp
from sundog.queries import Ranges


def _axes(query: Ranges, schema: Schema) -> list[Axis]:
    """Label by label, and runs of labels as cells of their own."""
    found = label_axes(query, schema)
    for place, name in enumerate(query.columns):
        if not isinstance(schema.column(name), Numeric):
            found += [_run(schema.column(name), *pair) for pair in _runs_of(query, place, schema.column(name))]
    return found


def _runs_of(query: Ranges, place: int, column: Column) -> list[tuple[int, int]]:
    """The conditions on a column of labels that name several of them, but not all."""
    on = query.which == place
    pairs = dict.fromkeys(zip(query.low[on].tolist(), query.high[on].tolist(), strict=True))
    return [(low, high) for low, high in pairs if high - low > 1 and not (low <= 0 and high >= column.size)]


def _run(column: Column, low: int, high: int) -> Axis:
    """Inside a run of labels (cell 1) or not (cell 0)."""
    return Axis.grouped(column, [int(low <= code < high) for code in range(column.size)])


def _pieces(frame: Frame, query: Ranges, known: Known) -> Pieces:
    parts = _conditions(frame, query, known)
    size = held_at_once(query.size)
    fills = (frame.one, frame.zero, frame.zero, False, -FAR, FAR)
    pieces = []
    for first in range(0, query.size, size):
        part = slice(first, first + size)
        arrays = tuple(
            padded(array[part], (size, array.shape[1]), fill=fill) for array, fill in zip(parts, fills, strict=True)
        )
        pieces.append((arrays, padded(np.arange(query.size)[part], (size,), fill=-1)))
    return pieces


def _conditions(frame: Frame, query: Ranges, known: Known) -> tuple[np.ndarray, ...]:
    """For every condition its feature, that of missing, of missing if it lies inside, whether a number, and two cuts."""
    shape = query.which.shape
    feature, missing, inside = np.full(shape, frame.one), np.full(shape, frame.zero), np.full(shape, frame.zero)
    is_number, low, high = np.zeros(shape, bool), np.full(shape, -FAR), np.full(shape, FAR)
    for place, name in enumerate(query.columns):
        on, column, number = query.which == place, frame.schema.column(name), frame.number(name)
        if number is None:
            single = on & (query.high == query.low + 1)
            feature[single] = frame.cells(Axis.whole(column))[query.low[single]]
            for first, end in _runs_of(query, place, column):
                same = on & (query.low == first) & (query.high == end)
                feature[same] = frame.cells(_run(column, first, end))[1]
            continue
        steps = column.size - column.nullable
        gone = on & (query.low == steps)
        feature[on], missing[on], is_number[on] = number, number + MISSING, True
        feature[gone], missing[gone], is_number[gone] = number + MISSING, frame.zero, False
        inside[on & ~gone & (query.high > steps)] = number + MISSING
        bounded = on & (query.low > 0)
        low[bounded] = place_of(frame, name, known, query.low[bounded])
        bounded = on & (query.high < steps)
        high[bounded] = place_of(frame, name, known, query.high[bounded])
    return feature, missing, inside, is_number, low, high


@jit()
def _counts(
    matrix: Matrix,
    sharpness: Any,
    labels: Any,
    feature: Any,
    missing: Any,
    inside: Any,
    is_number: Any,
    low: Any,
    high: Any,
) -> Float[Array, "queries labels"]:
    value = matrix[feature]
    rise = jax.nn.sigmoid(sharpness * (value - low[:, :, None])) - jax.nn.sigmoid(
        sharpness * (value - high[:, :, None])
    )
    held = jnp.where(is_number[:, :, None], rise * (1.0 - matrix[missing]) + matrix[inside], value)
    return jnp.matmul(held.prod(axis=1), matrix[labels].T, precision="highest") / matrix.shape[1]


MEMBERSHIP = Membership("ranges", _axes, _pieces, _counts, adding(_counts))


def _membership(query: Ranges) -> tuple[Membership, Member]:
    return MEMBERSHIP, Member(query)


FORM = member_form(_membership)
