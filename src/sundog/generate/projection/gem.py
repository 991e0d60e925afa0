"""GEM: the relaxed projection through a generative network (Liu, Vietri, Wu 2021).

Everything but the parametrisation is RAP's (relaxed_projection.py): a small network turns fixed Gaussian noise, one
vector per soft row, into the probabilities of every column's cells,

    rows = softmax_by_column(W_3 relu(W_2 relu(W_1 z + b_1) + b_2) + b_3),    loss as in RAP,

and Adam moves the weights instead of the rows. The last bias starts at the one-way measurements. What differs from the
paper: one loss over all measurements weighted by their noise, no moving average of weights, rounding as in RAP.
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
    fits_soft_cells,
    goes_on,
    held_frame,
    only_columns,
    problem_of,
    soft_answer,
)
from sundog.generate.projection.rounding import rounded
from sundog.generate.projection.soft_table import Frame, Known, SoftTable
from sundog.lazy_jax import Array, jax, jnp
from sundog.queries import Query
from sundog.random.keys import Key, normals, split
from sundog.released import Released


@dataclass(frozen=True)
class NetworkMaker:
    """Weights to features."""

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
        """The feature matrix."""
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
    descent: Descent = field(default_factory=lambda: Descent(rate=0.003))

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Marginals and trees."""
        return fits_soft_cells(query)

    def init(self, key: Key, schema: Schema) -> NetworkState:
        """Columns uniform under the public bounds."""
        leaves = {column.name: uniform_leaves(column) for column in schema.columns}
        return self._fresh(key, Frame(schema, tuple(Axis.of(column) for column in schema.columns)), leaves)

    def fit(self, key: Key, state: NetworkState, *, released: Released) -> NetworkState:
        """Fit the weights to all measurements; goes on from those that were fitted before."""
        check_measured(self, released)
        frame, leaves = held_frame(released, numbers=False), leaves_of(released)
        start = self._fresh(key, frame, leaves)
        if goes_on(state.table, frame):
            start = _carried(state, start)
        if only_columns(released):
            return start
        maker = NetworkMaker(frame)
        table = SoftTable(frame, start.table.params, leaves)
        weights = descended(start.weights, problem_of(table, released, maker=maker), descent=self.descent).params
        return NetworkState(weights, SoftTable(frame, _soft_params(maker, weights), leaves))

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
