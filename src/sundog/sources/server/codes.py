"""The SQL of PostgreSQL that turns a column into codes: what sources.encode makes of the same column when it is streamed.

Both must give the same code for every cell (a law tests it), so only what can be computed in the same steps is computed here:
columns of a type, in whole numbers and doubles. Reading numbers and dates out of text, and floats as text, are refused; a
cast in the query makes a column of a type. No cell can raise an error.
"""

import json
import math
import re
from dataclasses import dataclass, replace

from sundog.domain import Categorical, Column, Numeric
from sundog.domain.columns import Distance
from sundog.domain.grids import ratio, worth
from sundog.errors import UserError
from sundog.sources.drivers import as_double, within_calendar
from sundog.sources.encode import CALENDAR, FARTHEST, literal

KINDS = {
    "whole": ("int2", "int4", "int8"),
    "double": ("float4", "float8", "numeric", "money"),
    "truth": ("bool",),
    "moment": ("date", "timestamp", "timestamptz"),
    "time": ("time",),
    "none": ("interval", "bytea"),
}
SENT_AS_DOUBLE = ("numeric", "money")
WHOLE = re.compile(r"-?[0-9]+")


@dataclass(frozen=True)
class ServerColumn:
    """A column of the query on the server: its name in SQL, and its type there."""

    name: str
    sql: str
    type: str

    @property
    def kind(self) -> str:
        """What it holds: whole numbers, doubles, truths, moments, times of day, nothing that can be read, or text."""
        return next((kind for kind, types in KINDS.items() if self.type in types), "text")

    @property
    def text(self) -> str:
        """Its text; of a double that is a whole number, that of the whole number."""
        if self.kind == "double":
            return f"(CASE WHEN {self.double} = floor({self.double}) AND abs({self.double}) < 2^63 THEN ({self.double})::int8::text END)"
        return f"({self.sql})::text"

    @property
    def double(self) -> str:
        """Its number as a double, null where it is none."""
        if self.type in SENT_AS_DOUBLE:
            return f"({as_double(f'{self.sql}::numeric')})"
        return f"(nullif(({self.sql})::float8, 'NaN'))"

    @property
    def moment(self) -> str:
        """A date or time as a timestamp of the years 1 to 9999, or just outside them."""
        kind = "timestamp" if self.type == "timestamptz" else self.type
        own = f"({self.sql} AT TIME ZONE 'UTC')" if self.type == "timestamptz" else self.sql
        return f"(({within_calendar(own, kind)})::timestamp)"


def code_sql(column: Column, raw: ServerColumn, *base: ServerColumn) -> str:
    """The expression of a column's code; of a distance, from the field's own cell and from the base's."""
    return f"(COALESCE({_code_or_null(column, raw, *base)}, {_place_of_unknown(column, raw)})::int8)"


def unit_sql(raw: ServerColumn) -> str:
    """What names a unit: rows without a unit are one unit."""
    if raw.kind not in ("text", "whole", "truth"):
        raise _refused(raw, "units are named by text or whole numbers on a server")
    return f"COALESCE('=' || {raw.text}, '')"


def _refused(raw: ServerColumn, reason: str) -> UserError:
    return UserError(
        f"push-down: column {raw.name!r} is stored as {raw.type}; {reason}. Cast it to another type in the query, or leave out "
        "push-down."
    )


def _code_or_null(column: Column, raw: ServerColumn, *base: ServerColumn) -> str:
    if raw.kind == "none":
        raise _refused(raw, "no code can be computed of it")
    if isinstance(column, Categorical):
        return _boolean_code(column, raw) if column.boolean else _label_code(column, raw)
    if column.distance is not None:
        return _distance_code(column, column.distance, raw, *base)
    code = CODES.get(column.kind)
    if code is None:
        raise UserError(
            f"push-down: column {column.name!r}: its bounds are not declared, and a server cannot find them."
        )
    return f"CASE WHEN {_declared_missing(column, raw)} THEN NULL ELSE {code(column, raw)} END"


def _place_of_unknown(column: Column, raw: ServerColumn) -> str:
    if isinstance(column, Numeric) or column.fallback == column.null_code:
        return str(column.null_code)
    missing = _looked_up(raw, dict.fromkeys(column.missing_values, 1))
    null = raw.double if raw.type in SENT_AS_DOUBLE else raw.sql
    return f"CASE WHEN {null} IS NULL OR {missing} = 1 THEN {column.null_code} ELSE {column.fallback} END"


def _looked_up(raw: ServerColumn, codes: dict[str, int]) -> str:
    """The number of a text, null for others: equal in every byte, whatever the column's collation says."""
    if raw.kind in ("moment", "time") or (raw.kind == "double" and not all(map(_is_clear, codes))):
        raise _refused(raw, "labels and missing values are compared as text, which differs between engines")
    document = json.dumps({text: code for text, code in codes.items() if "\x00" not in text}, ensure_ascii=False)
    return f"({literal(document)}::jsonb ->> {raw.text})::int8"


def _is_clear(text: str) -> bool:
    """Whether the text can only be that of a whole number, or of no number at all."""
    try:
        float(text)
    except ValueError:
        return True
    return WHOLE.fullmatch(text) is not None


