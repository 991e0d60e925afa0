"""Ranges of soft rows: products of probabilities of labels and cells, and of sigmoids on numbers (products.py).

Where numeric columns are held over cells, these are cut at the bounds (soft_table.py), so that a condition is a sum of cells.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.features import FAR, MISSING
from sundog.generate.projection.forms.halfspaces import label_axes
from sundog.generate.projection.forms.members import Member, Membership, Pieces, member_form
from sundog.generate.projection.forms.products import (
    Conditions,
    add_products,
    padded_conditions,
    product_counts,
    products_of,
)
from sundog.generate.projection.forms.runs import on_axis, runs_of
from sundog.generate.projection.soft_table import Frame, Known, place_of
from sundog.queries import Ranges


def _cuts(query: Ranges, schema: Schema) -> list[Axis]:
    """Every numeric column at all of its bounds."""
    found = []
    for place, name in enumerate(query.columns):
        column, on = schema.column(name), query.which == place
        if isinstance(column, Numeric) and on.any():
            bounds = np.unique(np.concatenate([query.low[on], query.high[on]]))
            found.append(Axis.cut(column, bounds[(bounds > 0) & (bounds < column.size)].tolist()))
    return found


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
    """One piece: every distinct condition is a row of the extended matrix, or a feature that is there already."""
    picked = np.full(query.which.shape, frame.one)
    asked = [(each, frame.number(each.name)) for each in map(partial(_Asked.of, query), range(len(query.columns)))]
    numbers = [(each, number) for each, number in asked if number is not None]
    cells = [(each, on_axis(frame, each.name, each.bounds)) for each, number in asked if number is None]
    parts = [_on_number(frame, each.name, known, bounds=each.bounds, number=number) for each, number in numbers]
    conditions = padded_conditions(parts, zero=frame.zero)
    start = frame.size
    for each, _ in numbers:
        picked[each.on] = start + each.which
        start += len(each.bounds)
    start = frame.size + len(conditions.low)
    for each, held in cells:
        picked[each.on] = held.rows(start)[each.which]
        start += len(held.several.start)
    runs = runs_of([held.several for _, held in cells], zero=frame.zero)
    products, places = products_of(picked, one=frame.one, conditions=conditions, runs=runs)
    return [((products,), places)]


class _Asked(NamedTuple):
    """What the queries ask of one column: where, the distinct bounds, and which of these it is each time."""

    name: str
    on: Bool[np.ndarray, "queries conditions"]
    bounds: Int[np.ndarray, "conditions 2"]
    which: Int[np.ndarray, " asked"]

    @staticmethod
    def of(query: Ranges, place: int) -> "_Asked":
        on = query.which == place
        bounds, which = np.unique(np.stack([query.low[on], query.high[on]], axis=1), axis=0, return_inverse=True)
        return _Asked(query.columns[place], on, bounds, which.ravel())


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
    axes=label_axes,
    cuts=_cuts,
    pieces=_pieces,
    counts=product_counts,
    add=add_products,
    merged=_merged,
    alike=lambda query: (),
)


def _membership(query: Ranges) -> tuple[Membership, Member]:
    return MEMBERSHIP, Member(query)


FORM = member_form(_membership)
