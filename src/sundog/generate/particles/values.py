"""Which value of a column lies where in the embedding: what penalties need to know of the cells.

Values are in [0, 1] by the column's public bounds, labels by their position. A cell has the mean value of its rows, by the column's
own measurement, at its centre; between centres values are interpolated, and beyond the first and the last the line goes on, so
that no particle is without a slope. Missing numbers lie in the middle, and so does a column of one value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves
from sundog.generate.particles.embedding import Embedding, Place

MIDDLE = 0.5
"""Where missing numbers lie, and the only value of a column."""
TINY = 1e-12


@dataclass(frozen=True)
class Curve:
    """A function on [0, 1] that is linear between 0, the centres of equally wide cells, and 1: its values there."""

    values: tuple[float, ...]

    @staticmethod
    def line(slope: float) -> "Curve":
        """A line through 0."""
        return Curve((0.0, float(slope) / 2, float(slope)))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.values) - 2

    @property
    def at(self) -> Float[np.ndarray, " points"]:
        """Where the values are."""
        return np.array([0.0, *((np.arange(self.cells) + 0.5) / self.cells), 1.0])


def along(curves: tuple[Curve, ...], positions: Any, numpy_like: ModuleType) -> tuple[Any, Any]:
    """The values and the slopes of one curve per coordinate at all particles; `numpy_like` is numpy or jax.numpy."""
    cells, firsts, intercepts, slopes = (numpy_like.asarray(part) for part in _pieces(curves))
    piece = numpy_like.clip((positions * cells + MIDDLE).astype(np.int32), 0, cells.astype(np.int32)) + firsts
    steep = slopes[piece]
    return intercepts[piece] + steep * positions, steep


@lru_cache(maxsize=16)
def _pieces(curves: tuple[Curve, ...]) -> tuple[Float[np.ndarray, "..."] | Int[np.ndarray, "..."], ...]:
    """For each curve its number of cells and where its pieces begin; for each piece of all, a line."""
    cells = np.array([[curve.cells] for curve in curves], dtype=np.float32)
    firsts = np.cumsum([0, *(curve.cells + 1 for curve in curves[:-1])])[:, None].astype(np.int32)
    slopes = [np.diff(curve.values) / np.diff(curve.at) for curve in curves]
    intercepts = [curve.values[:-1] - own * curve.at[:-1] for curve, own in zip(curves, slopes, strict=True)]
    return cells, firsts, np.concatenate(intercepts).astype(np.float32), np.concatenate(slopes).astype(np.float32)


def curves(place: Place, leaves: Leaves) -> tuple[float, tuple[Curve, ...]]:
    """An offset, and for each of a column's coordinates a curve: together they give its value."""
    values = np.nan_to_num(cell_values(place.axis, leaves), nan=MIDDLE)
    if place.on_line:
        return 0.0, (_through(values),)
    if place.points is None:
        return 0.0, tuple(Curve.line(value) for value in values)
    centres = np.column_stack([np.ones(len(values)), place.centres().T])
    found, *_ = np.linalg.lstsq(centres, values, rcond=None)
    return float(found[0]), tuple(Curve.line(slope) for slope in found[1:])


def curves_by_column(embedding: Embedding, leaves: tuple[Leaves, ...]) -> Mapping[str, tuple[float, tuple[Curve, ...]]]:
    """The offsets and curves of all columns."""
    return {place.axis.column: curves(place, own) for place, own in zip(embedding.places, leaves, strict=True)}


def _through(values: Float[np.ndarray, " cells"]) -> Curve:
    """Through the cells' centres, and as far beyond them as [0, 1] reaches."""
    if len(values) == 1:
        return Curve((float(values[0]),) * 3)
    first, last = values[0] - (values[1] - values[0]) / 2, values[-1] + (values[-1] - values[-2]) / 2
    return Curve((float(first), *values.tolist(), float(last)))


def cell_values(axis: Axis, leaves: Leaves) -> Float[np.ndarray, " cells"]:
    """The mean value of every cell; NaN where numbers are missing."""
    fine = leaves.within(axis)
    weights, cells = fine.proportions + TINY * fine.axis.widths, fine.cells(axis)
    return np.bincount(cells, weights * _leaf_values(fine), axis.size) / np.bincount(cells, weights, axis.size)


def _leaf_values(leaves: Leaves) -> Float[np.ndarray, " leaves"]:
    axis, column = leaves.axis, leaves.column
    if not isinstance(column, Numeric):
        every = (np.arange(axis.codes) + 0.5) / axis.codes
        return np.bincount(axis.cell_of, every) / axis.widths
    middle = axis.run_starts() + (axis.widths - 1) / 2
    if column.steps == 1:
        return np.where(axis.firsts == column.steps, np.nan, MIDDLE)
    return np.where(axis.firsts == column.steps, np.nan, middle / (column.steps - 1))
