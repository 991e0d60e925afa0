"""Arrow arrays made plain: of a type, and with values, that the engine reads without failing, cell by cell.

Arrow types hold more than an engine can read: moments outside the calendar, times of day beyond midnight, text that is
no UTF-8, whole numbers of 256 bits. What an engine does with such a cell is to refuse the whole table, so that one
record would decide whether a run succeeds. Here each cell becomes one of a plain type, and what has no meaning becomes
null (or, in text, begins with a replacement sign); a cell's outcome depends on that cell alone, a column's type on its type alone.

- Whole numbers, truths, floats and decimals stay; half floats widen, decimals of 256 bits become floats.
- Dates and moments become days or microseconds, zoned ones as UTC; what lies outside the years 1 to 9999 becomes the
  moment just outside them, so that it is clamped to a column's bounds like any other.
- Times of day become microseconds, null outside the day. Durations become seconds.
- Text and bytes become text, those that are no UTF-8 with a sign before them; dictionaries of text stay dictionaries, others and runs are unfolded, extension types are
  what they are stored as. An index that points nowhere is null.
- Cells that hold several values (lists, structs, maps, unions) and calendar intervals have no plain type.
"""

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Int, Num

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
MICROSECONDS = PER_SECOND["us"]
DAY = 86_400
FIRST_DAY, LAST_DAY = ((date(*day) - date(1970, 1, 1)).days for day in ((1, 1, 1), (9999, 12, 31)))
LARGEST_DECIMAL = 38
UNREADABLE = "\ufffd"
TEXTS = pa.dictionary(pa.int32(), pa.large_string())


def plain_type(kind: pa.DataType) -> pa.DataType | None:
    """The plain type for an Arrow type, or None where a cell is no single value."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        return TEXTS
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or kind in (pa.float32(), pa.float64()):
        return kind
    if pa.types.is_decimal(kind):
        return pa.decimal128(LARGEST_DECIMAL, kind.scale) if _fits(kind) else pa.float64()
    return next((plain_kind for is_kind, plain_kind in PLAIN_TYPES if is_kind(kind)), None)


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)
    return text or _is_binary(kind)


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    flexible = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return flexible or types.is_fixed_size_binary(kind)


def _fits(kind: pa.DataType) -> bool:
    return not pa.types.is_decimal256(kind) and 0 <= kind.scale <= LARGEST_DECIMAL


PLAIN_TYPES = (
    (_is_text, pa.large_string()),
    (pa.types.is_float16, pa.float32()),
    (pa.types.is_date, pa.date32()),
    (pa.types.is_timestamp, pa.timestamp("us")),
    (pa.types.is_time, pa.time64("us")),
    (pa.types.is_duration, pa.float64()),
)


def plain(array: pa.Array) -> pa.Array:
    """The array in its plain type."""
    kind = array.type
    wanted = plain_type(kind)
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array) if pa.types.is_run_end_encoded(kind) else array.storage)
    if pa.types.is_dictionary(kind):
        return _unfolded(array, wanted)
    if _is_text(kind):
        return _text(array)
    if pa.types.is_decimal(kind):
        return _decimal(array, wanted)
    if pa.types.is_temporal(kind):
        return _temporal(array, wanted)
    return array if kind == wanted else array.cast(wanted)


def take(values: pa.Array, places: Int[np.ndarray, " rows"]) -> pa.Array:
    """The values at these places; null where there is no such place."""
    if not len(values):
        return pa.nulls(len(places), values.type)
    outside = (places < 0) | (places >= len(values))
    return values.take(array_of(pa.int64(), np.where(outside, 0, places), outside))


def numpy_of(array: pa.Array) -> Int[np.ndarray, " rows"]:
    """Numbers without nulls, not copied: `to_numpy` would load pandas, and lose an interruption that comes meanwhile."""
    return np.from_dlpack(array)


def flags_of(array: pa.Array) -> Bool[np.ndarray, " rows"]:
    """The booleans of an array without nulls."""
    return numpy_of(array.cast(pa.uint8())).astype(bool)


def array_of(kind: pa.DataType, values: Num[np.ndarray, " rows"], null: Bool[np.ndarray, " rows"]) -> pa.Array:
    """An array of fixed width from its numbers, by way of buffers: `pyarrow.array` would load pandas, too."""
    valid = np.packbits(~null, bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def folded(array: pa.Array) -> tuple[Int[np.ndarray, " rows"], pa.Array]:
    """A dictionary array as the places of its cells, -1 where a cell is null, and its plain values."""
    if isinstance(array.type, pa.BaseExtensionType):
        return folded(array.storage)
    return numpy_of(pc.fill_null(array.indices.cast(pa.int64(), safe=False), -1)), plain(array.dictionary)


def _unfolded(array: pa.DictionaryArray, wanted: pa.DataType) -> pa.Array:
    places, values = folded(array)
    if wanted != TEXTS:
        return take(values, places)
    outside = (places < 0) | (places >= len(values))
    if values.null_count:
        outside |= flags_of(values.is_null())[np.where(outside, 0, places)]
    indices = array_of(pa.int32(), np.where(outside, 0, places).astype(np.int32), outside)
    return pa.DictionaryArray.from_arrays(indices, values if len(values) else pa.array([""], pa.large_string()))


def _text(array: pa.Array) -> pa.Array:
    """Text as it is where all of it is UTF-8; else cell by cell, with a sign in place of what is no letter."""
    try:
        if not _is_binary(array.type):
            array.validate(full=True)
        elif pa.types.is_fixed_size_binary(array.type):
            array = array.cast(pa.large_binary())
        return array.cast(pa.large_string())
    except pa.ArrowException:
        cells = array.cast(_bytes_type(array.type)).to_pylist()
        return pa.array([None if cell is None else text_of(cell) for cell in cells], pa.large_string())


def text_of(cell: bytes) -> str:
    """Bytes as text; what is no UTF-8 begins with a sign and is spelled out: cells that differ may name two units."""
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return UNREADABLE + cell.decode(errors="backslashreplace")


def _bytes_type(kind: pa.DataType) -> pa.DataType:
    return pa.binary_view() if pa.types.is_string_view(kind) else pa.large_binary()


def _decimal(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Digits as they are, also where there are more of them than the type declares."""
    if wanted == pa.float64():
        return array.cast(wanted, safe=False)
    wide = array if pa.types.is_decimal128(array.type) else array.cast(pa.decimal128(LARGEST_DECIMAL, array.type.scale))
    return wide.view(wanted)


