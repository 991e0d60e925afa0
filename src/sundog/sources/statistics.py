"""Files of Stata (.dta), SPSS (.sav, .zsav, .por) and SAS (.sas7bdat, .xpt), read by pyreadstat.

A value that has a label is read as its label, so a schema lists the labels; other values of such a column are read as
they are. Text is taken byte by byte and decoded here, and dates are left as the numbers that they are stored as and
turned into moments here: pyreadstat would stop at the first cell that is no text or no date.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from sundog.errors import UserError
from sundog.sources.batches import Part, open_parts, part_of
from sundog.sources.duck import DuckTable, withhold
from sundog.sources.encode import WHOLE
from sundog.sources.extras import reader
from sundog.sources.plain import array_of
from sundog.sources.units import BATCH

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
BYTES = "ISO-8859-1"
"""An encoding in which every byte is a letter: what is read by it is the bytes themselves."""
SINCE_1960, SINCE_1582 = -3653 * 86_400, -141_428 * 86_400
"""Seconds from 1970-01-01 to where Stata and SAS, and SPSS, begin to count."""


class Clock(NamedTuple):
    """How a number means a moment: seconds = number * scale + start; of the Arrow type `kind`."""

    kind: pa.DataType
    scale: float
    start: int


MOMENT, DATE, TIME = pa.timestamp("us"), pa.date32(), pa.time64("us")
SAS_DATES = r"(DATE|DDMMYY[A-Z]?|MMDDYY[A-Z]?|YYMMDD[A-Z]?|E8601DA|B8601DA|WEEKDATE|WEEKDATX|WORDDATE|JULIAN)[\d.]*"
CLOCKS: dict[str, tuple[tuple[str, Clock], ...]] = {
    "stata": (
        (r"%-?tc(HH|hh):MM.*", Clock(TIME, 1e-3, 0)),
        (r"%-?t[cC].*", Clock(MOMENT, 1e-3, SINCE_1960)),
        (r"%-?t?d.*", Clock(DATE, 86_400.0, SINCE_1960)),
    ),
    "spss": (
        (r"(DATETIME|YMDHMS)[\d.]*", Clock(MOMENT, 1.0, SINCE_1582)),
        (r"[AEJS]?DATE[\d.]*", Clock(DATE, 1.0, SINCE_1582)),
        (r"TIME[\d.]*", Clock(TIME, 1.0, 0)),
    ),
    "sas": (
        (r"(DATETIME|E8601DT|B8601DT|DATEAMPM|MDYAMPM)[\d.]*", Clock(MOMENT, 1.0, SINCE_1960)),
        (SAS_DATES, Clock(DATE, 86_400.0, SINCE_1960)),
        (r"(TIME|TOD|HHMM|E8601TM)[\d.]*", Clock(TIME, 1.0, 0)),
    ),
}
"""By format, as the file declares it for a column; the first that matches. Numbers in other formats are numbers."""


def open_statistics(paths: list[str], kind: str) -> DuckTable:
    """The table in these files, all of one ending."""
    return open_parts([_part(path, kind) for path in paths])


def _part(path: str, kind: str) -> Part:
    package = reader("pyreadstat", what="Stata, SPSS and SAS files")
    read_file, label = getattr(package, READERS[kind]), f"data file {path!r}"
    try:
        _, about = read_file(path, metadataonly=True)
        _, raw = read_file(path, metadataonly=True, **_as_bytes(kind))
    except Exception as error:  # the reader fails in many ways, and its text may quote what it read
        withhold(error)
        raise UserError(f"{label} cannot be read; check that it is complete and of the kind its name says.") from None
    family = "stata" if kind == ".dta" else "spss" if READERS[kind] in ("read_sav", "read_por") else "sas"
    readers = {name: _column(name, about, family) for name in about.column_names}
    stored = dict(zip(about.column_names, raw.column_names, strict=True))

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        wanted = {"usecols": [stored[name] for name in names], "disable_datetime_conversion": True}
        for begin in range(0, 1 << 62, BATCH):
            options = {**wanted, "row_offset": begin, "row_limit": BATCH, "output_format": "dict", **_as_bytes(kind)}
            cells, _ = read_file(path, **options)
            arrays = [readers[name].read(cells[stored[name]]) for name in names]
            yield pa.RecordBatch.from_arrays(arrays, names=names)
            if len(arrays[0]) < BATCH:
                return

    return part_of(label, pa.schema([(name, column.type) for name, column in readers.items()]), read=read)


def _as_bytes(kind: str) -> dict[str, Any]:
    return {} if kind == ".por" else {"encoding": BYTES}


class _Column(NamedTuple):
    type: pa.DataType
    read: Callable[[list[Any]], pa.Array]


def _column(name: str, about: Any, family: str) -> _Column:
    """How a column is read, by what the file declares of it."""
    labels = about.variable_value_labels.get(name)
    if about.readstat_variable_types[name] == "string":
        return _Column(pa.large_string(), lambda cells: _texts(cells, about.file_encoding, labels or {}))
    if labels:
        return _Column(pa.large_string(), lambda cells: _labelled(cells, labels))
    declared = str(about.original_variable_types.get(name) or "")
    clock = next((clock for pattern, clock in CLOCKS[family] if re.fullmatch(pattern, declared)), None)
    if clock is None:
        return _Column(pa.float64(), _numbers)
    return _Column(clock.kind, lambda cells: _moments(cells, clock))


def _doubles(cells: list[Any]) -> Float[np.ndarray, " rows"]:
    return np.array([cell if isinstance(cell, int | float) else np.nan for cell in cells], dtype=np.float64)


def _numbers(cells: list[Any]) -> pa.Array:
    values = _doubles(cells)
    return array_of(pa.float64(), np.nan_to_num(values, posinf=np.inf, neginf=-np.inf), np.isnan(values))


def _moments(cells: list[Any], clock: Clock) -> pa.Array:
    seconds = _doubles(cells) * clock.scale + clock.start
    null = ~np.isfinite(seconds)
    if clock.kind == DATE:
        days = np.clip(np.floor(np.where(null, 0, seconds) / 86_400), -(2**31), 2**31 - 1)
        return array_of(DATE, days.astype(np.int32), null)
    microseconds = np.clip(np.floor(np.where(null, 0, seconds) * 1e6), -9e18, 9e18)
    return array_of(clock.kind, microseconds.astype(np.int64), null)


def _labelled(cells: list[Any], labels: dict[Any, str]) -> pa.Array:
    """The label of each value; a value without one as a number is spelled."""
    return pa.array([None if cell is None else labels.get(cell) or _spelled(cell) for cell in cells], pa.large_string())


def _spelled(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < WHOLE
    return str(int(cell) if whole else cell)


def _texts(cells: list[Any], encoding: str | None, labels: dict[Any, str]) -> pa.Array:
    texts = [_decoded(cell, encoding) for cell in cells]
    return pa.array([text if text is None else labels.get(text) or text for text in texts], pa.large_string())


def _decoded(cell: Any, encoding: str | None) -> str | None:
    """Text from its bytes: in the encoding that the file declares, else as UTF-8, or windows-1252 where it is none."""
    if not isinstance(cell, str):
        return None
    stored = cell.encode("latin-1", errors="replace")
    try:
        return stored.decode(encoding or "utf-8")
    except (UnicodeDecodeError, LookupError):
        return stored.decode("windows-1252" if encoding is None else "utf-8", errors="replace")
