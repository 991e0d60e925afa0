"""Pieces: the cells of an axis cut further, at the borders of a condition or at every value that matters.

A table of several columns was measured on coarse cells. What a question asks of the inside of a cell (age 65 and over, of the bin
60 to 69; the mean income of a bin) is taken from the column's own margin, which was measured more finely: a cell's rows are
divided among its pieces as all rows of the cell are, and evenly within an atom of the margin.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Column, Numeric
from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition, borders
from sundog.estimate.margin import Margin

NOISE_PREVAILS = 2.0
"""How much more the sizes of a cell's pieces may add up to than the pieces themselves."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """One column's cells and the pieces they are cut into: runs of codes, or (for merged labels) single codes."""

    column: Column
    axis: Axis
    cells: Int[np.ndarray, " pieces"]
    first: Int[np.ndarray, " pieces"]
    width: Int[np.ndarray, " pieces"]
    shares: Float[np.ndarray, " pieces"]
    atoms: Int[np.ndarray, " pieces"] | None = None
    """The margin's atom in which each piece lies; None where no cell is cut."""

    @property
    def split(self) -> bool:
        """Whether some cell has several pieces."""
        return self.atoms is not None

    def averaged(self, weights: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
        """Weights of the pieces along one axis of an array, averaged within the cells."""
        if not self.split:
            return weights
        moved = np.moveaxis(weights, axis, -1)
        return np.moveaxis(moved @ self._averaging, -1, axis)

    @cached_property
    def _averaging(self) -> Float[np.ndarray, "pieces cells"]:
        made = np.zeros((len(self.cells), self.axis.size))
        made[np.arange(len(self.cells)), self.cells] = self.shares
        return made

    @property
    def values(self) -> Float[np.ndarray, " pieces"]:
        """The mean of the numbers in each piece, on the scale from 0 (lower bound) to 1 (upper bound); 0 for missing."""
        top = max(_steps(self.column) - 1, 1)
        return np.where(self.present, (self.first + (self.width - 1) / 2) / top, 0.0)

    @property
    def spread(self) -> Float[np.ndarray, " pieces"]:
        """The variance of the numbers inside each piece, on the same scale."""
        top = max(_steps(self.column) - 1, 1)
        return np.where(self.present, (self.width.astype(float) ** 2 - 1) / 12 / top**2, 0.0)

    @property
    def present(self) -> Float[np.ndarray, " pieces"]:
        """1 for pieces of values, 0 for missing."""
        missing = self.column.missing
        return np.ones(len(self.first)) if missing is None else (self.first != missing).astype(float)


def pieces_of(axis: Axis, margin: Margin, *, where: Condition | None, every: bool) -> Pieces:
    """The cells of an axis, cut where a condition changes, or (`every`) at each atom of the margin."""
    column = margin.column
    cuts = borders(where, column.name) if where is not None else ()
    if _pure(axis, cuts) and not (every and axis.size < axis.codes):
        return Pieces(column, axis, np.arange(axis.size), axis.firsts, axis.widths, np.ones(axis.size))
    if isinstance(column, Numeric):
        starts = {*axis.run_starts().tolist(), *margin.atoms.run_starts().tolist(), *cuts} - {axis.codes}
        first = np.array(sorted(starts), dtype=np.int64)
        width = np.diff(first, append=axis.codes)
    else:
        first, width = np.arange(axis.codes), np.ones(axis.codes, dtype=np.int64)
    cells, atoms = axis.cells(first).astype(np.int64), margin.atoms.cells(first).astype(np.int64)
    mass = margin.counts[atoms] * width / margin.atoms.widths[atoms]
    return Pieces(column, axis, cells, first, width, _shares(mass, width, cells, axis.size), atoms)


def _shares(
    mass: Float[np.ndarray, " pieces"], width: Int[np.ndarray, " pieces"], cells: Int[np.ndarray, " pieces"], size: int
) -> Float[np.ndarray, " pieces"]:
    """Parts of each cell, by mass; by what is not negative of it where noise prevails; by width where that is nothing.

    Masses as they were estimated, negative ones too, make cells add up to what the margin says.
    """

    def sums(values: Float[np.ndarray, " pieces"]) -> Float[np.ndarray, " pieces"]:
        return np.bincount(cells, weights=values, minlength=size)[cells]

    clear = sums(np.abs(mass)) <= NOISE_PREVAILS * sums(mass)
    kept = np.where(clear, mass, np.maximum(mass, 0.0))
    total = sums(kept)
    return np.where(total > 0, kept / np.where(total > 0, total, 1.0), width / sums(width.astype(float)))


def _pure(axis: Axis, cuts: tuple[int, ...]) -> bool:
    """Whether no cell lies on both sides of a cut."""
    if not cuts or axis.size == axis.codes:
        return True
    if axis.groups is None:
        return set(cuts) <= {*axis.run_starts().tolist(), axis.codes}
    side = np.searchsorted(cuts, np.arange(axis.codes), side="right")
    lowest, highest = np.full(axis.size, len(cuts)), np.zeros(axis.size, dtype=np.int64)
    np.minimum.at(lowest, axis.cell_of, side)
    np.maximum.at(highest, axis.cell_of, side)
    return bool((lowest == highest).all())


def _steps(column: Column) -> int:
    return column.size - column.nullable
