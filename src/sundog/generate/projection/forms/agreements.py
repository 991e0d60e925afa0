"""t-out-of-k queries, disjunctions (t = 1) and parities of soft rows: linear functions of a soft marginal (RAP, Appendix D).

A soft row's chance of agreeing with a combination in at least t (or an odd number) of its independent columns is the
polynomial extension of the query. Summed over rows it is the same sum of cells that makes the exact answer from the exact
table, taken of the soft table: no chance of any single row is ever written down.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.adam import Maker
from sundog.generate.projection.forms.base import Form
from sundog.generate.projection.forms.marginal import table_answer, table_cells
from sundog.generate.projection.panels import Matrix, MeasuredCells, Panel, on_device
from sundog.generate.projection.soft_table import Frame, Known, SoftTable
from sundog.lazy_jax import jax, jit, jnp
from sundog.queries import AtLeast, Parity
from sundog.queries.at_least import agreements
from sundog.queries.parity import odd

Agreeing = AtLeast | Parity


def _counted(query: Agreeing) -> Callable[[Any], Any]:
    """What is made of the table."""
    return _at_least(query.least) if isinstance(query, AtLeast) else odd


@cache
def _at_least(least: int) -> Callable[[Any], Any]:
    """One function per t, so that what is compiled for it is found again."""
    return lambda table: sum(agreements(table)[least:], start=table * 0)


def _axes(query: Agreeing, schema: Schema) -> list[Axis]:
    return list(query.marginal.axes)


def _panels(frame: Frame, targets: Sequence[MeasuredCells], *, known: Known) -> list[Panel]:
    """One panel per query; those of one shape and t are compiled once."""
    del known  # the features already have it
    panels = []
    for target in targets:
        picked = tuple(frame.cells(axis) for axis in target.query.marginal.axes)
        values = target.values.reshape(target.query.marginal.shape).astype(np.float32)
        arrays = (picked, values, np.float32(target.weight))
        panels.append(Panel("cells", _adding(_counted(target.query)), on_device(arrays)))
    return panels


@cache
def _adding(counted: Callable[[Any], Any]) -> Callable[..., Any]:
    def part(matrix: Matrix, picked: Any, values: Any, weight: Any) -> Any:
        return weight * jnp.square(counted(_soft_table(matrix, picked)) - values).sum()

    @jit()
    def add(
        matrix: Matrix, loss: Any, gradient: Matrix, sharpness: Any, picked: Any, values: Any, weight: Any
    ) -> tuple[Any, Matrix]:
        del sharpness  # the features already have it
        value, slope = jax.value_and_grad(part)(matrix, picked, values, weight)
        return loss + value, gradient + slope

    return add


def _soft_table(matrix: Matrix, picked: Sequence[Any]) -> Any:
    """The marginal of the soft rows: its last axis against the product of the others."""
    lines = matrix[picked[0]]
    for part in picked[1:-1]:
        lines = (lines[:, None, :] * matrix[part][None, :, :]).reshape(-1, matrix.shape[1])
    cells = matrix[picked[-1]] if len(picked) > 1 else jnp.ones((1, matrix.shape[1]))
    table = jnp.matmul(lines, cells.T, precision="highest") / matrix.shape[1]
    return table.reshape(tuple(len(part) for part in picked))


def _answers(table: SoftTable, queries: Sequence[Agreeing], *, maker: Maker) -> Float[np.ndarray, " cells"]:
    """Proportions, numbers exact, labels in expectation over their rounding."""
    cells = table_cells(table, [query.marginal for query in queries], maker=maker)
    found = []
    for query in queries:
        marginal = table_answer([cells[axis] for axis in query.marginal.axes]).reshape(query.marginal.shape)
        found.append(_counted(query)(marginal).ravel())
    return np.concatenate(found)


FORM = Form(_axes, _panels, _answers)
