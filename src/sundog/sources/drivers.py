"""What Sundog knows of each kind of database: its ADBC driver, its snapshot, and the form in which it sends columns.

What a server sends must not stop a run, whatever a cell holds, so columns are sent in a form in which no cell can fail: in
PostgreSQL numbers of any length as floats, moments within the calendar, and kinds that Arrow lacks as text. SQLite has types
of cells, not of columns: each column is sent as three, one per type, and a first row fixes their types.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.addresses import Address
from sundog.sources.encode import identifier

USER, PASSWORD = "SUNDOG_DATABASE_USER", "SUNDOG_DATABASE_PASSWORD"
PLAIN = ("int2", "int4", "int8", "float4", "float8", "bool", "text", "varchar", "name", "time", "bytea", "interval")
"""PostgreSQL's types that are sent as they are."""
SAFE_ENCODINGS = ("UTF8", "SQL_ASCII", "LATIN1", "LATIN2", "LATIN5", "LATIN9")
"""Encodings of servers of which every byte can be sent: another one would stop at the first character that UTF-8 lacks."""
BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL datestyle = 'ISO, YMD'",
    "SET LOCAL timezone = 'UTC'",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)
POSTGRESQL_TABLES = (
    "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
)
SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"


@dataclass(frozen=True)
class Sent:
    """A column as it is sent: its expression, and, where cells have types of their own, its type and a value of it."""

    sql: str
    example: str = "NULL"
    type: pa.DataType | None = None


@dataclass(frozen=True)
class Driver:
    """One kind of database. `sent` gives a column's forms; `begin` opens the snapshot; `tables` lists what there is."""

    package: str
    connect: Callable[[Any, Address], Any]
    sent: Callable[[pa.Field, str], list[Sent]]
    begin: tuple[str, ...] = ()
    tables: str | None = None
    typed: bool = True
    """Whether columns have types; else a first row of examples fixes them."""
    statement: tuple[tuple[str, str], ...] = ()
    encoding: str | None = None
    """A query for the server's encoding, where some of them could stop a run."""
    quote: Callable[[str], str] = identifier


def load(driver: Driver) -> Any:
    """The driver's module, or the package to install."""
    try:
        return import_module(f"{driver.package.replace('-', '_')}.dbapi")
    except ImportError:
        extra = "'sundog[databases]'" if driver in (POSTGRESQL, SQLITE) else driver.package
        raise UserError(
            f"this database needs the driver {driver.package}; install it with: pip install {extra}"
        ) from None


def _as_it_is(column: pa.Field, name: str) -> list[Sent]:
    return [Sent(name)]


def _postgresql_sent(column: pa.Field, name: str) -> list[Sent]:
    kind = (column.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    if kind in PLAIN or pa.types.is_nested(column.type):  # lists and records are refused by name
        return [Sent(name)]
    if kind in {"numeric", "money"}:
        return [Sent(as_double(f"{name}::numeric"))]
    if kind == "oid":
        return [Sent(f"{name}::int8")]
    if kind in ("date", "timestamp", "timestamptz"):
        return [Sent(within_calendar(name, kind))]
    return [Sent(f"{name}::text")]


def as_double(number: str) -> str:
    """A number of any length as a double: the cast itself fails where one is too large or too small for it."""
    return (
        f"CASE WHEN {number} = 'NaN' THEN NULL WHEN {number} > 1e300 THEN 'Infinity'::float8 "
        f"WHEN {number} < -1e300 THEN '-Infinity'::float8 WHEN abs({number}) < 1e-300 THEN 0::float8 ELSE {number}::float8 END"
    )


def within_calendar(moment: str, kind: str) -> str:
    """A moment, or the one just outside the years 1 to 9999: what is infinite has no number that Arrow could hold."""
    first, last = f"'0001-12-31 BC'::{kind}", f"'10000-01-01'::{kind}"
    return f"CASE WHEN {moment} < {first} THEN {first} WHEN {moment} > {last} THEN {last} ELSE {moment} END"


def _sqlite_sent(column: pa.Field, name: str) -> list[Sent]:
    del column
    return [
        Sent(f"CASE WHEN typeof({name}) = 'integer' THEN {name} END", "0", pa.int64()),
        Sent(f"CASE WHEN typeof({name}) = 'real' THEN {name} END", "0.0", pa.float64()),
        Sent(f"CASE WHEN typeof({name}) IN ('text', 'blob') THEN CAST({name} AS TEXT) END", "''", pa.string()),
    ]


def _connect_postgresql(module: Any, address: Address) -> Any:
    return module.connect(address.text, autocommit=True)


def _connect_sqlite(module: Any, address: Address) -> Any:
    return module.connect(address.text)


def _connect_snowflake(module: Any, address: Address) -> Any:
    return module.connect(address.text.partition("://")[2], db_kwargs=_credentials())


def _connect_bigquery(module: Any, address: Address) -> Any:
    project, _, dataset = address.text.partition("://")[2].partition("/")
    names = {"adbc.bigquery.sql.project_id": project, "adbc.bigquery.sql.dataset_id": dataset}
    return module.connect({name: value for name, value in names.items() if value} | _credentials())


def _connect_named(module: Any, address: Address) -> Any:
    """A driver that the driver manager finds by its name, as its own installer left it."""
    return module.connect(driver=address.scheme, db_kwargs={"uri": address.text, **_credentials()})


def _credentials() -> dict[str, str]:
    """User and password of the environment, under ADBC's own names."""
    given = {"username": os.environ.get(USER), "password": os.environ.get(PASSWORD)}
    return {name: value for name, value in given.items() if value}


def _backticks(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


POSTGRESQL = Driver(
    "adbc-driver-postgresql",
    _connect_postgresql,
    _postgresql_sent,
    BEGIN,
    POSTGRESQL_TABLES,
    encoding="SELECT current_setting('server_encoding')",
)
SQLITE = Driver(
    "adbc-driver-sqlite",
    _connect_sqlite,
    _sqlite_sent,
    tables=SQLITE_TABLES,
    typed=False,
    statement=(("adbc.sqlite.query.batch_rows", "65536"),),
)
DRIVERS = {
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "snowflake": Driver("adbc-driver-snowflake", _connect_snowflake, _as_it_is),
    "bigquery": Driver("adbc-driver-bigquery", _connect_bigquery, _as_it_is, quote=_backticks),
    "mssql": Driver("adbc-driver-manager", _connect_named, _as_it_is),
}
"""By the scheme of an address."""
