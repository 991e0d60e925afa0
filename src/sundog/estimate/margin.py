"""Margin: one column, estimated by least squares from every released table that holds it.

Tables cut the column differently: a tree of resolutions, bins of pairs, merged labels. Their common refinement are the atoms.
Table t, summed onto the column, gives counts m_t = B_t x + noise of variance v_t per cell. With the number of rows n known from
elsewhere (sundog.estimate.evidence), the least-squares solution is

    H = sum_t B_t' B_t / v_t,  b = sum_t B_t' m_t / v_t,  C = H^-1 - H^-1 1 1' H^-1 / (1' H^-1 1),
    x = C b + g n,  g = H^-1 1 / (1' H^-1 1),

in which C b is independent of n (C 1 = 0: only contrasts of the counts enter) and has covariance C. Atoms that no table tells
apart are held together by a wide prior around an even division by width, so that H is never singular.

A column with more than MOST atoms uses only the tables on its finest cut, for which H is a multiple of the identity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Column
from sundog.domain.axis import Axis

MOST = 2500
WIDE = 10.0
"""The prior's standard deviation of an atom, in numbers of rows."""

Piece = tuple[Axis, Float[np.ndarray, "..."], float]
"""A table summed onto the column: its axis, its counts, the variance of each."""


@dataclass(frozen=True, eq=False)
class Margin:
    """`places[t]` is the cell of table t in which each atom lies."""

    column: Column
    atoms: Axis
    pieces: tuple[Piece, ...]
    places: tuple[Int[np.ndarray, " atoms"], ...]
    rows: float

    @staticmethod
    def of(column: Column, pieces: Sequence[Piece], *, rows: float) -> "Margin":
        """The estimate from some tables summed onto the column."""
        if not pieces:
            return Margin(column, Axis.of(column), (), (), rows)
        atoms = pieces[0][0].refine(*(axis for axis, _, _ in pieces[1:]))
        if atoms.size > MOST:
            finest = max((axis for axis, _, _ in pieces), key=lambda axis: axis.size)
            pieces, atoms = [piece for piece in pieces if piece[0] == finest], finest
        places = tuple(atoms.parents(axis) for axis, _, _ in pieces)
        return Margin(column, atoms, tuple(pieces), places, rows)

    @cached_property
    def _prior(self) -> tuple[Float[np.ndarray, " atoms"], float]:
        """The even division of the rows, and the precision with which it is believed."""
        return self.rows * self.atoms.widths / self.atoms.codes, 1 / (WIDE * max(self.rows, 1.0)) ** 2

    @cached_property
    def _diagonal(self) -> float | None:
        """What H is a multiple of the identity by, if it is."""
        if any(axis != self.atoms for axis, _, _ in self.pieces):
            return None
        return self._prior[1] + sum(1 / variance for _, _, variance in self.pieces)

    @cached_property
    def _inverse(self) -> Float[np.ndarray, "atoms atoms"]:
        from scipy.linalg import cho_factor, cho_solve

        H = np.diag(np.full(self.atoms.size, self._prior[1]))
        for place, (_, _, variance) in zip(self.places, self.pieces, strict=True):
            H += (place[:, None] == place[None, :]) / variance
        return np.asarray(cho_solve(cho_factor(H, lower=True), np.eye(self.atoms.size)))

    def _solved(self, weights: Float[np.ndarray, "functions atoms"]) -> Float[np.ndarray, "functions atoms"]:
        """H^-1 from the right."""
        return weights / self._diagonal if self._diagonal is not None else weights @ self._inverse

    @cached_property
    def _gain(self) -> Float[np.ndarray, " atoms"]:
        """g: what an additional row adds to every atom."""
        solved = self._solved(np.ones((1, self.atoms.size)))[0]
        return solved / solved.sum()

    @cached_property
    def _contrasts(self) -> Float[np.ndarray, " atoms"]:
        """The contrasts C b of the measured counts."""
        even, precision = self._prior
        b = precision * even
        for place, (_, counts, variance) in zip(self.places, self.pieces, strict=True):
            b = b + (counts / variance)[place]
        solved = self._solved(b[None])[0]
        return solved - solved.sum() * self._gain

    @cached_property
    def counts(self) -> Float[np.ndarray, " atoms"]:
        """The estimated counts of the atoms; they add up to the number of rows, and some may be negative."""
        return self._contrasts + self._gain * self.rows

    def onto(self, axis: Axis) -> Float[np.ndarray, "..."]:
        """The estimated counts of a coarser axis's cells."""
        return np.bincount(self.atoms.parents(axis), weights=self.counts, minlength=axis.size)

    def lifted(self, weights: Float[np.ndarray, "..."], axis: Axis) -> Float[np.ndarray, "functions atoms"]:
        """Weights of a coarser axis's cells as weights of the atoms."""
        return weights if axis == self.atoms else weights[:, self.atoms.parents(axis)]

    def answer(
        self, weights: Float[np.ndarray, "functions atoms"]
    ) -> tuple[Float[np.ndarray, " functions"], Float[np.ndarray, " functions"], Float[np.ndarray, " functions"]]:
        """For functions of the atoms what the contrasts contribute, its variance, and how much of the number of rows."""
        coefficient = weights @ self._gain
        lifted = weights - coefficient[:, None]  # C 1 = 0, so constants may be taken off: numbers stay small
        variance = np.einsum("fa,fa->f", self._solved(lifted), lifted)
        return weights @ self._contrasts, np.maximum(variance, 0.0), coefficient
