"""Second moments: covariance (PrivPGD Section 4.1, item 2), correlation and utility improvement (post-processing Eq. 12).

    covariance = ||C_real - C_synthetic||_F / ||C_real||_F
    correlation = mean over pairs of columns |corr_real - corr_synthetic|
    utility improvement = 1 - error_corr(table) / error_corr(baseline),  error_corr = ||corr_real - corr||_1

of the embedded columns (cells at (k + 1/2) / K). PrivPGD divides by the synthetic norm; the real one is used here, so
that a table cannot look better by spreading wider. A column that does not vary has correlation 0 with all others.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from sundog.evaluate.base import Better, Comparison, Needs, Score

BLOCK = 1 << 14


@dataclass(frozen=True)
class Covariance:
    """Relative error of the covariance matrix."""

    name = "covariance"
    summary = "Frobenius norm of the difference of the covariance matrices over that of the real one"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The relative error; None where nothing varies."""
        real = covariance(subject.real_cells, subject.sizes)
        norm = np.linalg.norm(real)
        if norm == 0:
            return None
        return Score(float(np.linalg.norm(real - covariance(subject.synthetic_cells, subject.sizes)) / norm))


@dataclass(frozen=True)
class Correlation:
    """Mean error of the correlations."""

    name = "correlation"
    summary = "mean absolute error of the correlations between all pairs of columns"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean over pairs."""
        pairs = len(subject.sizes) * (len(subject.sizes) - 1)
        if not pairs:
            return None
        return Score(correlation_error(subject, subject.synthetic_cells) / pairs)


@dataclass(frozen=True)
class UtilityImprovement:
    """How much of the baseline's correlation error a table takes away."""

    name = "utility_improvement"
    summary = "share of the first table's correlation error that this one removes (1: all, below 0: it is worse)"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """1 - error / baseline's error; None without a baseline, or where it has no error."""
        if subject.baseline is None:
            return None
        baseline = np.stack([subject.baseline.cells(axis) for axis in subject.axes])
        before = correlation_error(subject, baseline)
        return Score(1 - correlation_error(subject, subject.synthetic_cells) / before) if before > 0 else None


def correlation_error(subject: Comparison, cells: Int[np.ndarray, "columns rows"]) -> float:
    """The sum of the absolute differences of all correlations."""
    real = _correlation(covariance(subject.real_cells, subject.sizes))
    return float(np.abs(real - _correlation(covariance(cells, subject.sizes))).sum())


def covariance(cells: Int[np.ndarray, "columns rows"], sizes: tuple[int, ...]) -> Float[np.ndarray, "columns columns"]:
    """The covariance matrix of the embedded columns, from exact integer sums, block by block."""
    first = np.zeros(len(sizes))
    second = np.zeros((len(sizes), len(sizes)))
    for start in range(0, cells.shape[1], BLOCK):
        block = cells[:, start : start + BLOCK].astype(np.float64)
        first += block.sum(axis=1)
        second += block @ block.T
    count = max(cells.shape[1], 1)
    scale = np.array(sizes, dtype=float)
    return (second / count - np.outer(first, first) / count**2) / np.outer(scale, scale)


def _correlation(matrix: Float[np.ndarray, "columns columns"]) -> Float[np.ndarray, "columns columns"]:
    spread = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale = np.outer(spread, spread)
    return np.where(scale > 1e-12, matrix / np.where(scale > 1e-12, scale, 1.0), np.eye(len(matrix)))
