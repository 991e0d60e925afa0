"""Tables in databases, read through ADBC: Arrow batches stream from the server, and memory does not grow with the rows.

One connection serves a run, and where the database can it holds one read-only snapshot, so that every pass sees the same
rows. The query of the user stands inside ours, which asks for single columns of it. A server's messages may quote cells, so
none of them leaves this file once rows are read; before that, only what the server says of the connection is told.
"""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.addresses import Address, address_of
from sundog.sources.batches import open_parts, part_of
from sundog.sources.drivers import DRIVERS, SAFE_ENCODINGS, SQLITE, Driver, Sent, load
from sundog.sources.duck import DuckTable, withhold
from sundog.sources.encode import RawColumn

SQLITE_MARK = b"SQLite format 3\x00"
REASONS = {
    "42601": "its syntax is wrong",
    "42P01": "it names a table that is not there",
    "42703": "it names a column that is not there",
    "42501": "this user may not read it",
    "42883": "it names a function that is not there",
    "25006": "it would change something, and it may only read",
}
"""What PostgreSQL's codes mean where no row has been read."""
INTERRUPTED = "canceling statement due to user request"
"""What PostgreSQL says when its driver, at Ctrl-C, asks it to stop."""
APPROXIMATE = "it is a number of any length, sent as a float, in which two units could become one; in the query, cast it to text or bigint."


@dataclass(frozen=True)
class Column:
    """A column of the query: the names of the parts in which it is sent."""

    name: str
    parts: tuple[str, ...]


class Database:
    """An open connection and a query on it; it is closed when nothing refers to it any more."""

    def __init__(self, driver: Driver, address: Address) -> None:
        self.driver, self.address = driver, address
        self.failure: BaseException | None = None
        module = load(driver)
        try:
            connection = driver.connect(module, address)
        except Exception as error:
            reason = _first_line(error)
            withhold(error)
            raise UserError(f"{address.label}: no connection to the database ({reason}).") from None
        self._connection = connection
        self._open: list[Any] = []
        weakref.finalize(self, _close, connection, self._open)
        self._begin()
        self.encoding = "UTF8" if driver.encoding is None else self._checked_encoding(driver.encoding)

    def _begin(self) -> None:
        """Open the snapshot that all passes see."""
        try:
            for statement in self.driver.begin:
                self._execute(statement)
        except Exception as error:
            withhold(error)
            raise UserError(
                f"{self.address.label}: the database gives no read-only snapshot; is it PostgreSQL?"
            ) from None

    def take_failure(self) -> BaseException | None:
        """What stopped the last stream, told once."""
        failure, self.failure = self.failure, None
        return failure

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """What a query gives, batch by batch; a failure is told without its words."""
        self.failure = None
        try:
            yield from self._reader(sql)
        except Exception as error:
            pressed = INTERRUPTED in str(error)
            withhold(error)
            self.failure = (
                KeyboardInterrupt()
                if pressed
                else UserError(
                    f"{self.address.label}: the database stopped in the middle of the query (its message may quote cells, so it "
                    "is withheld). A cell may be one that the query cannot compute, such as a text that it casts to a number, or "
                    "the server ended the connection."
                )
            )
            raise self.failure from None

    def schema(self, sql: str) -> pa.Schema:
        """The columns of a query; asks for no row."""
        try:
            return self._reader(f"SELECT * FROM ({sql}\n) AS shape WHERE 1 = 0").schema
        except Exception as error:
            code = str(getattr(error, "sqlstate", None) or "")
            reason = REASONS.get(code, f"code {code}" if code else "it cannot be computed")
            withhold(error)
            raise UserError(
                f"the query on {self.address.label} cannot be read ({reason}); check that it is complete and spelled right."
            ) from None

    def names(self, sql: str) -> list[str]:
        """The texts in the first column of a query on the database's own catalogue."""
        return [name for batch in self.batches(sql) for name in batch.column(0).to_pylist()]

    def catalogued(self, sql: str) -> list[str]:
        """The same, none where this server's catalogue is another one; the snapshot goes on."""
        self._execute("SAVEPOINT catalogued")
        try:
            return self.names(sql)
        except UserError:
            self._execute("ROLLBACK TO SAVEPOINT catalogued")
            return []

    def _reader(self, sql: str) -> Any:
        cursor = self._execute(sql)
        return cursor.fetch_record_batch()

    def _execute(self, sql: str) -> Any:
        """One statement at a time: what an interrupted one left is closed."""
        _close_cursors(self._open)
        cursor = self._connection.cursor()
        self._open.append(cursor)
        if self.driver.statement:
            cursor.adbc_statement.set_options(**dict(self.driver.statement))
        cursor.execute(sql)
        return cursor

    def _checked_encoding(self, sql: str) -> str:
        (found,) = self.names(sql)
        if found not in SAFE_ENCODINGS:
            raise UserError(
                f"{self.address.label}: the database is encoded as {found}, of which some characters have no UTF-8 form; one "
                f"cell could stop a run. Allowed are {', '.join(SAFE_ENCODINGS)}; copy the table into a database of UTF8."
            )
        return found


def connect_address(data: str) -> Database:
    """The database at an address."""
    address = address_of(data)
    driver = DRIVERS.get(address.scheme)
    if driver is None:
        raise UserError(f"data: unknown kind of database {address.scheme!r}; allowed are {', '.join(DRIVERS)}.")
    return Database(driver, address)


