"""A lower bound on what a mechanism spends, from many runs on two neighbours.

An attacker who must say which table a run saw learns a direction and a threshold from the first third of the runs, and is judged on the
others alone, so that the rates are those of a fixed rule and their Clopper-Pearson bounds are honest. From the bounds
follow the least rho and the least epsilon that allow such an attack (audit/bounds.py). A bound above the claim proves that the
claim is wrong, up to the stated confidence; a bound below it proves nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.audit.bounds import Points, clopper_pearson, least_epsilon, least_rho
from sundog.audit.discriminant import Features, direction

LEARNT = 3
"""One run in this many teaches the attack; the others judge it."""


@dataclass(frozen=True)
class Claim:
    """What is promised: rho, what it amounts to at a delta, and the points (epsilon, delta) of any rho."""

    rho: float
    epsilon: float
    delta: float
    points_of: Callable[[float], Points]


@dataclass(frozen=True)
class Bound:
    """What an attack showed: hits with the canary, false alarms without it, and the least that must have been spent."""

    hits: int
    false_alarms: int
    runs: int
    rho: float
    epsilon: float

    @property
    def mu(self) -> float:
        """The same as Gaussian differential privacy."""
        return float((2 * self.rho) ** 0.5)


def lower_bound(without: Features, canary: Features, *, claim: Claim, confidence: float) -> Bound:
    """The bound from the features of all runs on either table."""
    learnt = len(without) // LEARNT
    along = direction(without[:learnt], canary[:learnt])
    threshold = _threshold(without[:learnt] @ along, canary[:learnt] @ along, confidence=confidence)
    false, hits = (int((side[learnt:] @ along > threshold).sum()) for side in (without, canary))
    runs = len(without) - learnt
    low = float(clopper_pearson(hits, runs, confidence=confidence)[0])
    high = float(clopper_pearson(false, runs, confidence=confidence)[1])
    return Bound(
        hits,
        false,
        runs,
        least_rho(low, high, points_of=claim.points_of),
        least_epsilon(low, high, delta=claim.delta),
    )


def _threshold(without: Float[np.ndarray, " runs"], canary: Float[np.ndarray, " runs"], *, confidence: float) -> float:
    """The threshold that shows the largest mu on the runs that it is learnt from: PhiInv(true) - PhiInv(false)."""
    from scipy.special import ndtri

    values = np.unique(np.concatenate([without, canary]))
    middles = (values[1:] + values[:-1]) / 2
    if not len(middles):
        return float(values[0])
    low = clopper_pearson((canary > middles[:, None]).sum(axis=1), len(canary), confidence=confidence)[0]
    high = clopper_pearson((without > middles[:, None]).sum(axis=1), len(without), confidence=confidence)[1]
    return float(middles[np.argmax(ndtri(low) - ndtri(high))])
