"""How rows differ by their place and by the number of their siblings together: tables of most entropy, from what was measured of each.

A column is measured with a row's place, and with the number of its siblings. Rows can have both tables and still be wrong: the first persons
of large households may have the ages of those who live alone, as long as other rows make up for it. So the search also gets a table of
the column by place and number of siblings together. It is the one with the most entropy that has the cleaned tables and the
rows' places, by scaling to each in turn (iterative proportional fitting, Deming and Stephan 1940).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from sundog.generate.linked.kinds import GIVEN
from sundog.generate.linked.tables import Table

TURNS = 30
LEAST = 1e-9
"""No count is taken to be smaller, so that sums can always be reached."""

Map = Int[np.ndarray, " entries"]


def together(
    tables: Sequence[Table], *, margin: Float[np.ndarray, " fine"], row_weight: Float[np.ndarray, " rows"]
) -> Table:
    """The table of one column by all that several tables give, from its margin and the weights of the rows."""
    cells, of_cell = _common([table.first_map for table in tables])
    groups, of_group = _common([table.second_map for table in tables])
    rows = np.bincount(groups, weights=row_weight)
    found = np.outer(np.bincount(cells, weights=margin) / margin.sum(), rows)
    for _ in range(TURNS):
        for table, first, second in zip(tables, of_cell, of_group, strict=True):
            held = np.zeros(table.target.shape)
            np.add.at(held, np.ix_(first, second), found)
            found = found * (np.maximum(table.target, LEAST) / np.maximum(held, LEAST))[np.ix_(first, second)]
        found = found * (rows / np.maximum(found.sum(axis=0), LEAST))
    precision = float(np.mean([table.precision for table in tables]))
    return Table(GIVEN, tables[0].first, 0, cells, groups, found, precision)


def _common(maps: Sequence[Map]) -> tuple[Map, list[Map]]:
    """The coarsest cells on which all maps can be told apart: the cell of every entry, and for each map where it puts a cell."""
    held, cells = np.unique(np.stack(maps), axis=1, return_inverse=True)
    return cells.ravel(), list(held)
