"""In which order to eliminate the columns of a graphical model, and how large its junction tree then is.

Eliminating a column joins all its neighbours; it and they are a clique of the triangulated graph. A column whose
neighbours are joined already costs nothing and goes first (trees stay trees); else the one whose clique has the fewest
cells, as in mbi. Compiled by Numba: an adaptive rule asks for the size of hundreds of graphs a round.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numba import njit

from sundog.generate.graphical.calibrated import Clique


def neighbours(columns: int, cliques: Iterable[Clique]) -> Bool[np.ndarray, "columns columns"]:
    """Which columns some clique holds together."""
    near = np.zeros((columns, columns), dtype=np.bool_)
    for clique in cliques:
        near[np.ix_(clique, clique)] = True
    np.fill_diagonal(near, False)
    return near


def elimination_order(
    near: Bool[np.ndarray, "columns columns"], sizes: Iterable[int]
) -> tuple[Int[np.ndarray, " columns"], float]:
    """The order, and the number of cells of all cliques of the junction tree together."""
    return _eliminated(near, np.asarray(sizes, dtype=np.float64))


@njit(cache=True, nogil=True)
def _eliminated(near: Any, sizes: Any) -> tuple[Any, float]:  # pragma: no cover
    columns = len(sizes)
    graph, left = near.copy(), np.ones(columns, dtype=np.bool_)
    later = np.zeros((columns, columns), dtype=np.bool_)
    order = np.empty(columns, dtype=np.int64)
    total = 0.0
    for step in range(columns):
        best, cheapest = _cheapest(graph, left, sizes)
        left[best] = False
        order[step] = best
        for i in range(columns):
            later[best, i] = graph[best, i] and left[i]
        if not _held(later, order[:step], best):
            total += cheapest
        for i in range(columns):
            if later[best, i]:
                for j in range(columns):
                    if later[best, j] and i != j:
                        graph[i, j] = True
    return order, total


@njit(cache=True, nogil=True)
def _cheapest(graph: Any, left: Any, sizes: Any) -> tuple[int, float]:  # pragma: no cover
    """The column to eliminate next, and the cells of its clique."""
    best, cheapest, free = -1, np.inf, False
    for k in range(len(sizes)):
        if left[k]:
            cells = sizes[k]
            for i in range(len(sizes)):
                if left[i] and graph[k, i]:
                    cells *= sizes[i]
            joined = _joined(graph, left, k)
            if best < 0 or (joined and not free) or (joined == free and cells < cheapest):
                best, cheapest, free = k, cells, joined
    return best, cheapest


@njit(cache=True, nogil=True)
def _joined(graph: Any, left: Any, k: int) -> bool:  # pragma: no cover
    """Whether all neighbours of a column are neighbours of each other."""
    for i in range(len(left)):
        if left[i] and graph[k, i]:
            for j in range(i + 1, len(left)):
                if left[j] and graph[k, j] and not graph[i, j]:
                    return False
    return True


@njit(cache=True, nogil=True)
def _held(later: Any, earlier: Any, k: int) -> bool:  # pragma: no cover
    """Whether the clique of a column lies in that of one eliminated earlier."""
    found = False
    for e in earlier:
        found = found or (later[e, k] and _within(later, k, e))
    return found


@njit(cache=True, nogil=True)
def _within(later: Any, k: int, e: int) -> bool:  # pragma: no cover
    """Whether the later neighbours of one column are all those of another; a loop compiles in a fraction of the time."""
    outside = 0
    for i in range(later.shape[1]):
        outside += later[k, i] and not later[e, i]
    return outside == 0
