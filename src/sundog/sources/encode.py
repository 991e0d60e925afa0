"""The SQL that turns one raw column into codes: the one definition of encoding, for every source.

Text is read as text, typed columns by their type; what cannot be read is null; null and unknown labels have their
declared place. No cell can raise an error, whatever it holds, and a cell's code depends on that cell alone: where a cast
could fail on some value of its type, TRY makes that one cell null.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sundog.domain import Categorical, Column, Numeric
from sundog.domain.columns import GRID_LIMIT, Distance, Identifier, Label
from sundog.domain.grids import ratio, worth
from sundog.domain.spelling import PLAIN, NumberMarks
from sundog.sources.marks import number_sql
from sundog.sources.plain import UNREADABLE

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
NUMBERS = ("FLOAT", "DOUBLE", "UHUGEINT", "BIGNUM")
ZONED = "TIMESTAMP WITH TIME ZONE"
TIMES = ("TIME", "TIME_NS", "TIME WITH TIME ZONE")
NEVER_FAIL = (*INTEGERS, "VARCHAR", "BOOLEAN")
"""Types of which every value can be cast to text."""
WHOLE = 2.0**63
"""Floats without a fraction below this are spelled as the whole number, like that number in a column of them."""
CALENDAR = (-719_162 * 86_400, 2_932_897 * 86_400 - 1)
"""The first second of the year 1 and the last of the year 9999, counted from 1970."""
FARTHEST = GRID_LIMIT // 2
SINGLE = (*NEVER_FAIL, *NUMBERS, *TIMES, "DATE", "JSON", "UUID", "BLOB", "BIT", '"NULL"')


def identifier(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A quoted SQL text."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class RawColumn:
    """A column as the engine sees it: its name and type there; `others` hold the cells that are of another type."""

    name: str
    type: str
    others: tuple["RawColumn", ...] = ()

    @property
    def sql(self) -> str:
        """The column in SQL."""
        return identifier(self.name)

    @property
    def whole(self) -> bool:
        """Whether the engine holds whole numbers."""
        return self.type in INTEGERS

    @property
    def number(self) -> bool:
        """Whether the engine holds numbers."""
        return self.whole or self.type in NUMBERS or self.type.startswith("DECIMAL")

    @property
    def single(self) -> bool:
        """Whether a cell is one value, and none of the calendar intervals, which are neither numbers nor moments."""
        named = self.type in SINGLE or self.type.startswith(("DECIMAL", "TIMESTAMP", "ENUM("))
        return named and not self.type.endswith("]")

    @property
    def moment(self) -> bool:
        """Whether the engine holds dates or times of day on dates."""
        return self.type == "DATE" or self.type.startswith("TIMESTAMP")

    @property
    def parts(self) -> tuple["RawColumn", ...]:
        """The column type by type; each row is null in all of them but one."""
        return (RawColumn(self.name, self.type), *self.others)

    def as_text(self) -> str:
        """The value as text; a float that is a whole number reads like the whole number."""
        if self.others:
            return f"COALESCE({', '.join(part.as_text() for part in self.parts)})"
        if self._wide_moment:  # the engine fails on years that it cannot spell
            years = f"{self._typed('0001-01-01')} AND {self._typed('9999-12-31 23:59:59')}"
            return f"CASE WHEN {self.sql} BETWEEN {years} THEN CAST({self.sql} AS VARCHAR) END"
        if self.type in ("FLOAT", "DOUBLE"):
            whole = f"({self.sql} = floor({self.sql}) AND abs({self.sql}) < {WHOLE!r})"
            return f"CASE WHEN {whole} THEN CAST(TRY_CAST({self.sql} AS BIGINT) AS VARCHAR) ELSE CAST({self.sql} AS VARCHAR) END"
        if self.type in NEVER_FAIL:
            return f"CAST({self.sql} AS VARCHAR)"
        if self.type == "BLOB":  # bytes that are no text stay apart: they may name units
            return f"COALESCE(TRY(decode({self.sql})), {literal(UNREADABLE)} || hex({self.sql}))"
        value = f"make_timestamp(epoch_us({self.sql}))" if self.type == ZONED else self.sql
        return f"TRY(CAST({value} AS VARCHAR))"

    def as_number(self, marks: NumberMarks = PLAIN) -> str:
        """The value as a double, null where it is none; text is read with these marks."""
        if self.others:
            return f"COALESCE({', '.join(part.as_number(marks) for part in self.parts)})"
        if self.number or self.type == "BOOLEAN":
            value = f"TRY_CAST({self.sql} AS DOUBLE)"
        else:
            value = number_sql(self.as_text(), marks)
        return f"CASE WHEN isnan({value}) THEN NULL ELSE {value} END"

    def as_moment(self) -> str:
        """A date or time as a timestamp; kept within the calendar before the cast, which would fail far outside."""
        if self.type == ZONED:
            return f"make_timestamp(epoch_us({self.sql}))"
        within = _clamp(self.sql, self._typed("0001-01-01"), self._typed("9999-12-31 23:59:59"))
        return f"CAST({within if self._wide_moment else self.sql} AS TIMESTAMP)"

    @property
    def _wide_moment(self) -> bool:
        """Whether it may hold moments that a timestamp cannot (nanoseconds reach less far)."""
        return self.moment and self.type not in ("TIMESTAMP_NS", ZONED)

    def _typed(self, moment: str) -> str:
        return f"CAST({literal(moment)} AS {self.type})"


def enum_name(column: Categorical) -> str:
    """The name of the SQL type that holds these labels; the engine's own names ignore case, a digest does not."""
    return identifier("labels " + hashlib.sha256(json.dumps(_label_texts(column)).encode()).hexdigest())


