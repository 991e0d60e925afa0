"""Fisher's linear discriminant: the direction along which two groups of feature vectors are furthest apart.

w = (S + r)^-1 (mean_1 - mean_0), with the pooled covariance S and a little r on its diagonal, so that features that never vary or
that repeat each other do no harm. Where two groups do not vary at all but differ, any direction that distinguishes them will do.
"""

import numpy as np
from jaxtyping import Float

RIDGE = 1e-3

Features = Float[np.ndarray, "runs features"]


def direction(first: Features, second: Features) -> Float[np.ndarray, " features"]:
    """The direction in which the second group lies from the first."""
    apart = second.mean(axis=0) - first.mean(axis=0)
    spread = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 2)
    unit = np.where(spread > 0, spread, np.where(apart == 0, 1.0, np.abs(apart)))
    left, right = first / unit, second / unit
    pooled = (np.cov(left, rowvar=False) + np.cov(right, rowvar=False)) / 2
    pooled = np.atleast_2d(pooled) + RIDGE * np.eye(len(unit))
    return np.linalg.solve(pooled, apart / unit) / unit