def connect_sqlite(path: str) -> Database:
    """The database in an SQLite file, which is opened for reading only."""
    address = Address(f"file:{quote(str(Path(path).absolute()))}?mode=ro", "sqlite", repr(path))
    return Database(SQLITE, address)


def open_address(data: str, sql: str | None) -> DuckTable:
    """The rows of a query on the database at an address, or of its only table."""
    return query_table(connect_address(data), sql)


def open_sqlite(path: str, sql: str | None) -> DuckTable:
    """The rows of a query on an SQLite file, or of its only table."""
    return query_table(connect_sqlite(path), sql)


def is_sqlite(path: str) -> bool:
    """Whether a file is an SQLite database."""
    with open(path, "rb") as file:
        return file.read(len(SQLITE_MARK)) == SQLITE_MARK


def query_table(database: Database, sql: str | None) -> DuckTable:
    """The rows of a query as a table."""
    query = query_of(database, sql)
    driver, source = database.driver, f"({query}\n) AS data"
    found = described(database, query)
    columns, sent = _sent(driver, found)
    known = [part.type for part in sent.values()]
    types = known if all(known) else database.schema(_select(driver, source, list(sent.values()))).types

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        batches = database.batches(_select(driver, source, [sent[name] for name in names]))
        for batch in batches if driver.typed else _without_first(batches):
            yield pa.RecordBatch.from_arrays(batch.columns[-len(names) :], names=names)

    table = open_parts(
        [part_of(f"the query on {database.address.label}", pa.schema(list(zip(sent, types, strict=True))), read=read)]
    )
    return _joined(table, columns, database=database, vague=_vague(found))


def query_of(database: Database, sql: str | None) -> str:
    """The query without what ends it, or all rows of the only table."""
    return _only_table(database) if sql is None else sql.rstrip("; \n")


def described(database: Database, query: str) -> pa.Schema:
    """The columns of a query; refuses names that are there twice."""
    found = database.schema(query)
    part_of("the query", found, read=lambda names: iter(()))
    return found


def type_on_server(column: pa.Field) -> str:
    """What PostgreSQL calls the type of a column."""
    return (column.metadata or {}).get(b"POSTGRESQL:type", b"").decode()


def _only_table(database: Database) -> str:
    tables = table_queries(database)
    if len(tables) != 1:
        found = f" holds the tables {', '.join(tables)}" if tables else ""
        raise UserError(f'{database.address.label}{found}; say which rows to read with --sql "SELECT ... FROM ...".')
    return next(iter(tables.values()))


def table_queries(database: Database) -> dict[str, str]:
    """The tables by name, each as the query for its rows; none where the database cannot say."""
    driver = database.driver
    names = [] if driver.tables is None else database.names(driver.tables)
    return {name: f"SELECT * FROM {name if driver.typed else driver.quote(name)}" for name in names}


def _sent(driver: Driver, found: pa.Schema) -> tuple[list[Column], dict[str, Sent]]:
    """The columns of a query, and all parts in which they are sent, by name."""
    columns: list[Column] = []
    sent: dict[str, Sent] = {}
    for column in found:
        forms = driver.sent(column, driver.quote(column.name))
        names = [column.name] if len(forms) == 1 else [f"{column.name}\x00{k}" for k in range(len(forms))]
        columns.append(Column(column.name, tuple(names)))
        sent |= dict(zip(names, forms, strict=True))
    return columns, sent


def _select(driver: Driver, source: str, parts: Sequence[Sent]) -> str:
    """These parts of all rows, by number; where cells have types, a marked first row fixes those of the columns."""
    named = ", ".join(f"{part.sql} AS c{k}" for k, part in enumerate(parts))
    if driver.typed:
        return f"SELECT {named} FROM {source}"
    examples = ", ".join(f"{part.example} AS c{k}" for k, part in enumerate(parts))
    return f"SELECT 1 AS example, {examples} UNION ALL SELECT 0, {named} FROM {source}"


def _without_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows without the example, which must be the first one: otherwise a row would be lost."""
    first = next(batches)
    marks = first.column(0)
    if not len(first) or marks[0].as_py() != 1 or sum(marks.to_pylist()) != 1:
        raise RuntimeError("the database sent the rows in another order")
    yield first.slice(1)
    yield from batches


def _vague(found: pa.Schema) -> dict[str, str]:
    """Columns that are sent as floats, in which two units could become one."""
    return {column.name: APPROXIMATE for column in found if type_on_server(column) in ("numeric", "money")}


def _joined(table: DuckTable, columns: Sequence[Column], *, database: Database, vague: dict[str, str]) -> DuckTable:
    """The table with the parts of every column put together."""
    raw: dict[str, RawColumn] = {}
    refused: dict[str, str] = {}
    for column in columns:
        first, *others = (table.raw[part] for part in column.parts)
        raw[column.name] = RawColumn(first.name, first.type, tuple(others))
        refused.update((column.name, table.refused[part]) for part in column.parts if part in table.refused)
    return replace(table, raw=raw, refused=refused, no_units=vague, stream=database)


def _first_line(error: BaseException) -> str:
    """What the client library says of a connection that could not be made; no row is near it."""
    text = str(error).partition("\n")[0].rpartition("] ")[2]
    return text[:300] or type(error).__name__


def _close(connection: Any, cursors: list[Any]) -> None:
    _close_cursors(cursors)
    connection.close()


def _close_cursors(cursors: list[Any]) -> None:
    while cursors:
        cursors.pop().close()
