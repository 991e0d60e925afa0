"""Jensen-Shannon distance and inverse KL divergence of the columns' distributions (post-processing paper, Section 4).

    JS = sqrt(KL(p | m)/2 + KL(q | m)/2) with m = (p + q)/2 and logarithms to base 2, between 0 and 1
    inverse KL = 1 / (1 + KL(p | q)) with natural logarithms, p real and q synthetic, between 0 and 1

averaged over the columns. A cell that the synthetic table lacks counts as 1e-8 in KL, as in synthcity, from which the
paper took both; synthcity cuts numbers into 10 bins, here it is 32 as everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import rel_entr

from sundog.evaluate.base import Better, Comparison, Needs, Score

FLOOR = 1e-8

Shares = Float[np.ndarray, " cells"]


@dataclass(frozen=True)
class JensenShannon:
    """The mean Jensen-Shannon distance of the columns."""

    name = "js_distance"
    summary = "mean Jensen-Shannon distance of the columns' distributions (0: identical, 1: disjoint)"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean over columns."""
        return _over_columns(subject, jensen_shannon)


@dataclass(frozen=True)
class InverseKL:
    """Mean inverse KL divergence."""

    name = "inverse_kl"
    summary = "mean of 1 / (1 + KL divergence) of the columns' distributions (1: identical)"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean over columns."""
        return _over_columns(subject, inverse_kl)


def jensen_shannon(p: Shares, q: Shares) -> float:
    """The Jensen-Shannon distance to base 2."""
    middle = (p + q) / 2
    return float(np.sqrt(max((rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2 / np.log(2), 0.0)))


def inverse_kl(p: Shares, q: Shares) -> float:
    """1 / (1 + KL(p | q))."""
    return float(1 / (1 + max(rel_entr(p, np.where(p > 0, np.maximum(q, FLOOR), q)).sum(), 0.0)))


def _over_columns(subject: Comparison, measure: Callable[[Shares, Shares], float]) -> Score:
    values = {}
    for name, size, real, synthetic in zip(
        subject.schema.names, subject.sizes, subject.real_cells, subject.synthetic_cells, strict=True
    ):
        p, q = (np.bincount(cells, minlength=size) / len(cells) for cells in (real, synthetic))
        values[name] = measure(p, q)
    return Score(float(np.mean(list(values.values()))), values)
