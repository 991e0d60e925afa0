"""Frames in memory as tables: pandas, polars, Arrow, or anything with the Arrow PyCapsule interface.

Python lists have no declared type, so their cells are kept apart by type: otherwise one odd cell would turn its whole
column into text and change the codes of other people's rows.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.duck import DuckTable, connect, raw_columns
from sundog.sources.encode import RawColumn

VIEW = "frame"
TYPES = {
    "text": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "truth": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "zoned moment": pa.timestamp("us", "UTC"),
}
PLAIN: tuple[set[type], ...] = ({str}, {int}, {float}, {bool}, set())
"""Columns of one such type (and nulls) are what Arrow takes them for."""


def open_frame(frame: Any) -> DuckTable:
    """The table that a frame holds. The engine knows its columns by number, since its own names ignore case."""
    import duckdb

    columns = _columns(frame)
    arrays = [array for arrays in columns.values() for array in arrays]
    if len({len(array) for array in arrays}) > 1:
        raise UserError("the table's columns have different lengths; give every column one value a row.")
    connection = connect()
    try:
        connection.register(VIEW, pa.Table.from_arrays(arrays, names=[f"c{k}" for k in range(len(arrays))]))
        described = iter(raw_columns(connection, VIEW).values())
    except duckdb.Error:
        raise UserError(
            "the table has no columns, or one of a type that the engine does not know (such as 16-bit floats); "
            "convert it to text, numbers or dates."
        ) from None
    raw = {name: _raw([next(described) for _ in parts]) for name, parts in columns.items()}
    return DuckTable(connection, VIEW, raw, label="the table")


def _raw(parts: Sequence[RawColumn]) -> RawColumn:
    return RawColumn(parts[0].name, parts[0].type, tuple(parts[1:]))


def _columns(frame: Any) -> dict[str, list[pa.Array]]:
    """Every column as one array, or as several where its cells are of several types."""
    if isinstance(frame, dict):
        if not all(hasattr(values, "__len__") for values in frame.values()):
            raise UserError("the table is a dictionary whose values are no lists; give one list of cells a column.")
        return _named(list(frame), [_values(values) for values in frame.values()])
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        return _named(list(frame.columns), [_pandas_column(frame.iloc[:, k]) for k in range(frame.shape[1])])
    table = _arrow(frame)
    return _named(table.column_names, [[column] for column in table.columns])


def _named(names: list[Any], columns: list[list[pa.Array]]) -> dict[str, list[pa.Array]]:
    texts = [str(name) for name in names]
    twice = next((name for name in texts if texts.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"the table names the column {twice!r} twice; column names must be unique.")
    return dict(zip(texts, columns, strict=True))


def _arrow(frame: Any) -> pa.Table:
    try:
        return frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        raise UserError(
            f"the table is a {type(frame).__name__}; allowed are pandas, polars and Arrow tables, a dictionary of "
            "columns, or the path of a CSV, Parquet or DuckDB file."
        ) from None


def _pandas_column(column: Any) -> list[pa.Array]:
    return _values(column.tolist()) if column.dtype == object else [pa.array(column, from_pandas=True)]


def _values(values: Any) -> list[pa.Array]:
    """Cells of one type as one array; else one array a type, null where a cell is of another one."""
    if getattr(values, "dtype", np.dtype(object)) != np.dtype(object):
        return [pa.array(values, from_pandas=True)]
    cells = list(values)
    if {type(cell) for cell in cells} - {type(None)} not in PLAIN:
        return _apart(cells)
    try:
        return [pa.array(cells, from_pandas=True)]
    except (pa.ArrowException, ValueError, OverflowError):  # whole numbers beyond 64 bits, text that is no Unicode
        return _apart(cells)


def _apart(cells: list[Any]) -> list[pa.Array]:
    typed = [_typed(cell) for cell in cells]
    kinds = [kind for kind in TYPES if any(cell[0] == kind for cell in typed)] or ["text"]
    return [pa.array([value if kind == wanted else None for kind, value in typed], TYPES[wanted]) for wanted in kinds]


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
    for kind, wanted in (("truth", bool), ("whole", int), ("number", float), ("day", date)):
        if isinstance(value, wanted) and fits:
            return kind, value
    text = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
    return "text", text.encode("utf-8", errors="replace").decode()
