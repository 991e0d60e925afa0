"""Frames in memory as tables: pandas, polars, Arrow, or anything with the Arrow PyCapsule interface."""

from typing import Any

import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.duck import DuckTable, connect, raw_columns
from sundog.sources.encode import RawColumn

VIEW = "frame"


def open_frame(frame: Any) -> DuckTable:
    """The table that a frame holds. The engine knows its columns by number, since its own names ignore case."""
    import duckdb

    table = _arrow(frame)
    names = table.column_names
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"the table names the column {twice!r} twice; column names must be unique.")
    connection = connect()
    try:
        connection.register(VIEW, table.rename_columns([f"c{k}" for k in range(len(names))]))
        described = raw_columns(connection, VIEW)
    except duckdb.Error:
        raise UserError(
            "the table has no columns, or one of a type that the engine does not know (such as 16-bit floats); "
            "convert it to text, numbers or dates."
        ) from None
    raw = {name: RawColumn(column, described[column].type) for name, column in zip(names, described, strict=True)}
    return DuckTable(connection, VIEW, raw, label="the table")


def _arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.table(frame)
    if isinstance(frame, dict):
        return _assembled(list(frame), [_values(list(values)) for values in frame.values()])
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        return _assembled(list(frame.columns), [_pandas_column(frame.iloc[:, k]) for k in range(frame.shape[1])])
    if hasattr(frame, "__arrow_c_stream__") and hasattr(frame, "columns"):
        return pa.table(frame)
    raise UserError(
        f"the table is a {type(frame).__name__}; allowed are pandas, polars and Arrow tables, a dictionary of columns, "
        "or the path of a CSV, Parquet or DuckDB file."
    )


def _assembled(names: list[Any], columns: list[pa.Array]) -> pa.Table:
    if len({len(column) for column in columns}) > 1:
        raise UserError("the table's columns have different lengths; give every column one value a row.")
    return pa.Table.from_arrays(columns, names=[str(name) for name in names])


def _pandas_column(column: Any) -> pa.Array:
    try:
        return _flat(pa.array(column, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _values(column.tolist())


def _values(values: list[Any]) -> pa.Array:
    """Values of one type as they are; mixed ones as text, so that no cell can stop a run."""
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([_text(value) for value in values], type=pa.string())


def _text(value: Any) -> str | None:
    """A cell as text; None for null, for what is not equal to itself (NaN, NaT, NA), and for what is no text."""
    try:
        return str(value).encode("utf-8", errors="replace").decode() if value is not None and value == value else None  # noqa: PLR0124
    except Exception:  # a cell's own methods may fail in any way, and no cell can stop a run
        return None


def _flat(array: Any) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
