"""Offsets: a date or number that is modelled as its distance from another (`"relativeTo": "admitted"`).

What is measured is own - base, one whole number of the own field's grid units (days; `resolution` seconds; 10^-decimals) per
row, under the name "discharged - admitted". So stays, delays and margins keep their shape, and sensitivities stay what they
are: a row still has one code per column. Where the base's grid is finer, it is cut to the own grid first, so that the way
from values to codes and back is exact. The field itself is the base and the distance added up again, kept within the
bounds that it declares; it is missing where either is.

Bases may be offsets themselves, in a chain, but not in a circle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain.bounds import bins_of, decimals_of, number_of, units_of
from sundog.domain.columns import GRID_LIMIT, Column, Distance, Numeric, NumericKind
from sundog.domain.constraints.kinds import Linear
from sundog.domain.constraints.linear import linear
from sundog.domain.forms import FieldModel, missing_texts
from sundog.domain.grids import in_units, ratio, span, worth
from sundog.domain.spelling import read_format, read_marks
from sundog.errors import UserError

NUMBERS, MOMENTS = ("integer", "number"), ("date", "datetime")
KINDS: Mapping[str, NumericKind] = {"integer": "integer", "number": "number", "date": "date", "datetime": "datetime"}

Codes = Int[np.ndarray, " rows"]


def shown(column: Column) -> Column:
    """The column as it comes out: of a distance the field itself."""
    return column.distance.own if isinstance(column, Numeric) and column.distance is not None else column


def shown_codes(columns: Sequence[Column], codes: Sequence[Codes]) -> dict[str, Codes]:
    """The codes of every field that comes out; of those relative to a field that is not there, nothing."""
    held = {column.name: (column, own) for column, own in zip(columns, codes, strict=True)}
    made = {name: own for name, (column, own) in held.items() if shown(column) is column}
    waiting = [(column, own) for column, own in held.values() if shown(column) is not column]
    while ready := [each for each in waiting if each[0].fields[-1] in made]:
        made |= {column.fields[0]: _added(column, own, made[column.fields[-1]]) for column, own in ready}
        waiting = [each for each in waiting if each[0].fields[0] not in made]
    return made


def _added(column: Column, codes: Codes, base_codes: Codes) -> Codes:
    """The field's own codes: base and distance, within the field's bounds."""
    if not isinstance(column, Numeric) or column.distance is None:
        return codes
    own, base = column.distance.own, column.distance.base
    absent = (codes == column.missing) | (base_codes == base.missing)
    start = in_units(np.where(absent, 0, base_codes).astype(np.int64) + base.lower, ratio(base, own))
    units = start + np.where(absent, 0, codes) + column.lower
    return np.where(absent, own.null_code, np.clip(units - own.lower, 0, own.steps - 1))


def read_offsets(fields: Sequence[FieldModel], plain: Mapping[str, Column]) -> dict[str, Column]:
    """The distances of the fields that are relative to others, by the fields' names."""
    found: dict[str, Column] = {}
    waiting = list(fields)
    while waiting:
        ready = [field for field in waiting if field.relative_to not in {other.name for other in waiting}]
        if not ready:
            raise UserError(
                f"field {waiting[0].name!r}: relativeTo goes in a circle; model one of its fields by itself."
            )
        for field in ready:
            found[field.name] = read_offset(field, {**plain, **{name: shown(column) for name, column in found.items()}})
        waiting = [field for field in waiting if field not in ready]
    taken = {*plain, *found}
    for name, column in found.items():
        if column.name in taken:
            raise UserError(
                f"field {name!r}: its distance is called {column.name!r}, which is also the name of a field; rename that one."
            )
    return found


def read_offset(field: FieldModel, known: Mapping[str, Column]) -> Numeric:
    """The distance of a field from another one."""
    base = known.get(field.relative_to or "")
    _check(field, base)
    if not isinstance(base, Numeric):
        raise TypeError("an offset's base is a number or a moment")
    made = read_distance(field)
    grid = replace(
        made,
        kind=KINDS[field.type],
        resolution=field.sundog.resolution or 1,
        format=read_format(field),
        marks=read_marks(field),
        bins=None,
    )
    lower, upper = _reach(field, made, base, ratio(base, grid))
    own = replace(grid, lower=lower, upper=upper)
    return replace(made, name=f"{field.name} - {base.name}", distance=Distance(own, base))


