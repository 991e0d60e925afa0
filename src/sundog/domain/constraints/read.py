"""From the declarations under `constraints` in a schema file to exact statements about codes (schema/constraints.py)."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, Literal

from pydantic import ValidationError

from sundog.domain.columns import EPOCH, Categorical, Column, Numeric
from sundog.domain.constraints.declared import DECLARATION, Compare, Determined, Excluded, Guarded, Operator, column_of
from sundog.domain.constraints.kinds import Constraint, Determines, Impossible, Pairs, ProtectedStatistic
from sundog.domain.constraints.linear import linear, read_ratio, read_sum
from sundog.errors import UserError


def read_constraints(documents: Sequence[Any], columns: Sequence[Column]) -> tuple[Constraint, ...]:
    """The constraints of a schema document, checked against its columns."""
    by_name = {column.name: column for column in columns}
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
            f"constraint {name!r}: {place + ': ' if place else ''}{first['msg']}. See docs/constraints.md for what is allowed."
        ) from None
    return _READERS[declared.kind](declared, name, columns)


def _compare(declared: Compare, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    left, right = column_of(name, declared.left, columns), column_of(name, declared.right, columns)
    if declared.left == declared.right:
        raise UserError(f"constraint {name!r}: it compares {declared.left!r} with itself; name two fields.")
    if isinstance(left, Categorical) and isinstance(right, Categorical):
        return [_pairs(declared, name, left, right)]
    if declared.operator == "!=":
        raise UserError(f"constraint {name!r}: '!=' compares labels only; use '<', '<=', '=', '>=' or '>' for numbers.")
    terms = {declared.left: Fraction(1), declared.right: Fraction(-1)}
    return [linear(name, terms, declared.operator, Fraction(0), columns=columns, strength=declared.strength)]


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
        raise UserError(f"constraint {name!r}: no pair of categories satisfies it; mend the categories or drop it.")
    return Pairs(name, (left.name, right.name), frozenset(allowed))


def _holds(operator: Operator, left: Categorical, right: Categorical, a: int, b: int) -> bool:
    if operator in ("=", "!="):
        return (left.labels[a] == right.labels[b]) == (operator == "=")
    return {"<": a < b, "<=": a <= b, ">=": a >= b, ">": a > b}[operator]


def _determines(declared: Determined, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    by = [column_of(name, field, columns) for field in declared.columns]
    target = column_of(name, declared.column, columns)
    if declared.column in declared.columns:
        raise UserError(f"constraint {name!r}: {declared.column!r} cannot determine itself.")
    if declared.map and len(by) > 1:
        raise UserError(f"constraint {name!r}: a 'map' needs exactly one determining field; found {len(by)}.")
    mapping = tuple((_code(name, by[0], value), _code(name, target, result)) for value, result in declared.map.items())
    return [Determines(name, tuple(declared.columns), declared.column, mapping)]


def _code(name: str, column: Column, value: Any) -> int:
    """The code of a value that stands in the declaration; keys of JSON objects are text."""
    if value is None and column.missing is not None:
        return column.missing
    candidates = column.labels if isinstance(column, Categorical) else ()
    for code, label in enumerate(candidates):
        if label == value or (isinstance(value, str) and str(label).lower() == value.lower()):
            return code
    if isinstance(column, Numeric) and value is not None:
        code = _grid(name, column, value, rounding="nearest")
        if 0 <= code < column.steps:
            return code
    raise UserError(f"constraint {name!r}: {value!r} is not a value of field {column.name!r}.")


def _grid(name: str, column: Numeric, value: Any, *, rounding: Literal["nearest", "up", "down"]) -> int:
    """The code of a number or ISO date, possibly outside the bounds."""
    try:
        if column.kind == "date":
            exact = Fraction((date.fromisoformat(value) - EPOCH).days)
        elif column.kind == "datetime":
            moment = datetime.fromisoformat(value).replace(tzinfo=UTC)
            exact = Fraction(int(moment.timestamp()), column.resolution)
        else:
            exact = Fraction(str(value)) * 10**column.decimals
    except (TypeError, ValueError):
        raise UserError(
            f"constraint {name!r}: {value!r} is not a {column.kind} as field {column.name!r} needs."
        ) from None
    rounded = round(exact) if rounding == "nearest" else math.ceil(exact) if rounding == "up" else math.floor(exact)
    return rounded - column.lower


def _impossible(declared: Excluded, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    fields = tuple(declared.where)
    ranges = tuple(_ranges(name, column_of(name, field, columns), declared.where[field]) for field in fields)
    return [Impossible(name, fields, ranges)]


def _ranges(name: str, column: Column, said: Any) -> tuple[tuple[int, int], ...]:
    """The codes that a condition names: a value, a list of values, or {"minimum", "maximum"}."""
    if isinstance(said, Mapping):
        if not isinstance(column, Numeric) or not said or set(said) - {"minimum", "maximum"}:
            raise UserError(
                f"constraint {name!r}: field {column.name!r}: a condition is a value, a list of values, or, for numbers and "
                "dates, an object with 'minimum' and 'maximum'."
            )
        low = _grid(name, column, said["minimum"], rounding="up") if "minimum" in said else 0
        high = _grid(name, column, said["maximum"], rounding="down") if "maximum" in said else column.steps - 1
        return ((max(low, 0), min(high, column.steps - 1) + 1),)
    values = said if isinstance(said, list) else [said]
    codes = [_code(name, column, value) for value in values]
    return tuple((code, code + 1) for code in codes)


def _protected(declared: Guarded, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    for field in declared.weights:
        column_of(name, field, columns)
    low = sum(min(weight, 0.0) for weight in declared.weights.values())
    high = sum(max(weight, 0.0) for weight in declared.weights.values())
    if not low < declared.threshold < high:
        raise UserError(
            f"constraint {name!r}: threshold {declared.threshold:g} lies outside {low:g} to {high:g}, the range of the "
            "weighted sum of fields scaled to [0, 1]; choose one inside."
        )
    return [
        ProtectedStatistic(
            name, tuple(declared.weights), tuple(declared.weights.values()), declared.threshold, declared.strength
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
