"""GEM: the relaxed projection through a generative network (Liu, Vietri, Wu 2021).

Everything but the parametrisation is RAP's (rap.py): a small network turns fixed Gaussian noise, one
vector per soft row, into the probabilities of every column's cells,

    rows = softmax_by_column(W_3 relu(W_2 relu(W_1 z + b_1) + b_2) + b_3),    loss as in RAP,

and Adam moves the weights instead of the rows. The last bias starts at the one-way measurements. What differs from the
paper: one loss over all measurements weighted by their noise, no moving average of weights, rounding as in RAP; a fresh network
begins with small steps (adam.py), without which one in three stays at independent columns. A public
table is learnt first (GEM-pub): the paper lets the network learn its marginals, here it learns its rows.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves, leaves_of, uniform_leaves
from sundog.generate.base import check_measured
from sundog.generate.projection.adam import Descent, Params, descended
from sundog.generate.projection.features import features
from sundog.generate.projection.panels import Matrix
from sundog.generate.projection.rap import (
    SoftMaker,
    enough_of,
    fits_soft_cells,
    goes_on,
    held_frame,
    not_trapped,
    only_columns,
    problem_of,
    soft_answer,
)
from sundog.generate.projection.rounding import rounded
from sundog.generate.projection.soft_table import Frame, Known, SoftTable
from sundog.lazy_jax import Array, jax, jit, jnp, optax
from sundog.queries import Query
from sundog.random.keys import Key, normals, permutation, split
from sundog.released import Released

LESSONS = 400
LESSON_RATE = 0.003
"""Steps, and their rate, in which a network learns a public table: then it is about 98 % sure of its rows."""


@dataclass(frozen=True)
class NetworkMaker:
    """Makes features from the weights of the network."""

    frame: Frame

    def logits(self, params: Params) -> dict[str, Float[Array, "cells rows"]]:
        """The network's output, column by column."""
        value = jax.lax.stop_gradient(params["noise"])
        for weight, bias in params["hidden"]:
            value = jax.nn.relu(weight @ value + bias[:, None])
        weight, bias = params["last"]
        sizes = [axis.size for axis in self.frame.held if axis is not None]
        parts = jnp.split(weight @ value + bias[:, None], np.cumsum(sizes)[:-1])
        return dict(zip(self.frame.schema.names, parts, strict=True))

    def __call__(self, params: Params, known: Known, sharpness: Any, *, hard: bool = False) -> Matrix:
        """Compute the feature matrix from the weights."""
        soft = {"logits": self.logits(params), "numbers": {}, "absent": {}}
        return features(soft, known, sharpness, frame=self.frame, hard=hard)


@dataclass(frozen=True, eq=False)
class NetworkState:
    """The network's weights and noise, and the soft rows that they make."""

    weights: Params
    table: SoftTable


