"""Databases in files, DuckDB or SQLite: one table of a file, or what a query on it returns; opened for reading only.

A query can be put to any other file, too: its rows are then the table `data`, kept by the engine (on disk, in a folder
that only this user can read, where they do not fit into memory).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sundog.errors import UserError
from sundog.sources.adbc import connect_address, connect_sqlite, is_sqlite, open_sqlite, query_table, table_queries
from sundog.sources.addresses import is_address
from sundog.sources.duck import DuckTable, connect, identifier, raw_columns
from sundog.sources.encode import literal

DATABASE = (".duckdb", ".db", ".ddb", ".sqlite", ".sqlite3", ".db3")


def open_database(path: str, sql: str | None) -> DuckTable:
    """The only table of a database, or the rows of a query; which kind of database, its first bytes say."""
    if is_sqlite(path):
        return open_sqlite(path, sql)
    connection = _attached(path)
    if sql is None:
        tables = _queries(connection)
        if len(tables) != 1:
            found = ", ".join(map(repr, tables)) or "none"
            raise UserError(f'{path!r} holds the tables {found}; say which with --sql "SELECT * FROM ...".')
        sql = next(iter(tables.values()))
    return query_on(connection, sql, label=f"the query on {path!r}")


def open_queries(data: str, queries: Mapping[str, str]) -> dict[str, DuckTable]:
    """The rows of several queries on one database, all of one snapshot.

    One connection has them all, except for a DuckDB file, to which nobody can write while it is open for reading.
    """
    if is_address(data):
        database = connect_address(data)
    elif not Path(data).is_file():
        raise UserError(f"data file {data!r} does not exist; check the path.")
    elif is_sqlite(data):
        database = connect_sqlite(data)
    else:
        return {name: open_database(data, sql) for name, sql in queries.items()}
    return {name: query_table(database, sql) for name, sql in queries.items()}


def tables_in(data: str) -> dict[str, str]:
    """The tables of a database by name, each as the query for its rows; none for a file of another kind. Reads no row."""
    if is_address(data):
        return table_queries(connect_address(data))
    if Path(data).suffix.lower() not in DATABASE or not Path(data).is_file():
        return {}
    return table_queries(connect_sqlite(data)) if is_sqlite(data) else _queries(_attached(data))


def _attached(path: str) -> Any:
    """A connection to a DuckDB file, for reading only."""
    import duckdb

    connection = connect()
    try:
        connection.execute(f"ATTACH {literal(path)} AS data (READ_ONLY)")
        connection.execute("USE data")
    except duckdb.Error:
        raise UserError(
            f"{path!r} cannot be opened as a DuckDB or SQLite database; check the file and its version."
        ) from None
    return connection


def _queries(connection: Any) -> dict[str, str]:
    found = connection.sql("SELECT table_name FROM duckdb_tables() ORDER BY table_name").fetchall()
    return {name: f"SELECT * FROM {identifier(name)}" for (name,) in found}


def query_file(table: DuckTable, sql: str) -> DuckTable:
    """The rows of a query on a table that was read from a file: SELECT ... FROM data."""
    table.store("data")
    return query_on(table.connection, sql, label=f"the query on {table.label.removeprefix('data file ')}")


def query_on(connection: Any, sql: str, *, label: str) -> DuckTable:
    """The rows of a query as a table."""
    import duckdb

    relation = f"({sql.rstrip('; ')}\n)"  # the line may end with a comment
    try:
        raw = raw_columns(connection, relation)
    except duckdb.Error as error:
        reason = type(error).__name__.removesuffix("Exception")
        raise UserError(f"{label} cannot be read ({reason}); check that it is complete and spelled right.") from None
    return DuckTable(connection, relation, raw, label)
