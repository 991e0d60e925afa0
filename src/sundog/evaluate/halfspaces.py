"""Random halfspace queries (Private-GSD Def. 2.4): <theta, h(x)> <= tau over the one-hot + numeric embedding h.

    error = mean over queries |share_real - share_synthetic|

theta_i ~ N(0, 1/d) for d columns and tau ~ N(0, 1), as in the paper. A number enters scaled to [0, 1]; missing is a
coordinate of its own. 200 directions with 10 thresholds each: one projection serves ten queries.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numba import njit
from scipy.special import ndtri

from sundog.domain import Column, Numeric
from sundog.domain.rows import Rows
from sundog.evaluate.base import Better, Comparison, Needs, Score
from sundog.random.keys import Key, split, uniforms

DIRECTIONS = 200
THRESHOLDS = 10


@dataclass(frozen=True)
class Halfspaces:
    """The error of random halfspaces."""

    name = "halfspace"
    summary = "mean absolute error of 2,000 random halfspace queries over the one-hot and numeric embedding"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean error; the largest as a part."""
        turn, cut = split(subject.key, 2)
        tau = _normal(cut, DIRECTIONS * THRESHOLDS).reshape(DIRECTIONS, THRESHOLDS)
        weights = _weights(turn, subject.schema.columns)
        gaps = np.abs(_shares(subject.real, weights, tau=tau) - _shares(subject.synthetic, weights, tau=tau))
        return Score(float(gaps.mean()), {"max": float(gaps.max())})


def _normal(key: Key, count: int) -> Float[np.ndarray, " count"]:
    return ndtri(np.maximum(uniforms(key, count), 2.0**-53))


def _weights(key: Key, columns: tuple[Column, ...]) -> list[Float[np.ndarray, "directions labels"]]:
    """One weight per label; for a number one per unit and one for missing."""
    widths = [2 if isinstance(column, Numeric) else column.size for column in columns]
    normal = _normal(key, DIRECTIONS * sum(widths)).reshape(DIRECTIONS, -1) / np.sqrt(len(columns))
    return np.split(normal, np.cumsum(widths)[:-1], axis=1)


def _shares(
    rows: Rows,
    weights: list[Float[np.ndarray, "directions labels"]],
    *,
    tau: Float[np.ndarray, "directions thresholds"],
) -> Float[np.ndarray, "directions thresholds"]:
    counts = np.zeros(tau.shape, dtype=np.int64)
    for direction in range(len(tau)):
        projection = np.zeros(len(rows))
        for column, codes, weight in zip(rows.schema.columns, rows.codes, weights, strict=True):
            scale = 1.0 / max(column.steps - 1, 1) if isinstance(column, Numeric) else 0.0
            missing = -1 if column.missing is None else column.missing
            _project(codes, weight[direction], missing, scale, projection)
        counts[direction] = _below(projection, tau[direction])
    return counts / len(rows)


@njit(cache=True, nogil=True)
def _project(
    codes: Any, weight: Any, missing: int, scale: float, projection: Any
) -> None:  # pragma: no cover (compiled)
    """Add a column's part of the projection; a scale of 0 says that the codes are labels."""
    for row in range(codes.shape[0]):
        if scale == 0:
            projection[row] += weight[codes[row]]
        elif codes[row] == missing:
            projection[row] += weight[1]
        else:
            projection[row] += weight[0] * (codes[row] * scale)


@njit(cache=True, nogil=True)
def _below(projection: Any, tau: Any) -> Any:  # pragma: no cover (compiled)
    counts = np.zeros(tau.shape[0], dtype=np.int64)
    for row in range(projection.shape[0]):
        for k in range(tau.shape[0]):
            counts[k] += projection[row] <= tau[k]
    return counts
