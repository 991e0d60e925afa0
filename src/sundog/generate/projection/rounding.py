"""From soft rows to rows: randomised rounding with oversampling (RAP, Section 4)."""

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.rows import Rows
from sundog.generate.projection.features import HARD, MISSING, VALUE, features
from sundog.generate.projection.soft_table import SoftTable, known_of
from sundog.random.draws import draw_within
from sundog.random.keys import Key, permutation, split, uniforms


def rounded(key: Key, table: SoftTable, *, rows: int, simplex: str = "softmax") -> Rows:
    """Randomised rounding with oversampling: each soft row is copied equally often, then each of its cells is drawn.

    Draws are unbiased, independent between columns, and systematic among the copies of a row, which makes the rounding
    error smaller than independent draws would. Numbers go to the nearest point of their grid.
    """
    frame = table.frame.asking(())
    known = known_of(frame, table.leaves, rows=table.rows)
    matrix = np.asarray(
        features(table.params, known, (HARD, HARD), frame=frame, simplex=simplex, hard=True), dtype=np.float64
    )
    copies_key, order_key, *keys = split(key, 2 + len(table.frame.held))
    source = _copies(copies_key, table.rows, rows)
    codes = [_codes(k, table, matrix, place, source) for place, k in enumerate(keys)]
    order = permutation(order_key, rows)
    return Rows(table.frame.schema, tuple(column[order] for column in codes))


def _copies(key: Key, soft_rows: int, rows: int) -> Int[np.ndarray, " rows"]:
    """Which soft row each row copies: all equally often, give or take one."""
    ends = np.floor(np.arange(1, soft_rows + 1) * (rows / soft_rows) + float(uniforms(key, 1)[0]))
    ends[-1] = rows
    counts = np.diff(np.minimum(ends, rows), prepend=0).astype(np.int64)
    return np.repeat(permutation(key, soft_rows), counts)


def _codes(
    key: Key, table: SoftTable, matrix: Float[np.ndarray, "features rows"], place: int, source: Int[np.ndarray, " rows"]
) -> Int[np.ndarray, " rows"]:
    column, axis, start = table.frame.schema.columns[place], table.frame.held[place], table.frame.starts[place]
    cell_key, code_key = split(key, 2)
    if axis is None:
        last = column.size - column.nullable - 1
        codes = np.rint(matrix[start + VALUE] * last).astype(np.int64)[source]
        gone = matrix[start + MISSING][source] > 0.5
        return np.where(gone, column.missing or 0, codes) if column.nullable else codes
    cells = _drawn(cell_key, matrix[start : start + axis.size], source)
    return table.leaves[column.name].decode(code_key, axis, cells=cells)


def _drawn(
    key: Key, block: Float[np.ndarray, "cells soft"], source: Int[np.ndarray, " rows"]
) -> Int[np.ndarray, " rows"]:
    cells, soft_rows = block.shape
    items = draw_within(key, source, weights=block.T.ravel(), sizes=np.full(soft_rows, cells))
    return items - source * cells
