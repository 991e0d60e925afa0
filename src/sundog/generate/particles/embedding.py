"""The embedding of a table's cells in a Euclidean space, and the directions along which marginals are looked at (PrivPGD).

- "line" (the paper's Eq. 4): a column of k cells lies on [0, 1] with equally spaced centres (2 x - 1) / (2 k).
- "simplex" (what the paper leaves to future work): a column of k > 2 unordered labels lies in [0, 1]^k, each label at its
  own corner, so that all centres are equidistant. Ordered columns stay on the line.
- A user's own points: every label of a column at a point of [0, 1]^d (a map of cities, a hierarchy, a learned embedding).

A marginal over r columns is looked at along unit directions on the sphere of R^r: equally spaced angles for r = 2,
normalised Gaussians beyond. Within a column on the simplex, its component acts along the difference of two corners drawn
again for every direction: any distribution of directions that spans the space gives a sliced distance, and a direction
with few non-zero entries costs as little as on the line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Categorical, Column, Schema
from sundog.domain.axis import Axis
from sundog.errors import UserError
from sundog.queries import Marginal
from sundog.random.keys import Key, normals, split, uniforms

Kind = Literal["line", "simplex"]
Points = Mapping[str, Mapping[Any, Sequence[float]]]
"""For some columns of labels: where each label lies."""


@dataclass(frozen=True)
class Place:
    """Where a column lies: its cells (`axis`), its first coordinate and how many it has (1: on the line).

    points: where each cell lies, if that is neither on the line nor at a corner.
    """

    axis: Axis
    first: int
    dimensions: int
    points: tuple[tuple[float, ...], ...] | None = None

    @property
    def on_line(self) -> bool:
        """Whether cells are equally wide parts of [0, 1]."""
        return self.dimensions == 1 and self.points is None

    def centres(self) -> Float[np.ndarray, "dimensions cells"]:
        """The centre of every cell."""
        if self.points is not None:
            return np.array(self.points).T
        if self.on_line:
            return ((np.arange(self.axis.size) + 0.5) / self.axis.size)[None, :]
        return np.eye(self.axis.size)

    def nearest(self, positions: Float[np.ndarray, "coordinates particles"]) -> Int[np.ndarray, " particles"]:
        """The cell whose centre is closest to each particle."""
        own = positions[self.first : self.first + self.dimensions]
        if self.on_line:
            return np.clip((own[0] * self.axis.size).astype(np.int64), 0, self.axis.size - 1)
        if self.points is None:
            return np.argmax(own, axis=0)
        gaps = np.stack([np.square(own - centre[:, None]).sum(axis=0) for centre in self.centres().T])
        return np.argmin(gaps, axis=0)


@dataclass(frozen=True, eq=False)
class Directions:
    """Unit directions with few non-zero entries: their coordinates and weights, padded with weight 0."""

    coordinates: Int[np.ndarray, "directions entries"]
    weights: Float[np.ndarray, "directions entries"]


@dataclass(frozen=True)
class Embedding:
    """The places of all columns."""

    places: tuple[Place, ...]

    @cached_property
    def coordinates(self) -> int:
        """The dimension of the whole space."""
        return sum(place.dimensions for place in self.places)

    def place(self, column: str) -> Place:
        """Where a column lies."""
        return next(place for place in self.places if place.axis.column == column)

    def along(self, query: Marginal, directions: Directions) -> Float[np.ndarray, "directions cells"]:
        """Where the centres of a marginal's cells lie along directions."""
        whole = np.zeros((self.coordinates, query.size))
        for axis, cells in zip(query.axes, np.unravel_index(np.arange(query.size), query.shape), strict=True):
            place = self.place(axis.column)
            whole[place.first : place.first + place.dimensions] = place.centres()[:, cells]
        found = np.zeros((len(directions.weights), query.size))
        for s in range(directions.weights.shape[1]):
            found += directions.weights[:, s, None] * whole[directions.coordinates[:, s]]
        return found

    def directions(self, key: Key, query: Marginal, *, count: int) -> Directions:
        """Directions for one marginal; a single column on the line has only one."""
        own = [self.place(axis.column) for axis in query.axes]
        if len(own) == 1 and own[0].dimensions == 1:
            count = 1
        sphere, *keys = split(key, len(own) + 1)
        across = _sphere(sphere, len(own), count)
        parts = [_within(k, place, across[:, r]) for r, (k, place) in enumerate(zip(keys, own, strict=True))]
        coordinates, weights = zip(*parts, strict=True)
        return Directions(np.concatenate(coordinates, axis=1), np.concatenate(weights, axis=1))

    @staticmethod
    def of(schema: Schema, axes: Sequence[Axis], *, kind: Kind, points: Points | None = None) -> "Embedding":
        """The places of the columns that these axes cut."""
        places, first = [], 0
        for axis in axes:
            column, own = schema.column(axis.column), (points or {}).get(axis.column)
            held = None if own is None else _points(column, axis, own)
            dimensions = _dimensions(column, axis, kind) if held is None else len(held[0])
            places.append(Place(axis, first, dimensions, held))
            first += dimensions
        return Embedding(tuple(places))


