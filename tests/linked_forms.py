"""Every kind of source that can hold linked tables: the same cells as files, frames and databases, in a folder."""

import sqlite3
from contextlib import closing, contextmanager
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather, orc, parquet

import postgresql
from nasty_keys import text_of
from sundog.domain.dialect import STANDARD, Dialect
from sundog.sources import batches, duck, frames, open_tables
from sundog.sources.unique import whole_table

ARROW = {"text": pa.string(), "whole": pa.int64(), "float": pa.float64(), "moment": pa.timestamp("us")}
PANDAS = {"text": object, "whole": "Int64", "float": "float64", "moment": "datetime64[us]"}


def _arrow(columns):
    arrays = [pa.array(cells, ARROW[kind], from_pandas=False) for cells, kind in columns.values()]
    return pa.table(arrays, names=list(columns))


def _pandas(columns):
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=PANDAS.get(kind, object)) for name, (cells, kind) in columns.items()}
    )


def _polars(columns):
    import polars

    return polars.from_arrow(_arrow(columns))


def _csv(dialect, *, bare=False):
    """Text files; bare: with quotes only where a cell could not be read without them."""

    def write(folder, name, columns):
        lines = [dialect.delimiter.join(columns)]
        cells = ([None if cell is None else text_of(cell) for cell in cells] for cells, _ in columns.values())
        lines += [
            dialect.delimiter.join(_csv_cell(cell, dialect, bare=bare) for cell in row)
            for row in zip(*cells, strict=True)
        ]
        path = folder / f"{name}.csv"
        path.write_bytes("".join(f"{line}\n" for line in lines).encode(dialect.encoding))
        return path

    return write


def _csv_cell(text, dialect, *, bare):
    """A cell as the dialect writes it; what is missing is empty and without quotes."""
    quote = dialect.quote
    if text is None or (bare and text and not {quote, dialect.delimiter} & set(text)):
        return text or ""
    if dialect.escape:
        return quote + text.replace(dialect.escape, 2 * dialect.escape).replace(quote, dialect.escape + quote) + quote
    return quote + text.replace(quote, 2 * quote) + quote


def _file(ending, write):
    def written(folder, name, columns):
        path = folder / f"{name}.{ending}"
        write(_arrow(columns), path)
        return path

    return written


def _parts(folder, name, columns):
    """Two files, which a glob names."""
    table = _arrow(columns)
    for part, piece in enumerate((table.slice(0, len(table) // 3), table.slice(len(table) // 3))):
        parquet.write_table(piece, folder / f"{name}-{part}.parquet")
    return folder / f"{name}-*.parquet"


def _duckdb(folder, name, columns):
    import duckdb

    path = folder / "all.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.register("given", _arrow(columns))
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return str(path), whole_table(name)


def _sqlite(folder, name, columns):
    path = folder / "all.sqlite"
    marks = ", ".join("?" * len(columns))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
        rows = zip(*([_plain(cell) for cell in cells] for cells, _ in columns.values()), strict=True)
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    return str(path), whole_table(name)


def _postgresql(url, name, columns):
    """A server's pages hold rows in an order of their own, so that each is numbered."""
    table = _arrow(columns)
    postgresql.ingest(url, name, table.append_column("place", pa.array(range(len(table)))))
    return url, f'SELECT * FROM "{name}" ORDER BY place'


def _plain(cell):
    return cell.item() if isinstance(cell, np.generic) else cell


def _frame(make):
    return lambda folder, name, columns: make(columns)


def _lists(columns):
    return {name: list(cells) for name, (cells, _) in columns.items()}


TYPED, ALL = ("text", "typed"), ("text", "typed", "mixed", "python")
SEMICOLON = Dialect(delimiter=";", quote="'", encoding="utf-16")
ESCAPED = Dialect(delimiter="\t", double_quote=False, escape="\\")
FORMS = {
    "lists": (ALL, _frame(_lists)),
    "pandas": (ALL, _frame(_pandas)),
    "Arrow": (TYPED, _frame(_arrow)),
    "polars": (TYPED, _frame(_polars)),
    "lazy polars": (TYPED, _frame(lambda columns: _polars(columns).lazy())),
    "CSV": (("text",), _csv(Dialect(delimiter=","))),
    "CSV without quotes": (("text",), _csv(Dialect(delimiter=","), bare=True)),
    "CSV of another dialect": (("text",), _csv(SEMICOLON)),
    "CSV with escapes": (("text",), _csv(ESCAPED)),
    "Parquet": (TYPED, _file("parquet", parquet.write_table)),
    "Parquet in parts": (TYPED, _parts),
    "Feather": (TYPED, _file("feather", feather.write_feather)),
    "ORC": (("text",), _file("orc", orc.write_table)),
    "DuckDB": (TYPED, _duckdb),
    "SQLite": (("text", "mixed"), _sqlite),
    "PostgreSQL": (TYPED, None),
}
"""By name: what they can hold, and what writes one table."""
DIALECTS = {"CSV": Dialect(delimiter=","), "CSV of another dialect": SEMICOLON, "CSV with escapes": ESCAPED}
WITHOUT_ZERO_BYTES = ("PostgreSQL",)


def holds(form, shape):
    """Whether a source can hold the keys of a shape."""
    nul = any("\0" in text for text in shape.texts) and form in WITHOUT_ZERO_BYTES
    return shape.holder in FORMS[form][0] and not nul


def opened(form, folder, tables, *, url=None):
    """The sources of tables {name: {column: (cells, kind)}} of one kind."""
    if form == "PostgreSQL":
        given = {name: _postgresql(url, name, columns) for name, columns in tables.items()}
    else:
        given = {name: FORMS[form][1](folder, name, columns) for name, columns in tables.items()}
    return open_tables(given, dialects=dict.fromkeys(tables, DIALECTS.get(form, STANDARD)))


@contextmanager
def one_engine():
    """Sources that are opened meanwhile share an engine: to start one takes longer than to read a small table."""
    engine = duck.connect()
    with mock.patch.object(frames, "connect", engine.cursor), mock.patch.object(batches, "connect", engine.cursor):
        yield
