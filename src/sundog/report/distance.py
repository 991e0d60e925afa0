"""How far synthetic rows are from a measured table, and what noise alone would make of it: both between 0 and 1.

Noisy counts can be negative, and their sum of absolute differences can exceed any number of rows. So the measured table is
first moved to the closest one without negative counts and with the released number of rows; what is left is a total variation,

    sum over cells of |measured - synthetic| / (2 rows),

the part of the rows that would have to move. The same is done to the synthetic table with noise of the measured size, drawn
with a fixed key: where the first number is about the second, noise explains the distance. In a table of few cells it varies: how
far it reaches is its mean over the draws and four of their standard deviations.
"""

import numpy as np
from jaxtyping import Float

from sundog.estimate.answers import Pooled
from sundog.estimate.nonnegative import nonnegative
from sundog.random.keys import fold_in, key_of, normals

DRAWS, ENOUGH = 20, 4000
"""This many draws of the noise are averaged, fewer where a table has many cells."""
FAR = 4.0

Counts = Float[np.ndarray, " cells"]


def distance(pooled: Pooled, counts: Counts, rows: int) -> tuple[float, float, float]:
    """The total variation to the measured table; its mean if noise were all there is, and how far it then reaches."""
    apart = _variation(pooled.counts, counts, rows)
    draws = max(1, min(DRAWS, ENOUGH // len(counts)))
    spread = np.sqrt(pooled.variances)
    noisy = [counts + spread * normals(fold_in(key_of(0), draw), len(counts)) for draw in range(draws)]
    alone = [_variation(each, counts, rows) for each in noisy]
    return apart, float(np.mean(alone)), float(np.mean(alone) + FAR * np.std(alone))


def _variation(noisy: Counts, counts: Counts, rows: int) -> float:
    moved = nonnegative(noisy, float(rows)) - counts
    return min(float(np.abs(moved).sum()) / 2 / rows, 1.0)
