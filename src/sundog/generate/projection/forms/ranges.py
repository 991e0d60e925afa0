"""Ranges of soft rows: products of labels' probabilities and of sigmoids on numbers (products.py)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.features import FAR, MISSING
from sundog.generate.projection.forms.halfspaces import label_axes
from sundog.generate.projection.forms.members import Member, Membership, Pieces, member_form
from sundog.generate.projection.forms.products import (
    NO_CONDITIONS,
    Conditions,
    add_products,
    product_counts,
    products_of,
)
from sundog.generate.projection.soft_table import Frame, Known, place_of
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


def _merged(queries: Sequence[Ranges]) -> Ranges:
    """The queries of several as one, over all their columns; shorter ones have empty conditions."""
    columns = tuple(dict.fromkeys(name for query in queries for name in query.columns))
    most = max(query.which.shape[1] for query in queries)
    parts: list[list[np.ndarray]] = [[], [], []]
    for query in queries:
        place = np.array([*(columns.index(name) for name in query.columns), -1])
        more = ((0, 0), (0, most - query.which.shape[1]))
        padded = (
            np.pad(place[query.which], more, constant_values=-1),
            *(np.pad(p, more) for p in (query.low, query.high)),
        )
        for part, array in zip(parts, padded, strict=True):
            part.append(array)
    return Ranges(columns, *(np.concatenate(part) for part in parts))


def _pieces(frame: Frame, query: Ranges, known: Known) -> Pieces:
    """One piece: conditions on labels are features, every distinct one on a number is a row of the extended matrix."""
    picked = np.full(query.which.shape, frame.one)
    conditions: list[Conditions] = []
    start = frame.size
    for place, name in enumerate(query.columns):
        on, number = query.which == place, frame.number(name)
        if number is None:
            picked[on] = _label_features(frame, query, place)[on]
            continue
        bounds, which = np.unique(np.stack([query.low[on], query.high[on]], axis=1), axis=0, return_inverse=True)
        conditions.append(_on_number(frame, name, known, bounds=bounds, number=number))
        picked[on] = start + which.ravel()
        start += len(bounds)
    held = (
        Conditions(*(np.concatenate(parts) for parts in zip(*conditions, strict=True))) if conditions else NO_CONDITIONS
    )
    products, places = products_of(picked, held, one=frame.one, zero=frame.zero)
    return [((products,), places)]


def _label_features(frame: Frame, query: Ranges, place: int) -> Int[np.ndarray, "queries conditions"]:
    """The feature of each condition on a column of labels; the constant 1 where it names them all."""
    column = frame.schema.column(query.columns[place])
    on, feature = query.which == place, np.full(query.which.shape, frame.one)
    single = on & (query.high == query.low + 1)
    feature[single] = frame.cells(Axis.whole(column))[query.low[single]]
    for first, end in _runs_of(query, place, column):
        same = on & (query.low == first) & (query.high == end)
        feature[same] = frame.cells(_run(column, first, end))[1]
    return feature


def _on_number(
    frame: Frame, name: str, known: Known, *, bounds: Int[np.ndarray, "conditions 2"], number: int
) -> Conditions:
    """Bounds on a number as cuts among its places; the missing code lies above all of them."""
    column = frame.schema.column(name)
    steps, (low, high) = column.size - column.nullable, bounds.T
    there = low < steps  # else only the missing code is asked for
    feature, missing = np.where(there, number, frame.zero), np.where(there, number + MISSING, frame.zero)
    inside = np.where(high > steps, number + MISSING, frame.zero)
    below, above = np.where(there, -FAR, FAR), np.full(len(bounds), FAR)
    for cut, bound, inner in ((below, low, there & (low > 0)), (above, high, there & (high < steps))):
        cut[inner] = place_of(frame, name, known, bound[inner])
    return Conditions(feature, missing, inside, below, above)


MEMBERSHIP = Membership(
    "ranges",
    axes=_axes,
    pieces=_pieces,
    counts=product_counts,
    add=add_products,
    merged=_merged,
    alike=lambda query: (),
)


def _membership(query: Ranges) -> tuple[Membership, Member]:
    return MEMBERSHIP, Member(query)


FORM = member_form(_membership)