@dataclass(frozen=True)
class GenerativeNetwork:
    """`rows` noise vectors of `noise` numbers through hidden layers of these `widths`."""

    rows: Annotated[int, "How many noise vectors, and so soft rows, there are.", Range(1, 10**5)] = 1000
    noise: Annotated[int, "How many numbers a noise vector has.", Range(1, 4096)] = 64
    widths: Annotated[tuple[int, ...], "The widths of the hidden layers.", Range(1, 4096)] = (256, 256)
    descent: Descent = field(default_factory=lambda: Descent(rate=0.003, steps=2000, halvings=6, warmup=400))

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Whether the projection fits this class of queries."""
        return fits_soft_cells(query)

    def init(self, key: Key, schema: Schema) -> NetworkState:
        """Columns uniform under the public bounds."""
        leaves = {column.name: uniform_leaves(column) for column in schema.columns}
        return self._fresh(key, Frame(schema, tuple(Axis.of(column) for column in schema.columns)), leaves)

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> NetworkState:
        """The same; a network that is fitted will first learn the rows of a public table."""
        state = self.init(key, schema)
        return replace(state, table=replace(state.table, public=public))

    def fit(self, key: Key, state: NetworkState, *, released: Released) -> NetworkState:
        """Fit the weights to all measurements; goes on from those that were fitted before, or that a public table taught."""
        check_measured(self, released)
        frame, leaves = held_frame(released, numbers=False), leaves_of(released)

        def fitted(before: SoftTable) -> tuple[NetworkState, float]:
            start, descent = self._fresh(key, frame, leaves), replace(self.descent, warmup=0)
            if goes_on(before, frame):
                start = _carried(state, start)
            elif before.public is not None:
                start = taught(key, start, before.public)
            else:
                descent = self.descent
            if only_columns(released):
                return start, 0.0
            maker, table = NetworkMaker(frame), replace(start.table, public=state.table.public)
            problem = problem_of(table, released, maker=maker)
            enough = enough_of(before, frame, params=start.weights, problem=problem)
            best = descended(start.weights, problem, descent=descent, enough=enough)
            return NetworkState(best.params, replace(table, params=_soft_params(maker, best.params))), best.loss

        return not_trapped(state.table, fitted)

    def _fresh(self, key: Key, frame: Frame, leaves: dict[str, Leaves]) -> NetworkState:
        noise_key, *keys = split(key, 2 + len(self.widths))
        sizes = (self.noise, *self.widths)
        shares = [leaves[axis.column].shares(axis) for axis in frame.held if axis is not None]
        bias = jnp.asarray(np.log(np.concatenate(shares) + 1e-4), jnp.float32)
        weights = {
            "noise": _normal(noise_key, self.noise, self.rows),
            "hidden": [(_he(k, sizes[i + 1], sizes[i]), jnp.zeros(sizes[i + 1])) for i, k in enumerate(keys[:-1])],
            "last": (_he(keys[-1], len(bias), sizes[-1]), bias),
        }
        return NetworkState(weights, SoftTable(frame, _soft_params(NetworkMaker(frame), weights), leaves))

    def answer(self, state: NetworkState, query: Query) -> Float[np.ndarray, " cells"]:
        """The expected answer of the rounded rows."""
        return soft_answer(state.table, query, maker=SoftMaker(state.table.frame))

    def sample(self, key: Key, state: NetworkState, *, rows: int) -> Rows:
        """Randomised rounding of the network's rows, each as often as needed."""
        return rounded(key, state.table, rows=rows)


def taught(key: Key, state: NetworkState, public: Rows) -> NetworkState:
    """The network after it has learnt the rows of a public table (GEM-pub), one for each noise vector, by cross-entropy."""
    maker = NetworkMaker(state.table.frame)
    chosen = permutation(key, max(len(public), state.table.rows))[: state.table.rows] % len(public)
    cells = {axis.column: public.cells(axis)[chosen] for axis in maker.frame.held if axis is not None}

    def surprise(weights: Params) -> Any:
        chances = {name: jax.nn.log_softmax(logits, axis=0) for name, logits in maker.logits(weights).items()}
        return -sum(chances[name][own, jnp.arange(len(own))].mean() for name, own in cells.items())

    adam = optax.adam(LESSON_RATE)

    @jit()
    def step(weights: Params, moments: Any) -> tuple[Params, Any]:
        changes, moments = adam.update(jax.grad(surprise)(weights), moments)
        return optax.apply_updates(weights, changes), moments

    weights, moments = state.weights, adam.init(state.weights)
    for _ in range(LESSONS):
        weights, moments = step(weights, moments)
    return NetworkState(weights, replace(state.table, params=_soft_params(maker, weights)))


def _carried(state: NetworkState, fresh: NetworkState) -> NetworkState:
    """The network of an earlier round, its last layer fresh for columns that are now held over other cells."""
    old, new = state.table.frame, fresh.table.frame
    same = [a == b for a, b in zip(old.held, new.held, strict=True)]

    def joined(part: int) -> Any:
        """The weights (0) or biases (1) of the last layer."""
        ours, theirs = (_by_column(made.weights["last"][part], made.table.frame) for made in (state, fresh))
        return jnp.concatenate([a if keep else b for keep, a, b in zip(same, ours, theirs, strict=True)])

    weights = {**state.weights, "last": (joined(0), joined(1))}
    return NetworkState(weights, replace(fresh.table, params=_soft_params(NetworkMaker(new), weights)))


def _by_column(rows: Any, frame: Frame) -> list[Any]:
    """The parts of the last layer, column by column."""
    sizes = [axis.size for axis in frame.held if axis is not None]
    return list(jnp.split(rows, np.cumsum(sizes)[:-1]))


def _he(key: Key, outputs: int, inputs: int) -> Float[Array, "outputs inputs"]:
    return _normal(key, outputs, inputs) * (2.0 / inputs) ** 0.5


def _normal(key: Key, rows: int, columns: int) -> Float[Array, "rows columns"]:
    return jnp.asarray(normals(key, rows * columns).reshape(rows, columns), jnp.float32)


def _soft_params(maker: NetworkMaker, weights: Params) -> Params:
    return {"logits": maker.logits(weights), "numbers": {}, "absent": {}}
