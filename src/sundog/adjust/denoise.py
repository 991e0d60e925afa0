"""Denoise: the closest answers that some distribution on the synthetic rows can have.

Gaussian noise: least squares weighted by the noise (a quadratic programme on the simplex), solved exactly by fully
corrective Frank-Wolfe: the support grows by the point that improves most, weights are refitted by non-negative least
squares. Laplace noise: least absolute deviations (a linear programme on the simplex) by column generation with HiGHS.
Many measures (more than `MANY`): a quadratic penalty in the tilting itself takes the place of both (tilt.py).
"""

import numpy as np
from jaxtyping import Float

from sundog.adjust.support import Support

MANY = 400
TOLERANCE = 1e-4
"""How far from the optimum the denoised answers may be, in squared standard deviations of the noise."""
MOST_STEPS = 5000


def least_squares(
    support: Support, target: Float[np.ndarray, " measures"], stddev: Float[np.ndarray, " measures"]
) -> Float[np.ndarray, " measures"]:
    """Argmin over distributions p of |(mean(p) - target) / stddev|^2."""
    from scipy.optimize import nnls

    scaled = (support.vectors - target) / stddev
    chosen = [int(np.argmin((scaled**2).sum(axis=1)))]
    weights = np.ones(1)
    for _ in range(MOST_STEPS):
        rest = weights @ scaled[chosen]
        slopes = scaled @ rest
        best = int(slopes.argmin())
        if weights @ slopes[chosen] - slopes[best] <= TOLERANCE:
            break
        chosen.append(best)
        heavy = 1e3 * max(1.0, float(np.abs(scaled[chosen]).max()))  # the weights sum to 1
        system = np.vstack([scaled[chosen].T, np.full(len(chosen), heavy)])
        weights, _ = nnls(system, np.append(np.zeros(scaled.shape[1]), heavy), maxiter=50 * len(chosen) + 1000)
        kept = weights > 0
        chosen = [place for place, keep in zip(chosen, kept, strict=True) if keep]
        weights = weights[kept] / weights[kept].sum()
    return weights @ support.vectors[chosen]


def least_absolute(
    support: Support, target: Float[np.ndarray, " measures"], stddev: Float[np.ndarray, " measures"]
) -> Float[np.ndarray, " measures"]:
    """Argmin over distributions p of |(mean(p) - target) / stddev| in L1."""
    from scipy.optimize import linprog

    scaled = (support.vectors - target) / stddev
    measures = scaled.shape[1]
    chosen = list(
        dict.fromkeys([int(np.argmin(np.abs(scaled).sum(axis=1))), *scaled.argmin(axis=0), *scaled.argmax(axis=0)])
    )
    for _ in range(MOST_STEPS):
        part = scaled[chosen].T
        costs = np.concatenate([np.zeros(len(chosen)), np.ones(2 * measures)])
        left = np.block([[part, -np.eye(measures), np.eye(measures)], [np.ones(len(chosen)), np.zeros(2 * measures)]])
        solved = linprog(costs, A_eq=left, b_eq=np.append(np.zeros(measures), 1.0), method="highs")
        prices = solved.eqlin.marginals
        reduced = -(scaled @ prices[:-1]) - prices[-1]
        best = int(reduced.argmin())
        if reduced[best] >= -TOLERANCE or best in chosen:
            break
        chosen.append(best)
    weights = np.maximum(solved.x[: len(chosen)], 0.0)
    return (weights / weights.sum()) @ support.vectors[chosen]