def enum_type(column: Categorical) -> str:
    """The SQL type of a categorical column: one hash look-up per cell, however many labels."""
    return f"ENUM ({', '.join(literal(text) for text in _label_texts(column))})"


def _label_texts(column: Categorical) -> list[str]:
    return [_label_text(label) for label in column.labels]


def _label_text(label: Label) -> str:
    """A label as `as_text` spells it: 1.0 reads like 1."""
    whole = isinstance(label, float) and label.is_integer() and abs(label) < WHOLE
    return str(int(label) if whole else label)


def storage_type(size: int) -> str:
    """The smallest SQL type that holds the codes."""
    for bits, name in ((8, "UTINYINT"), (16, "USMALLINT"), (31, "UINTEGER")):
        if size <= 1 << bits:
            return name
    return "BIGINT"


def encode_sql(column: Column, raw: RawColumn, *base: RawColumn) -> str:
    """The SQL expression of a column's code; of a distance, from the field's own cell and from the base's."""
    place = _place_of_unknown(column, raw)
    return f"CAST(COALESCE({code_or_null(column, raw, *base)}, {place}) AS {storage_type(column.size)})"


def code_or_null(column: Column, raw: RawColumn, *base: RawColumn) -> str:
    """The code, null where the cell is missing, cannot be read, or is no listed label."""
    if isinstance(column, Numeric) and column.distance is not None:
        return _distance_code(column, column.distance, raw, *base)
    return f"COALESCE({', '.join(_code(column, part) for part in raw.parts)}, NULL)"


def key_text(key: Sequence[tuple[Identifier, RawColumn]]) -> str:
    """A key as one text, null where a part of it is missing; keys of several fields are equal where all of these are.

    What is missing is defined as for any column (`is_missing`), so that NaN, NaT or a declared missing value never names a record.
    """
    parts = [f"CASE WHEN {is_missing(field, raw)} THEN NULL ELSE {raw.as_text()} END" for field, raw in key]
    return (
        parts[0]
        if len(parts) == 1
        else " || ".join(f"CAST(strlen({part}) AS VARCHAR) || ':' || {part}" for part in parts)
    )


