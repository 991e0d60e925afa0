"""Frames in memory as tables: pandas, polars, Arrow, or anything with the Arrow PyCapsule interface."""

from typing import Any

import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.duck import DuckTable, connect, raw_columns

VIEW = "frame"


def open_frame(frame: Any) -> DuckTable:
    """The table that a frame holds."""
    table = _arrow(frame)
    names = table.column_names
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"the table names the column {twice!r} twice; column names must be unique.")
    connection = connect()
    connection.register(VIEW, table)
    return DuckTable(connection, VIEW, raw_columns(connection, VIEW), label="the table")


def _arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.RecordBatch):
        return pa.table(frame)
    if isinstance(frame, pa.Table):
        return frame
    if type(frame).__module__.partition(".")[0] == "pandas":
        return pa.table({str(name): _pandas_column(frame[name]) for name in frame.columns})
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    if isinstance(frame, dict):
        return pa.table({name: _values(list(values)) for name, values in frame.items()})
    raise UserError(
        f"the table is a {type(frame).__name__}; allowed are pandas, polars and Arrow tables, a dictionary of columns, "
        "or the path of a CSV, Parquet or DuckDB file."
    )


def _pandas_column(column: Any) -> pa.Array:
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return _values(column.tolist())


def _values(values: list[Any]) -> pa.Array:
    """Values of one type as they are; mixed ones as text, so that no cell can stop a run."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None or value != value else str(value) for value in values])  # noqa: PLR0124
