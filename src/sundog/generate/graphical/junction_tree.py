"""The junction tree of a graph whose elimination order is known.

A column and its neighbours at the time it is eliminated are a clique of the triangulated graph; those that no other one
holds are its maximal cliques. A spanning tree of them with the largest separators in all is a junction tree: every
column's cliques hang together (Jensen, Jensen 1994). Prim's algorithm finds it, parents first; parts of the graph that
share no column are joined by empty separators. Networks of this kind have at most a few hundred cliques.
"""

import numpy as np
from jaxtyping import Bool, Int

from sundog.generate.graphical.calibrated import Clique


def junction_tree(
    near: Bool[np.ndarray, "columns columns"], order: Int[np.ndarray, " columns"]
) -> tuple[tuple[Clique, ...], tuple[int, ...]]:
    """The tree's cliques, parents first, and the place of each one's parent (-1 for the root)."""
    cliques = maximal_cliques(near, order)
    held = np.zeros((len(cliques), len(near)), dtype=np.int64)
    for place, clique in enumerate(cliques):
        held[place, list(clique)] = 1
    places, parents = _spanning(held @ held.T)
    return tuple(cliques[place] for place in places), parents


def maximal_cliques(near: Bool[np.ndarray, "columns columns"], order: Int[np.ndarray, " columns"]) -> list[Clique]:
    """The maximal cliques of the graph that elimination in this order triangulates, sorted."""
    graph, left = near.copy(), np.ones(len(near), dtype=np.bool_)
    cliques: list[set[int]] = []
    for column in order.tolist():
        left[column] = False
        later = np.flatnonzero(graph[column] & left)
        graph[np.ix_(later, later)] = True
        clique = {column, *later.tolist()}
        if not any(clique <= other for other in cliques):  # one that is eliminated later cannot hold this column
            cliques.append(clique)
    return sorted(tuple(sorted(clique)) for clique in cliques)


def _spanning(shared: Int[np.ndarray, "cliques cliques"]) -> tuple[list[int], tuple[int, ...]]:
    """Cliques in the order in which they join the tree, each by its largest separator, and their parents' places in it."""
    places, parents = [0], [-1]
    nearest, largest = np.zeros(len(shared), dtype=np.int64), shared[0].copy()
    largest[0] = -1
    for place in range(1, len(shared)):
        joining = int(largest.argmax())
        places.append(joining)
        parents.append(int(nearest[joining]))
        closer = (largest >= 0) & (shared[joining] > largest)
        nearest[closer], largest[closer] = place, shared[joining][closer]
        largest[joining] = -1
    return places, tuple(parents)
