"""Marginals of soft rows: tiles, matrix products of a few fixed shapes (RAP).

A table is its largest axis against the product of its other axes; tables with the same largest axis stand below each
other. With left factors L (lines x rows), right features R (cells x rows), noisy proportions T and weights w a line:

    E = L R^T / n - T,   loss = sum w E^2,   by R: (2wE/n)^T L,   by L: (2wE/n) R, shared out to L's factors.

The gradient is written out, and added to whole rows of the feature matrix. Tiles have (64 or 512) lines and (16, 64 or
256) cells: tables are not padded to the largest one, at most six shapes are compiled for tables of any number of
columns up to a given one, however the set of tables grows, and memory is a tile's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.adam import Maker, hard_matrix
from sundog.generate.projection.features import cells_on
from sundog.generate.projection.forms.base import Form
from sundog.generate.projection.panels import Matrix, MeasuredCells, Panel
from sundog.generate.projection.soft_table import Frame, Known, SoftTable, known_of
from sundog.lazy_jax import jit, jnp
from sundog.queries import Marginal

LINES = (64, 512)
CELLS = (16, 64, 256)
Lines = tuple[Int[np.ndarray, "depth lines"], Float[np.ndarray, "lines cells"], Float[np.ndarray, " lines"]]


def tile_panels(frame: Frame, targets: Sequence[MeasuredCells], *, known: Known) -> list[Panel]:
    """The tiles of all these marginals."""
    del known  # the features already have it
    depth = max((len(target.query.axes) - 1 for target in targets), default=1)
    groups: dict[Axis | None, list[Lines]] = {}
    for target in targets:
        right, lines = _lines(frame, target, max(depth, 1))
        groups.setdefault(right, []).append(lines)
    return [panel for right, members in groups.items() for panel in _group(frame, right, members)]


def _group(frame: Frame, right: Axis | None, members: Sequence[Lines]) -> Iterator[Panel]:
    """The tiles of all tables that share their largest axis."""
    cells = np.array([frame.one]) if right is None else frame.cells(right)
    left = np.concatenate([part[0] for part in members], axis=1)
    values = np.concatenate([part[1] for part in members])
    weight = np.concatenate([part[2] for part in members])
    for first, high in _sizes(len(weight), LINES):
        line = slice(first, first + high)
        for start, wide in _sizes(len(cells), CELLS):
            cell = slice(start, start + wide)
            arrays = _tile(frame, left[:, line], cells[cell], values[line, cell], weight[line], shape=(high, wide))
            yield Panel("cells", _add_tile, arrays)


def _lines(frame: Frame, target: MeasuredCells, depth: int) -> tuple[Axis | None, Lines]:
    """A table as lines of left factors against its largest axis (a one-way table: against the constant 1)."""
    query: Marginal = target.query
    axes = list(query.axes)
    largest = max(range(len(axes)), key=lambda k: axes[k].size)
    table = np.moveaxis(target.values.reshape(query.shape), largest, -1)
    right = axes.pop(largest) if len(axes) > 1 else None
    factors = [frame.cells(axis) for axis in axes]
    grid = [part.ravel() for part in np.meshgrid(*factors, indexing="ij")]
    ones = [np.full_like(grid[0], frame.one)] * (depth - len(grid))
    values = table.reshape(len(grid[0]), -1)
    return right, (np.stack([*grid, *ones]), values, np.full(len(values), target.weight))


def _sizes(total: int, allowed: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where each piece starts and its padded size: the largest that is at least half full, the smallest for the rest."""
    start = 0
    while start < total:
        fitting = [size for size in allowed if 2 * (total - start) > size]
        size = fitting[-1] if fitting else allowed[0]
        yield start, size
        start += size


def _tile(
    frame: Frame,
    left: Int[np.ndarray, "depth lines"],
    right: Int[np.ndarray, " cells"],
    values: Float[np.ndarray, "lines cells"],
    weight: Float[np.ndarray, " lines"],
    *,
    shape: tuple[int, int],
) -> tuple[Any, ...]:
    """Padding picks the feature that is 0, so it adds nothing."""
    lines, cells = shape[0] - left.shape[1], shape[1] - len(right)
    return (
        jnp.asarray(np.pad(left, ((0, 0), (0, lines)), constant_values=frame.zero), jnp.int32),
        jnp.asarray(np.pad(right, (0, cells), constant_values=frame.zero), jnp.int32),
        jnp.asarray(np.pad(values, ((0, lines), (0, cells))), jnp.float32),
        jnp.asarray(np.pad(weight, (0, lines)), jnp.float32),
    )


@jit()
def _add_tile(
    matrix: Matrix, loss: Any, gradient: Matrix, sharpness: Any, left: Any, right: Any, target: Any, weight: Any
) -> tuple[Any, Matrix]:
    del sharpness  # the features already have it
    rows = matrix.shape[1]
    factors = [matrix[part] for part in left]
    lines, cells = _product(factors), matrix[right]
    error = jnp.matmul(lines, cells.T, precision="highest") / rows - target
    slope = 2 * weight[:, None] * error / rows
    gradient = gradient.at[right].add(jnp.matmul(slope.T, lines, precision="highest"))
    by_lines = jnp.matmul(slope, cells, precision="highest")
    for place, part in enumerate(left):
        others = [factor for k, factor in enumerate(factors) if k != place]
        gradient = gradient.at[part].add(by_lines * _product(others) if others else by_lines)
    return loss + (weight[:, None] * jnp.square(error)).sum(), gradient


def _product(factors: Sequence[Any]) -> Any:
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product


def _axes(query: Marginal, schema: Schema) -> list[Axis]:
    return list(query.axes)


def _answers(table: SoftTable, queries: Sequence[Marginal], *, maker: Maker) -> Float[np.ndarray, " cells"]:
    """Proportions, numbers exact, labels in expectation over their rounding."""
    cells = table_cells(table, queries, maker=maker)
    return np.concatenate([table_answer([cells[axis] for axis in query.axes]) for query in queries])


def table_cells(
    table: SoftTable, queries: Sequence[Marginal], *, maker: Maker
) -> dict[Axis, Float[np.ndarray, "cells rows"]]:
    """How far each row lies in each cell of all axes of some tables."""
    plain = table.frame.asking(())
    known = known_of(plain, table.leaves, rows=table.rows)
    held = np.asarray(hard_matrix(table.params, known, maker=replace(maker, frame=plain)))  # type: ignore[type-var]
    axes = dict.fromkeys(axis for query in queries for axis in query.axes)
    return {axis: cells_on(table, axis, held, known=known) for axis in axes}


def table_answer(parts: list[Float[np.ndarray, "cells rows"]]) -> Float[np.ndarray, " cells"]:
    """A marginal's proportions as one product of two halves of its axes; memory near rows * sqrt(cells)."""
    sizes = [len(part) for part in parts]
    logs = np.cumsum(np.log(sizes))
    middle = int(np.argmin(np.abs(2 * logs - logs[-1]))) + 1 if len(parts) > 1 else 1
    left, right = _outer(parts[:middle]), _outer(parts[middle:]) if parts[middle:] else np.ones_like(parts[0][:1])
    return (left @ right.T).ravel() / parts[0].shape[1]


def _outer(parts: list[Float[np.ndarray, "cells rows"]]) -> Float[np.ndarray, "cells rows"]:
    product = parts[0]
    for part in parts[1:]:
        product = (product[:, None, :] * part[None, :, :]).reshape(-1, part.shape[1])
    return product


FORM = Form(_axes, tile_panels, _answers)
