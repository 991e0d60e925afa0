"""Parts: where inside its cells every row lies, so that tables finer than the cells come out even, and without steps.

The search gives a row one cell per column, and no table tells where inside it the value lies. Were it drawn row by row, finer
tables would have the noise of these draws, and would jump at the borders of cells. So every cell is divided into parts with
equally many rows, and rows of one cell change places as long as that brings every other column's counts in the parts closer to
a straight line. Its slope is that between the neighbouring cells, and none where the shares peak (the limiter of van Leer's monotonized
central differences); in columns without order lines are flat. Columns take turns; those that had theirs count by part.

A function of the rows alone: it needs no measurement, and costs no budget.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import njit

from sundog.domain import Schema
from sundog.domain.axis import Axis, cells_in_order
from sundog.estimate.pairs.pool import Pooled
from sundog.generate.genetic.candidates import below
from sundog.random.draws import ranks_in_groups
from sundog.random.keys import Key, integer_seed, split, uniforms

PARTS = 8
TRIES = 4
"""How often every row is offered to change places."""
MOST_OTHERS = 32
"""How many other columns count, at most."""
STEEPEST = 2.0
"""A line that reaches zero at the border of its cell."""

Cells = Int[np.ndarray, " rows"]
Parts = Int[np.ndarray, " rows"]
Lines = Float[np.ndarray, "cells others"]


def parts_of(
    key: Key, schema: Schema, pooled: Pooled, *, cells: Mapping[str, Cells], placed: Container[str]
) -> dict[str, Parts]:
    """The part of its cell that every row lies in, for columns with several codes a cell that are not `placed` already."""
    wide = [name for name in schema.names if name not in placed and pooled.axes[name].size < schema.column(name).size]
    others, found = _others(schema, pooled), dict[str, Parts]()
    for each, name in zip(split(key, len(wide)), wide, strict=True):
        found[name] = even_parts(
            each,
            cells,
            found,
            axis=pooled.axes[name],
            in_order=cells_in_order(pooled.axes[name], schema.column(name)),
            others=[pooled.axes[other] for other in others[name]],
        )
    return found


def _others(schema: Schema, pooled: Pooled) -> dict[str, list[str]]:
    """For every column the others that count: those that were measured with it, and then any."""
    related: dict[str, dict[str, None]] = {name: {} for name in schema.names}
    for query, _, _ in pooled.tables:
        first, second = query.columns
        related[first][second] = related[second][first] = None
    any_others = schema.names[: MOST_OTHERS + 1]
    return {
        name: [other for other in dict.fromkeys((*known, *any_others)) if other != name][:MOST_OTHERS]
        for name, known in related.items()
    }


def even_parts(
    key: Key,
    cells: Mapping[str, Cells],
    known: Mapping[str, Parts],
    *,
    axis: Axis,
    in_order: int,
    others: Sequence[Axis],
) -> Parts:
    """The parts of one column, even for the others, which count by part where theirs are known."""
    dealing, changing = split(key, 2)
    own = cells[axis.column]
    parts = _dealt(dealing, own, axis.size)
    if others:
        first = np.cumsum([0, *(other.size for other in others)])
        beside = [
            (cells[other.column] + start) * PARTS + known.get(other.column, 0)
            for other, start in zip(others, first[:-1], strict=True)
        ]
        lines = [slopes(own, cells[other.column], in_order=in_order, size=other.size) for other in others]
        order, ends = np.argsort(own, kind="stable"), np.cumsum(np.bincount(own, minlength=axis.size))
        state = np.array([integer_seed(changing)], dtype=np.uint64)
        rows, off = np.stack(beside, axis=1).astype(np.int32), np.zeros((int(first[-1]) * PARTS, PARTS))
        _change_places(state, parts, (order, ends, axis.widths > 1), (rows, np.hstack(lines)), off)
    return parts


def positions_in(key: Key, cells: Cells, parts: Parts, *, size: int) -> Float[np.ndarray, " rows"]:
    """Where in its cell, from 0 to 1, every row lies: evenly in its part."""
    order, inside = split(key, 2)
    groups = cells * PARTS + parts
    ranks, counts = ranks_in_groups(order, groups, size * PARTS)
    return np.minimum((parts + (ranks + uniforms(inside, len(cells))) / counts) / PARTS, 1 - 1e-12)


def slopes(cells: Cells, other: Cells, *, in_order: int, size: int) -> Lines:
    """By which part the shares of the other column's cells, `size` of them, change across each of the first cells."""
    kept = cells < in_order
    table = np.bincount(cells[kept] * np.int64(size) + other[kept], minlength=in_order * size).reshape(in_order, size)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    if in_order < 2:
        return np.zeros_like(shares)
    steps = np.diff(shares, axis=0)
    left, right = np.vstack([steps[:1], steps]), np.vstack([steps, steps[-1:]])
    least = np.minimum(np.minimum(2 * np.abs(left), 2 * np.abs(right)), np.abs(left + right) / 2)
    rising = np.where(left * right > 0, np.sign(left) * least, 0.0)
    return np.clip(rising / np.maximum(shares, 1e-12), -STEEPEST, STEEPEST)


def _dealt(key: Key, cells: Cells, size: int) -> Parts:
    """Every cell's rows dealt to its parts at random, equally many to each, give or take two."""
    order, offsets = split(key, 2)
    ranks, counts = ranks_in_groups(order, cells, size)
    return np.floor((ranks + uniforms(offsets, size)[cells]) * PARTS / counts).astype(np.int64) % PARTS


@njit(cache=True, nogil=True)
def _change_places(state: Any, parts: Any, groups: Any, beside: Any, off: Any) -> None:  # pragma: no cover (compiled)
    """Exchange the parts of two rows of a cell wherever that brings counts closer to their lines; `off` tells how far they are."""
    order, ends, wide = groups
    rows, lines = beside
    for cell in range(len(wide)):
        own = order[(ends[cell - 1] if cell else 0) : ends[cell]]
        if len(own) > 1 and wide[cell]:
            for row in own:
                for at in rows[row]:
                    slope = lines[cell, at // PARTS] if cell < len(lines) else 0.0
                    for part in range(PARTS):
                        off[at, part] -= (1 + slope * ((part + 0.5) / PARTS - 0.5)) / PARTS
                    off[at, parts[row]] += 1
            _exchange(state, parts, own, rows, off)
            for row in own:
                for at in rows[row]:
                    off[at] = 0.0


@njit(cache=True, nogil=True)
def _exchange(state: Any, parts: Any, own: Any, rows: Any, off: Any) -> None:  # pragma: no cover (compiled)
    """The exchanges among the rows of one cell, with each other at random."""
    for k in range(len(own) * TRIES):
        one, two = own[k % len(own)], own[below(state, len(own))]
        here, there, change = parts[one], parts[two], 0.0
        for column in range(rows.shape[1]):
            a, b = rows[one, column], rows[two, column]
            if a != b:
                change += 2 + off[a, there] - off[a, here] + off[b, here] - off[b, there]
        if here != there and change < 0:
            for column in range(rows.shape[1]):
                a, b = rows[one, column], rows[two, column]
                off[a, here] -= 1
                off[a, there] += 1
                off[b, there] -= 1
                off[b, here] += 1
            parts[one], parts[two] = there, here
