"""Runs of cells: conditions on columns held over cells, as sums of consecutive features.

Many conditions on a column share cells, so each axis is summed up once, U_j = sum over i < j of the cells' probabilities,
and a condition that holds the cells from a to b is U_b - U_a, whatever their number.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.axis import Axis
from sundog.generate.projection.panels import Matrix
from sundog.generate.projection.soft_table import Frame
from sundog.lazy_jax import Array, jnp

LEAST_CELLS, LEAST_RUNS = 16, 32
"""Shapes are padded to these times a power of two, so that later rounds find what is compiled."""


class Runs(NamedTuple):
    """The features of some axes' cells, an axis a line, and where each run starts and ends among their sums."""

    cells: Int[np.ndarray, "axes cells"]
    start: Int[np.ndarray, " runs"]
    stop: Int[np.ndarray, " runs"]


NO_RUNS = Runs(np.empty((0, 0), np.int32), np.empty(0, np.int32), np.empty(0, np.int32))


class OnAxis(NamedTuple):
    """Conditions on one axis: the features of its cells, and the cells from `start` up to `stop` that each of them holds."""

    cells: Int[np.ndarray, " cells"]
    start: Int[np.ndarray, " conditions"]
    stop: Int[np.ndarray, " conditions"]

    @property
    def several(self) -> "OnAxis":
        """The conditions that are not one cell, which is a feature already."""
        wide = self.stop - self.start != 1
        return OnAxis(self.cells, self.start[wide], self.stop[wide])

    def rows(self, first: int) -> Int[np.ndarray, " conditions"]:
        """The row of the extended matrix that each condition is, if runs of several cells stand there from `first` on."""
        wide = self.stop - self.start != 1
        return np.where(wide, first + np.cumsum(wide) - 1, self.cells[np.minimum(self.start, len(self.cells) - 1)])


def powers(number: int, least: int) -> int:
    """The least power of two times `least` that is no less."""
    return least << max(0, int(np.ceil(np.log2(max(number, 1) / least))))


def on_axis(frame: Frame, name: str, bounds: Int[np.ndarray, "conditions 2"]) -> OnAxis:
    """Conditions low <= code < high on a column held over cells, on an axis of the frame whose cells end at all of them."""
    bounds = np.clip(bounds, 0, frame.schema.column(name).size)
    for axis in frame.axes_on(name):
        edges = _edges(axis)
        if np.isin(bounds, edges).all():
            start, stop = np.searchsorted(edges, bounds).T
            return OnAxis(frame.cells(axis), start, stop)
    raise AssertionError(f"no axis of column {name!r} ends at these bounds: they were not asked for")


def _edges(axis: Axis) -> Int[np.ndarray, " edges"]:
    return np.empty(0, np.int64) if axis.groups is not None else np.append(axis.run_starts(), axis.codes)


def runs_of(parts: Sequence[OnAxis], *, zero: int) -> Runs:
    """The conditions of several axes one after the other, padded with empty runs."""
    parts = [part for part in parts if len(part.start)]
    if not parts:
        return NO_RUNS
    wide = powers(max(len(part.cells) for part in parts), LEAST_CELLS)
    cells = np.full((len(parts), wide), zero, np.int32)
    for line, part in enumerate(parts):
        cells[line, : len(part.cells)] = part.cells
    ends = [
        np.concatenate([line * (wide + 1) + end for line, end in enumerate(each)])
        for each in zip(*((part.start, part.stop) for part in parts), strict=True)
    ]
    more = powers(len(ends[0]), LEAST_RUNS) - len(ends[0])
    return Runs(cells, *(np.pad(end, (0, more)).astype(np.int32) for end in ends))


def run_members(matrix: Matrix, runs: Runs) -> Float[Array, "runs rows"]:
    """How far each row lies in each run of cells."""
    sums = jnp.pad(jnp.cumsum(matrix[runs.cells], axis=1), ((0, 0), (1, 0), (0, 0))).reshape(-1, matrix.shape[1])
    return sums[runs.stop] - sums[runs.start]
