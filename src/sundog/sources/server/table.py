"""A table on a database server whose rows must not leave it: PostgreSQL encodes, bounds units and counts; totals come back.

The codes are those that streaming the rows would give, and so are the totals (a law tests it). What cannot be counted there, a
class of queries or a kind of column, is refused before anything is spent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.sources.adbc import Database, connect_address, described, query_of, type_on_server
from sundog.sources.addresses import is_address
from sundog.sources.base import Adder, check_columns
from sundog.sources.drivers import POSTGRESQL
from sundog.sources.plain import numpy_of
from sundog.sources.server.codes import ServerColumn, code_sql, unit_sql
from sundog.sources.server.statements import statements

STAYS = (
    "push-down: the rows stay on the server, which only counts; this needs the rows themselves. Leave out push-down."
)


@dataclass(frozen=True)
class OnServer:
    """The address of a PostgreSQL database whose server is to count, so that no row leaves it."""

    data: str


@dataclass
class ServerTable:
    """A query on a server, and its columns there."""

    database: Database
    source: str
    raw: dict[str, ServerColumn]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are there."""
        return tuple(self.raw)

    def check(self, names: tuple[str, ...], *, unit: str | None = None) -> None:
        """Refuse, before any row is read, columns that are not there, or that name no unit."""
        check_columns(self.columns, names if unit is None else (*names, unit))
        if unit is not None:
            unit_sql(self.raw[unit])

    def check_counts(self, schema: Schema, tallies: tuple[Tally, ...]) -> None:
        """Refuse columns that the server cannot encode; the tallies are there, so it can count them."""
        check_columns(self.columns, schema.fields)
        for column in schema.columns:
            code_sql(column, *(self.raw[name] for name in column.fields))
        for name in {name for tally in tallies for name in tally.columns}:
            schema.position(name)

    def add_up(self, schema: Schema, unit: PrivacyUnit, *, add: Adder, size: int) -> Int[np.ndarray, " cells"]:
        """The totals, counted by the server."""
        tallies: tuple[Tally, ...] | None = getattr(add, "tallies", None)
        if tallies is None:
            raise UserError(STAYS)
        self.check(schema.fields, unit=unit.column)
        self.check_counts(schema, tallies)
        places, firsts = _places(tallies)
        totals = np.zeros(size, dtype=np.int64)
        for statement in statements(self.source, self.raw, schema, unit=unit, tallies=tallies):
            for batch in self.database.batches(statement):
                tally, cell, number = (numpy_of(batch.column(k)) for k in range(3))
                np.add.at(totals, places[firsts[tally] + cell], number)
        return totals

    def value_counts(self, column: str, unit: PrivacyUnit) -> dict[str, int]:
        """Refused: the texts themselves would leave the server."""
        return self._refuse()

    def read(self, schema: Schema) -> Rows:
        """Refused: rows stay on the server."""
        return self._refuse()

    def numbers(self, column: str) -> Float[np.ndarray, " rows"]:
        """Refused: rows stay on the server."""
        return self._refuse()

    def _refuse(self) -> NoReturn:
        raise UserError(STAYS)


def _places(tallies: Sequence[Tally]) -> tuple[Int[np.ndarray, " cells"], Int[np.ndarray, " tallies+1"]]:
    """For all cells of all tallies the place of their count among the totals, and where each tally's cells begin."""
    counts = [tally.counts for tally in tallies]
    starts = np.cumsum([0, *(int(own.max()) + 1 for own in counts)])
    places = [start + own for start, own in zip(starts, counts, strict=False)]
    return np.concatenate(places), np.cumsum([0, *map(len, counts)])


def open_on_server(given: OnServer, *, sql: str | None) -> ServerTable:
    """The rows of a query on a server, which will count them."""
    if not isinstance(given.data, str) or not is_address(given.data):
        raise UserError(
            "push-down: the table is a file; only a database server (postgresql://HOST/DATABASE) can count its rows."
        )
    database = connect_address(given.data)
    if database.driver is not POSTGRESQL:
        raise UserError("push-down: counts can be made by PostgreSQL alone; leave out push-down for other databases.")
    if database.encoding != "UTF8":
        raise UserError("push-down: the database must be encoded as UTF8; leave out push-down.")
    query = query_of(database, sql)
    found = described(database, query)
    raw = {column.name: _on_server(database.driver.quote(column.name), column) for column in found}
    return ServerTable(database, f"({query}\n) AS data", raw)


def _on_server(quoted: str, column: pa.Field) -> ServerColumn:
    """A column and its type there; an oid is read as the whole number that streaming sends, as it has few casts of its own.

    Lists and records have no type that can be read.
    """
    kind = "interval" if pa.types.is_nested(column.type) else type_on_server(column)
    return ServerColumn(column.name, *((f"({quoted})::int8", "int8") if kind == "oid" else (quoted, kind)))