def read_distance(field: FieldModel) -> Numeric:
    """The distance alone, as a number: its bounds, without regard to what it is a distance from."""
    if field.offset is None:
        raise UserError(
            f"field {field.name!r}: relativeTo needs bounds of the difference, such as "
            '"offset": {"minimum": 0, "maximum": 30} (numbers; days for dates, seconds for datetimes; or "36 hours").'
        )
    low, high = field.offset.minimum, field.offset.maximum
    decimals = decimals_of(field, low, high)

    def unit(value: Any, rounding: str) -> int:
        return int(_span(field, value, decimals).to_integral_value(rounding))

    lower, upper = unit(low, ROUND_CEILING), unit(high, ROUND_FLOOR)
    if lower > upper:
        raise UserError(f"field {field.name!r}: no distance lies between offset minimum {low!r} and maximum {high!r}.")
    return Numeric(
        field.name,
        "number" if field.type == "number" else "integer",
        lower=lower,
        upper=upper,
        decimals=decimals,
        nullable=not field.constraints.required,
        fixed_decimals=field.sundog.decimals is not None,
        bins=bins_of(field, unit, lower, upper),
        missing_values=missing_texts(field),
    )


def _span(field: FieldModel, value: Any, decimals: int) -> Decimal:
    """A distance in grid units: a number in the field's own terms (days, seconds), or a text with a unit of time."""
    seconds = span(value) if isinstance(value, str) and field.type in MOMENTS else None
    if seconds is None:
        return number_of(field, value).scaleb(decimals) / (field.sundog.resolution or 1)
    exact = Decimal(seconds.numerator) / seconds.denominator
    return exact / (86_400 if field.type == "date" else field.sundog.resolution or 1)


def _reach(field: FieldModel, distance: Numeric, base: Numeric, step: Fraction) -> tuple[int, int]:
    """The bounds of the field itself: what base and distance allow, within what it declares."""
    ends = [in_units(end, step) for end in (base.lower, base.upper)]
    lower, upper = ends[0] + distance.lower, ends[1] + distance.upper
    unit, bounds = units_of(field, distance.decimals), field.constraints
    lower = lower if bounds.minimum is None else max(lower, unit(bounds.minimum, ROUND_CEILING))
    upper = upper if bounds.maximum is None else min(upper, unit(bounds.maximum, ROUND_FLOOR))
    if lower > upper:
        raise UserError(
            f"field {field.name!r}: {base.name!r} and the offset leave no value between its own minimum and maximum; correct the "
            "bounds."
        )
    if max(abs(lower), abs(upper)) > GRID_LIMIT // 2:
        raise UserError(f"field {field.name!r}: with its offset it reaches beyond 2^49 grid units; narrow the bounds.")
    return lower, upper


def _check(field: FieldModel, base: Column | None) -> None:
    said, named = f"field {field.name!r}", repr(field.relative_to)
    if base is None:
        raise UserError(
            f"{said}: relativeTo names {named}, which is no modelled field (identifiers and derived fields are not)."
        )
    group = next((kinds for kinds in (NUMBERS, MOMENTS) if field.type in kinds), ())
    if not isinstance(base, Numeric) or base.kind not in group or field.categories or field.constraints.enum:
        raise UserError(
            f"{said}: relativeTo relates numbers to numbers, and dates or datetimes to dates or datetimes; "
            f"{named} is of another type."
        )
    if base.nullable and field.constraints.required:
        raise UserError(
            f"{said}: it is required, but {named} may be missing, and then nothing is known of it; require {named} too, or "
            "drop constraints.required here."
        )


def kept_bounds(columns: Sequence[Column]) -> list[Linear]:
    """That a field keeps within the bounds it declares, as constraints, so that the distance gives way and not the bound."""
    by_field = {column.fields[0]: column for column in columns}
    found = []
    for column in columns:
        if not isinstance(column, Numeric) or column.distance is None:
            continue
        own, base = column.distance.own, column.distance.base
        step = ratio(base, own)
        if step.denominator != 1:  # a base that is cut to the grid: the bound itself holds all the same
            continue
        for operator, bound, end in (
            ("<=", own.upper, base.upper * step + column.upper),
            (">=", own.lower, base.lower * step + column.lower),
        ):
            if bound != end:
                name = f"bounds of {own.name}"
                found.append(
                    linear(name, {own.name: Fraction(1)}, operator, bound * worth(own), columns=by_field, strength=None)
                )
    return found
