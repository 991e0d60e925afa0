"""Sums, ratios and comparisons of numbers or dates, as linear inequalities in whole numbers of grid units."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from sundog.domain.columns import Column, Numeric
from sundog.domain.constraints.declared import Ratio, Sum, numeric_of
from sundog.domain.constraints.kinds import Constraint, Linear
from sundog.domain.grids import ratio, worth
from sundog.errors import UserError

SUM_LIMIT = 2**62


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
    denominator = numeric_of(name, declared.denominator, columns)
    lowest = denominator if denominator.distance is None else denominator.distance.own
    if lowest.lower < 0:
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
    used, factors = _factors(name, terms, columns)
    if operator in (">=", ">"):
        factors, bound = [-factor for factor in factors], -bound
    scale = math.lcm(*(factor.denominator for factor in factors))
    coefficients = tuple(int(factor * scale) for factor in factors)
    exact = bound * scale
    limit = math.floor(exact) if operator in ("<=", ">=", "=") else math.ceil(exact) - 1
    _check_reach(name, coefficients, list(used.values()), limit, equal=operator == "=", whole=exact.denominator == 1)
    return Linear(name, tuple(used), coefficients, limit, operator == "=", strength)


def _factors(
    name: str, terms: Mapping[str, Fraction], columns: Mapping[str, Column]
) -> tuple[dict[str, Numeric], list[Fraction]]:
    """The columns of a weighted sum, and what one grid unit of each adds to it.

    A field that is modelled as its distance from another is that distance and the other one, added up.
    """
    used: dict[str, Numeric] = {}
    factors: dict[str, Fraction] = {}
    moments = set()
    for field, weight in terms.items():
        for column, own in _parts(name, field, columns):
            moments.add(own.kind in ("date", "datetime", "time"))
            used[column.name] = column
            factors[column.name] = factors.get(column.name, Fraction(0)) + weight * worth(own)
    if len(moments) > 1:
        raise UserError(f"constraint {name!r}: it mixes numbers with dates; use fields of one sort.")
    kept = {field: column for field, column in used.items() if factors[field] or not any(factors.values())}
    return kept, [factors[field] for field in kept]


def _parts(name: str, field: str, columns: Mapping[str, Column]) -> Iterator[tuple[Numeric, Numeric]]:
    """The columns that add up to a field, each with the column whose grid it counts in."""
    column = numeric_of(name, field, columns)
    while column.distance is not None and field != column.name:
        own, base = column.distance.own, column.distance.base
        if ratio(base, own).denominator != 1:
            raise UserError(
                f"constraint {name!r}: {field!r} counts its distance from {base.name!r} on a coarser grid than that; give "
                "both the same decimals or resolution."
            )
        yield column, own
        field = base.name
        column = numeric_of(name, field, columns)
    yield column, column


def _check_reach(
    name: str, coefficients: tuple[int, ...], used: list[Numeric], limit: int, *, equal: bool, whole: bool
) -> None:
    ends = [sorted((c * column.lower, c * column.upper)) for c, column in zip(coefficients, used, strict=True)]
    low, high = sum(end[0] for end in ends), sum(end[1] for end in ends)
    if max(abs(low), abs(high), abs(limit)) > SUM_LIMIT:
        raise UserError(f"constraint {name!r}: its weights are too fine or too large; round them.")
    if low > limit or (equal and (high < limit or not whole)):
        raise UserError(
            f"constraint {name!r}: no row within the fields' declared bounds can satisfy it; correct its numbers or the bounds."
        )
