"""Measured marginals in the terms of a graphical model: which cells the model has, and how measured cells relate to them.

Tables of several columns may have been measured on different axes; the model's axis of a column refines all of them.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves
from sundog.generate.graphical.mirror_descent import MeasuredTable
from sundog.queries import Marginal
from sundog.released import Released


def model_axes(released: Released, leaves: list[Leaves]) -> list[Axis]:
    """Each column's model axis: as fine as all measured tables of several columns; its leaves where there is none."""
    used: dict[str, list[Axis]] = {}
    for measurement in released.measurements:
        if isinstance(measurement.query, Marginal) and len(measurement.query.axes) > 1:
            for axis in measurement.query.axes:
                used.setdefault(axis.column, []).append(axis)
    return [own[0].refine(*own[1:]) if (own := used.get(one.column.name)) else one.axis for one in leaves]


def targets_of(released: Released, axes: list[Axis]) -> list[MeasuredTable]:
    """All measured marginals as targets of the descent; what was measured again is one target."""
    made = [
        _target(m.query, m.values / released.rows, m.stddev / released.rows, axes, released.schema)
        for m in released.measurements
        if isinstance(m.query, Marginal)
    ]
    targets: dict[Any, MeasuredTable] = {}
    for target in made:
        if target is not None:
            mark = (target.clique, target.values.shape, *(None if m is None else m.tobytes() for m in target.maps))
            targets[mark] = targets[mark].joined(target) if mark in targets else target
    return list(targets.values())


def _target(
    query: Marginal, values: Float[np.ndarray, " cells"], stddev: float, axes: list[Axis], schema: Schema
) -> MeasuredTable | None:
    """A measurement in the model's terms; a one-way measurement finer than the model is added up to the model's cells."""
    places = [schema.position(name) for name in query.columns]
    if len(places) == 1 and query.axes[0] != axes[places[0]]:
        return _added_up(query.axes[0], values, stddev, axes[places[0]], places[0])
    order = np.argsort(places)
    table = np.moveaxis(values.reshape(query.shape), range(len(places)), np.argsort(order))
    coarser = [query.axes[k] for k in order]
    finer = [axes[places[k]] for k in order]
    maps = [None if fine == coarse else fine.parents(coarse) for fine, coarse in zip(finer, coarser, strict=True)]
    return MeasuredTable(tuple(sorted(places)), table, np.full(table.shape, stddev**-2), tuple(maps))


def _added_up(
    fine: Axis, values: Float[np.ndarray, " cells"], stddev: float, model: Axis, place: int
) -> MeasuredTable | None:
    """One-way values on the model's cells; None where the cells do not nest (the values still shape the leaves)."""
    if not fine.refines(model):
        return None
    cells = fine.parents(model)
    summed = np.bincount(cells, weights=values, minlength=model.size)
    parts = np.bincount(cells, minlength=model.size)
    return MeasuredTable((place,), summed, 1 / (np.maximum(parts, 1) * stddev**2), (None,))


def transfer(leaves: Leaves, model: Axis, wanted: Axis) -> Float[np.ndarray, "model wanted"]:
    """How each model cell's rows divide among the cells of another axis, by the leaves inside it."""
    if model == wanted:
        return np.eye(model.size)
    fine = leaves.within(model).within(wanted)
    table = np.zeros((model.size, wanted.size))
    np.add.at(table, (fine.cells(model), fine.cells(wanted)), np.maximum(fine.proportions, 1e-300))
    return table / table.sum(axis=1, keepdims=True)
