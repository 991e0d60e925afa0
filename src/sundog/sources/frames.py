"""Frames in memory as tables: pandas, polars (also lazy ones), Arrow, or anything with the Arrow PyCapsule interface.

A column with a declared type is read by that type, cell by cell (sources.plain). Python lists have no declared type, so
their cells are kept apart by type: otherwise one odd cell would turn its whole column into text and change the codes of
other people's rows. The same happens where a typed column holds a cell that Arrow does not take.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.base import check_names
from sundog.sources.batches import open_parts, part_of
from sundog.sources.duck import DuckTable, connect, raw_columns
from sundog.sources.encode import RawColumn
from sundog.sources.plain import plain, plain_type, take, text_of
from sundog.sources.units import BATCH

VIEW = "frame"
TYPES = {
    "text": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "truth": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "zoned moment": pa.timestamp("us", "UTC"),
    "time": pa.time64("us"),
    "duration": pa.duration("us"),
}
PLAIN: tuple[set[type], ...] = ({str}, {int}, {float}, {bool}, set())
"""Columns of one such type (and nulls) are what Arrow takes them for."""
Columns = dict[str, list[pa.Array]]
"""Every column as one array, or as several where its cells are of several types, null where a cell is of another."""


def open_frame(frame: Any) -> DuckTable:
    """The table that a frame holds. The engine knows its columns by number, since its own names ignore case."""
    if _is_a(frame, "polars", "LazyFrame"):
        return _open_lazy(frame)
    columns = {name: _plain_arrays(arrays) for name, arrays in _columns(frame).items()}
    arrays = [array for arrays in columns.values() for array in arrays]
    if not columns:
        raise UserError("the table has no columns; give one with a column per field of the schema.")
    if len({len(array) for array in arrays}) > 1:
        raise UserError("the table's columns have different lengths; give every column one value per row.")
    connection = connect()
    if arrays:
        connection.register(VIEW, pa.Table.from_arrays(arrays, names=[f"c{k}" for k in range(len(arrays))]))
    described = iter(raw_columns(connection, VIEW).values() if arrays else ())
    raw = {name: _raw(name, [next(described) for _ in parts]) for name, parts in columns.items()}
    return DuckTable(connection, VIEW, raw, label="the table")


def _raw(name: str, parts: Sequence[RawColumn]) -> RawColumn:
    return RawColumn(parts[0].name, parts[0].type, tuple(parts[1:])) if parts else RawColumn(name, "none")


def _plain_arrays(arrays: list[pa.Array]) -> list[pa.Array]:
    """The arrays made plain; none where cells are no single values."""
    if any(plain_type(array.type) is None for array in arrays):
        return []
    return [_plain_chunks(array) for array in arrays]


def _plain_chunks(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([plain(chunk) for chunk in array.chunks], plain_type(array.type))
    return plain(array)


def _is_a(frame: Any, package: str, name: str) -> bool:
    """Whether it is of a class of a package that need not be installed."""
    return any(kind.__module__.partition(".")[0] == package and kind.__name__ == name for kind in type(frame).__mro__)


def _columns(frame: Any) -> Columns:
    if isinstance(frame, dict):
        if not all(hasattr(values, "__len__") for values in frame.values()):
            raise UserError("the table is a dictionary whose values are no lists; give one list of cells per column.")
        return _named(list(frame), [_values(values) for values in frame.values()])
    if _is_a(frame, "pandas", "DataFrame"):
        return _named(list(frame.columns), [_values(frame.iloc[:, k]) for k in range(frame.shape[1])])
    if _is_a(frame, "polars", "DataFrame"):
        return _named(frame.columns, [_values(series) for series in frame.get_columns()])
    table = _arrow(frame)
    return _named(table.column_names, [[column] for column in table.columns])


def _named(names: list[Any], columns: list[list[pa.Array]]) -> Columns:
    texts = [str(name) for name in names]
    check_names(texts, "the table")
    return dict(zip(texts, columns, strict=True))


def _arrow(frame: Any) -> pa.Table:
    try:
        return frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        raise UserError(
            f"the table is a {type(frame).__name__}; allowed are pandas, polars and Arrow tables, a dictionary of "
            "columns, or the path of a file."
        ) from None


def _open_lazy(frame: Any) -> DuckTable:
    """A lazy frame is asked again for every question, for the columns that it needs, and never held as a whole."""

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        for batch in chosen.select(names).collect_batches(chunk_size=BATCH):
            yield from batch.to_arrow().to_batches()

    try:
        chosen = _exportable(frame)
        schema = chosen.collect_schema().to_frame().to_arrow().schema
    except Exception:  # what fails here is the query itself; its text may name values that it holds
        raise UserError(
            "the table is a lazy frame whose query cannot be resolved; try collect_schema() on it."
        ) from None
    return open_parts([part_of("the table", schema, read=read)])


def _exportable(frame: Any) -> Any:
    """A lazy frame without the types that Arrow does not know: whole numbers of 128 bits become text."""
    import polars as pl

    return frame.with_columns(pl.col(pl.Int128, pl.UInt128).cast(pl.String))


def _values(values: Any) -> list[pa.Array]:
    """Cells of one type as one array; else one array per type, null where a cell is of another one."""
    if _is_a(values, "polars", "Series"):
        return _polars_series(values)
    dtype: Any = getattr(values, "dtype", np.dtype(object))
    if type(dtype).__name__ == "CategoricalDtype":
        codes = np.asarray(getattr(values, "cat", values).codes, dtype=np.int64)
        return [take(plain(part), codes) for part in _values(dtype.categories.astype(object))]
    if dtype != np.dtype(object):
        return _typed_column(values)
    cells = list(values)
    if {type(cell) for cell in cells} - {type(None)} not in PLAIN:
        return _apart(cells)
    try:
        return [pa.array(cells, from_pandas=True)]
    except (pa.ArrowException, ValueError, OverflowError):  # whole numbers beyond 64 bits, text that is no Unicode
        return _apart(cells)


def _typed_column(values: Any) -> list[pa.Array]:
    """A column whose type is declared; where Arrow does not take it as it is, its cells one by one."""
    try:
        array = pa.array(values, from_pandas=True)
    except Exception:  # what a cell of any type can raise, and quote
        return _apart(list(values))
    return _apart(list(values)) if isinstance(array.type, pa.BaseExtensionType) else [array]


def _polars_series(series: Any) -> list[pa.Array]:
    name = str(series.dtype)
    if series.dtype.is_nested():  # refused by name where it is declared; some hold types that Arrow does not know
        return []
    if name == "Object":
        return _values(series.to_list())
    if name in ("Int128", "UInt128"):
        import polars as pl

        series = series.cast(pl.String)
    return [series.to_arrow()]


def _apart(cells: list[Any]) -> list[pa.Array]:
    typed = [_typed(cell) for cell in cells]
    kinds = [kind for kind in TYPES if any(cell[0] == kind for cell in typed)] or ["text"]
    return [_array([value if kind == wanted else None for kind, value in typed], TYPES[wanted]) for wanted in kinds]


def _array(cells: list[Any], kind: pa.DataType) -> pa.Array:
    """Cells as an array; those that the type cannot hold (a duration of a million years) are null."""
    try:
        return pa.array(cells, kind)
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return pa.array([cell if _holds(kind, cell) else None for cell in cells], kind)


def _holds(kind: pa.DataType, cell: Any) -> bool:
    try:
        return pa.scalar(cell, kind) is not None
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return False


def _typed(cell: Any) -> tuple[str, Any]:
    """The kind of a cell and its value there; what fails in any way is null, since no cell can stop a run."""
    try:
        return _kind(_plain(cell))
    except Exception:
        return "text", None


def _plain(cell: Any) -> Any:
    """A NumPy or pandas scalar as Python knows it."""
    if isinstance(cell, np.datetime64):
        return cell.astype("datetime64[us]").item()
    if isinstance(cell, np.generic):
        return cell.item()
    return cell.to_pydatetime(warn=False) if hasattr(cell, "to_pydatetime") else cell


def _kind(value: Any) -> tuple[str, Any]:
    if value is None or value != value:  # noqa: PLR0124 - NaN and NaT are not equal to themselves
        return "text", None
    if isinstance(value, datetime):
        return ("moment" if value.tzinfo is None else "zoned moment"), value
    fits = not isinstance(value, int) or -(2**63) <= value < 2**63
    for kind, wanted in KINDS:
        if isinstance(value, wanted) and fits:
            return kind, value
    text = text_of(value) if isinstance(value, bytes) else str(value)
    return "text", text.encode("utf-8", errors="backslashreplace").decode()


KINDS: tuple[tuple[str, type], ...] = (
    ("truth", bool),
    ("whole", int),
    ("number", float),
    ("day", date),
    ("time", time),
    ("duration", timedelta),
)
