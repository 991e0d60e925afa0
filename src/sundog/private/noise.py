"""The privacy noise: exact samplers of OpenDP, fed by the operating system's entropy. There is no seed.

Gaussian (Canonne, Kamath, Steinke 2020): rho = D^2 / (2 s^2) for the discrete Gaussian of scale s on any lattice.
Counts are integers, but the discrete Gaussian on the integers is not close to a Gaussian at small s. So the noise is
drawn on a lattice of step 2^-shift <= s 2^-40 and rounded: with Z = OpenDP's draw at scale s 2^shift,

    release = round((count 2^shift + Z) / 2^shift) = count + round(Z / 2^shift),

the same number written twice (ties go up). The left side is a post-processing of OpenDP's mechanism on the scaled
counts, whose sensitivity and scale both grew by 2^shift; the right side is what is computed, and cannot overflow.
Its law is P(noise = y) = Phi((y + 1/2)/s) - Phi((y - 1/2)/s) up to 2^-40; accountant.py bounds what that is worth.

Selection: exponential mechanism with P(r) ~ exp(u_r / b), the k best at once by Gumbel noise:
rho = k D^2 / (2 b^2) (bounded range; Cesar and Rogers 2021), for scores of which one unit moves each by at most D.

Scales are rounded up and costs computed from the rounded scale, in exact rationals. A scale out of range is refused here, before
anything is charged for it.

What is released never leaves +-2^62: with M = 2^61 - 1, the count clamped to M (1-Lipschitz in each cell, so that no sensitivity
grows, and beyond any count) and the noise to 3 M, clamping their sum to 2 M gives what the noise itself would, were it not
clamped: beyond 3 M it takes the sum beyond 2 M. So it is a post-processing whatever the scale.

OpenDP's parts are imported by name: its prelude would load three table libraries, 140 MB that nothing here uses.
"""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace, make_noisy_top_k
from opendp.measures import zero_concentrated_divergence
from opendp.metrics import l1_distance, l2_distance, linf_distance
from opendp.mod import enable_features

from sundog.errors import UserError
from sundog.private.accountant import SLACK, round_up

LATTICE_BITS = 40
STRETCH = 1 << 14
"""Cells that one thread draws for at a time, about a fifth of a second."""
LEAST_SCALE, MOST_SCALE = 2.0**-20, 2.0**200
"""A run's budget is refused first (spending.py) where any of its steps could come near these."""
LEAST_TAIL = 1e-300
"""The least probability of which the normal distribution's quantile is computed."""
_MOST_COUNT = 2**61 - 1

enable_features("contrib")


def gaussian_scale(sensitivity_squared: int | Fraction, rho: float) -> float:
    """The least float s with D^2 / (2 s^2) <= rho."""
    _check_positive("rho", rho)
    _check_positive("squared sensitivity", sensitivity_squared)
    needed = Fraction(sensitivity_squared) / (2 * Fraction(rho))
    if not LEAST_SCALE**2 <= needed <= MOST_SCALE**2:
        raise _out_of_range(f"the scale that rho {rho!r} buys")
    scale = math.sqrt(needed) * (1 - 2.0**-51)
    while Fraction(scale) ** 2 < needed:
        scale = math.nextafter(scale, math.inf)
    return scale


def gaussian_cost(sensitivity_squared: int | Fraction, scale: float) -> float:
    """The least float rho with rho >= D^2 / (2 s^2)."""
    _check_positive("scale", scale)
    return round_up(Fraction(sensitivity_squared) / (2 * Fraction(scale) ** 2))


def add_gaussian(counts: Int[np.ndarray, " cells"], scale: float) -> Int[np.ndarray, " cells"]:
    """The counts, each with independent Gaussian noise of standard deviation `scale`, rounded to integers."""
    _check_scale(scale)
    shift = max(0, LATTICE_BITS + 1 - math.frexp(scale)[1])
    space = vector_domain(atom_domain(T="i64")), l2_distance(T="f64")
    noise = _round_shift(_drawn(lambda: make_gaussian(*space, scale=math.ldexp(scale, shift)), len(counts)), shift)
    return _added(counts, noise)


def laplace_scale(sensitivity: int | Fraction, rho: float) -> float:
    """The least float b with (D / b)^2 / 2 <= rho: pure (D / b)-differential privacy is that in zCDP."""
    return gaussian_scale(Fraction(sensitivity) ** 2, rho)


def laplace_cost(sensitivity: int | Fraction, scale: float) -> float:
    """The least float rho with rho >= (D / b)^2 / 2."""
    return gaussian_cost(Fraction(sensitivity) ** 2, scale)


