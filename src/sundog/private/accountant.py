"""The arithmetic of the privacy budget: rho (zCDP) inside, (epsilon, delta) at the edge.

zCDP (Canonne, Kamath, Steinke 2020, Prop. 12): rho-zCDP gives (epsilon, delta)-DP with, over x = alpha - 1 > 0,

    log delta = min  x((1+x) rho - epsilon) - x log(1 + 1/x) - log(1+x).

The objective is convex; where it is least, epsilon = (2x+1) rho - log(1 + 1/x) and log delta = -rho x^2 - log(1+x).
So each conversion is a root of a monotone function, found to float precision. Every alpha gives a valid bound, so an
inexact root errs on the safe side; results are rounded away from the claim by more than the float error.

Exact Gaussian: adaptively composed Gaussian noise of total cost rho is one Gaussian of mu = sqrt(2 rho), and
delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

Lattice slack: our noise lives on a lattice of step h <= sigma 2^-40 and is then rounded (post-processing), so it is
not literally that Gaussian. Add to it a uniform point of the lattice cell, which rounding undoes. The density q of the
result at y + u differs from the Gaussian density p by log(q/p) = (y-c).u/sigma^2 + |u|^2/(2 sigma^2) (the normalisers
agree to exp(-2^80)). As u is uniform and independent of y, and later choices see only y, |(y-c).u| <= t |y-c| h/sqrt 12
except with probability 2 exp(-t^2/2), for the centre c of either neighbour; |y-c| <= sigma (sqrt d + t + mu) except
with exp(-t^2/2). So over d coordinates in total |log(q/p)| <= a = t h (sqrt d + t + mu)/(sigma sqrt 12) + d h^2/(8 sigma^2),
outside probability 5 exp(-t^2/2), and delta_lattice(epsilon) <= e^a delta(epsilon - 2a) + 5 exp(-t^2/2). With t = 12,
mu <= 2^10 and d <= 2^46 (decades of drawing) a < 2^-15 and the rest is below 1e-30: this is why SLACK is enough. A claim below
LEAST_EPSILON or LEAST_DELTA, or one that the slack makes worse, is converted as zCDP, which the discrete Gaussian
satisfies exactly.

Approximate zCDP: a charge may carry a delta of its own (thresholds). Totals are (sum rho, sum delta), and the
conversion uses what is left of delta. Sums are exact rationals, rounded up, so that no rounding hides spending.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from sundog.errors import UserError

Accounting = Literal["gaussian", "zcdp"]
Mechanism = Literal["gaussian", "laplace", "exponential", "threshold", "none"]
JSON: TypeAlias = "str | int | float | bool | Sequence[JSON] | Mapping[str, JSON] | None"

SLACK = 2.0**-14
LEAST_EPSILON = 2.0**-10
LEAST_DELTA = 1e-20
MOST_RHO = 2.0**19
_FLOAT_ERROR = 2.0**-46
_LEAST_RHO = 1e-60


def round_up(value: Fraction) -> float:
    """The smallest float that is not below `value`."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """The largest float that is not above `value`."""
    return -round_up(-value)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta at which rho-zCDP is (epsilon, delta)-DP."""
    if rho == 0:
        return 0.0
    rho = max(rho, _LEAST_RHO)
    x, _ = _bracket(lambda x: (2 * x + 1) * rho - math.log1p(1 / x) > epsilon, 1e-300, max(1.0, (epsilon + 1) / rho))
    parts = (x * (1 + x) * rho, -x * epsilon, -x * math.log1p(1 / x), -math.log1p(x))
    log_delta = sum(parts) + _FLOAT_ERROR * sum(map(abs, parts))
    return min(1.0, max(math.ulp(0.0), math.exp(log_delta)))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The epsilon at which rho-zCDP is (epsilon, delta)-DP."""
    if rho == 0:
        return 0.0
    rho = max(rho, _LEAST_RHO)
    target = -math.log(delta)
    x, _ = _bracket(lambda x: rho * x * x + math.log1p(x) > target, 1e-300, 2 * math.sqrt(target / rho))
    gain, loss = (2 * x + 1) * rho, math.log1p(1 / x)
    return max(0.0, gain - loss + _FLOAT_ERROR * (gain + loss))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest rho whose zCDP gives (epsilon, delta)-DP, rounded down."""
    low, _ = _bracket(lambda rho: zcdp_epsilon(rho, delta) > epsilon, _LEAST_RHO)
    return low