def is_missing(column: Column | Identifier, raw: RawColumn, *base: RawColumn) -> str:
    """Whether a cell is null or one of the declared missing values; of a distance, either cell."""
    if isinstance(column, Numeric) and column.distance is not None:
        fields = zip((column.distance.own, column.distance.base), (raw, *base), strict=True)
        return " OR ".join(is_missing(field, cell) for field, cell in fields)
    null = " AND ".join(
        f"({part.sql} IS NULL OR isnan({part.sql}))" if part.type in ("FLOAT", "DOUBLE") else f"{part.sql} IS NULL"
        for part in raw.parts
    )
    declared = [_declared_missing(part, column.missing_values) for part in raw.parts]
    empty = [f"{raw.as_text()} = ''"] if "" in column.missing_values else []
    return " OR ".join(f"COALESCE({part}, false)" for part in [null, *declared, *empty] if part)


def _code(column: Column, raw: RawColumn) -> str:
    if isinstance(column, Numeric):
        return _numeric_code(column, raw)
    return _boolean_code(column, raw) if column.boolean else _label_code(column, raw)


def _place_of_unknown(column: Column, raw: RawColumn) -> str:
    if isinstance(column, Numeric) or column.fallback == column.null_code:
        return str(column.null_code)
    null = " AND ".join(f"{part.sql} IS NULL" for part in raw.parts)
    absent = f"({null})" + "".join(f" OR {raw.as_text()} = {literal(text)}" for text in column.missing_values)
    return f"CASE WHEN {absent} THEN {column.null_code} ELSE {column.fallback} END"


def _label_code(column: Categorical, raw: RawColumn) -> str:
    code = _look_up(column, raw.as_text())
    if isinstance(column.labels[0], str) or raw.whole or raw.type in ("FLOAT", "DOUBLE"):
        return code
    number = RawColumn(raw.name, "DOUBLE").as_text().replace(raw.sql, f"({raw.as_number()})")
    return f"COALESCE({code}, {_look_up(column, number)})"  # '1.0' and ' 1' mean 1 where labels are numbers


def _look_up(column: Categorical, text: str) -> str:
    return f"CAST(enum_code(TRY_CAST(({text}) AS {enum_name(column)})) AS BIGINT)"


def _boolean_code(column: Categorical, raw: RawColumn) -> str:
    if raw.type == "BOOLEAN":
        return f"CAST({raw.sql} AS BIGINT)"
    text = raw.as_text()
    true = ", ".join(literal(word) for word in column.true_texts)
    false = ", ".join(literal(word) for word in column.false_texts)
    return f"CASE WHEN ({text}) IN ({true}) THEN 1 WHEN ({text}) IN ({false}) THEN 0 END"


def _numeric_code(column: Numeric, raw: RawColumn) -> str:
    if column.kind == "date":
        code = _date_code(column, raw)
    elif column.kind == "datetime":
        code = _datetime_code(column, raw)
    elif column.kind == "time":
        code = _time_code(column, raw)
    elif column.kind == "magnitude":
        code = _magnitude_code(column, raw)
    else:
        code = _grid_code(column, raw)
    declared = _declared_missing(raw, column.missing_values)
    return f"TRY(CASE WHEN {declared} THEN NULL ELSE {code} END)" if declared else f"TRY({code})"


def _declared_missing(raw: RawColumn, missing_values: tuple[str, ...]) -> str:
    """Whether a value is one of the declared missing values; typed numbers are compared as numbers."""
    words = [word for word in missing_values if word]
    if not raw.number:
        return f"{raw.as_text()} IN ({', '.join(literal(word) for word in words)})" if words else ""
    numbers = [repr(float(word)) for word in words if _is_number(word)]
    return f"TRY_CAST({raw.sql} AS DOUBLE) IN ({', '.join(numbers)})" if numbers else ""


def _is_number(word: str) -> bool:
    try:
        return abs(float(word)) < float("inf")
    except ValueError:
        return False


