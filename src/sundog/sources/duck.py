"""Tables that DuckDB can read: frames, CSV and Parquet files, databases, SQL queries.

DuckDB encodes the rows to small integers (sources.encode) and streams them as Arrow batches; memory does not grow with
the number of rows. The engine's own error texts can quote cells, so none of them ever leaves this file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from sundog.errors import UserError
from sundog.rows import Rows
from sundog.schema import Categorical, Schema
from sundog.sources.base import Adder, check_columns
from sundog.sources.encode import RawColumn, encode_sql, enum_name, enum_type, identifier
from sundog.unit import PrivacyUnit

BATCH = 1 << 16


def connect() -> Any:
    """A private in-memory engine that fetches no extensions and writes nothing but spill files."""
    import duckdb

    settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config=settings)
    # Otherwise TRY_CAST moves into the CSV reader, which drops the whole line where the cell should become null.
    connection.execute("SET disabled_optimizers = 'type_pushdown'")
    return connection


@dataclass
class DuckTable:
    """A relation of a DuckDB connection. `raw` maps the names users know to the engine's columns."""

    connection: Any
    relation: str
    raw: dict[str, RawColumn]
    label: str
    _types: set[str] = field(default_factory=set, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are there."""
        return tuple(self.raw)

    def add_up(self, schema: Schema, unit: PrivacyUnit, *, add: Adder, size: int) -> Int[np.ndarray, " cells"]:
        """The totals over all batches."""
        totals = np.zeros(size, dtype=np.int64)
        for batch in self._batches(schema, unit):
            add(batch, totals)
        return totals

    def read(self, schema: Schema) -> Rows:
        """All rows at once."""
        return Rows.concatenate(list(self._batches(schema, PrivacyUnit())), schema)

    def value_counts(self, column: str, unit: PrivacyUnit) -> dict[str, int]:
        """How often each text occurs in one column."""
        check_columns(self.columns, (column, *((unit.column,) if unit.column else ())))
        text = self.raw[column].as_text()
        inner = f"SELECT {text} AS value{self._unit_key(unit)} FROM {self.relation}"
        sql = f"SELECT value, count(*) FROM ({self._bounded(inner, unit, order='value')}) WHERE value IS NOT NULL GROUP BY value"
        with self.quiet_failures():
            return dict(self.connection.sql(sql).fetchall())

    def _batches(self, schema: Schema, unit: PrivacyUnit) -> Iterator[Rows]:
        check_columns(self.columns, (*schema.names, *((unit.column,) if unit.column else ())))
        with self.quiet_failures():
            self._create_types(schema)
            for batch in self.connection.sql(self._encoding(schema, unit)).to_arrow_reader(BATCH):
                yield Rows(schema, tuple(_numpy(batch.column(k)) for k in range(len(schema.columns))))

    def _encoding(self, schema: Schema, unit: PrivacyUnit) -> str:
        codes = [
            f"{encode_sql(column, self.raw[column.name], schema.missing_values)} AS code{k}"
            for k, column in enumerate(schema.columns)
        ]
        inner = f"SELECT {', '.join(codes)}{self._unit_key(unit)} FROM {self.relation}"
        order = ", ".join(f"code{k}" for k in range(len(codes)))
        return self._bounded(inner, unit, order=order)

    def _unit_key(self, unit: PrivacyUnit) -> str:
        return f", {self.raw[unit.column].as_text()} AS unit" if unit.column else ""

    def _bounded(self, inner: str, unit: PrivacyUnit, *, order: str) -> str:
        """At most `unit.rows` rows of each unit, chosen by a hash of the row alone; rows without a unit are one unit."""
        if unit.column is None:
            return inner
        choice = f"row_number() OVER (PARTITION BY unit ORDER BY hash({order}))"
        return f"SELECT * EXCLUDE (unit) FROM ({inner}) QUALIFY {choice} <= {unit.rows}"

    def _create_types(self, schema: Schema) -> None:
        for column in schema.columns:
            if isinstance(column, Categorical) and not column.boolean and enum_name(column) not in self._types:
                self.connection.execute(f"CREATE TYPE {enum_name(column)} AS {enum_type(column)}")
                self._types.add(enum_name(column))

    @contextmanager
    def quiet_failures(self) -> Iterator[None]:
        """Turn the engine's failures into one sentence that quotes nothing."""
        import duckdb

        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            error.args = ("withheld",)  # the exception stays reachable as __context__; its text must not
            raise UserError(
                f"{self.label}: the engine failed while reading it (its message may quote cells, so it is withheld). "
                "Check that the file is complete and of the kind its name says."
            ) from None


def raw_columns(connection: Any, relation: str) -> dict[str, RawColumn]:
    """The columns of a relation with their engine types; reads no row."""
    described = connection.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {name: RawColumn(name, kind) for name, kind, *_ in described}


def _numpy(column: pa.Array) -> Int[np.ndarray, " rows"]:
    return column.to_numpy(zero_copy_only=False)


__all__ = ["DuckTable", "connect", "identifier", "raw_columns"]
