"""Pieces: the cells of an axis cut further, at the borders of a condition or at every value that matters.

A table of several columns was measured on coarse cells. What a question asks of the inside of a cell (age 65 and over, of the bin
60 to 69; the mean income of a bin) is taken from the column's own margin, which was measured more finely: a cell's rows are
divided among its pieces as all rows of the cell are, and evenly within an atom of the margin.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain import Column, Numeric
from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition, borders
from sundog.estimate.bins import Leaves
from sundog.estimate.margin import Margin

CLEAR = 4.0
"""A cell's rows are divided as estimated from this many standard deviations of their number on."""

Cells = Int[np.ndarray, " pieces"]
Clear = Bool[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class Pieces:
    """One column's cells and the pieces they are cut into: runs of codes, or (for merged labels) single codes."""

    column: Column
    axis: Axis
    cells: Int[np.ndarray, " pieces"]
    first: Int[np.ndarray, " pieces"]
    width: Int[np.ndarray, " pieces"]
    shares: Float[np.ndarray, " pieces"]
    """Parts of the cells, as estimated: unbiased, so that cells add up to the margin, but some may be negative."""
    smooth: Float[np.ndarray, " pieces"]
    """Parts of the cells with the noise taken out."""
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


def pieces_of(axis: Axis, margin: Margin, leaves: Leaves, *, where: Condition | None, every: bool) -> Pieces:
    """The cells of an axis, cut where a condition changes, or (`every`) at each atom of the margin."""
    column = margin.column
    cuts = borders(where, column.name) if where is not None else ()
    if _pure(axis, cuts) and not (every and axis.size < axis.codes):
        return Pieces(
            column, axis, np.arange(axis.size), axis.firsts, axis.widths, np.ones(axis.size), np.ones(axis.size)
        )
    if isinstance(column, Numeric):
        starts = {*axis.run_starts().tolist(), *margin.atoms.run_starts().tolist(), *cuts} - {axis.codes}
        first = np.array(sorted(starts), dtype=np.int64)
        width = np.diff(first, append=axis.codes)
    else:
        first, width = np.arange(axis.codes), np.ones(axis.codes, dtype=np.int64)
    cells, atoms = axis.cells(first).astype(np.int64), margin.atoms.cells(first).astype(np.int64)
    mass = margin.counts[atoms] * width / margin.atoms.widths[atoms]
    smooth = _smooth(leaves, first, width, cells)
    shares = _shares(mass, smooth, cells=cells, clear=_clear(axis, margin))
    return Pieces(column, axis, cells, first, width, shares, smooth, atoms)


def _shares(
    mass: Float[np.ndarray, " pieces"], otherwise: Float[np.ndarray, " pieces"], *, cells: Cells, clear: Clear
) -> Float[np.ndarray, " pieces"]:
    """Parts of each cell by mass, where the cell is clear of noise; by other parts where it is not."""
    total = np.bincount(cells, weights=mass, minlength=len(clear))
    good = (clear & (total > 0))[cells]
    return np.where(good, mass / np.where(good, total[cells], 1.0), otherwise)


def _clear(axis: Axis, margin: Margin) -> Clear:
    """Which cells hold more rows than noise could make."""
    inside = (margin.atoms.parents(axis)[None, :] == np.arange(axis.size)[:, None]).astype(float)
    values, variances, coefficient = margin.answer(inside)
    return values + coefficient * margin.rows > CLEAR * np.sqrt(variances)


def _smooth(leaves: Leaves, first: Cells, width: Cells, cells: Cells) -> Float[np.ndarray, " pieces"]:
    """Parts of each cell by the column's leaves, of which none is negative; by width where they are nothing."""
    at = leaves.axis.cells(first)
    mass = leaves.proportions[at] * width / leaves.axis.widths[at]
    total, wide = np.bincount(cells, weights=mass), np.bincount(cells, weights=width)
    return np.where(total[cells] > 0, mass / np.where(total > 0, total, 1.0)[cells], width / wide[cells])


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
