"""Values that people write in declarations and conditions, as codes of a column. `said` names the place in messages."""

import math
import re
from datetime import UTC, date, datetime, time
from fractions import Fraction
from typing import Any, Literal

from sundog.domain.columns import EPOCH, Categorical, Column, Numeric
from sundog.errors import UserError

_NUMBER = re.compile(r"[-+]?[0-9]{0,400}(\.[0-9]{0,400})?([eE][-+]?[0-9]{1,3})?")
Rounding = Literal["nearest", "up", "down"]
MOST_NAMED = 8
MIDNIGHT = datetime.combine(EPOCH, time())


def code_of(column: Column, value: Any, *, said: str) -> int:
    """The code of a value; labels may be written as text (keys of JSON objects are), None is missing."""
    if value is None and column.missing is not None:
        return column.missing
    if isinstance(column, Categorical):
        found = _label_code(column, value)
        if found is not None:
            return found
    elif value is not None:
        code = grid_code(column, value, rounding="nearest", said=said)
        if 0 <= code < column.steps:
            return code
    raise UserError(f"{said}: {value!r} is not a value of field {column.name!r}; {_allowed(column)}.")


def _allowed(column: Column) -> str:
    """Which values a column has, in words."""
    missing = "" if column.missing is None else ", or missing"
    if isinstance(column, Numeric):
        return f"its values lie within the declared bounds{missing}"
    more = len(column.labels) - MOST_NAMED
    named = ", ".join(repr(label) for label in column.labels[:MOST_NAMED])
    return f"it has {named}{f' and {more} more' if more > 0 else ''}{missing}"


def grid_code(column: Numeric, value: Any, *, rounding: Rounding, said: str) -> int:
    """The code of a number or ISO date, possibly outside the bounds."""
    exact = grid_point(column, value, said=said)
    return round(exact) if rounding == "nearest" else math.ceil(exact) if rounding == "up" else math.floor(exact)


def grid_point(column: Numeric, value: Any, *, said: str) -> Fraction:
    """Where a number or ISO date lies on the grid, exactly, counted from the lower bound."""
    try:
        if column.kind == "date":
            exact = Fraction((date.fromisoformat(value) - EPOCH).days)
        elif column.kind == "datetime":
            moment = datetime.fromisoformat(value).replace(tzinfo=UTC)
            exact = Fraction(int(moment.timestamp()), column.resolution)
        elif column.kind == "time":
            exact = Fraction((datetime.combine(EPOCH, time.fromisoformat(value)) - MIDNIGHT).seconds, column.resolution)
        else:
            exact = _number(str(value)) * 10**column.decimals
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise UserError(
            f"{said}: {value!r} does not fit field {column.name!r}, which is of type {column.kind}."
        ) from None
    return exact - column.lower


def _number(text: str) -> Fraction:
    """A decimal number, exactly; a long exponent is no number but a trap."""
    if _NUMBER.fullmatch(text.strip()) is None:
        raise ValueError(text)
    return Fraction(text.strip())


def _label_code(column: Categorical, value: Any) -> int | None:
    for code, label in enumerate(column.labels):
        if label == value or (isinstance(value, str) and str(label) == value):
            return code
    if not isinstance(value, str):
        return None
    for texts, label in ((column.true_texts, True), (column.false_texts, False)):
        if value in texts:
            return column.labels.index(label)
    alike = [code for code, label in enumerate(column.labels) if str(label).lower() == value.lower()]
    return alike[0] if alike else None
