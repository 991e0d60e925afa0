"""Spread: what the search must keep of labels that were measured together coarsely, or not at all.

Tables of joined cells (sundog.select.residuals) pull on several columns of labels at once. Where two of these were measured with
their rare labels merged, or not at all because they are hardly related, nothing would keep the search from relating them as the
noise wants it: color and clarity through the price. So such tables are held on all labels: merged ones are divided by the columns'
own counts, and columns that were not measured together are independent.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
from jaxtyping import Float

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.estimate.pairs.pool import Pooled
from sundog.queries import Marginal

Table = tuple[Marginal, Float[np.ndarray, " cells"], float]


def spread(pooled: Pooled, schema: Schema) -> Pooled:
    """The pooled tables, those of labels beside joined cells on all labels."""
    thirds = {query.columns[-1] for query, _, _ in pooled.joined}
    labels = sorted(name for name in thirds if isinstance(schema.column(name), Categorical))
    held = {frozenset(query.columns): (query, counts, sd) for query, counts, sd in pooled.tables}
    wide = {pair: _on_all(pooled, *pair, held.get(frozenset(pair))) for pair in combinations(labels, 2)}
    kept = (table for table in pooled.tables if frozenset(table[0].columns) not in set(map(frozenset, wide)))
    return replace(pooled, tables=(*kept, *wide.values()))


def _on_all(pooled: Pooled, first: str, second: str, measured: Table | None) -> Table:
    """A table of two columns on all their cells."""
    axes = pooled.axes[first], pooled.axes[second]
    fine = np.outer(pooled.margins[first], pooled.margins[second])
    if measured is None:
        noisiest = max(sd for _, _, sd in (*pooled.tables, *pooled.joined))
        return Marginal(axes), (fine / pooled.margins[first].sum()).ravel(), noisiest
    query, counts, stddev = measured
    table = counts.reshape(query.shape)
    if query.columns[0] != first:
        table = table.T
    merged = [own.parents(_of(query, own.column)) for own in axes]
    sums = np.zeros(table.shape)
    np.add.at(sums, np.ix_(*merged), fine)
    return Marginal(axes), (fine * (table / np.maximum(sums, 1e-12))[np.ix_(*merged)]).ravel(), stddev


def _of(query: Marginal, column: str) -> Axis:
    return next(axis for axis in query.axes if axis.column == column)
