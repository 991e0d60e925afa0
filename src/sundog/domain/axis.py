"""Axis: how one column is cut into cells, for tables of counts, and the algebra of such cuts.

A cell is a half-open run of codes [start, next start): a label, a bin of the numeric grid, or "missing", which is always
a cell of its own. Labels may also be merged (`groups`). Missing is the last code, so it needs no special case.

The cuts of one column are a lattice: `refines` is its order, `refine` the coarsest axis finer than all, `coarsen` the
finest axis coarser than both. `cells` goes from codes to cells, `decode` back, `parents` from fine cells to coarse ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.arrays import whole_array
from sundog.domain import Categorical, Column, Numeric
from sundog.errors import UserError
from sundog.sizes import whole_number

POINTWISE = 128
"""A numeric column with at most this many grid points is cut into its points."""
DEFAULT_BINS = 64
SMALL = 1 << 12
"""Columns of at most this many codes keep a table of their cells; for longer ones it is made where there are as many rows."""


@dataclass(frozen=True)
class Axis:
    """A column and its partition: `starts` (first code of every cell) or `groups` (cell of every code), or all codes."""

    column: str
    size: int
    codes: int
    starts: tuple[int, ...] | None = None
    groups: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.starts is not None:
            first = whole_array(
                f"column {self.column!r}: cells", self.starts, dimensions=1, least=0, most=self.codes - 1
            )
            fits = len(first) == self.size and first[0] == 0 and bool((first[1:] > first[:-1]).all())
        elif self.groups is not None:
            held = whole_array(
                f"column {self.column!r}: groups", self.groups, dimensions=1, least=0, most=self.size - 1
            )
            fits = len(held) == self.codes and len(np.unique(held)) == self.size
        else:
            fits = self.size == self.codes
        if not fits or self.size < 1:
            raise UserError(f"column {self.column!r}: its {self.size} cells do not divide its {self.codes} codes.")

    def cells(self, codes: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
        """The cell of every code, as int32."""
        if self.starts is None and self.groups is None:
            return codes.astype(np.int32, copy=False)
        if self.codes <= SMALL:
            return self._lookup[codes]
        if self.codes <= max(len(codes), SMALL) or self.groups is not None:
            return self.cell_of[codes]
        return np.searchsorted(self.firsts, codes, side="right").astype(np.int32) - np.int32(1)

    @cached_property
    def _lookup(self) -> Int[np.ndarray, " codes"]:
        return self.cell_of

    @property
    def cell_of(self) -> Int[np.ndarray, " codes"]:
        """The cell of every code of the column, as a table."""
        if self.groups is not None:
            return np.asarray(self.groups, dtype=np.int32)
        return np.repeat(np.arange(self.size, dtype=np.int32), self.widths)

    @cached_property
    def firsts(self) -> Int[np.ndarray, " cells"]:
        """The first code of every cell."""
        if self.groups is not None:
            return np.unique(self.groups, return_index=True)[1]
        return np.arange(self.size) if self.starts is None else np.asarray(self.starts, dtype=np.int64)

    @cached_property
    def widths(self) -> Int[np.ndarray, " cells"]:
        """How many codes every cell has."""
        return np.bincount(self.groups) if self.groups is not None else np.diff(self.firsts, append=self.codes)

    def run_starts(self) -> Int[np.ndarray, " cells"]:
        """The first code of every cell; only where cells are runs of codes."""
        if self.groups is not None:
            raise UserError(f"column {self.column!r}: its labels are merged, so a cell is no range of codes.")
        return self.firsts

    def bounds(self, cell: int) -> tuple[int, int]:
        """First and one-past-last code of a cell that is a run of codes."""
        first = int(self.run_starts()[cell])
        return first, first + int(self.widths[cell])

    def decode(
        self, cells: Int[np.ndarray, " rows"], positions: Float[np.ndarray, " rows"]
    ) -> Int[np.ndarray, " rows"]:
        """Codes inside their cells, at relative positions in [0, 1)."""
        width = self.widths[cells]
        inside = np.minimum((positions * width).astype(np.int64), width - 1)
        if self.groups is None:
            return self.firsts[cells] + inside
        return np.argsort(self.groups, kind="stable")[(np.cumsum(self.widths) - self.widths)[cells] + inside]

    def refines(self, coarse: "Axis") -> bool:
        """Whether every cell lies inside one cell of the other axis."""
        if self == coarse:
            return True
        if self.groups is None and coarse.groups is None:
            return np.array_equal(coarse.cells(self.firsts), coarse.cells(self.firsts + self.widths - 1))
        return np.array_equal(coarse.cells(self.firsts)[self.cell_of], coarse.cell_of)

    def parents(self, coarse: "Axis") -> Int[np.ndarray, " cells"]:
        """The cell of a coarser axis in which each cell lies.

        >>> number = Numeric("n", "integer", 0, 7)
        >>> Axis.cut(number, (0, 2, 4, 6)).parents(Axis.cut(number, (0, 4))).tolist()
        [0, 0, 1, 1]
        """
        if not self.refines(coarse):
            raise UserError(f"column {self.column!r}: cells of one axis cross the borders of the other.")
        return coarse.cells(self.firsts).astype(np.int64)

    def refine(self, *others: "Axis") -> "Axis":
        """The coarsest axis that is finer than, or equal to, this and all others.

        >>> number = Numeric("n", "integer", 0, 7)
        >>> Axis.cut(number, (0, 4)).refine(Axis.cut(number, (0, 6))).starts
        (0, 4, 6)
        """
        axes = (self, *others)
        finest = next((axis for axis in axes if axis.size == axis.codes and axis.groups is None), None)
        if finest is not None or all(axis == self for axis in axes):
            return finest or self
        if all(axis.groups is None for axis in axes):
            return self._of_runs(set().union(*(axis.firsts.tolist() for axis in axes)))
        _, groups = np.unique(np.stack([axis.cell_of for axis in axes]), axis=1, return_inverse=True)
        return self._of_groups(groups.ravel())

    def coarsen(self, other: "Axis") -> "Axis":
        """The finest axis that both this and the other refine.

        >>> number = Numeric("n", "integer", 0, 7)
        >>> Axis.cut(number, (0, 2, 4)).coarsen(Axis.cut(number, (0, 4, 6))).starts
        (0, 4)
        """
        if self == other:
            return self
        if self.groups is None and other.groups is None:
            return self._of_runs({*self.firsts.tolist()} & {*other.firsts.tolist()})
        joined = _joined(_joined(np.arange(self.codes), self.cell_of), other.cell_of)
        return self._of_groups(np.unique(joined, return_inverse=True)[1])

    def _of_runs(self, starts: set[int]) -> "Axis":
        whole = len(starts) == self.codes
        return Axis(self.column, size=len(starts), codes=self.codes, starts=None if whole else tuple(sorted(starts)))

    def _of_groups(self, groups: Int[np.ndarray, " codes"]) -> "Axis":
        return Axis(self.column, size=int(groups.max()) + 1, codes=self.codes, groups=tuple(groups.tolist()))

    def to_json(self) -> dict[str, Any]:
        """The axis without what the schema already says."""
        extra = {"starts": self.starts, "groups": self.groups}
        return {"column": self.column} | {key: list(value) for key, value in extra.items() if value is not None}

    @staticmethod
    def from_json(document: Mapping[str, Any], column: Column) -> "Axis":
        """The axis that `to_json` described."""
        if "groups" in document:
            return Axis.grouped(column, document["groups"])
        return Axis.cut(column, document["starts"]) if "starts" in document else Axis.whole(column)

    @staticmethod
    def whole(column: Column) -> "Axis":
        """Every code its own cell."""
        return Axis(column.name, size=column.size, codes=column.size)

    @staticmethod
    def grouped(column: Column, groups: tuple[int, ...] | list[int]) -> "Axis":
        """Codes merged into groups numbered from zero."""
        given = whole_array(f"column {column.name!r}: groups", groups, dimensions=1, least=0, most=column.size - 1)
        if len(given) != column.size or len(np.unique(given)) != given.max() + 1:
            raise UserError(
                f"column {column.name!r}: groups must give one of 0..g-1 for each of its {column.size} codes."
            )
        return Axis(column.name, size=int(given.max()) + 1, codes=column.size, groups=tuple(given.tolist()))

    @staticmethod
    def cut(column: Column, starts: tuple[int, ...] | list[int]) -> "Axis":
        """Runs of codes that begin at `starts` (the first is 0); missing is cut off as its own cell."""
        given = whole_array(f"column {column.name!r}: bins", list(starts), dimensions=1).tolist()
        places = sorted({0, *given} | ({column.missing} if column.missing else set()))
        if places[0] < 0 or places[-1] >= column.size:
            raise UserError(f"column {column.name!r}: a bin starts outside its codes 0..{column.size - 1}.")
        if len(places) == column.size:
            return Axis.whole(column)
        return Axis(column.name, size=len(places), codes=column.size, starts=tuple(places))

    @staticmethod
    def of(column: Column, bins: int | None = None) -> "Axis":
        """The public default: labels and small grids as they are, other numbers in declared or equal bins.

        Equal bins set the lower bound and zero apart, because amounts are so often exactly that.
        """
        if not isinstance(column, Numeric):
            return Axis.whole(column)
        wanted = whole_number("bins", bins) if bins is not None else column.bins
        if isinstance(wanted, tuple):
            return Axis.cut(column, wanted)
        if wanted is None and column.steps <= POINTWISE:
            return Axis.whole(column)
        count = min(wanted or DEFAULT_BINS, column.steps)
        starts = {(column.steps * k) // count for k in range(count)}
        return Axis.cut(column, tuple(starts | (spikes(column) if bins is None else set())))


def spikes(column: Numeric) -> set[int]:
    """Starts that set the lower bound, and zero where the column counts something, apart from the values around them."""
    points = {0} if column.kind in ("integer", "number") else set()
    if column.kind in ("integer", "number") and column.lower < 0 <= column.upper:
        points.add(-column.lower)
    return {start for point in points for start in (point, point + 1) if start < column.steps}


def _joined(labels: Int[np.ndarray, " codes"], cells: Int[np.ndarray, " codes"]) -> Int[np.ndarray, " codes"]:
    """Merge the classes of `labels` that meet within a cell, by spreading the least label until nothing changes."""
    while True:
        least = np.full(int(cells.max()) + 1, labels.max())
        np.minimum.at(least, cells, labels)
        lowest = np.full(int(labels.max()) + 1, labels.max())
        np.minimum.at(lowest, labels, least[cells])
        merged = lowest[labels]
        if np.array_equal(merged, labels):
            return labels
        labels = merged


def cells_in_order(axis: Axis, column: Column) -> int:
    """How many cells of a column, the first ones, stand in an order: missing does not, and labels may have none."""
    if axis.groups is not None or (isinstance(column, Categorical) and not column.ordered):
        return 0
    return axis.size - (column.missing is not None)
