"""Exponential tilting (Wang et al. 2023): the distribution on the synthetic rows closest in KL that matches the measures.

    min KL(p || synthetic)   subject to   |mean_k(p) - a_k| <= gamma
    p(x) ~ synthetic(x) exp(-<lambda, v(x) - a>),   lambda = argmin  log sum exp(-<lambda, v - a>) + gamma |lambda|_1

The dual is small and smooth apart from the L1 term: proximal Newton with log-sum-exp reaches a KKT residual of 1e-9 in
5 to 20 steps, where the paper's stochastic method stops at violations of 3e-3. Rows are never altered, the support never
grows.

A measure may have a gamma of its own, and those that only hold something in its place have none.

A quadratic term tau_k lambda_k^2 / 2 in the dual weighs the misfit against the divergence in the primal: the constraint
becomes a term (mean_k(p) - a_k)^2 / (2 tau_k), up to gamma. The solution is that of the hard problem with the target
a_k + tau_k lambda_k; `violation` is the distance from that target, at most gamma.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numba import njit
from scipy.linalg import LinAlgError, solve

from sundog.postprocess.support import Support

STEPS = 100
SWEEPS = 500
RIDGE = 1e-13


@dataclass(frozen=True, eq=False)
class Tilt:
    """The new shares of the points and how good they are."""

    shares: Float[np.ndarray, " points"]
    multipliers: Float[np.ndarray, " measures"]
    residual: float
    violation: float
    effective: float
    divergence: float
    steps: int


def tilt(
    support: Support,
    target: Float[np.ndarray, " measures"],
    *,
    gamma: Float[np.ndarray, " measures"] | float,
    slack: Float[np.ndarray, " measures"] | float = 0.0,
    start: Float[np.ndarray, " measures"] | None = None,
    tolerance: float = 1e-9,
) -> Tilt:
    """Solve the dual by proximal Newton; `slack` is tau, zero for hard constraints; `start` are multipliers near the solution."""
    gamma = np.broadcast_to(np.asarray(gamma, dtype=float), target.shape)
    problem = _Dual(support, target, np.broadcast_to(np.asarray(slack, dtype=float), target.shape))
    multipliers, steps, moved = np.zeros(len(target)) if start is None else start, 0, True
    value, gradient, shares = problem.at(multipliers)
    while moved and steps < STEPS and _residual(multipliers, gradient, gamma) >= tolerance:
        mean = support.mean(shares)
        curvature = support.second(shares) - np.outer(mean, mean) + np.diag(problem.tau + RIDGE)
        direction = _newton(curvature, gradient, multipliers, gamma)
        multipliers, moved = _line_search(problem, multipliers, direction, gamma=gamma, start=(value, gradient))
        value, gradient, shares = problem.at(multipliers)
        steps += 1
    residual = _residual(multipliers, gradient, gamma)
    uniform = np.exp(support.base)
    positive = shares > 0
    divergence = float((shares[positive] * np.log(shares[positive] / uniform[positive])).sum())
    effective = float(1.0 / (shares**2 / uniform).sum())
    return Tilt(shares, multipliers, residual, float(np.abs(gradient).max()), effective, divergence, steps)


@dataclass(frozen=True, eq=False)
class _Dual:
    """The smooth part of the dual."""

    support: Support
    target: Float[np.ndarray, " k"]
    tau: Float[np.ndarray, " k"]

    def at(
        self, multipliers: Float[np.ndarray, " k"]
    ) -> tuple[float, Float[np.ndarray, " k"], Float[np.ndarray, " points"]]:
        """The value, its gradient, and the tilted shares."""
        exponents = self.support.base - self.support.vectors @ multipliers
        highest = exponents.max()
        shares = np.exp(exponents - highest)
        total = shares.sum()
        shares /= total
        value = highest + np.log(total) + float(multipliers @ (self.target + 0.5 * self.tau * multipliers))
        return value, self.tau * multipliers + self.target - self.support.mean(shares), shares


def _residual(
    multipliers: Float[np.ndarray, " k"], gradient: Float[np.ndarray, " k"], gamma: Float[np.ndarray, " k"]
) -> float:
    """How far the optimality conditions are from holding."""
    active = np.abs(gradient + gamma * np.sign(multipliers))
    resting = np.maximum(np.abs(gradient) - gamma, 0.0)
    return float(np.where(multipliers != 0, active, resting).max())


def _newton(
    curvature: Float[np.ndarray, "k k"],
    gradient: Float[np.ndarray, " k"],
    multipliers: Float[np.ndarray, " k"],
    gamma: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " k"]:
    """The minimum of the quadratic model plus the L1 term; multipliers without an L1 term are eliminated first.

    Coordinate descent alone would take very many sweeps where hundreds of column cells stand beside a few measures.
    """
    bound, free = np.flatnonzero(gamma > 0), np.flatnonzero(gamma == 0)
    if not len(bound) or not len(free):
        return _with_l1(curvature, gradient, multipliers, gamma)
    across = curvature[np.ix_(free, bound)]
    try:
        solved = solve(curvature[np.ix_(free, free)], np.column_stack([gradient[free], across]), assume_a="pos")
    except LinAlgError:
        return _with_l1(curvature, gradient, multipliers, gamma)
    direction = np.zeros(len(gamma))
    reduced, slope = (
        curvature[np.ix_(bound, bound)] - across.T @ solved[:, 1:],
        gradient[bound] - across.T @ solved[:, 0],
    )
    direction[bound] = _with_l1(reduced, slope, multipliers[bound], gamma[bound])
    direction[free] = -solved[:, 0] - solved[:, 1:] @ direction[bound]
    return direction


def _with_l1(
    curvature: Float[np.ndarray, "k k"],
    gradient: Float[np.ndarray, " k"],
    multipliers: Float[np.ndarray, " k"],
    gamma: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " k"]:
    guess = _guess(curvature, gradient, multipliers, gamma)
    return _direction(curvature, gradient + curvature @ guess, multipliers, gamma, guess, SWEEPS)


def _guess(
    curvature: Float[np.ndarray, "k k"],
    gradient: Float[np.ndarray, " k"],
    multipliers: Float[np.ndarray, " k"],
    gamma: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " k"]:
    """The minimum of the quadratic model if no multiplier changes its sign: one linear system; often it is the answer."""
    signs = np.where(multipliers != 0, np.sign(multipliers), -np.sign(gradient))
    free = np.flatnonzero((multipliers != 0) | (np.abs(gradient) > gamma))
    direction = np.zeros(len(gradient))
    try:
        direction[free] = solve(curvature[np.ix_(free, free)], -(gradient + gamma * signs)[free], assume_a="pos")
    except LinAlgError:
        return np.zeros(len(gradient))
    return np.where((gamma > 0) & (signs * (multipliers + direction) < 0), -multipliers, direction)


@njit(cache=True)
def _direction(
    curvature: Any, slope: Any, multipliers: Any, gamma: Any, start: Any, sweeps: Any
) -> Any:  # pragma: no cover
    """The minimum of the quadratic model plus the L1 term, by coordinate descent from a start with that slope."""
    size = len(slope)
    direction = start.copy()
    for _ in range(sweeps):
        largest = 0.0
        for k in range(size):
            now = multipliers[k] + direction[k]
            wanted = now - slope[k] / curvature[k, k]
            shrink = gamma[k] / curvature[k, k]
            new = wanted - shrink if wanted > shrink else (wanted + shrink if wanted < -shrink else 0.0)
            change = new - now
            if change != 0.0:
                direction[k] += change
                for j in range(size):
                    slope[j] += change * curvature[k, j]  # symmetric: along the row
                largest = max(largest, abs(change) * np.sqrt(curvature[k, k]))
        if largest < 1e-12:
            break
    return direction


def _line_search(
    problem: _Dual,
    multipliers: Float[np.ndarray, " k"],
    direction: Float[np.ndarray, " k"],
    *,
    gamma: Float[np.ndarray, " k"],
    start: tuple[float, Float[np.ndarray, " k"]],
) -> tuple[Float[np.ndarray, " k"], bool]:
    """The longest of the steps 1, 1/2, 1/4, ... that lowers the dual enough."""
    value, gradient = start
    before = value + float(gamma @ np.abs(multipliers))
    change = float(gamma @ (np.abs(multipliers + direction) - np.abs(multipliers)))
    promised = float(gradient @ direction) + change
    length = 1.0
    while length > 1e-10:
        candidate = multipliers + length * direction
        reached = problem.at(candidate)[0] + float(gamma @ np.abs(candidate))
        if reached <= before + 1e-4 * length * promised + 1e-15 * abs(before):
            return candidate, True
        length /= 2
    return multipliers, False