def _grid_code(column: Numeric, raw: RawColumn) -> str:
    if raw.whole and column.decimals == 0:
        return f"CAST({_clamp(raw.sql, str(column.lower), str(column.upper))} AS BIGINT) - ({column.lower})"
    scale = 10**column.decimals
    low, high = column.lower / scale, column.upper / scale
    clamped = _clamp(f"({raw.as_number(column.marks)})", repr(low), repr(high))
    return f"CAST(floor(({clamped}) * {scale}.0::DOUBLE + 0.5) AS BIGINT) - ({column.lower})"


def _magnitude_code(column: Numeric, raw: RawColumn) -> str:
    """Zero in the middle; on either side one code per power of two, from 2^-20 up to 2^(upper - 20)."""
    value = f"({raw.as_number(column.marks)})"
    power = _clamp(f"(floor(log2(abs({value}))) + 21)", "1", str(column.upper))
    return f"CASE WHEN {value} = 0 THEN 0 ELSE CAST(sign({value}) * {power} AS BIGINT) END - ({column.lower})"


def _distance_code(column: Numeric, distance: Distance, raw: RawColumn, base: RawColumn) -> str:
    """Own units less the base's, cut to the own grid; neither is clamped to its bounds, the distance is."""
    step = ratio(distance.base, distance.own)
    start = units_sql(distance.base, base, farthest=FARTHEST // max(step.numerator, 1))
    if step != 1:  # exact: what is divided has fewer than 53 bits
        start = f"CAST(floor(({start}) * {step.numerator} / {step.denominator}) AS BIGINT)"
    length = f"({units_sql(distance.own, raw, farthest=FARTHEST)} - ({start}))"
    return f"TRY({_clamp(length, str(column.lower), str(column.upper))} - ({column.lower}))"


def units_sql(column: Numeric, raw: RawColumn, *, farthest: int) -> str:
    """Grid units of a cell, wherever it lies within the calendar, or within what double precision distinguishes."""
    lower, upper = -farthest, farthest - 1
    if column.kind in ("date", "datetime"):
        first, last = CALENDAR
        lower, upper = math.ceil(first / worth(column)), math.floor(last / worth(column))
    wide = replace(column, lower=lower, upper=upper, bins=None)
    return f"({code_or_null(wide, raw)} + ({lower}))"


def _clamp(value: str, low: str, high: str) -> str:
    """The value between its bounds; null stays null (least and greatest would skip it)."""
    return f"(CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END)"


def _read_moment(column: Numeric, raw: RawColumn, kind: str = "TIMESTAMP") -> str:
    if raw.moment:
        return raw.as_moment()
    text = raw.as_text()
    if column.format:
        return f"try_strptime({text}, {literal(column.format)})"
    return f"TRY_CAST({text} AS {kind})"


def _date_code(column: Numeric, raw: RawColumn) -> str:
    day = _clamp(_read_moment(column, raw), _edge(column, 0), _edge(column, column.steps - 1))
    return f"(CAST({day} AS DATE) - DATE '1970-01-01') - ({column.lower})"


def _datetime_code(column: Numeric, raw: RawColumn) -> str:
    moment = _clamp(_read_moment(column, raw), _edge(column, 0), _edge(column, column.steps - 1))
    return f"CAST(floor(epoch({moment}) / {column.resolution}.0) AS BIGINT) - ({column.lower})"


def _time_code(column: Numeric, raw: RawColumn) -> str:
    """Times of day, the time of moments, numbers as seconds since midnight; what lies outside the day is null."""
    if raw.number:
        seconds = f"({raw.as_number()})"
    else:
        clock = raw.sql if raw.type in TIMES else _read_moment(column, raw, kind="TIME")
        seconds = f"(epoch_us(CAST({clock} AS TIME)) / 1e6)"
    first, last = (repr(float(edge * column.resolution)) for edge in (column.lower, column.upper))
    code = f"CAST(floor({_clamp(seconds, first, last)} / {column.resolution}.0) AS BIGINT) - ({column.lower})"
    return f"CASE WHEN {seconds} >= 0 AND {seconds} < 86400 THEN {code} END"


def _edge(column: Numeric, code: int) -> str:
    return f"TIMESTAMP {literal(column.describe(code))}"