def _temporal(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    kind, null = array.type, flags_of(array.is_null())
    units = numpy_of(pc.fill_null(array.view(_storage(kind)), 0)).astype(np.int64)
    if pa.types.is_date(kind):
        days = units if kind == pa.date32() else units // (DAY * PER_SECOND["ms"])
        return array_of(wanted, _clamped(days, FIRST_DAY - 1, LAST_DAY + 1).astype(np.int32), null)
    if pa.types.is_duration(kind):
        return array_of(wanted, units / PER_SECOND[kind.unit], null)
    day = DAY * PER_SECOND[kind.unit]
    if pa.types.is_time(kind):
        null |= (units < 0) | (units >= day)
        units = np.where(null, 0, units)
    else:
        units = _clamped(units, (FIRST_DAY - 1) * day, (LAST_DAY + 1) * day)
    return array_of(wanted, _microseconds(units, kind.unit), null)


def _storage(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if pa.types.is_time32(kind) or kind == pa.date32() else pa.int64()


def _clamped(units: Int[np.ndarray, " rows"], low: int, high: int) -> Int[np.ndarray, " rows"]:
    """Between the bounds, as far as 64 bits reach (nanoseconds do not reach as far as the calendar)."""
    limits = np.iinfo(np.int64)
    return np.clip(units, max(low, limits.min), min(high, limits.max))


def _microseconds(units: Int[np.ndarray, " rows"], unit: str) -> Int[np.ndarray, " rows"]:
    per_second = PER_SECOND[unit]
    finer = per_second > MICROSECONDS
    return units // (per_second // MICROSECONDS) if finer else units * (MICROSECONDS // per_second)
