"""Sums over the rows that satisfy a condition, by cells of some columns: estimates and their covariances.

A question's weights are functions of the codes of a few columns S: 1 or 0 for counts, the number itself for sums. If tables over S
were released, the answer is a linear function of their least-squares estimate (sundog.estimate.evidence):

    answer = sum over cells of count(cell) * mean weight inside the cell,

the mean taken over the cell's pieces (sundog.estimate.pieces). Its variance has three parts, added up:

- the noise in the counts, and in the margins from which the pieces' shares come (by linearisation: one function, carried
  down together with the first, so that what they share is counted once);
- the rows of a cell are a sample of those that the margin describes, and may differ from the others of their bin by more than
  chance: deviations e_j of variance s^2 (1/count_j + TILT^2), s the standard deviation of the weight inside the cell. Over all rows of
  a bin they add up to nothing, since the margin is known (`_deviations`);
- the part that neighbouring cells show is taken into account (sundog.estimate.tilt), with the variance of that.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition, holds
from sundog.estimate.evidence import Evidence, Functions, Names, Table
from sundog.estimate.pieces import Pieces, pieces_of
from sundog.estimate.tilt import TILT, ranks_of, tilt_along, tilt_doubts, tilted

Numbers = Float[np.ndarray, "cells kinds"]
DOUBT = 1.0
"""The standard deviation of what the neighbours say, as a part of it."""
BLOCK = 1 << 24
"""This many weights are carried down at once."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The estimated table over the columns of a question, and the pieces that its cells are cut into."""

    table: Table
    pieces: tuple[Pieces, ...]

    @property
    def measured(self) -> bool:
        """Whether all that is asked for are sums of cells of a table that was measured over just these columns."""
        return self.table.own and not any(piece.split for piece in self.pieces)

    def along(self, column: str, values: Float[np.ndarray, " pieces"]) -> Float[np.ndarray, "..."]:
        """Values of one column's pieces, shaped to be combined with those of others."""
        shape = [1] * len(self.pieces)
        shape[self.table.columns.index(column)] = -1
        return values.reshape(shape)

    def piece(self, column: str) -> Pieces:
        """The pieces that one column is cut into."""
        return self.pieces[self.table.columns.index(column)]

    def held(self, where: Condition | None) -> Float[np.ndarray, "..."]:
        """1 where a condition holds, over the pieces of all columns."""
        shape = tuple(len(piece.first) for piece in self.pieces)
        if where is None:
            return np.ones(shape)
        found = holds(where, lambda name: self.along(name, self.piece(name).first))
        return np.broadcast_to(found, shape).astype(float)


