"""Thresholds where they matter: placed by the released one-way measurements, which is free.

Thresholds drawn from public bounds are mostly trivial where columns are skewed (69 % of RAP++'s on Adult). After every
column is measured alone, rows drawn from these measurements say where thresholds divide the table: halfspaces get the
quantiles of their products with such rows, ranges the quantiles of their column. Labels are merged as Bins does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Numeric
from sundog.domain.rows import Rows
from sundog.estimate.bins import Bins, Leaves, leaves_of
from sundog.queries import Conditional, Halfspaces, Query, Ranges
from sundog.random.draws import draw_within
from sundog.random.keys import Key, key_of, split
from sundog.released import Released

REFERENCE = 4000


@dataclass(frozen=True)
class Thresholds(Bins):
    """Derived bins for marginals, derived thresholds for everything else."""

    def rebin(self, workload: tuple[Query, ...], released: Released) -> tuple[Query, ...]:
        """The workload with its labels merged and its thresholds placed."""
        rows = reference_rows(released)
        return tuple(_placed(query, rows) for query in super().rebin(workload, released))


def reference_rows(released: Released, *, rows: int = REFERENCE) -> Rows:
    """Rows whose columns follow their released one-way measurements, independently."""
    leaves = leaves_of(released)
    keys = split(key_of(0), len(released.schema.names))
    drawn = (_drawn(key, leaves[name], rows) for key, name in zip(keys, released.schema.names, strict=True))
    return Rows(released.schema, tuple(drawn))


def _drawn(key: Key, leaves: Leaves, rows: int) -> Int[np.ndarray, " rows"]:
    cell_key, code_key = split(key, 2)
    one = np.zeros(rows, dtype=np.int64)
    cells = draw_within(cell_key, one, weights=leaves.proportions, sizes=np.array([leaves.axis.size]))
    return leaves.decode(code_key, leaves.axis, cells=cells)


def _placed(query: Query, rows: Rows) -> Query:
    """A query with its thresholds placed; queries of a class that has none stay as they are."""
    return PLACED[type(query)](query, rows) if type(query) in PLACED else query


def _placed_conditional(query: Conditional, rows: Rows) -> Conditional:
    return Conditional(query.label, PLACED[type(query.inner)](query.inner, rows))


def _placed_halfspaces(query: Halfspaces, rows: Rows) -> Halfspaces:
    products = np.sort(query.theta.astype(np.float32) @ query.features(rows).T, axis=1)
    count = query.thresholds.shape[1]
    places = ((np.arange(count) + 0.5) / count * products.shape[1]).astype(np.int64)
    return Halfspaces(query.columns, query.widths, query.theta, products[:, places].astype(np.int64))


def _placed_ranges(query: Ranges, rows: Rows) -> Ranges:
    """A bound at a share of the public grid moves to the same share of the reference rows; the ends stay."""
    low, high = query.low.copy(), query.high.copy()
    for place, name in enumerate(query.columns):
        column = rows.schema.column(name)
        if not isinstance(column, Numeric):
            continue
        codes = np.sort(rows.column(name)[rows.column(name) < column.steps])
        on = (query.which == place) & (query.low < column.steps)
        for bound in (low, high):
            inner = on & (bound > 0) & (bound < column.steps)
            share = (bound[inner] / column.steps * len(codes)).astype(np.int64)
            bound[inner] = codes[share] + (bound is high) if len(codes) else bound[inner]
        high = np.where(on, np.maximum(high, low + 1), high)
    return Ranges(query.columns, query.which, low, high)


PLACED: dict[type[Any], Callable[[Any, Rows], Any]] = {
    Conditional: _placed_conditional,
    Halfspaces: _placed_halfspaces,
    Ranges: _placed_ranges,
}
"""The classes whose queries have thresholds."""
