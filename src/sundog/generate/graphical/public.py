"""A public table as the start of a graphical model: its strongest relations as a tree (Chow and Liu 1968).

The tree of conditional proportions that maximises the sum of mutual informations of the public rows; the potential of an
edge is log p(child | parent).
"""

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.generate.graphical.calibrated import Clique

PSEUDO = 0.5
"""Public rows are a sample: so much is added to every cell of a pair's table, divided by the cells of the table."""


def public_edges(public: Rows | None, axes: list[Axis]) -> dict[Clique, Float[np.ndarray, "first second"]]:
    """The tree's edges with their log conditional proportions, first column before second; none without a table."""
    if public is None or not len(public):
        return {}
    cells = [public.cells(axis).astype(np.int64) for axis in axes]
    pairs = {
        (i, j): _proportions(cells[i] * axes[j].size + cells[j], (axes[i].size, axes[j].size))
        for i in range(len(axes))
        for j in range(i + 1, len(axes))
    }
    strength = {pair: _mutual_information(table) for pair, table in pairs.items()}
    edges: dict[Clique, Float[np.ndarray, "first second"]] = {}
    reached = {0}
    while len(reached) < len(axes):
        i, j = max((pair for pair in pairs if (pair[0] in reached) != (pair[1] in reached)), key=strength.__getitem__)
        table = pairs[(i, j)]
        parent = table.sum(axis=1, keepdims=True) if i in reached else table.sum(axis=0, keepdims=True)
        edges[(i, j)] = np.log(table if not edges else table / parent)
        reached |= {i, j}
    return edges


def _proportions(places: Float[np.ndarray, " rows"], shape: tuple[int, int]) -> Float[np.ndarray, "first second"]:
    size = shape[0] * shape[1]
    counts = np.bincount(places, minlength=size) + PSEUDO / size
    return (counts / counts.sum()).reshape(shape)


def _mutual_information(table: Float[np.ndarray, "first second"]) -> float:
    product = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    return float((table * np.log(table / product)).sum())
