"""3-sparse counting and linear thresholding queries, relative (PrivPGD Section 4.1, items 3 and 4, and Eq. 9).

    error = (1/J sum |query_j(synthetic) - query_j(real)|) / (1/J sum query_j(real)),   J = 200.

Counting: an interval of cells in each of three random columns, the lower end uniform, the upper uniform above it, kept
if 5 % to 95 % of the real rows fall in. Thresholding: <theta, Emb(x)> + b > 0 for a random direction theta in three
random columns and b uniform over the range that the real rows span. Cells and Emb are those of the other metrics.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from numba import njit
from scipy.special import ndtri

from sundog.evaluate.base import Better, Comparison, Needs, Score, relative_gap
from sundog.random.keys import Key, split, uniforms

QUERIES = 200
SPARSITY = 3
CANDIDATES = 512
ROUNDS = 40
LEAST, MOST = 0.05, 0.95


@dataclass(frozen=True)
class Counting:
    """The error of random counting queries over three columns."""

    name = "counting"
    summary = "relative error of 200 random 3-sparse counting queries that 5 % to 95 % of the real rows satisfy"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """Eq. 9; None where hardly any random interval holds 5 % to 95 % of the rows."""
        columns, low, high = counting_queries(subject)
        if not len(columns):
            return None
        real = inside(subject.real_cells, columns, low=low, high=high)
        return relative_gap(real, inside(subject.synthetic_cells, columns, low=low, high=high))


@dataclass(frozen=True)
class Thresholding:
    """The error of random linear thresholding queries over three columns."""

    name = "thresholding"
    summary = "relative error of 200 random 3-sparse linear thresholding queries"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean absolute error of Eq. 9."""
        choose, turn, shift = split(subject.key, 3)
        columns = _columns(choose, len(subject.sizes), QUERIES)
        theta = ndtri(np.maximum(uniforms(turn, columns.size), 2.0**-53)).reshape(columns.shape)
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        pairs = zip(columns, theta, uniforms(shift, QUERIES).tolist(), strict=True)
        answers = np.array([_threshold_answers(subject, *pair) for pair in pairs])
        return relative_gap(answers[:, 0], answers[:, 1])


Queries = tuple[
    Int[np.ndarray, "queries sparsity"], Int[np.ndarray, "queries sparsity"], Int[np.ndarray, "queries sparsity"]
]


def counting_queries(subject: Comparison) -> Queries:
    """Columns, lowest and highest cells of the accepted queries."""
    kept: list[Queries] = []
    for key in split(subject.key, ROUNDS):
        columns, low, high = _candidates(key, np.array(subject.sizes))
        share = inside(subject.real_cells, columns, low=low, high=high)
        good = (share >= LEAST) & (share <= MOST)
        kept.append((columns[good], low[good], high[good]))
        if sum(len(part[0]) for part in kept) >= QUERIES:
            break
    columns, low, high = (np.concatenate(part)[:QUERIES] for part in zip(*kept, strict=True))
    return columns, low, high


def _candidates(key: Key, sizes: Int[np.ndarray, " columns"]) -> Queries:
    choose, bottom, top = split(key, 3)
    columns = _columns(choose, len(sizes), CANDIDATES)
    size = sizes[columns]
    low = np.floor(uniforms(bottom, columns.size).reshape(columns.shape) * size).astype(np.int64)
    high = low + np.floor(uniforms(top, columns.size).reshape(columns.shape) * (size - low)).astype(np.int64)
    return columns, low, high


def _columns(key: Key, columns: int, queries: int) -> Int[np.ndarray, "queries sparsity"]:
    """Distinct random columns for every query; all of them where there are fewer than three."""
    order = np.argsort(uniforms(key, queries * columns).reshape(queries, columns), axis=1)
    return order[:, : min(SPARSITY, columns)]


def inside(
    cells: Int[np.ndarray, "columns rows"],
    columns: Int[np.ndarray, "queries sparsity"],
    *,
    low: Int[np.ndarray, "queries sparsity"],
    high: Int[np.ndarray, "queries sparsity"],
) -> Float[np.ndarray, " queries"]:
    """The share of rows inside every query's intervals."""
    return _inside(cells, columns, low, high) / cells.shape[1]


def _threshold_answers(
    subject: Comparison, columns: Int[np.ndarray, " sparsity"], theta: Float[np.ndarray, " sparsity"], share: float
) -> tuple[float, float]:
    """The shares of real and synthetic rows above the threshold that lies at `share` of the real range."""
    scale = theta / np.array([subject.sizes[column] for column in columns])
    real = scale @ (subject.real_cells[columns] + 0.5)
    threshold = real.min() + share * (real.max() - real.min())
    synthetic = scale @ (subject.synthetic_cells[columns] + 0.5)
    return float(np.mean(real > threshold)), float(np.mean(synthetic > threshold))


@njit(cache=True, nogil=True)
def _inside(cells: Any, columns: Any, low: Any, high: Any) -> Any:  # pragma: no cover (compiled)
    counts = np.zeros(columns.shape[0], dtype=np.int64)
    for query in range(columns.shape[0]):
        for row in range(cells.shape[1]):
            hit = True
            for k in range(columns.shape[1]):
                cell = cells[columns[query, k], row]
                if cell < low[query, k] or cell > high[query, k]:
                    hit = False
                    break
            counts[query] += hit
    return counts