@dataclass(frozen=True, eq=False)
class Asked:
    """Several `weights` over the pieces of the columns; answers come by cells of the `by` axes."""

    evidence: Evidence
    by: tuple[Axis, ...]
    ground: Ground
    weights: Float[np.ndarray, "..."]
    spread: Float[np.ndarray, "..."] | None = None
    """The variance of the weights inside the pieces, where that is not nothing."""

    @property
    def table(self) -> Table:
        """The estimated table that the answers are computed from."""
        return self.ground.table

    @property
    def pieces(self) -> tuple[Pieces, ...]:
        """The pieces of every column."""
        return self.ground.pieces

    def answers(self) -> tuple[Numbers, Numbers]:
        """The estimate of every weight in every cell of the `by` axes, and its variance."""
        cells = self._cells()
        size, kinds = prod(axis.size for axis in self.by), len(self.weights)
        plain = self._averaged(self.weights)
        mean, doubt = self._tilted(plain)
        counts = self.table.counts
        values = np.stack([np.bincount(cells.ravel(), (counts * m).ravel(), size) for m in mean], axis=1)
        noise = np.zeros((size, kinds))
        step = max(1, BLOCK // max(counts.size * kinds, 1))
        for start in range(0, size, step):
            some = np.arange(start, min(start + step, size))
            noise[some] = self._noise(mean, cells == some.reshape(-1, *([1] * cells.ndim)))
        return values, noise + self._inside(plain, doubt, cells)

    def _cells(self) -> Int[np.ndarray, "..."]:
        """The `by` cell of every cell of the table."""
        made = np.zeros(self.table.counts.shape, dtype=np.int64)
        for axis in self.by:
            k = self.table.columns.index(axis.column)
            along = [1] * made.ndim
            along[k] = -1
            made = made * axis.size + axis.cells(self.table.axes[k].firsts).astype(np.int64).reshape(along)
        return made

    def _averaged(self, weights: Float[np.ndarray, "..."], *, but: int | None = None) -> Functions:
        """The weights averaged within the cells of every column (but one)."""
        for k, piece in enumerate(self.pieces):
            if k != but:
                weights = piece.averaged(weights, k + 1)
        return weights

    def _noise(self, mean: Functions, inside: Float[np.ndarray, "..."]) -> Numbers:
        """The variance that the noise of the measurements brings, for some of the `by` cells."""
        shape = (len(inside), len(mean))
        functions = {self.table.axes: (inside[:, None] * mean[None]).reshape(-1, *mean.shape[1:])}
        for k, piece in enumerate(self.pieces):
            if piece.split and len(self.pieces) > 1:
                margin = self.evidence.margin(piece.column.name)
                own = (margin.atoms,)
                functions[own] = self._shares_noise(k, piece, mean, inside) + functions.get(own, 0.0)
        return self.evidence.answer(functions)[1].reshape(shape)

    def _shares_noise(self, k: int, piece: Pieces, mean: Functions, inside: Float[np.ndarray, "..."]) -> Functions:
        """How the answers depend on the margin's atoms through the shares of the pieces of one column."""
        assert piece.atoms is not None  # noqa: S101 - by `split`
        margin = self.evidence.margin(piece.column.name)
        total = np.maximum(margin.onto(piece.axis), 1.0)[piece.cells]
        gap = (
            np.moveaxis(self._averaged(self.weights, but=k), k + 1, -1) - np.moveaxis(mean, k + 1, -1)[..., piece.cells]
        )
        counts = np.moveaxis(np.maximum(self.table.counts, 0.0), k, -1)[..., piece.cells] / total
        within = np.moveaxis(inside, k + 1, -1)[..., piece.cells]
        flat_gap = (gap * counts).reshape(len(gap), -1, len(piece.cells))
        flat = np.einsum("kop,sop->skp", flat_gap, within.reshape(len(inside), -1, len(piece.cells)).astype(float))
        made = np.zeros((flat.shape[0] * flat.shape[1], margin.atoms.size))
        parts = flat.reshape(-1, len(piece.cells)) * (piece.width / margin.atoms.widths[piece.atoms])
        np.add.at(made.T, piece.atoms, parts.T)
        return made

    def _tilted(self, mean: Functions) -> tuple[Functions, dict[int, Functions]]:
        """The mean weights moved as the neighbouring cells suggest, and by columns the variance of what they suggest."""
        moved, doubt = mean, {}
        for k, piece in enumerate(self.pieces if len(self.pieces) > 1 else ()):
            tilt = tilt_along(self.table, k, piece) if piece.split else None
            if tilt is not None:
                ranks = ranks_of(piece, self.table.counts, k)[0]
                inner = np.moveaxis(self._averaged(self.weights, but=k), k + 1, -1)
                counts = np.moveaxis(self.table.counts, k, -1)
                shift = tilted(inner, tilt, piece, ranks=ranks, counts=counts)
                together = piece.averaged(inner * ranks, inner.ndim - 1)
                moved = moved + np.moveaxis(shift, -1, k + 1)
                doubt[k] = np.moveaxis(tilt.variance * together**2 + (DOUBT * shift) ** 2, -1, k + 1)
        return moved, doubt

    def _inside(self, mean: Functions, doubt: dict[int, Functions], cells: Int[np.ndarray, "..."]) -> Numbers:
        """The variance that not knowing the insides of the cells brings; `mean` is that of the margin, without tilts."""
        square = self.weights**2 + (0.0 if self.spread is None else self.spread)
        every = np.maximum(self._averaged(square) - mean**2, 0.0)
        size = prod(axis.size for axis in self.by)
        made = np.zeros((size, len(mean)))
        split = [k for k, piece in enumerate(self.pieces) if piece.split] if len(self.pieces) > 1 else []
        for k in split:
            own = every if len(split) == 1 else self._own_variance(k)
            every = np.maximum(every - own, 0.0)
            made += self._deviations(k, own, doubt.get(k, np.zeros_like(own)), cells)
        counts = np.maximum(self.table.counts, 0.0)
        rest = (counts + (TILT * counts) ** 2) * every
        return made + np.stack([np.bincount(cells.ravel(), part.ravel(), size) for part in rest], axis=1)

    def _own_variance(self, k: int) -> Functions:
        """The variance of the weights inside the cells along one column, the others averaged."""
        inner, piece = self._averaged(self.weights, but=k), self.pieces[k]
        return np.maximum(piece.averaged(inner**2, k + 1) - piece.averaged(inner, k + 1) ** 2, 0.0)

    def _deviations(self, k: int, variance: Functions, doubt: Functions, cells: Int[np.ndarray, "..."]) -> Numbers:
        """The variance of sums over cells of a bin of one column, all rows of which deviate from the margin by nothing.

        A cell of c_j of the bin's n rows deviates by e_j - (sum of c_k e_k over the bin) / n, where e_j has the variance
        v_j = s^2 / c_j + s^2 TILT^2 + doubt; so the sum over a set G of cells, the part p of the bin, has the variance

            (1 - p)^2 sum over G of c_j^2 v_j + p^2 sum over the others of c_k^2 v_k,

        of which s^2 / c_j contributes s^2 (1 - p) sum over G of c_j: sampling without replacement. Cells that do not count in the answer
        have no weight to know v_k from: it is taken to be that of those that do.
        """
        counts, bins = np.maximum(self.table.counts, 0.0), self.table.axes[k].size
        size, shape = prod(axis.size for axis in self.by), [1] * counts.ndim
        shape[k] = -1
        at = np.broadcast_to(np.arange(bins).reshape(shape), counts.shape)

        def added(values: Float[np.ndarray, "..."]) -> Float[np.ndarray, "by bins"]:
            return np.bincount((cells * bins + at).ravel(), values.ravel(), size * bins).reshape(size, bins)

        every = added(counts).sum(axis=0), added(counts**2).sum(axis=0)
        tilts = tilt_doubts(self.pieces[k])[at] ** 2
        made = []
        for part, unsure in zip(variance, doubt, strict=True):
            there = counts * (part > 0)
            p = added(there) / np.maximum(every[0], 1.0)
            own, wide = added(there**2), added(there**2 * (tilts * part + unsure))
            idle = np.maximum(every[1] - own.sum(axis=0), 0.0) * wide / np.maximum(own, 1.0)
            others = wide.sum(axis=0) - wide + idle
            made.append(((1 - p) * added(there * part) + (1 - p) ** 2 * wide + p**2 * others).sum(axis=1))
        return np.stack(made, axis=1)


def asked(evidence: Evidence, columns: Names, *, cuts: Condition | None, every: str | None = None) -> Ground | None:
    """The table and the pieces to answer questions over some columns; None: no such table was released.

    Cells are cut where `cuts` changes; `every` names a column whose values matter one by one.
    """
    ordered = tuple(name for name in evidence.schema.names if name in columns)
    if len(ordered) == 1:
        margin = evidence.margin(ordered[0])
        if not margin.pieces:
            return None
        own = any(len(table.axes) == 1 and table.axes[0].column == ordered[0] for table in evidence.tables)
        table = Table((margin.atoms,), margin.counts, 0.0, own)
    elif evidence.pooled(ordered) is None:
        return None
    else:
        table = evidence.table(ordered)
    pieces = tuple(
        pieces_of(
            axis,
            evidence.margin(axis.column),
            evidence.leaves[axis.column],
            where=cuts,
            every=axis.column == every,
        )
        for axis in table.axes
    )
    return Ground(table, pieces)
