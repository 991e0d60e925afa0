"""The k-marginal score of NIST's challenges, and the sub-sample of the real rows that would score the same.

    score = 500 (2 - mean over pairs of columns of sum over cells |p - q|) = 1000 (1 - mean total variation),

so 1000 is a table with exactly the real pairs and 0 one that shares no cell with them. NIST takes bins that its analysts
chose; here numbers fall into 32 equal bins of their public range, as for the other metrics, so compare scores of one
schema only. The sub-sample equivalent says what the score is worth: the share of the real rows, drawn at random without
replacement, whose own pairs are as far from all real rows. Both look at all pairs up to MOST, then at a random choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.rows import Rows
from sundog.evaluate.base import Better, Comparison, Needs, Score, column_sets
from sundog.evaluate.total_variation import DENSE, total_variation
from sundog.random.keys import fold_in, permutation

MOST = 300
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class KMarginal:
    """NIST's score of pairs, 0 to 1000."""

    name = "k_marginal"
    summary = "NIST's k-marginal score of pairs: 1000 is exact, 0 shares nothing with the real rows"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The score; None where there is one column only."""
        pairs = _pairs(subject)
        return Score(1000 * (1 - _mean_gap(subject, pairs))) if pairs else None


@dataclass(frozen=True)
class SubSample:
    """How large a sub-sample of the real rows scores the same."""

    name = "subsample"
    summary = "share of the real rows whose random sub-sample has the same error of pairs"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The share, between the shares that were tried; 0 below the smallest, 1 where no sub-sample is as close."""
        pairs, rows = _pairs(subject), len(subject.real)
        sizes = sorted({round(share * rows) for share in SHARES} - {0, rows})
        if not pairs or not sizes:
            return None
        gaps = [_sub_sample_gap(subject, pairs, size) for size in sizes]
        return Score(_crossing([size / rows for size in sizes], gaps, at=_mean_gap(subject, pairs)))


def _pairs(subject: Comparison) -> list[tuple[int, ...]]:
    columns = len(subject.sizes)
    return column_sets(subject.key, columns, ways=2, most=MOST) if columns > 1 else []


def _mean_gap(subject: Comparison, pairs: Sequence[tuple[int, ...]]) -> float:
    scratch: Int[np.ndarray, "2 cells"] = np.zeros((2, DENSE), dtype=np.int64)
    return float(np.mean([total_variation(subject, pair, scratch=scratch) for pair in pairs]))


def _sub_sample_gap(subject: Comparison, pairs: Sequence[tuple[int, ...]], size: int) -> float:
    """The error of one random sub-sample of the real rows."""
    chosen = permutation(fold_in(subject.key, size), len(subject.real))[:size]
    part = Rows(subject.schema, tuple(codes[chosen] for codes in subject.real.codes))
    return _mean_gap(Comparison(subject.real, part), pairs)


def _crossing(shares: Sequence[float], gaps: Sequence[float], *, at: float) -> float:
    """Where the error falls to the given one, linearly in the logarithm of the share."""
    falling: Float[np.ndarray, " shares"] = np.minimum.accumulate(np.asarray(gaps))
    if at >= falling[0]:
        return 0.0
    if at <= falling[-1]:
        return 1.0 if at < falling[-1] else shares[-1]
    return float(np.exp(np.interp(-at, -falling, np.log(shares))))
