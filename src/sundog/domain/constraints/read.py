"""From the declarations under `constraints` in a schema file to exact statements about codes (schema/constraints.py)."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from sundog.domain.columns import Categorical, Column, Numeric
from sundog.domain.constraints.declared import (
    DECLARATION,
    Compare,
    Determined,
    Excluded,
    Guarded,
    Operator,
    code_column_of,
    column_of,
)
from sundog.domain.constraints.kinds import MOST_WEIGHT, Constraint, Determines, Impossible, Pairs, ProtectedStatistic
from sundog.domain.constraints.linear import linear, read_ratio, read_sum
from sundog.domain.grids import SECONDS_PER_DAY, span
from sundog.domain.values import code_of, grid_code
from sundog.errors import UserError


def read_constraints(documents: Sequence[Any], columns: Sequence[Column]) -> tuple[Constraint, ...]:
    """The constraints of a schema document, checked against its columns."""
    by_name = {name: column for column in columns for name in (column.name, column.fields[0])}
    found: list[Constraint] = []
    for number, document in enumerate(documents, start=1):
        name = document.get("name") if isinstance(document, Mapping) else None
        found += _read(document, name if isinstance(name, str) else f"number {number}", by_name)
    return tuple(found)


def _read(document: Any, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    try:
        declared = DECLARATION.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise UserError(
            f"constraint {name!r}: {place + ': ' if place else ''}{first['msg']}. `sundog help constraints` says what is allowed."
        ) from None
    return _READERS[declared.kind](declared, name, columns)


def _compare(declared: Compare, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    left, right = column_of(name, declared.left, columns), column_of(name, declared.right, columns)
    if declared.left == declared.right:
        raise UserError(f"constraint {name!r}: it compares {declared.left!r} with itself; name two fields.")
    if isinstance(left, Categorical) and isinstance(right, Categorical):
        if declared.offset is not None:
            raise UserError(f"constraint {name!r}: labels have no distances; leave out its 'offset'.")
        return [_pairs(declared, name, left, right)]
    if declared.operator == "!=":
        raise UserError(f"constraint {name!r}: '!=' compares labels only; use '<', '<=', '=', '>=' or '>' for numbers.")
    terms = {declared.left: Fraction(1), declared.right: Fraction(-1)}
    bound = _offset(declared, name, left)
    return [linear(name, terms, declared.operator, bound, columns=columns, strength=declared.strength)]


def _offset(declared: Compare, name: str, left: Column) -> Fraction:
    """What is added to the right field: of dates in days, of moments and times in seconds, or a span in words."""
    kind = left.kind if isinstance(left, Numeric) else ""
    kind = left.distance.own.kind if isinstance(left, Numeric) and left.distance is not None else kind
    moment = kind in ("date", "datetime", "time")
    if isinstance(declared.offset, str):
        seconds = span(declared.offset) if moment else None
        if seconds is None:
            raise UserError(
                f"constraint {name!r}: its offset must be a number, or for dates and times a span such as '36 hours' or '2 weeks'."
            )
        return seconds
    return Fraction(str(declared.offset or 0)) * (SECONDS_PER_DAY if kind == "date" else 1)


def _pairs(declared: Compare, name: str, left: Categorical, right: Categorical) -> Pairs:
    ordered = left.ordered and right.ordered and left.labels == right.labels
    if declared.operator not in ("=", "!=") and not ordered:
        raise UserError(
            f"constraint {name!r}: {declared.operator!r} needs two ordered fields with the same categories; "
            "use '=' or '!=' for other labels."
        )
    allowed = {
        (a, b)
        for a in range(left.size)
        for b in range(right.size)
        if a == left.missing or b == right.missing or _holds(declared.operator, left, right, a, b)
    }
    if not allowed:
        raise UserError(f"constraint {name!r}: no pair of categories satisfies it; change the categories or drop it.")
    return Pairs(name, (left.name, right.name), frozenset(allowed))


def _holds(operator: Operator, left: Categorical, right: Categorical, a: int, b: int) -> bool:
    if operator in ("=", "!="):
        return (left.labels[a] == right.labels[b]) == (operator == "=")
    return {"<": a < b, "<=": a <= b, ">=": a >= b, ">": a > b}[operator]


def _determines(declared: Determined, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    by = [code_column_of(name, field, columns) for field in declared.columns]
    target = code_column_of(name, declared.column, columns)
    if declared.column in declared.columns:
        raise UserError(f"constraint {name!r}: {declared.column!r} cannot determine itself.")
    if declared.map and len(by) > 1:
        raise UserError(f"constraint {name!r}: a 'map' needs exactly one determining field; found {len(by)}.")
    said = f"constraint {name!r}"
    mapping = tuple(
        (code_of(by[0], value, said=said), code_of(target, result, said=said)) for value, result in declared.map.items()
    )
    return [Determines(name, tuple(declared.columns), declared.column, mapping)]


def _impossible(declared: Excluded, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    fields = tuple(declared.where)
    ranges = tuple(_ranges(name, code_column_of(name, field, columns), declared.where[field]) for field in fields)
    return [Impossible(name, fields, ranges)]


def _ranges(name: str, column: Column, said: Any) -> tuple[tuple[int, int], ...]:
    """The codes that a condition names: a value, a list of values, or {"minimum", "maximum"}."""
    place = f"constraint {name!r}"
    if isinstance(said, Mapping):
        if not isinstance(column, Numeric) or not said or set(said) - {"minimum", "maximum"}:
            raise UserError(
                f"constraint {name!r}: field {column.name!r}: a condition is a value, a list of values, or, for numbers and "
                "dates, an object with 'minimum' and 'maximum'."
            )
        low = grid_code(column, said["minimum"], rounding="up", said=place) if "minimum" in said else 0
        high = (
            grid_code(column, said["maximum"], rounding="down", said=place) if "maximum" in said else column.steps - 1
        )
        return ((max(low, 0), min(high, column.steps - 1) + 1),)
    values = said if isinstance(said, list) else [said]
    codes = [code_of(column, value, said=place) for value in values]
    return tuple((code, code + 1) for code in codes)


def _protected(declared: Guarded, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    for field in declared.weights:
        code_column_of(name, field, columns)
    size = sum(map(abs, declared.weights.values()))
    if size > MOST_WEIGHT:
        raise UserError(
            f"constraint {name!r}: the weights add up to {size:g} in absolute value; at most {MOST_WEIGHT} is allowed. Divide the weights "
            "and the threshold by the same number."
        )
    low = sum(min(weight, 0.0) for weight in declared.weights.values())
    high = sum(max(weight, 0.0) for weight in declared.weights.values())
    if not low < declared.threshold < high:
        raise UserError(
            f"constraint {name!r}: threshold {declared.threshold:g} lies outside {low:g} to {high:g}, the range of the "
            "weighted sum of fields scaled to [0, 1]; choose one inside."
        )
    return [
        ProtectedStatistic(
            name,
            tuple(declared.weights),
            tuple(declared.weights.values()),
            declared.threshold,
            declared.strength,
            declared.sharpness,
        )
    ]


_READERS: dict[str, Callable[[Any, str, Mapping[str, Column]], list[Constraint]]] = {
    "compare": _compare,
    "sum": read_sum,
    "ratio": read_ratio,
    "determines": _determines,
    "impossible": _impossible,
    "protected": _protected,
}