def exact_gaussian_delta(rho: float, epsilon: float) -> float:
    """The delta of the continuous Gaussian mechanism of cost rho, exact up to float error.

    With a = epsilon/mu - mu/2 and b = a + mu, e^epsilon = phi(a)/phi(b), so delta = phi(a) (R(a) - R(b)) for the Mills
    ratio R: no difference of tiny or of nearly equal tails.
    """
    from scipy.special import erfcx, log_ndtr, ndtr

    if rho == 0:
        return 0.0
    mu = math.sqrt(2 * rho)
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a < 0:
        return float(ndtr(-a) - math.exp(epsilon + log_ndtr(-b)))
    return float(0.5 * math.exp(-a * a / 2) * (erfcx(a / math.sqrt(2)) - erfcx(b / math.sqrt(2))))


def exact_gaussian_epsilon(rho: float, delta: float) -> float:
    """The epsilon of the continuous Gaussian mechanism of cost rho at delta."""
    if exact_gaussian_delta(rho, 0.0) <= delta:
        return 0.0
    most = zcdp_epsilon(rho, delta)
    _, high = _bracket(lambda epsilon: exact_gaussian_delta(rho, epsilon) <= delta, 1e-30, most)
    return high


def exact_gaussian_rho(epsilon: float, delta: float) -> float:
    """The largest cost of a continuous Gaussian mechanism that is (epsilon, delta)-DP."""
    low, _ = _bracket(lambda rho: exact_gaussian_delta(rho, epsilon) > delta, zcdp_rho(epsilon, delta))
    return low


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The delta at which lattice Gaussian noise of total cost rho is (epsilon, delta)-DP."""
    by_zcdp = zcdp_delta(rho, epsilon)
    if epsilon < LEAST_EPSILON or rho > MOST_RHO:
        return by_zcdp
    return min(by_zcdp, max(LEAST_DELTA, exact_gaussian_delta(rho, epsilon - SLACK) / (1 - SLACK)))


def gaussian_epsilon(rho: float, delta: float) -> float:
    """The epsilon at which lattice Gaussian noise of total cost rho is (epsilon, delta)-DP."""
    by_zcdp = zcdp_epsilon(rho, delta)
    if delta < LEAST_DELTA or rho > MOST_RHO:
        return by_zcdp
    return min(by_zcdp, max(LEAST_EPSILON, exact_gaussian_epsilon(rho, delta * (1 - SLACK)) + SLACK))


def gaussian_rho(epsilon: float, delta: float) -> float:
    """The largest total cost of lattice Gaussian noise that is (epsilon, delta)-DP, rounded down."""
    by_zcdp = zcdp_rho(epsilon, delta)
    if epsilon < LEAST_EPSILON or delta < LEAST_DELTA or by_zcdp > MOST_RHO:
        return by_zcdp
    exact = exact_gaussian_rho(epsilon - SLACK, delta * (1 - SLACK)) * (1 - 2.0**-40)
    return max(by_zcdp, min(MOST_RHO, exact))


@dataclass(frozen=True)
class Budget:
    """What may be spent: (epsilon, delta), or rho with an optional delta for thresholds and for stating epsilon."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        _check_kind(self)
        _check_positive("epsilon", self.epsilon)
        _check_positive("rho", self.rho)
        if self.delta is not None and not 0 < self.delta < 1:
            raise UserError(f"budget: found delta {self.delta!r}; it must lie strictly between 0 and 1, such as 1e-9.")

    def total_rho(self, accounting: Accounting, *, delta_spent: float = 0.0) -> float:
        """The rho that may be spent in total, when thresholds take `delta_spent` of delta."""
        if self.rho is not None:
            if delta_spent > 0:
                self._delta_left(delta_spent)
            return self.rho
        assert self.epsilon is not None  # noqa: S101 - by __post_init__
        convert = gaussian_rho if accounting == "gaussian" else zcdp_rho
        return convert(self.epsilon, self._delta_left(delta_spent))

    def statement(self, rho: float, delta_spent: float = 0.0, *, accounting: Accounting) -> tuple[float, float] | None:
        """The (epsilon, delta) that a total of (rho, delta_spent) amounts to at this budget's delta, if it has one."""
        if self.delta is None:
            return None
        return spent_epsilon(rho, self._delta_left(delta_spent), accounting=accounting), self.delta

    def describe(self) -> str:
        """The budget in a few words, for messages and certificates."""
        kind = f"epsilon {self.epsilon:g}" if self.rho is None else f"rho {self.rho:g}"
        return kind if self.delta is None else f"{kind} at delta {self.delta:g}"

    def _delta_left(self, delta_spent: float) -> float:
        left = Fraction(self.delta or 0.0) - Fraction(delta_spent)
        if left > 0:
            return round_down(left)
        found = "no delta" if self.delta is None else f"delta {self.delta:g}"
        raise UserError(
            f"budget: found {found}, of which thresholds take {delta_spent:g}; something must be left. "
            "Give a larger delta, or let thresholds take less."
        )