def _label_code(column: Categorical, raw: ServerColumn) -> str:
    number = not isinstance(column.labels[0], str)
    if raw.kind == "text" and number:
        raise _refused(raw, "its labels are numbers, which are not read out of text there")
    codes = {str(int(label) if _is_whole(label) else label): code for code, label in enumerate(column.labels)}
    code = _looked_up(raw, codes)
    if raw.kind == "truth" and number:
        return f"COALESCE({code}, {_looked_up(replace(raw, sql=f'({raw.sql})::int', type='int4'), codes)})"
    return code


def _is_whole(label: object) -> bool:
    return isinstance(label, float) and label.is_integer() and abs(label) < 2.0**63


def _boolean_code(column: Categorical, raw: ServerColumn) -> str:
    if raw.kind == "truth":
        return f"({raw.sql})::int"
    return _looked_up(raw, dict.fromkeys(column.false_texts, 0) | dict.fromkeys(column.true_texts, 1))


def _declared_missing(column: Numeric, raw: ServerColumn) -> str:
    words = [word for word in column.missing_values if word]
    if raw.kind in ("whole", "double"):
        numbers = [repr(float(word)) for word in words if _is_number(word)]
        return f"{raw.double} IN ({', '.join(_double(number) for number in numbers)})" if numbers else "false"
    if words:
        raise _refused(raw, "its declared missing values are compared as text, which differs between engines")
    return "false"


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def _grid_code(column: Numeric, raw: ServerColumn) -> str:
    if raw.kind not in ("whole", "double"):
        raise _refused(raw, "it is declared as a number")
    if raw.kind == "whole" and column.decimals == 0:
        return f"({_clamp(f'({raw.sql})::int8', str(column.lower), str(column.upper))} - ({column.lower}))"
    scale = 10**column.decimals
    low, high = _double(repr(column.lower / scale)), _double(repr(column.upper / scale))
    clamped = _clamp(raw.double, low, high)
    return f"(floor({clamped} * {_double(str(scale))} + {_double('0.5')})::int8 - ({column.lower}))"


def _date_code(column: Numeric, raw: ServerColumn) -> str:
    return f"(({_clamped_moment(column, raw)}::date - DATE '1970-01-01') - ({column.lower}))"


def _datetime_code(column: Numeric, raw: ServerColumn) -> str:
    return f"(floor({_seconds(_clamped_moment(column, raw))} / {_double(str(column.resolution))})::int8 - ({column.lower}))"


def _clamped_moment(column: Numeric, raw: ServerColumn) -> str:
    if raw.kind != "moment":
        raise _refused(raw, f"it is declared as a {column.kind}")
    edges = [f"TIMESTAMP {literal(column.describe(code))}" for code in (0, column.steps - 1)]
    return _clamp(raw.moment, *edges)


def _time_code(column: Numeric, raw: ServerColumn) -> str:
    """Times of day, the time of moments, numbers as seconds since midnight; what lies outside the day is null."""
    if raw.kind in ("whole", "double"):
        seconds = raw.double
    elif raw.kind == "time":
        seconds = _seconds(raw.sql)
    elif raw.kind == "moment":
        within = _clamp(raw.moment, "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59'")
        seconds = _seconds(f"{within if raw.type != 'date' else f'({within}::date)::timestamp'}::time")
    else:
        raise _refused(raw, "it is declared as a time")
    first, last = (_double(repr(float(edge * column.resolution))) for edge in (column.lower, column.upper))
    code = f"floor({_clamp(seconds, first, last)} / {_double(str(column.resolution))})::int8 - ({column.lower})"
    return f"(CASE WHEN {seconds} >= 0 AND {seconds} < 86400 THEN {code} END)"


def _seconds(moment: str) -> str:
    """Seconds as a double, from whole microseconds, as the other engine computes them."""
    return f"((extract(epoch FROM {moment}) * 1000000)::int8::float8 / {_double('1e6')})"


def _distance_code(column: Numeric, distance: Distance, raw: ServerColumn, base: ServerColumn) -> str:
    step = ratio(distance.base, distance.own)
    start = _units(distance.base, base, farthest=FARTHEST // max(step.numerator, 1))
    if step != 1:
        start = f"floor(({start} * {step.numerator})::float8 / {_double(str(step.denominator))})::int8"
    length = f"({_units(distance.own, raw, farthest=FARTHEST)} - ({start}))"
    return f"({_clamp(length, str(column.lower), str(column.upper))} - ({column.lower}))"


def _units(column: Numeric, raw: ServerColumn, *, farthest: int) -> str:
    """Grid units of a cell, wherever it lies within the calendar, or within what double precision tells apart."""
    lower, upper = -farthest, farthest - 1
    if column.kind in ("date", "datetime"):
        first, last = CALENDAR
        lower, upper = math.ceil(first / worth(column)), math.floor(last / worth(column))
    return f"({_code_or_null(replace(column, lower=lower, upper=upper, bins=None), raw)} + ({lower}))"


def _clamp(value: str, low: str, high: str) -> str:
    return f"(CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END)"


def _double(number: str) -> str:
    return f"{literal(number)}::float8"


CODES = {
    "integer": _grid_code,
    "number": _grid_code,
    "date": _date_code,
    "datetime": _datetime_code,
    "time": _time_code,
}
