"""Independent columns: every column follows its own one-way measurement, and nothing else.

The simplest generator, and the floor that every other one must beat. Cells are filled systematically (each gets its
expected number of rows, give or take one), values inside a numeric cell are uniform. A column that was not measured is
uniform over its codes.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition
from sundog.domain.rows import Rows
from sundog.estimate.bins import leaves_of, uniform_leaves
from sundog.generate.base import Fits, check_measured, in_registry
from sundog.generate.narrowing import box
from sundog.queries import Marginal, Query, answer
from sundog.random.keys import Key, permutation, split, uniforms
from sundog.released import Released

REFERENCE_ROWS = 100_000
FITS: Fits = {Marginal: 1}


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """The proportions of one column's cells."""

    axis: Axis
    proportions: Float[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class IndependentState:
    """One model per column."""

    schema: Schema
    columns: tuple[ColumnModel, ...]


@dataclass(frozen=True)
class Independent:
    """Each column from its own one-way marginal."""

    def supports(self, query: Query) -> bool:
        """Whether the query is a one-way marginal."""
        return in_registry(FITS, query)

    def init(self, key: Key, schema: Schema) -> IndependentState:
        """A state in which every column is uniform."""
        leaves = [uniform_leaves(column) for column in schema.columns]
        return IndependentState(schema, tuple(ColumnModel(leaf.axis, leaf.proportions) for leaf in leaves))

    def fit(self, key: Key, state: IndependentState, *, released: Released) -> IndependentState:
        """Every column takes the estimate from all its one-way measurements."""
        check_measured(self, released)
        leaves = leaves_of(released)
        return IndependentState(
            state.schema, tuple(ColumnModel(leaves[name].axis, leaves[name].proportions) for name in state.schema.names)
        )

    def answer(self, state: IndependentState, query: Query) -> Float[np.ndarray, " cells"]:
        """Products of proportions where the cells agree with the measured ones, else counted on sampled rows."""
        models = [state.columns[state.schema.position(name)] for name in query.columns]
        if isinstance(query, Marginal) and query.axes == tuple(model.axis for model in models):
            table = np.ones(1)
            for model in models:
                table = np.multiply.outer(table, model.proportions).ravel()
            return table
        from sundog.random.keys import key_of

        rows = self.sample(key_of(0), state, rows=REFERENCE_ROWS)
        return answer(query, rows) / REFERENCE_ROWS

    def sample(self, key: Key, state: IndependentState, *, rows: int) -> Rows:
        """Rows whose columns are drawn independently."""
        keys = split(key, len(state.columns))
        return Rows(state.schema, tuple(_draw(k, model, rows) for k, model in zip(keys, state.columns, strict=True)))

    def narrowed(self, state: IndependentState, condition: Condition) -> IndependentState | None:
        """Columns without the cells that cannot satisfy a condition."""
        columns = list(state.columns)
        for place, cells in box(condition, state.schema, axes=[column.axis for column in columns]).items():
            columns[place] = replace(columns[place], proportions=columns[place].proportions * cells)
        empty = any(column.proportions.sum() <= 0 for column in columns)
        return None if empty else replace(state, columns=tuple(columns))


def _draw(key: Key, model: ColumnModel, rows: int) -> Int[np.ndarray, " rows"]:
    choose, order, inside = split(key, 3)
    cells = systematic(model.proportions, rows, offset=float(uniforms(choose, 1)[0]))[permutation(order, rows)]
    return model.axis.decode(cells, uniforms(inside, rows))


def systematic(proportions: Float[np.ndarray, " cells"], rows: int, *, offset: float) -> Int[np.ndarray, " rows"]:
    """Cells in order, each as often as its proportion says, give or take one.

    >>> systematic(np.array([0.5, 0.25, 0.25]), 4, offset=0.5).tolist()
    [0, 0, 1, 2]
    """
    ends = np.floor(np.cumsum(proportions) / proportions.sum() * rows + offset).astype(np.int64)
    ends[-1] = rows
    return np.repeat(np.arange(len(proportions)), np.diff(np.minimum(ends, rows), prepend=0))
