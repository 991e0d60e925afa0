"""From the declarations under `constraints` in a schema file to exact statements about codes (schema/constraints.py)."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sundog.errors import UserError
from sundog.schema.columns import EPOCH, Categorical, Column, Numeric
from sundog.schema.constraints import Constraint, Determines, Impossible, Linear, Pairs, ProtectedStatistic

Operator = Literal["<", "<=", "=", "!=", ">=", ">"]
SUM_LIMIT = 2**62
SECONDS_PER_DAY = 86_400


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str | None = None


class _Compare(_Declared):
    kind: Literal["compare"]
    left: str
    operator: Operator
    right: str
    strength: float = Field(default=1.0, ge=0)


class _Sum(_Declared):
    kind: Literal["sum"]
    columns: list[str] | None = None
    weights: dict[str, float] | None = None
    minimum: float | None = None
    maximum: float | None = None
    equals: float | str | None = None
    strength: float = Field(default=1.0, ge=0)


class _Ratio(_Declared):
    kind: Literal["ratio"]
    numerator: str
    denominator: str
    minimum: float | None = None
    maximum: float | None = None
    strength: float = Field(default=1.0, ge=0)


class _Determines(_Declared):
    kind: Literal["determines"]
    columns: list[str] = Field(min_length=1)
    column: str
    map: dict[str, Any] = {}


class _Impossible(_Declared):
    kind: Literal["impossible"]
    where: dict[str, Any] = Field(min_length=1)


class _Protected(_Declared):
    kind: Literal["protected"]
    weights: dict[str, float] = Field(min_length=1)
    threshold: float
    strength: float = Field(default=1.0, ge=0)


_Declaration = Annotated[_Compare | _Sum | _Ratio | _Determines | _Impossible | _Protected, Field(discriminator="kind")]
_READER: TypeAdapter[Any] = TypeAdapter(_Declaration)


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
        declared = _READER.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise UserError(
            f"constraint {name!r}: {place + ': ' if place else ''}{first['msg']}. See docs/constraints.md for what is allowed."
        ) from None
    return _READERS[declared.kind](declared, name, columns)


def _column(name: str, field: str, columns: Mapping[str, Column]) -> Column:
    if field not in columns:
        shown = ", ".join(repr(known) for known in list(columns)[:12])
        raise UserError(f"constraint {name!r}: {field!r} is not a modelled field; fields are {shown}.")
    return columns[field]


def _numeric(name: str, field: str, columns: Mapping[str, Column]) -> Numeric:
    column = _column(name, field, columns)
    if not isinstance(column, Numeric):
        raise UserError(
            f"constraint {name!r}: field {field!r} has labels; this constraint needs numbers or dates. "
            "Labels can be compared with '=' and '!=' or named in an 'impossible' combination."
        )
    return column


def _compare(declared: _Compare, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    left, right = _column(name, declared.left, columns), _column(name, declared.right, columns)
    if declared.left == declared.right:
        raise UserError(f"constraint {name!r}: it compares {declared.left!r} with itself; name two fields.")
    if isinstance(left, Categorical) and isinstance(right, Categorical):
        return [_pairs(declared, name, left, right)]
    if declared.operator == "!=":
        raise UserError(f"constraint {name!r}: '!=' compares labels only; use '<', '<=', '=', '>=' or '>' for numbers.")
    terms = {declared.left: Fraction(1), declared.right: Fraction(-1)}
    return [_linear(name, terms, declared.operator, Fraction(0), columns=columns, strength=declared.strength)]


def _pairs(declared: _Compare, name: str, left: Categorical, right: Categorical) -> Pairs:
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


def _sum(declared: _Sum, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
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
            found.append(
                _linear(name, own, operator, Fraction(str(limit)), columns=columns, strength=declared.strength)
            )
    if not found:
        raise UserError(f"constraint {name!r}: a sum needs 'minimum', 'maximum' or 'equals'.")
    return found


def _ratio(declared: _Ratio, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    if _numeric(name, declared.denominator, columns).lower < 0:
        raise UserError(
            f"constraint {name!r}: the denominator {declared.denominator!r} may be negative; raise its minimum to 0."
        )
    found: list[Constraint] = []
    for operator, bound in ((">=", declared.minimum), ("<=", declared.maximum)):
        if bound is not None:
            terms = {declared.numerator: Fraction(1), declared.denominator: -Fraction(str(bound))}
            found.append(_linear(name, terms, operator, Fraction(0), columns=columns, strength=declared.strength))
    if not found:
        raise UserError(f"constraint {name!r}: a ratio needs 'minimum' or 'maximum'.")
    return found


def _linear(
    name: str,
    terms: Mapping[str, Fraction],
    operator: str,
    bound: Fraction,
    *,
    columns: Mapping[str, Column],
    strength: float,
) -> Linear:
    """A comparison of a weighted sum with a bound, in whole numbers of grid units."""
    used = {field: _numeric(name, field, columns) for field in terms}
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
    kinds = {column.kind in ("date", "datetime") for column in used.values()}
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


def _determines(declared: _Determines, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    by = [_column(name, field, columns) for field in declared.columns]
    target = _column(name, declared.column, columns)
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


def _impossible(declared: _Impossible, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    fields = tuple(declared.where)
    ranges = tuple(_ranges(name, _column(name, field, columns), declared.where[field]) for field in fields)
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


def _protected(declared: _Protected, name: str, columns: Mapping[str, Column]) -> list[Constraint]:
    for field in declared.weights:
        _column(name, field, columns)
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
    "sum": _sum,
    "ratio": _ratio,
    "determines": _determines,
    "impossible": _impossible,
    "protected": _protected,
}
