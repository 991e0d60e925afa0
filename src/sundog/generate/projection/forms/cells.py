"""Chosen cells of marginals of soft rows: products of the features of their axes' cells (products.py)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.adam import Maker
from sundog.generate.projection.forms.base import Form
from sundog.generate.projection.forms.marginal import table_cells
from sundog.generate.projection.forms.products import add_products, padded_conditions, products_of
from sundog.generate.projection.panels import MeasuredCells, Panel, on_device
from sundog.generate.projection.soft_table import Frame, Known, SoftTable
from sundog.queries import Cells

HELD = 4096
"""This many cells' members are held at a time."""


def _axes(query: Cells, schema: Schema) -> list[Axis]:
    return list(query.marginal.axes)


def _panels(frame: Frame, targets: Sequence[MeasuredCells], *, known: Known) -> list[Panel]:
    """One panel for all cells, each with the weight of its measurement."""
    del known  # the features already have it
    most = max(len(target.query.marginal.axes) for target in targets)
    picked = np.concatenate([_picked(frame, target.query, most) for target in targets])
    products, places = products_of(picked, one=frame.one, conditions=padded_conditions((), zero=frame.zero))
    values = np.zeros((len(places), 2), np.float32)
    weight = np.zeros(len(places), np.float32)
    values[: len(picked), 0] = np.concatenate([target.values for target in targets])
    weight[: len(picked)] = np.concatenate([np.full(target.query.size, target.weight) for target in targets])
    arrays = (np.array([frame.one]), values, weight, np.zeros_like(weight), products)
    return [Panel("cells", add_products, on_device(arrays))]


def _picked(frame: Frame, query: Cells, most: int) -> Int[np.ndarray, "cells factors"]:
    features = [frame.cells(axis)[at] for axis, at in zip(query.marginal.axes, query.positions, strict=True)]
    ones = [np.full(query.size, frame.one)] * (most - len(features))
    return np.stack([*features, *ones], axis=1)


def _answers(table: SoftTable, queries: Sequence[Cells], *, maker: Maker) -> Float[np.ndarray, " cells"]:
    """Proportions, numbers exact, labels in expectation over their rounding."""
    cells = table_cells(table, [query.marginal for query in queries], maker=maker)
    found = []
    for query in queries:
        parts = [cells[axis] for axis in query.marginal.axes]
        for start in range(0, query.size, HELD):
            at = query.positions[:, start : start + HELD]
            members = np.prod([part[place] for part, place in zip(parts, at, strict=True)], axis=0)
            found.append(members.mean(axis=1))
    return np.concatenate(found)


FORM = Form(_axes, _panels, _answers)
