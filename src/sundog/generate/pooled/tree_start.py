"""A start for the search: rows drawn along the strongest tree of tables.

The search changes one cell at a time. Where columns follow each other closely (the length, width and weight of a stone) no
single change of independent columns improves much, and it would end far from the tables. So rows start from the tree of
pairs with the most mutual information: at its roots independent columns, every other column given its neighbour. Draws are
systematic, so that the tables of the tree come out as given, up to rounding.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import rel_entr

from sundog.domain.axis import Axis
from sundog.estimate.pairs.pool import Pooled
from sundog.random.draws import draw_within
from sundog.random.keys import Key, split

Cells = Int[np.ndarray, " rows"]
Table = tuple[tuple[Axis, Axis], Float[np.ndarray, "a b"]]


def along_tree(key: Key, pooled: Pooled, *, start: Mapping[str, Cells]) -> tuple[Cells, ...]:
    """One cell per column and row; `start` has independent columns, of which the roots of the trees are kept."""
    tables: dict[tuple[str, str], Table] = {}
    for query, values, _ in pooled.tables:
        (first, second), table = query.axes, values.reshape(query.shape)
        tables[first.column, second.column] = (first, second), table
        tables[second.column, first.column] = (second, first), table.T
    cells, names = dict(start), list(start)
    for each, edge in zip(split(key, len(names)), _edges(tables, names), strict=False):
        cells[edge[1]] = _drawn(each, pooled, tables[edge], cells[edge[0]])
    return tuple(cells.values())


def _edges(tables: Mapping[tuple[str, str], Table], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The edges of the strongest trees, from parent to child, parents first."""
    place = {name: k for k, name in enumerate(names)}
    ends = np.array([[place[a], place[b]] for a, b in tables], dtype=np.int32).reshape(
        -1, 2
    )  # older SciPy takes no more
    gains = np.array([1e-12 + information(table) for _, table in tables.values()])
    tree = minimum_spanning_tree(coo_array((-gains, ends.T), shape=(len(names),) * 2).tocsr())
    reached = np.zeros(len(names), dtype=bool)
    for root in range(len(names)):
        if reached[root]:
            continue
        order, before = breadth_first_order(tree, root, directed=False)
        reached[order] = True
        yield from ((names[before[child]], names[child]) for child in order[1:])


def information(table: Float[np.ndarray, "a b"]) -> float:
    """The mutual information of a table of counts."""
    shares = table / table.sum()
    return float(rel_entr(shares, np.outer(shares.sum(axis=1), shares.sum(axis=0))).sum())


def _drawn(key: Key, pooled: Pooled, table: Table, given: Cells) -> Cells:
    """Cells of the second column given those of the first."""
    (first, second), counts = table
    groups = pooled.axes[first.column].parents(first)[given]
    fine = pooled.axes[second.column], pooled.margins[second.column]
    return drawn_given(key, groups, table=(second, counts), fine=fine)


def drawn_given(
    key: Key,
    groups: Cells,
    *,
    table: tuple[Axis, Float[np.ndarray, "a b"]],
    fine: tuple[Axis, Float[np.ndarray, " cells"]],
) -> Cells:
    """Cells of a column given each row's line of a table; finer than the table's, by the column's margin on the `fine` axis."""
    (axis, counts), (finer, margin) = table, fine
    coarse_key, fine_key = split(key, 2)
    coarse = draw_within(coarse_key, groups, weights=counts.ravel(), sizes=np.full(len(counts), axis.size))
    merged = finer.parents(axis)
    order = np.argsort(merged, kind="stable")
    sizes = np.bincount(merged, minlength=axis.size)
    return order[draw_within(fine_key, coarse % axis.size, weights=margin[order], sizes=sizes)]
