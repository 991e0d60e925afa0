"""Sliced W1 distance between k-way marginals, averaged over the sets of k columns (PrivPGD Eq. 3 and 10).

    SW1(S) = mean over directions theta of  integral |F_real(u) - F_synthetic(u)| du

where F is the distribution function of <theta, Emb(x)>, and Emb puts the K cells of a column at (k + 1/2) / K (Eq. 4),
missing last. A single column has one direction; for two the angles are stratified, for three they are uniform on the
sphere. The integral is exact for every direction. All sets of one and two columns, at most 100 of three.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from sundog.evaluate.base import Better, Comparison, Needs, Score, column_sets
from sundog.evaluate.total_variation import place
from sundog.random.keys import Key, split, uniforms

MOST = {1: 4_000, 2: 4_000, 3: 100}
DIRECTIONS = 32


@dataclass(frozen=True)
class SlicedWasserstein:
    """Mean sliced W1 over the marginals of `ways` columns."""

    ways: int
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    @property
    def name(self) -> str:
        """sw1 for pairs, as in the tables; sw1_1way and sw1_3way."""
        return "sw1" if self.ways == 2 else f"sw1_{self.ways}way"

    @property
    def summary(self) -> str:
        """The definition in a sentence, for reports."""
        return f"mean sliced 1-Wasserstein distance of the {self.ways}-way marginals, columns scaled to [0, 1]"

    def score(self, subject: Comparison) -> Score | None:
        """The mean distance over all choices of columns."""
        if len(subject.sizes) < self.ways:
            return None
        choose, angle = split(subject.key, 2)
        sets = column_sets(choose, len(subject.sizes), ways=self.ways, most=MOST[self.ways])
        theta = directions(angle, self.ways)
        return Score(float(np.mean([sliced_wasserstein(subject, columns, theta=theta) for columns in sets])))


def sliced_wasserstein(
    subject: Comparison, columns: Sequence[int], *, theta: Float[np.ndarray, "directions ways"]
) -> float:
    """The sliced W1 distance between the marginals over some columns."""
    sizes = [subject.sizes[column] for column in columns]
    cells, mass = _difference(subject, columns, sizes=sizes)
    if not len(cells):
        return 0.0
    points = np.stack([(part + 0.5) / size for part, size in zip(np.unravel_index(cells, sizes), sizes, strict=True)])
    return float(np.mean([_w1(direction @ points, mass) for direction in theta]))


def directions(key: Key, ways: int) -> Float[np.ndarray, "directions ways"]:
    """Unit vectors: 1; stratified angles in the half plane; uniform on the sphere."""
    if ways == 1:
        return np.ones((1, 1))
    if ways == 2:
        angles = (np.arange(DIRECTIONS) + uniforms(key, DIRECTIONS)) * math.pi / DIRECTIONS
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    normal = ndtri(np.maximum(uniforms(key, DIRECTIONS * ways), 2.0**-53)).reshape(DIRECTIONS, ways)
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def _difference(
    subject: Comparison, columns: Sequence[int], *, sizes: Sequence[int]
) -> tuple[Int[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    """The cells where the two tables differ, and by how much of the mass."""
    chosen = list(columns)
    real = place(subject.real_cells, chosen, sizes=sizes)
    synthetic = place(subject.synthetic_cells, chosen, sizes=sizes)
    if math.prod(sizes) <= len(real) + len(synthetic):
        size = math.prod(sizes)
        counts = np.bincount(real, minlength=size) * len(synthetic) - np.bincount(synthetic, minlength=size) * len(real)
        cells = np.flatnonzero(counts)
        return cells, counts[cells] / (len(real) * len(synthetic))
    cells, places = np.unique(np.concatenate([real, synthetic]), return_inverse=True)
    signs = np.concatenate([np.full(len(real), len(synthetic)), np.full(len(synthetic), -len(real))])
    counts = np.bincount(places, weights=signs, minlength=len(cells))
    return cells[counts != 0], counts[counts != 0] / (len(real) * len(synthetic))


def _w1(places: Float[np.ndarray, " cells"], mass: Float[np.ndarray, " cells"]) -> float:
    """The integral of |F| for the signed mass at these places."""
    order = np.argsort(places)
    return float(np.abs(np.cumsum(mass[order])[:-1]) @ np.diff(places[order]))
