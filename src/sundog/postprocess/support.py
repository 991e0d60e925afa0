"""The synthetic rows as seen by the measures: one vector a distinct row, and the sums that the solvers need.

Rows that agree in all measured columns are one point of the support; its base weight is how often it occurs. Vectors are
in proportions (a count, a centred moment), so that all numbers stay small.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain.rows import Rows
from sundog.queries import Query

BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class Support:
    """`vectors` (points, measures), `base` (log of each point's share), and the point of every row."""

    vectors: Float[np.ndarray, "points measures"]
    base: Float[np.ndarray, " points"]
    point: Int[np.ndarray, " rows"]

    def first(self, measures: int) -> "Support":
        """The same points, as the first few measures see them."""
        return replace(self, vectors=self.vectors[:, :measures])

    def mean(self, shares: Float[np.ndarray, " points"]) -> Float[np.ndarray, " measures"]:
        """The measures of a distribution on the points."""
        return shares @ self.vectors

    def second(self, shares: Float[np.ndarray, " points"]) -> Float[np.ndarray, "measures measures"]:
        """The sum of shares times products of measures, block by block."""
        total = np.zeros((self.vectors.shape[1],) * 2)
        for start in range(0, len(shares), BLOCK):
            part = self.vectors[start : start + BLOCK] * np.sqrt(shares[start : start + BLOCK])[:, None]
            total += part.T @ part
        return total


def support_of(rows: Rows, queries: Sequence[Query]) -> Support:
    """The distinct rows in the measured columns."""
    names = list(dict.fromkeys(name for query in queries for name in query.columns))
    codes = np.stack([rows.column(name).astype(np.int64) for name in names], axis=1)
    _, first, point = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    distinct = Rows(rows.schema, tuple(column[first] for column in rows.codes))
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    share = np.bincount(point.ravel(), weights=weights, minlength=len(first))
    kept = share > 0
    number = np.cumsum(kept) - 1
    vectors = _vectors(_taken(distinct, kept), queries)
    return Support(vectors, np.log(share[kept] / share.sum()), number[point.ravel()])


def _vectors(rows: Rows, queries: Sequence[Query]) -> Float[np.ndarray, "rows measures"]:
    """Every row's measures in proportions, block by block: whole numbers need as much memory as these."""
    vectors = np.empty((len(rows), sum(query.size for query in queries)))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        block, place = _taken(rows, part), 0
        for query in queries:
            vectors[part, place : place + query.size] = query.vectors(block) / query.scale
            place += query.size
    return vectors


def _taken(rows: Rows, which: slice | Bool[np.ndarray, " rows"]) -> Rows:
    return Rows(rows.schema, tuple(codes[which] for codes in rows.codes))