def add_laplace(counts: Int[np.ndarray, " cells"], scale: float) -> Int[np.ndarray, " cells"]:
    """The counts, each with independent discrete Laplace noise P(z) ~ exp(-|z| / scale)."""
    _check_scale(scale)
    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
    noise = _drawn(lambda: make_laplace(*space, scale=scale), len(counts))
    return _added(counts, noise)


def top_k_scale(sensitivity: int | Fraction, k: int, *, rho: float) -> float:
    """The least float b with k D^2 / (2 b^2) <= rho."""
    return gaussian_scale(k * Fraction(sensitivity) ** 2, rho)


def top_k_cost(sensitivity: int | Fraction, k: int, *, scale: float) -> float:
    """The least float rho with rho >= k D^2 / (2 b^2)."""
    return gaussian_cost(k * Fraction(sensitivity) ** 2, scale)


def top_k(scores: Int[np.ndarray, " candidates"], k: int, *, scale: float) -> list[int]:
    """The indices of the k best scores by the exponential mechanism, best first; all of them, in order, if k allows."""
    if k < 1:
        raise UserError(f"selection: found k = {k}; it must be 1 or more.")
    _check_scale(scale)
    if k >= len(scores):
        return list(range(len(scores)))
    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64", monotonic=False)
    choose = make_noisy_top_k(*space, zero_concentrated_divergence(), k=k, scale=scale)
    return [int(index) for index in choose(scores.tolist())]


def threshold(scale: float, delta: float, *, rows: int) -> int:
    """The least count at which a value may be shown, so that one unit's own values show with probability <= delta.

    A unit has at most `rows` rows, in at most `rows` values that no one else has; each shows if its noise reaches
    tau - rows - 1/2 (the half is the rounding). The slack in delta covers lattice and float error many times over.
    """
    from scipy.stats import norm

    _check_scale(scale)
    if not (0 < delta < 1 and rows >= 1):
        raise UserError(f"threshold: found delta {delta!r} and rows {rows}; delta must be in (0, 1), rows 1 or more.")
    if delta / rows < LEAST_TAIL:
        raise UserError(
            f"threshold: found delta {delta!r} for a label; with {rows} rows per unit it must be at least "
            f"{LEAST_TAIL * rows:.3g}. Give a larger --delta (delta=... in Python), such as 1e-9."
        )
    reach = scale * float(norm.isf(delta / rows * (1 - SLACK)))
    return math.ceil(rows + 0.5 + reach)


def _drawn(mechanism: Callable[[], Any], cells: int) -> Int[np.ndarray, " cells"]:
    """The noise that a mechanism adds to zeros, one per cell, drawn on all cores: the library releases Python's lock while it draws.

    Each stretch of cells has draws of its own from the operating system, so that their number and order do not matter.
    """
    stretches = [min(STRETCH, cells - start) for start in range(0, cells, STRETCH)]
    if len(stretches) < 2:
        return _stretch(mechanism, cells)
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        return np.concatenate(list(pool.map(lambda size: _stretch(mechanism, size), stretches)))
    finally:
        pool.shutdown(cancel_futures=True)


def _stretch(mechanism: Callable[[], Any], cells: int) -> Int[np.ndarray, " cells"]:
    return np.asarray(mechanism()([0] * cells), dtype=np.int64)


def _round_shift(values: Int[np.ndarray, " cells"], shift: int) -> Int[np.ndarray, " cells"]:
    """Values / 2^shift and round to the nearest integer, ties up, without the overflow of adding a half."""
    return values if shift == 0 else (values >> shift) + ((values >> (shift - 1)) & 1)


def _added(counts: Int[np.ndarray, " cells"], noise: Int[np.ndarray, " cells"]) -> Int[np.ndarray, " cells"]:
    """Their sum, within +-2^62; see the module."""
    total = np.clip(counts, -_MOST_COUNT, _MOST_COUNT) + np.clip(noise, -3 * _MOST_COUNT, 3 * _MOST_COUNT)
    return np.clip(total, -2 * _MOST_COUNT, 2 * _MOST_COUNT)


def _check_scale(scale: float) -> None:
    if not LEAST_SCALE <= scale <= MOST_SCALE:
        raise _out_of_range(f"scale {scale!r}")


def _out_of_range(found: str) -> UserError:
    return UserError(
        f"noise: found {found}; a scale must lie between 2^-20 and 2^200. Spend more rho on this (or far less)."
    )


def _check_positive(name: str, value: float | Fraction) -> None:
    if not 0 < value < math.inf:
        raise UserError(f"noise: found {name} {value!r}; it must be finite and above 0.")