@dataclass(frozen=True)
class Charge:
    """What one look at the rows costs; label and details are public text."""

    mechanism: Mechanism
    rho: float
    _: KW_ONLY
    label: str
    delta: float = 0.0
    details: Mapping[str, JSON] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mechanism not in get_args(Mechanism):
            raise UserError(
                f"charge: found mechanism {self.mechanism!r}; allowed are {', '.join(get_args(Mechanism))}."
            )
        for name, value in (("rho", self.rho), ("delta", self.delta)):
            if not (math.isfinite(value) and value >= 0):
                raise UserError(f"charge: found {name} {value!r}; it must be finite and not negative.")
        if self.mechanism == "none" and (self.rho or self.delta):
            raise UserError("charge: found a cost with mechanism 'none'; name the mechanism that spends it.")


def default_delta(rows: int | None) -> float:
    """1/n^2, which is legal only where n is public."""
    if rows is None or rows < 2:
        raise UserError("delta: it must be given for a table this small; a common choice is 1e-9.")
    return 1.0 / rows**2


def exact_total(charges: Iterable[Charge]) -> tuple[Fraction, Fraction]:
    """The sums of rho and of delta, as exact rationals."""
    charges = tuple(charges)
    return sum((Fraction(c.rho) for c in charges), Fraction()), sum((Fraction(c.delta) for c in charges), Fraction())


def accounting_of(mechanisms: Iterable[str]) -> Accounting:
    """The best accounting that these mechanisms allow: exact Gaussian unless something selects."""
    return "zcdp" if any(mechanism in ("exponential", "laplace") for mechanism in mechanisms) else "gaussian"


def spent_epsilon(rho: float, delta: float, *, accounting: Accounting) -> float:
    """The epsilon that a total of rho amounts to at delta."""
    return gaussian_epsilon(rho, delta) if accounting == "gaussian" else zcdp_epsilon(rho, delta)


def _bracket(above: Callable[[float], bool], low: float, high: float | None = None) -> tuple[float, float]:
    """Neighbouring floats (to a few units) between which `above` turns true; without `high` it is looked for."""
    if high is None:
        high = max(2 * low, 1.0)
        while not above(high):
            low, high = high, 2 * high
    middle = math.sqrt(low) * math.sqrt(high)
    while low < middle < high:
        low, high = (low, middle) if above(middle) else (middle, high)
        middle = math.sqrt(low) * math.sqrt(high)
    return low, high


def _check_kind(budget: Budget) -> None:
    if budget.rho is not None and budget.epsilon is not None:
        raise UserError("budget: found both rho and epsilon; give either rho, or epsilon with delta.")
    if budget.rho is None and budget.epsilon is None:
        raise UserError("budget: found neither epsilon nor rho; give either epsilon with delta, or rho.")
    if budget.epsilon is not None and budget.delta is None:
        raise UserError(
            "budget: delta must be given: with add-remove the number of rows is private, so no default can be "
            "computed from it; a common choice is 1e-9."
        )


def _check_positive(name: str, value: float | None) -> None:
    if value is not None and not 0 < value <= sys.float_info.max:  # whole numbers may be larger than any float
        raise UserError(f"budget: found {name} {str(value)[:30]}; it must be a finite number above 0, such as 1.")
