"""PrivPGD (Donhauser, Abad, Hulkund, Yang 2024): particles in an embedding space, moved until their marginals match.

    noisy marginals -> probability measures -> quantisation -> particle descent on

        sum over marginals S of SW2^2(particles on S, target of S) + lambda R(particles)      (Eq. 7)

    -> every particle to the nearest cell -> a value by the column's own measurement -> rows.

What differs from the paper (docs/explanation/privpgd.md has the ablation): bins follow the columns, which are measured first, and lie
equally spaced, so that particles spread where the rows are; the noisy tables are cleaned together instead of projected in SW1 one by
one; 20,000 particles instead of 100,000, for 400 epochs instead of 1000, at a learning rate that falls from 0.3 to 0.003; no gradient is masked; three directions per
marginal and step instead of ten, which cost less and fit as well; particles start from the one-way margins, not uniformly (not
measured by itself). Any marginals may be given (any number of columns, differently cut).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float, Int

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.constraints.kinds import Constraint, Linear, ProtectedStatistic
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves, leaves_of, uniform_leaves
from sundog.generate.base import Fits, check_measured, in_registry
from sundog.generate.particles import threads
from sundog.generate.particles.declared_penalties import declared_penalties, protected_queries
from sundog.generate.particles.embedding import Embedding, Kind, Points, check_points
from sundog.generate.particles.own_penalty import OwnPenalty, PenaltyFunction
from sundog.generate.particles.penalties import Penalty
from sundog.generate.particles.sliced_projection import largest_remainder
from sundog.generate.particles.slices import Schedule, Slices, make_schedule, make_slices
from sundog.generate.particles.targets import Projection, estimated, grains, make_targets, one_way
from sundog.generate.particles.values import curves_by_column
from sundog.lazy_jax import accelerated
from sundog.queries import Marginal, Query, answer
from sundog.random.keys import Key, fold_in, key_of, permutation, split, uniforms
from sundog.released import Released

Engine = Literal["auto", "numba", "jax"]
FITS: Fits = {Marginal: math.inf}
LEAST_PARTICLES = 10_000


@dataclass(frozen=True, eq=False)
class ParticleState:
    """The particles, the embedding they live in, and the leaves that turn cells into values. `fits`: how often they were fitted."""

    schema: Schema
    embedding: Embedding
    positions: Float[np.ndarray, "coordinates particles"]
    leaves: tuple[Leaves, ...]
    fits: int = 0

    def cells(self) -> list[Int[np.ndarray, " particles"]]:
        """Every particle's nearest cell, column by column (the paper's finalisation step)."""
        return [place.nearest(self.positions) for place in self.embedding.places]


@dataclass(frozen=True)
class Particles:
    """The hyperparameters; the defaults are those of the method `privpgd`.

    In Python also a `penalty`, any differentiable function (JAX) of the particles' columns by name that is to be small
    (own_penalty.py), and `points`, where the labels of some columns lie: {"city": {"Rome": (0.4, 0.1), ...}}.
    """

    particles: Annotated[
        int,
        "The most particles; small tables get four per row, but at least 10,000. Of a state fitted before, the number stays.",
        Range(10, 2 * 10**6),
    ] = 20_000
    epochs: Annotated[int, "Passes over all marginals.", Range(1, 10**6)] = 400
    steps: Annotated[
        int, "The least number of steps, since few marginals make few steps per epoch.", Range(1, 10**7)
    ] = 1500
    batch: Annotated[int, "Marginals per step.", Range(1, 10**4)] = 5
    directions: Annotated[int, "Directions per marginal and step along which distances are taken.", Range(1, 1000)] = 3
    pool: Annotated[int, "Directions per marginal that are drawn once, for steps to choose from.", Range(1, 10**4)] = 64
    updated: Annotated[float, "The share of particles that a step moves.", Range(0.001, 1)] = 1.0
    rate: Annotated[float, "The learning rate at the start.", Range(1e-9, 100)] = 0.3
    final_rate: Annotated[float, "The learning rate at the end.", Range(1e-9, 100)] = 3e-3
    refit: Annotated[float, "The share of epochs and rate for particles that were fitted before.", Range(0.001, 1)] = (
        0.25
    )
    embedding: Annotated[Kind, "Where labels lie: on a line, or at the corners of a simplex."] = "line"
    projection: Annotated[
        Projection, "How noisy marginals become probability measures: all together, or one by one."
    ] = "together"
    consistency: Annotated[
        bool, "Make marginals that are projected one by one agree with each other first; together they always do."
    ] = True
    buckets: Annotated[int, "Buckets of the sort along a direction (engine numba).", Range(16, 10**6)] = 4096
    penalty: PenaltyFunction | None = None
    penalty_strength: Annotated[float, "The weight of a penalty given in Python.", Range(0, 1e6)] = 1.0
    points: Points | None = field(default=None, hash=False)
    engine: Annotated[Engine, "What computes: threads, an accelerator, or an accelerator where there is one."] = "auto"

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Marginals of any number of columns."""
        return in_registry(FITS, query)

    def uses(self, query: Query, schema: Schema) -> bool:
        """The soft thresholds that the schema protects: they are measured to be pushed away from."""
        return query in protected_queries(schema)

    def fits_with(self, constraint: Constraint) -> bool:
        """Linear constraints pull the particles, protected statistics push them."""
        return isinstance(constraint, Linear | ProtectedStatistic)

    def init(self, key: Key, schema: Schema) -> ParticleState:
        """Particles spread as wide as the columns' cells are."""
        check_points(schema, self.points or {})
        embedding = self._embedded(schema, grains(schema, ()))
        shares = [place.axis.widths / place.axis.codes for place in embedding.places]
        leaves = tuple(uniform_leaves(column) for column in schema.columns)
        return ParticleState(schema, embedding, _start(key, embedding, shares, LEAST_PARTICLES), leaves)

    def fit(self, key: Key, state: ParticleState, *, released: Released) -> ParticleState:
        """Move the particles until they match the released marginals; a state fitted before is refitted gently."""
        check_measured(self, released)
        target_key, slice_key, schedule_key, start_key = split(key, 4)
        leaves = leaves_of(released)
        estimates = estimated(released, leaves, projection=self.projection, agree=self.consistency)
        if not estimates:
            return state
        count = state.positions.shape[1] if state.fits else min(self.particles, max(LEAST_PARTICLES, 4 * released.rows))
        axes = grains(state.schema, [estimate.query for estimate in estimates])
        embed = partial(self._embedded, state.schema)
        embedding = embed(axes)
        targets = make_targets(
            target_key, estimates=estimates, axes=axes, embed=embed, projection=self.projection, particles=count
        )
        slices = make_slices(slice_key, embedding, targets, pool=self.pool)
        if state.fits:
            positions = self._carried(start_key, state, embedding)
        else:
            positions = _start(start_key, embedding, [one_way(estimates, axis) for axis in axes], count)
        schedule = self._schedule(schedule_key, slices, particles=count, again=state.fits > 0)
        own = tuple(leaves.values())
        penalties = declared_penalties(released, embedding, curves_by_column(embedding, own))
        if self.penalty is not None:
            penalties = (*penalties, OwnPenalty(self.penalty, state.schema, embedding, own, self.penalty_strength))
        moved = self._descend(positions, slices, schedule=schedule, penalties=penalties)
        return ParticleState(state.schema, embedding, moved, own, state.fits + 1)

    def _embedded(self, schema: Schema, axes: Sequence[Axis]) -> Embedding:
        return Embedding.of(schema, axes, kind=self.embedding, points=self.points)

    def answer(self, state: ParticleState, query: Query) -> Float[np.ndarray, " cells"]:
        """Counted on the particles."""
        count = state.positions.shape[1]
        return answer(query, self._rows(key_of(0), state, np.arange(count))) / count

    def sample(self, key: Key, state: ParticleState, *, rows: int) -> Rows:
        """Rows: every particle equally often, and for the rest an even choice along the particles in sorted order."""
        choose, inside, shuffle = split(key, 3)
        count = state.positions.shape[1]
        whole, rest = divmod(rows, count)
        order = np.lexsort(state.cells())
        steps = (np.arange(rest) + uniforms(choose, 1)[0]) * (count / max(rest, 1))
        picked = np.concatenate([np.tile(order, whole), order[steps.astype(np.int64) % count]])
        return self._rows(inside, state, picked[permutation(shuffle, rows)])

    def _rows(self, key: Key, state: ParticleState, picked: Int[np.ndarray, " rows"]) -> Rows:
        codes = [
            leaves.decode(fold_in(key, k), place.axis, cells=cells[picked])
            for k, (leaves, place, cells) in enumerate(
                zip(state.leaves, state.embedding.places, state.cells(), strict=True)
            )
        ]
        return Rows(state.schema, tuple(codes))

    def _carried(
        self, key: Key, state: ParticleState, embedding: Embedding
    ) -> Float[np.ndarray, "coordinates particles"]:
        """The particles of an earlier fit in a new embedding."""
        if embedding == state.embedding:
            return state.positions
        rows = self._rows(key, state, np.arange(state.positions.shape[1]))
        return _placed(key, embedding, [rows.cells(place.axis) for place in embedding.places])

    def _schedule(self, key: Key, slices: Slices, *, particles: int, again: bool) -> Schedule:
        """The steps of a descent: at least `steps`, since few marginals make few steps an epoch."""
        part = self.refit if again else 1.0
        batches = -(-(len(slices.marginals) - 1) // self.batch)
        return make_schedule(
            key,
            slices,
            epochs=max(1, round(part * max(self.epochs, self.steps / batches))),
            batch=self.batch,
            directions=self.directions,
            particles=particles,
            rates=(max(self.rate * part, self.final_rate), self.final_rate),
        )

    def _descend(
        self,
        positions: Float[np.ndarray, "coordinates particles"],
        slices: Slices,
        *,
        schedule: Schedule,
        penalties: tuple[Penalty, ...],
    ) -> Float[np.ndarray, "coordinates particles"]:
        window = max(1, round(positions.shape[1] * self.updated))
        if self.engine == "jax" or (self.engine == "auto" and accelerated()):
            from sundog.generate.particles import device

            return device.descend(positions, slices, schedule=schedule, window=window, penalties=penalties)
        return threads.descend(
            positions, slices, schedule=schedule, window=window, penalties=penalties, buckets=self.buckets
        )


def _start(
    key: Key, embedding: Embedding, shares: list[Float[np.ndarray, " cells"]], particles: int
) -> Float[np.ndarray, "coordinates particles"]:
    """Independent columns with the given proportions, spread inside their cells."""
    cells = []
    for k, share in enumerate(shares):
        ordered = np.repeat(np.arange(len(share)), largest_remainder(share, particles))
        cells.append(ordered[permutation(fold_in(key, k), particles)])
    return _placed(fold_in(key, len(shares)), embedding, cells)


def _placed(
    key: Key, embedding: Embedding, cells: list[Int[np.ndarray, " particles"]]
) -> Float[np.ndarray, "coordinates particles"]:
    """Positions inside the given cells: uniform on the line, at the corner on the simplex."""
    positions = np.empty((embedding.coordinates, len(cells[0])), dtype=np.float32)
    for k, (place, own) in enumerate(zip(embedding.places, cells, strict=True)):
        part = positions[place.first : place.first + place.dimensions]
        if place.on_line:
            part[0] = (own + uniforms(fold_in(key, k), len(own))) / place.axis.size
        else:
            part[:] = place.centres()[:, own]
    return np.clip(positions, 0.0, 1.0)
