"""Total variation between k-way marginals, averaged over the sets of k columns (PrivPGD Eq. 11; RAP, GSD for k = 3).

    TV(S) = 1/2 sum over cells |count_real / n - count_synthetic / m|

Labels are cells, numbers fall into 32 equal bins of their public range, missing is a cell. Counts are compared as
integers, |a m - b n|, so the order of rows cannot matter. All sets are taken up to MOST, then a random choice of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int
from numba import njit

from sundog.evaluate.base import Better, Comparison, Needs, Score, column_sets

MOST = 4_000
DENSE = 1 << 22
"""Tables with more cells than this are renumbered by the cells that occur, so memory stays bounded by the rows."""


@dataclass(frozen=True)
class TotalVariation:
    """Mean total variation over the marginals of `ways` columns."""

    ways: int
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    @property
    def name(self) -> str:
        """The name in reports: tv1, tv2 or tv3."""
        return f"tv{self.ways}"

    @property
    def summary(self) -> str:
        """The definition in a sentence, for reports."""
        return f"mean total variation of the {self.ways}-way marginals, numbers in 32 equal bins"

    def score(self, subject: Comparison) -> Score | None:
        """The mean, and for single columns each one's own."""
        if len(subject.sizes) < self.ways:
            return None
        sets = column_sets(subject.key, len(subject.sizes), ways=self.ways, most=MOST)
        scratch = np.zeros((2, DENSE), dtype=np.int64)
        gaps = [total_variation(subject, columns, scratch=scratch) for columns in sets]
        names = subject.schema.names
        parts = {names[columns[0]]: gap for columns, gap in zip(sets, gaps, strict=True)} if self.ways == 1 else {}
        return Score(float(np.mean(gaps)), parts)


def total_variation(
    subject: Comparison, columns: Sequence[int], *, scratch: Int[np.ndarray, "2 cells"] | None = None
) -> float:
    """The total variation between the marginals over some columns."""
    chosen, sizes = list(columns), [subject.sizes[column] for column in columns]
    real, synthetic = (
        place(subject.real_cells, chosen, sizes=sizes),
        place(subject.synthetic_cells, chosen, sizes=sizes),
    )
    if math.prod(sizes) > DENSE:
        real, synthetic = _renumbered(real, synthetic)
    room = np.zeros((2, DENSE), dtype=np.int64) if scratch is None else scratch
    if len(real) + len(synthetic) > room.shape[1]:
        room = np.zeros((2, len(real) + len(synthetic)), dtype=np.int64)
    return int(_gap(real, synthetic, room)) / (2 * len(real) * len(synthetic))


def place(
    cells: Int[np.ndarray, "columns rows"], columns: Sequence[int], *, sizes: Sequence[int]
) -> Int[np.ndarray, " rows"]:
    """The place of every row in the table over some columns, the last column fastest."""
    where = cells[columns[0]].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        where *= size
        where += cells[column]
    return where


def _renumbered(
    real: Int[np.ndarray, " rows"], synthetic: Int[np.ndarray, " others"]
) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " others"]]:
    _, places = np.unique(np.concatenate([real, synthetic]), return_inverse=True)
    return places[: len(real)], places[len(real) :]


@njit(cache=True, nogil=True)
def _gap(real: Any, synthetic: Any, counts: Any) -> int:  # pragma: no cover (compiled)
    """Sum over cells of |a m - b n|; leaves the counts at zero again, touching only the cells that occur."""
    n, m = real.shape[0], synthetic.shape[0]
    for row in range(n):
        counts[0, real[row]] += 1
    for row in range(m):
        counts[1, synthetic[row]] += 1
    total = 0
    for places in (real, synthetic):
        for row in range(places.shape[0]):
            cell = places[row]
            total += abs(counts[0, cell] * m - counts[1, cell] * n)
            counts[0, cell] = 0
            counts[1, cell] = 0
    return total
