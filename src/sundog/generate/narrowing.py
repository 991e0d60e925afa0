"""Narrowing: a fitted state without what cannot satisfy a condition, so that rows given the condition are cheap to draw.

A cell may lie partly inside a condition. So nothing is weighed here: cells, rows or values that cannot satisfy it are left
out, the rest keep their proportions, and whoever draws keeps those rows that satisfy it once their values are known. What
is kept then follows the model given the condition, exactly. Comparisons with fields that the model does not hold (what a
distance gives) leave nothing out.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import All, Condition, Inside, combined

Cells = Bool[np.ndarray, " cells"]


@runtime_checkable
class Narrowing(Protocol):
    """A generator that can leave out what cannot satisfy a condition."""

    def narrowed(self, state: Any, condition: Condition) -> Any | None:
        """A state to sample from, in which what satisfies the condition keeps its proportions; None where nothing does."""


def touched(inside: Inside, axis: Axis) -> Cells:
    """The cells of an axis that hold a code of some runs."""
    found = np.zeros(axis.size, dtype=bool)
    for low, high in inside.runs:
        if axis.groups is not None:
            found[axis.cell_of[low:high]] = True
        else:
            first, last = np.searchsorted(axis.firsts, [low, high - 1], side="right") - 1
            found[first : last + 1] = True
    return found


def may_hold(
    condition: Condition, schema: Schema, *, axes: Sequence[Axis], cells: Sequence[Int[np.ndarray, " rows"]]
) -> Bool[np.ndarray, " rows"]:
    """Which rows of cells can satisfy a condition."""

    def single(inside: Inside) -> Bool[np.ndarray, " rows"]:
        if inside.column not in schema.names:
            return np.ones(len(cells[0]), dtype=bool)
        place = schema.position(inside.column)
        return touched(inside, axes[place])[cells[place]]

    return combined(condition, single)


def box(condition: Condition, schema: Schema, *, axes: Sequence[Axis]) -> dict[int, Cells]:
    """For some columns, by position, the cells outside of which nothing can satisfy a condition."""
    if isinstance(condition, Inside):
        if condition.column not in schema.names:
            return {}
        place = schema.position(condition.column)
        return {place: touched(condition, axes[place])}
    parts = [box(part, schema, axes=axes) for part in condition.parts]
    if isinstance(condition, All):
        places = {place for part in parts for place in part}
        return {k: np.logical_and.reduce([part[k] for part in parts if k in part]) for k in places}
    places = set.intersection(*(set(part) for part in parts))
    return {k: np.logical_or.reduce([part[k] for part in parts]) for k in places}
