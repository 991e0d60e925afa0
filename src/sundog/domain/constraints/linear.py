"""Sums, ratios and comparisons of numbers or dates, as linear inequalities in whole numbers of grid units."""

import math
from collections.abc import Mapping
from fractions import Fraction

from sundog.domain.columns import Column, Numeric
from sundog.domain.constraints.declared import Ratio, Sum, numeric_of
from sundog.domain.constraints.kinds import Constraint, Linear
from sundog.errors import UserError

SUM_LIMIT = 2**62
SECONDS_PER_DAY = 86_400


def read_sum(declared: Sum, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    """One inequality or equation a bound of a sum."""
    weights = declared.weights or dict.fromkeys(declared.columns or [], 1.0)
    if not weights:
        raise UserError(f"constraint {name!r}: a sum needs 'columns' or 'weights'.")
    terms = {field: Fraction(str(weight)) for field, weight in weights.items()}
    found: list[Constraint] = []
    bounds = {"=": declared.equals, ">=": declared.minimum, "<=": declared.maximum}
    for operator, bound in bounds.items():
        if bound is not None:
            own, limit = dict(terms), bound
            if isinstance(bound, str):
                own[bound], limit = own.get(bound, Fraction(0)) - 1, 0.0
            found.append(linear(name, own, operator, Fraction(str(limit)), columns=columns, strength=declared.strength))
    if not found:
        raise UserError(f"constraint {name!r}: a sum needs 'minimum', 'maximum' or 'equals'.")
    return found


def read_ratio(declared: Ratio, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    """One inequality a bound of a ratio, multiplied out."""
    if numeric_of(name, declared.denominator, columns).lower < 0:
        raise UserError(
            f"constraint {name!r}: the denominator {declared.denominator!r} may be negative; raise its minimum to 0."
        )
    found: list[Constraint] = []
    for operator, bound in ((">=", declared.minimum), ("<=", declared.maximum)):
        if bound is not None:
            terms = {declared.numerator: Fraction(1), declared.denominator: -Fraction(str(bound))}
            found.append(linear(name, terms, operator, Fraction(0), columns=columns, strength=declared.strength))
    if not found:
        raise UserError(f"constraint {name!r}: a ratio needs 'minimum' or 'maximum'.")
    return found


def linear(
    name: str,
    terms: Mapping[str, Fraction],
    operator: str,
    bound: Fraction,
    *,
    columns: Mapping[str, Column],
    strength: float | None,
) -> Linear:
    """A comparison of a weighted sum with a bound, in whole numbers of grid units."""
    used = {field: numeric_of(name, field, columns) for field in terms}
    factors = [weight * value for weight, value in zip(terms.values(), _unit_values(name, used), strict=True)]
    if operator in (">=", ">"):
        factors, bound = [-factor for factor in factors], -bound
    scale = math.lcm(*(factor.denominator for factor in factors))
    coefficients = tuple(int(factor * scale) for factor in factors)
    exact = bound * scale
    limit = math.floor(exact) if operator in ("<=", ">=", "=") else math.ceil(exact) - 1
    _check_reach(name, coefficients, list(used.values()), limit, equal=operator == "=", whole=exact.denominator == 1)
    return Linear(name, tuple(used), coefficients, limit, operator == "=", strength)


def _unit_values(name: str, used: Mapping[str, Numeric]) -> list[Fraction]:
    """What one grid unit of each column is worth: numbers in ones, dates and times in seconds."""
    kinds = {column.kind in ("date", "datetime", "time") for column in used.values()}
    if len(kinds) > 1:
        raise UserError(f"constraint {name!r}: it mixes numbers with dates; use fields of one sort.")
    worth = {"date": Fraction(SECONDS_PER_DAY), "integer": Fraction(1)}
    return [
        worth.get(
            column.kind, Fraction(1, 10**column.decimals) if column.kind == "number" else Fraction(column.resolution)
        )
        for column in used.values()
    ]


def _check_reach(
    name: str, coefficients: tuple[int, ...], used: list[Numeric], limit: int, *, equal: bool, whole: bool
) -> None:
    ends = [sorted((c * column.lower, c * column.upper)) for c, column in zip(coefficients, used, strict=True)]
    low, high = sum(end[0] for end in ends), sum(end[1] for end in ends)
    if max(abs(low), abs(high), abs(limit)) > SUM_LIMIT:
        raise UserError(f"constraint {name!r}: its weights are too fine or too large; round them.")
    if low > limit or (equal and (high < limit or not whole)):
        raise UserError(
            f"constraint {name!r}: no row within the fields' declared bounds can satisfy it; mend its numbers or the bounds."
        )
