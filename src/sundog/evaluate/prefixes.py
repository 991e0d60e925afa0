"""Random prefix queries (Private-GSD Section 5, Eq. 3): x_c = v and x_a < tau_a and x_b < tau_b.

    error = mean over queries |share_real - share_synthetic|

c is a random categorical column and v one of its values (missing included), a and b are two random numeric columns scaled
to [0, 1] by their public bounds, tau is uniform. A missing number is below no threshold. With fewer than two numeric
columns, or no categorical one, that part of the query is left out. 2,000 queries instead of the paper's 50,000 or more:
the mean over them is known to a few per cent, and the same ones are asked of every table.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numba import njit

from sundog.domain import Numeric, Schema
from sundog.domain.rows import Rows
from sundog.evaluate.base import Better, Comparison, Needs, Score
from sundog.random.keys import split, uniforms

QUERIES = 2_000


@dataclass(frozen=True)
class Prefixes:
    """The error of random prefixes."""

    name = "prefix"
    summary = "mean absolute error of 2,000 random prefix queries: a category and two numeric thresholds"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean error; the largest as a part."""
        numeric = [column for column in subject.schema.columns if isinstance(column, Numeric)]
        if not numeric:
            return None
        choose, value, pick, cut = split(subject.key, 4)
        labels = _label_columns(subject.schema)
        chosen = np.floor(uniforms(choose, QUERIES) * max(len(labels), 1)).astype(np.int64)
        sizes = np.array([subject.schema.columns[position].size for position in labels] or [1])
        values = np.floor(uniforms(value, QUERIES) * sizes[chosen]).astype(np.int64)
        order = np.argsort(uniforms(pick, QUERIES * len(numeric)).reshape(QUERIES, -1), axis=1)[:, :2]
        tau = uniforms(cut, order.size).reshape(order.shape)
        queries = (chosen, values, order, tau)
        gaps = np.abs(_shares(subject.real, queries) - _shares(subject.synthetic, queries))
        return Score(float(gaps.mean()), {"max": float(gaps.max())})


def _label_columns(schema: Schema) -> list[int]:
    return [position for position, column in enumerate(schema.columns) if not isinstance(column, Numeric)]


def _shares(rows: Rows, queries: tuple[Any, ...]) -> Float[np.ndarray, " queries"]:
    numbers = numeric_matrix(rows)
    labels = [rows.codes[position].astype(np.int64) for position in _label_columns(rows.schema)]
    table = np.stack(labels) if labels else np.zeros((1, len(rows)), dtype=np.int64)
    return _count_prefixes(table, np.nan_to_num(numbers, nan=2.0), queries) / len(rows)


def numeric_matrix(rows: Rows) -> Float[np.ndarray, "columns rows"]:
    """The numeric columns scaled to [0, 1]; NaN where missing."""
    names = [column.name for column in rows.schema.columns if isinstance(column, Numeric)]
    return np.stack([rows.unit_interval(name) for name in names]) if names else np.empty((0, len(rows)))


@njit(cache=True, nogil=True)
def _count_prefixes(labels: Any, numbers: Any, queries: Any) -> Any:  # pragma: no cover (compiled)
    chosen, values, order, tau = queries
    counts = np.zeros(chosen.shape[0], dtype=np.int64)
    for query in range(chosen.shape[0]):
        column = chosen[query]
        for row in range(labels.shape[1]):
            if labels[column, row] != values[query]:
                continue
            hit = True
            for k in range(order.shape[1]):
                if numbers[order[query, k], row] >= tau[query, k]:
                    hit = False
                    break
            counts[query] += hit
    return counts
