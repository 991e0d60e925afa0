"""Bounds and edges that a field declares, as whole numbers of units of its grid."""

import math
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

from sundog.domain.columns import EPOCH, GRID_LIMIT
from sundog.domain.forms import FieldModel
from sundog.errors import UserError

DEFAULT_GRID = 1_000_000
"""A number without declared decimals gets the fewest decimals that make at least this many grid points."""


def decimals_of(field: FieldModel, low: Any, high: Any) -> int:
    """How many decimals the grid of a number has."""
    if field.type != "number":
        return 0
    if field.sundog.decimals is not None:
        return field.sundog.decimals
    bounds = number_of(field, low), number_of(field, high)
    span, reach = float(bounds[1] - bounds[0]), float(max(map(abs, bounds)))
    if not span > 1e-15:
        return 0
    return max(0, min(15, math.ceil(math.log10(DEFAULT_GRID / span)), math.floor(math.log10(GRID_LIMIT / reach))))


def number_of(field: FieldModel, value: Any) -> Decimal:
    """A bound or edge as an exact number."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number.adjusted() > 30 or isinstance(value, bool):
        raise UserError(f"field {field.name!r}: bound or bin edge {value!r} is not a number between -1e30 and 1e30.")
    return number


def units_of(field: FieldModel, decimals: int) -> Any:
    """A function (value, rounding) -> grid units for this field's type."""
    if field.type in ("integer", "number"):
        return lambda value, rounding: int(number_of(field, value).scaleb(decimals).to_integral_value(rounding))
    seconds = field.sundog.resolution or 1

    def units(value: Any, rounding: str) -> int:
        moment = _moment(field, value)
        if field.type == "date":
            return (moment.date() - EPOCH).days
        exact = Decimal(int(moment.replace(tzinfo=UTC).timestamp())) / seconds
        return int(exact.to_integral_value(rounding))

    return units


def _moment(field: FieldModel, value: Any) -> datetime:
    try:
        if field.type == "time":
            return datetime.combine(EPOCH, time.fromisoformat(value)).replace(tzinfo=None)
        if field.type == "date":
            return datetime.combine(date.fromisoformat(value), time())
        return datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=None)
    except (TypeError, ValueError, AttributeError):
        example = {"date": "2024-12-31", "time": "23:59:59"}.get(field.type, "2024-12-31T23:59:59")
        raise UserError(
            f"field {field.name!r}: bound {value!r} is not an ISO {field.type} such as {example}."
        ) from None


def bins_of(field: FieldModel, unit: Any, lower: int, upper: int) -> int | tuple[int, ...] | None:
    """The bins that a field declares: how many, or where the inner ones begin."""
    bins = field.sundog.bins
    if bins is None or isinstance(bins, int):
        if bins is not None and bins < 1:
            raise UserError(f"field {field.name!r}: sundog.bins is {bins}; it must be 1 or more.")
        return bins
    edges = [unit(edge, ROUND_CEILING) - lower for edge in bins]
    inner = tuple(edge for edge in edges if 0 < edge <= upper - lower)
    if list(inner) != sorted(set(inner)):
        raise UserError(f"field {field.name!r}: sundog.bins must be edges in increasing order.")
    return inner
