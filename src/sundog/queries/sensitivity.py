"""What one privacy unit can change in an answer, and the noise that a price buys. Stated once, for the curator and everyone else.

A query states its norms for one row (base.py). A unit has at most `rows` rows, so norms grow by that factor; and where a
unit may also change its number of rows (PrivacyUnit.relations), the larger of both relations' norms holds:

    D = rows * max over relations of D_query(relation);      stddev = D / sqrt(2 rho).
"""

import math
from collections.abc import Callable
from fractions import Fraction

from sundog.domain.unit import Neighbours, PrivacyUnit
from sundog.queries.base import Query


def squared(query: Query, unit: PrivacyUnit) -> Fraction:
    """The square of the L2 sensitivity of the whole answer."""
    return most(query.sensitivity_squared, unit, power=2)


def l1(query: Query, unit: PrivacyUnit) -> Fraction:
    """The L1 sensitivity of the whole answer."""
    return most(query.sensitivity_l1, unit)


def linf(query: Query, unit: PrivacyUnit) -> Fraction:
    """The most by which one unit can change any single answer."""
    return most(query.sensitivity_linf, unit)


def block_l1(query: Query, unit: PrivacyUnit) -> Fraction:
    """The L1 sensitivity of any one block."""
    return most(query.block_l1, unit)


def partition_squared(unit: PrivacyUnit) -> Fraction:
    """The square of the L2 sensitivity of counts of which every row has exactly one."""
    return most(lambda relation: Fraction(1 if relation == "add-remove" else 2), unit, power=2)


def gaussian_stddev(query: Query, rho: float, *, unit: PrivacyUnit) -> float:
    """The noise that the curator will add for this price, up to rounding."""
    return math.sqrt(squared(query, unit) / (2 * rho))


def most(norm: Callable[[Neighbours], Fraction], unit: PrivacyUnit, *, power: int = 1) -> Fraction:
    """A norm (or its square, power 2) of one row, for all rows of one unit under every relation that holds."""
    return max(norm(relation) for relation in unit.relations) * unit.rows**power
