"""Denoise: the closest answers that some distribution on the synthetic rows can have.

Gaussian noise: least squares weighted by the noise, a quadratic programme, solved exactly by fully corrective Frank-Wolfe:
the support grows by the point that improves most, weights are refitted by non-negative least squares. Laplace noise: least
absolute deviations, a linear programme, by column generation with HiGHS.

Answers are sums, and the number of rows that turns them into means may itself be noisy. Were it taken as exact, all means
would be off together, and the rows be bent to fit that. So the weights' sum, the mass, is one more answer to fit: 1 with the
relative noise of the number of rows; where that is public the weights sum to 1.

More than `MANY` measures are only brought into the range that each has on the rows.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.postprocess.support import Support

MANY = 400
TOLERANCE = 1e-4
"""How far from the optimum the denoised answers may be, in squared standard deviations of the noise."""
MOST_STEPS = 5000


@dataclass(frozen=True, eq=False)
class Denoised:
    """Means that the rows can have, and the mass: the number of rows they go with, relative to its estimate."""

    mean: Float[np.ndarray, " measures"]
    mass: float


@dataclass(frozen=True, eq=False)
class Noisy:
    """Sums relative to the estimated number of rows, their noise, and the noise of that number (0: it is public)."""

    answers: Float[np.ndarray, " measures"]
    stddev: Float[np.ndarray, " measures"]
    mass_stddev: float = 0.0

    @property
    def scale(self) -> Float[np.ndarray, " measures+1"]:
        """The noise of all answers and of the mass; a public number is as good as exact."""
        return np.append(self.stddev, max(self.mass_stddev, 1e-3 * float(self.stddev.min())))


def denoised(support: Support, noisy: Noisy, *, laplace: bool) -> Denoised:
    """The closest answers that the rows can have, in the norm that fits the noise."""
    if len(noisy.answers) > MANY:
        return Denoised(noisy.answers.clip(support.vectors.min(axis=0), support.vectors.max(axis=0)), 1.0)
    return (least_absolute if laplace else least_squares)(support, noisy)


def least_squares(support: Support, noisy: Noisy) -> Denoised:
    """Argmin over weights w >= 0 of |(sum(w v) - answers) / stddev|^2 + ((sum(w) - 1) / mass_stddev)^2."""
    from scipy.optimize import nnls

    wanted = np.append(noisy.answers, 1.0) / noisy.scale
    chosen, weights = [int(np.argmax(support.base))], np.ones(1)
    for _ in range(MOST_STEPS):
        rest = weights @ _points(support, chosen, noisy.scale) - wanted
        slopes = _slopes(support, rest, noisy.scale)
        best = int(slopes.argmin())
        if weights @ slopes[chosen] - weights.sum() * slopes[best] <= TOLERANCE and slopes[best] >= -TOLERANCE:
            break
        chosen = [*chosen, best]
        fitted, _ = nnls(_points(support, chosen, noisy.scale).T, wanted, maxiter=50 * len(chosen) + 1000)
        chosen = [place for place, weight in zip(chosen, fitted, strict=True) if weight > 0]
        weights = fitted[fitted > 0]
    return _normalised(support, chosen, weights)


def least_absolute(support: Support, noisy: Noisy) -> Denoised:
    """The same with absolute values instead of squares."""
    from scipy.optimize import linprog

    wanted = np.append(noisy.answers, 1.0) / noisy.scale
    sizes = len(wanted)
    extremes = [*support.vectors.argmin(axis=0), *support.vectors.argmax(axis=0)]
    chosen = list(dict.fromkeys([int(np.argmax(support.base)), *(int(place) for place in extremes)]))
    for _ in range(MOST_STEPS):
        part = _points(support, chosen, noisy.scale).T
        costs = np.concatenate([np.zeros(len(chosen)), np.ones(2 * sizes)])
        solved = linprog(costs, A_eq=np.hstack([part, -np.eye(sizes), np.eye(sizes)]), b_eq=wanted, method="highs")
        reduced = _slopes(support, -solved.eqlin.marginals, noisy.scale)
        best = int(reduced.argmin())
        if reduced[best] >= -TOLERANCE or best in chosen:
            break
        chosen.append(best)
    return _normalised(support, chosen, np.maximum(solved.x[: len(chosen)], 0.0))


def _points(support: Support, chosen: list[int], scale: Float[np.ndarray, " k"]) -> Float[np.ndarray, "chosen k"]:
    """Points with their mass, in standard deviations."""
    return np.column_stack([support.vectors[chosen], np.ones(len(chosen))]) / scale


def _slopes(
    support: Support, rest: Float[np.ndarray, " k"], scale: Float[np.ndarray, " k"]
) -> Float[np.ndarray, " points"]:
    """The product of every point, in standard deviations, with `rest`."""
    slope = rest / scale
    return support.vectors @ slope[:-1] + slope[-1]


def _normalised(support: Support, chosen: list[int], weights: Float[np.ndarray, " chosen"]) -> Denoised:
    mass = float(weights.sum())
    return Denoised(weights @ support.vectors[chosen] / mass, mass)