def check_points(schema: Schema, points: Points) -> None:
    """Refuse points that are not one per label, all of one dimension and in [0, 1]."""
    for name, own in points.items():
        column = schema.column(name)
        labels = column.labels if isinstance(column, Categorical) else ()
        if not labels or set(own) != set(labels):
            raise UserError(f"embedding of {name!r}: give one point for each of its labels, and for nothing else.")
        lengths = {len(point) for point in own.values()}
        if len(lengths) != 1 or 0 in lengths or not all(0 <= x <= 1 for point in own.values() for x in point):
            raise UserError(f"embedding of {name!r}: points must have as many coordinates each, from 0 to 1.")


def _points(column: Column, axis: Axis, own: Mapping[Any, Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """Where each cell lies: the mean of its labels; a missing label in the middle of all."""
    labels = column.labels if isinstance(column, Categorical) else ()
    every = np.array([own[label] for label in labels], dtype=np.float64)
    codes = np.vstack([every, *[every.mean(axis=0)] * (axis.codes - len(every))])
    sums = np.zeros((axis.size, every.shape[1]))
    np.add.at(sums, axis.cell_of, codes)
    return tuple(map(tuple, (sums / axis.widths[:, None]).tolist()))


def _dimensions(column: Column, axis: Axis, kind: Kind) -> int:
    unordered = isinstance(column, Categorical) and not column.ordered and axis.size > 2
    return axis.size if kind == "simplex" and unordered else 1


def _sphere(key: Key, dimensions: int, count: int) -> Float[np.ndarray, "count dimensions"]:
    if dimensions == 1:
        return np.ones((count, 1))
    if dimensions == 2:
        angles = np.pi * (np.arange(count) + 0.5) / count
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    normal = normals(key, count * dimensions).reshape(count, dimensions)
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def _within(
    key: Key, place: Place, component: Float[np.ndarray, " count"]
) -> tuple[Int[np.ndarray, "count entries"], Float[np.ndarray, "count entries"]]:
    """One column's part of the directions."""
    if place.dimensions == 1:
        return np.full((len(component), 1), place.first), component[:, None]
    if place.points is not None:
        entries = np.tile(place.first + np.arange(place.dimensions), (len(component), 1))
        return entries, component[:, None] * _sphere(key, place.dimensions, len(component))
    one, other = split(key, 2)
    a = np.floor(uniforms(one, len(component)) * place.dimensions).astype(np.int64)
    step = 1 + np.floor(uniforms(other, len(component)) * (place.dimensions - 1)).astype(np.int64)
    b = (a + step) % place.dimensions
    entries = place.first + np.stack([a, b], axis=1)
    return entries, component[:, None] * np.array([[1.0, -1.0]]) * np.sqrt(0.5)
