"""Rare labels stand together under their parent: which labels share a cell, where a category list says what belongs where.

A label that can be distinguished from noise stands alone. The others wait at their parent; parents are gone through from the
deepest up, and where what waits there is heavy enough together, it becomes one cell, named by that parent; else it waits
one level higher. What still waits at the top is left to the caller. Which code a synthetic cell becomes is decided by
the one-way measurement inside the cell (bins.Leaves.decode), so it is a code under that parent.
"""

import numpy as np
from jaxtyping import Bool, Float

from sundog.domain import Categorical
from sundog.domain.columns import Label


def families(
    column: Categorical, share: Float[np.ndarray, " codes"], *, rare: Bool[np.ndarray, " codes"], least: float
) -> list[list[int]]:
    """Codes that share a cell, of at least this share together; rare codes that are in none are not heavy enough."""
    above = dict(zip(column.labels, column.parents, strict=True))
    inner = {parent for parent in column.parents if parent is not None}
    waiting: dict[Label, list[int]] = {}
    for code in np.flatnonzero(rare):
        if code < len(column.labels):
            label = column.labels[code]
            place = label if label in inner else above[label]
            if place is not None:
                waiting.setdefault(place, []).append(int(code))
    found = []
    for place in sorted(inner, key=lambda node: -_depth(node, above)):
        codes, higher = waiting.pop(place, []), above.get(place)
        if codes and float(share[codes].sum()) >= least:
            found.append(sorted(codes))
        elif higher is not None:
            waiting.setdefault(higher, []).extend(codes)
    return found


def _depth(node: Label | None, above: dict[Label, Label | None]) -> int:
    depth = 0
    while node is not None:
        node, depth = above.get(node), depth + 1
    return depth
