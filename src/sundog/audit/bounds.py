"""What attacks prove about a claim, and what a claim allows attacks: trade-offs between true and false alarms.

A claim is a set of points (epsilon, delta), all of which hold. For an attack on two neighbours with true rate t and false
rate f, each point says t <= e^epsilon f + delta and, for the attack that says the opposite, 1 - f <= e^epsilon (1 - t) + delta.
`most_true` is the least of these bounds over all points; turned around, rates that were seen bound epsilon and rho from below.

The rates themselves are bounded by Clopper and Pearson (1934), which holds for every number of runs; a lower bound on t and an
upper bound on f hold together at the stated confidence (Bonferroni). As Gaussian differential privacy (Dong, Roth, Su 2022)
a bound on rho is mu = sqrt(2 rho).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

Points = Sequence[tuple[float, float]]
"""Pairs (epsilon, delta) that hold together."""
MOST_RHO = 2.0**12
STEPS = 40
CURVE = 2000


def clopper_pearson(
    hits: int | Int[np.ndarray, " rates"], runs: int, *, confidence: float
) -> tuple[Float[np.ndarray, " rates"], Float[np.ndarray, " rates"]]:
    """An interval that holds the true rate with at least this confidence.

    >>> low, high = clopper_pearson(0, 10, confidence=0.95)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv

    tail, seen = (1 - confidence) / 2, np.asarray(hits, dtype=np.float64)
    low = np.where(seen > 0, betaincinv(np.maximum(seen, 1), runs - seen + 1, tail), 0.0)
    high = np.where(seen < runs, betaincinv(seen + 1, np.maximum(runs - seen, 1), 1 - tail), 1.0)
    return low, high


def most_true(false: float | Float[np.ndarray, " rates"], points: Points) -> Float[np.ndarray, " rates"]:
    """The largest rate of true alarms that the claim allows at these rates of false ones.

    >>> float(most_true(0.0, [(0.0, 0.1)]).round(3)), float(most_true(0.1, [(1.0, 0.0)]).round(3))
    (0.1, 0.272)
    """
    rates = np.asarray(false, dtype=np.float64)
    epsilon, delta = (part[:, None] for part in np.asarray(points, dtype=np.float64).T)
    each = np.minimum(
        np.exp(np.minimum(epsilon, 700.0)) * rates.ravel() + delta,
        1 - np.exp(-epsilon) * np.maximum(1 - delta - rates.ravel(), 0.0),
    )
    return np.maximum(np.minimum(each.min(axis=0), 1.0).reshape(rates.shape), rates)


def most_auc(points: Points) -> float:
    """The largest area under an attacker's curve that the claim allows; steps are rounded up.

    >>> round(most_auc([(0.0, 0.0)]), 2), most_auc([(800.0, 0.0)])
    (0.5, 1.0)
    """
    rates = np.linspace(0.0, 1.0, CURVE + 1)
    return float(most_true(rates[1:], points).mean())


def least_epsilon(true: float, false: float, *, delta: float) -> float:
    """The least epsilon at this delta that allows a true rate of at least `true` with a false rate of at most `false`."""
    found = [0.0]
    for gained, given in ((true - delta, false), (1 - false - delta, 1 - true)):
        if gained > 0:
            found.append(math.log(gained / given) if given > 0 else math.inf)
    return max(found)


def least_rho(true: float, false: float, *, points_of: Callable[[float], Points]) -> float:
    """The least rho whose claim allows these rates, from below; `points_of` is what rho amounts to.

    >>> from statistics import NormalDist
    >>> tight = lambda rho: [(0.0, 2 * NormalDist().cdf((2 * rho) ** 0.5 / 2) - 1)]
    >>> round(least_rho(0.8413, 0.1587, points_of=tight), 2)
    2.0
    """
    if true <= false:
        return 0.0
    low, high = 0.0, MOST_RHO
    for _ in range(STEPS):
        middle = math.sqrt(max(low, 1e-9) * high)
        low, high = (middle, high) if float(most_true(false, points_of(middle))) < true else (low, middle)
    return low
