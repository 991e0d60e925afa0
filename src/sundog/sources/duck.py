"""Tables that DuckDB can read: Arrow record batches, text files, databases, SQL queries.

DuckDB encodes the rows to small integers (sources.encode) and streams them as Arrow batches; memory does not grow with
the number of rows. Where a unit has several rows, they are sorted by unit, which the engine does on disk if it must, in
a folder that only this user can read. The engine's own error texts can quote cells, so none of them ever leaves this
file.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float, Int

from sundog.domain import Categorical, Schema
from sundog.domain.columns import Identifier
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError, is_interruption
from sundog.sizes import memory
from sundog.sources.base import Adder, check_columns
from sundog.sources.encode import RawColumn, encode_sql, enum_name, enum_type, identifier, key_text
from sundog.sources.plain import numpy_of
from sundog.sources.recode import Recoder
from sundog.sources.spill import spill_folder
from sundog.sources.units import UNIT, by_unit, count_texts, first_of_each, part_name, read_batches, rows_of

FED = "fed"
SEVERAL = (
    "its cells are lists, structs or intervals, which no column kind models; make each part of it a column of its own, or "
    "leave the field out of the schema."
)
Key = tuple[Identifier, ...]
"""The fields of one key."""
Feed = Callable[[tuple[str, ...], Mapping[str, Recoder]], pa.RecordBatchReader]
"""The batches of a table with these columns of the engine, some of them recoded; asked for again for every question."""


def connect() -> Any:
    """A private in-memory engine that fetches no extensions and writes nothing but spill files."""
    import duckdb

    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": str(spill_folder()),
        "memory_limit": f"{memory() // 2}B",  # the engine does not look at limits of the process; beyond it, it spills
    }
    connection: Any = duckdb.connect(config=settings)
    try:
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]:
            connection.execute(
                "SET enable_progress_bar = false"
            )  # only then: in a notebook without ipywidgets it fails
        # Otherwise TRY_CAST moves into the CSV reader, which drops the whole line where the cell should become null.
        connection.execute("SET disabled_optimizers = 'type_pushdown'")
    except RuntimeError as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        raise
    return connection


class FallibleStream(Protocol):
    """What the engine reads through Python: it remembers what stopped it."""

    def take_failure(self) -> BaseException | None:
        """What stopped it, told once: kept here, it would keep the engine alive."""


class Expression(NamedTuple):
    """What is computed of every row, in SQL, and the columns that it reads, by the names users know."""

    sql: str
    reads: tuple[str, ...]


@dataclass
class DuckTable:
    """A relation of a DuckDB connection, or batches fed to it. `raw` maps the names users know to the engine's columns.

    The columns `folded` are fed as dictionaries of texts.
    """

    connection: Any
    relation: str
    raw: dict[str, RawColumn]
    label: str
    feed: Feed | None = None
    folded: frozenset[str] = frozenset()
    refused: dict[str, str] = field(default_factory=dict)
    no_units: Mapping[str, str] = field(default_factory=dict)
    """Columns that cannot name units, and why."""
    untyped: bool = False
    stream: FallibleStream | None = None
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

    def numbers(self, column: str) -> Float[np.ndarray, " rows"]:
        """One column of numbers in the order of `read`, NaN where there is none."""
        self._check((column,), PrivacyUnit())
        with self.quiet_failures():
            batches = self._stream([Expression(self.raw[column].as_number(), (column,))], PrivacyUnit())
            parts = [numpy_of(pc.fill_null(batch.column(0), np.nan)) for batch in batches]
        return np.concatenate([np.empty(0), *parts])

    def value_counts(self, column: str, unit: PrivacyUnit) -> dict[str, int]:
        """How often each text occurs in one column."""
        self._check((column,), unit)
        with self.quiet_failures():
            return count_texts(self._stream([self._text(column)], unit))

    def _batches(self, schema: Schema, unit: PrivacyUnit) -> Iterator[Rows]:
        self._check(schema.fields, unit)
        with self.quiet_failures():
            for batch in self._stream(self._codes(schema), unit):
                yield rows_of(schema, batch)

    def unbounded(self, schema: Schema, unit: PrivacyUnit) -> Iterator[pa.RecordBatch]:
        """The codes of all rows and, last, whose row it is: what `sources.units.first_rows` takes, here or elsewhere."""
        self._check(schema.fields, unit)
        with self.quiet_failures():
            yield from self._read_batches(self._selected(self._codes(schema), unit))

    def unbounded_texts(self, column: str, unit: PrivacyUnit) -> Iterator[pa.RecordBatch]:
        """The texts of one column and, last, whose row it is."""
        self._check((column,), unit)
        with self.quiet_failures():
            yield from self._read_batches(self._selected([self._text(column)], unit))

    def _codes(self, schema: Schema) -> list[Expression]:
        self._create_types(schema)
        return [
            Expression(encode_sql(column, *(self.raw[name] for name in column.fields)), tuple(column.fields))
            for column in schema.columns
        ]

    def _text(self, column: str) -> Expression:
        return Expression(self.raw[column].as_text(), (column,))

    def keyed(
        self, schema: Schema, keys: Sequence[Key]
    ) -> Iterator[tuple[Rows, list[pa.Array], Int[np.ndarray, " rows"]]]:
        """Batches of encoded rows, their keys as texts (null where one is missing), and a hash of each row and its keys."""
        self.check_keys(schema, keys)
        fields = [each.name for key in keys for each in key]
        with self.quiet_failures():
            self._create_types(schema)
            parts = [encode_sql(column, *(self.raw[name] for name in column.fields)) for column in schema.columns]
            parts += [key_text([(each, self.raw[each.name]) for each in key]) for key in keys]
            named = ", ".join(f"{part} AS part{k}" for k, part in enumerate(parts))
            order = ", ".join(f"part{k}" for k in range(len(parts)))
            inner = f"SELECT {named} FROM {self._relation([*schema.fields, *fields])}"
            for batch in self._read_batches(f"SELECT *, hash({order}) AS rank FROM ({inner})"):
                columns = [batch.column(k) for k in range(len(parts) + 1)]
                codes = tuple(numpy_of(column) for column in columns[: len(schema.names)])
                yield Rows(schema, codes), columns[len(schema.names) : -1], numpy_of(columns[-1])

    def check_keys(self, schema: Schema, keys: Sequence[Key]) -> None:
        """Refuse, before any row is read, keys that are not there or cannot name a record."""
        for name in dict.fromkeys(each.name for key in keys for each in key):
            self.check(schema.fields, unit=name)

    def check(self, names: tuple[str, ...], *, unit: str | None = None) -> None:
        """Refuse, before any row is read, columns that are not there or whose cells cannot be read, or name no unit."""
        names = names if unit is None else (*names, unit)
        check_columns(self.columns, names)
        if unit is not None and unit in self.no_units:
            raise UserError(f"unit column {unit!r}: {self.no_units[unit]}")
        for name in names:
            reason = self.refused.get(name) or ("" if all(part.single for part in self.raw[name].parts) else SEVERAL)
            if reason:
                raise UserError(f"column {name!r}: {reason}")

    def readable(self, name: str) -> bool:
        """Whether a column is there and its cells can be read."""
        return name in self.raw and name not in self.refused and all(part.single for part in self.raw[name].parts)

    def store(self, name: str) -> None:
        """Keep the rows as a table of the engine, under the names users know, for queries on them.

        A column without a declared type is text there: its type must not depend on its cells.
        """
        kept = {column: raw for column, raw in self.raw.items() if self.readable(column)}
        folded = [column.lower() for column in kept]
        if len(set(folded)) < len(folded):  # not named: a first row that is no header would be a record
            raise UserError(
                f"{self.label}: two of its columns differ by case only, which SQL cannot distinguish; rename one."
            )
        columns = [
            f"{raw.as_text() if self.untyped or raw.others else raw.sql} AS {identifier(column)}"
            for column, raw in kept.items()
        ]
        with self.quiet_failures():
            source = self._relation(list(kept))
            self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {', '.join(columns)} FROM {source}")

    def _check(self, names: tuple[str, ...], unit: PrivacyUnit) -> None:
        self.check(names, unit=unit.column)

    def _relation(self, names: list[str], recoders: Mapping[str, Recoder] = MappingProxyType({})) -> str:
        """What to select from: the relation, or the batches of these columns, registered again."""
        if self.feed is None:
            return self.relation
        columns = dict.fromkeys(part.name for name in names for part in self.raw[name].parts)
        self.connection.register(self.relation, self.feed(tuple(columns), recoders))
        return self.relation

    def _stream(self, expressions: Sequence[Expression], unit: PrivacyUnit) -> Iterator[pa.RecordBatch]:
        """These expressions of all rows, at most `unit.rows` rows of each unit."""
        selected = self._selected(expressions, unit)
        if unit.column is None:
            yield from self._read_batches(selected)
        else:
            yield from first_of_each(self._read_batches(by_unit(selected, len(expressions))), unit.rows)

    def _selected(self, expressions: Sequence[Expression], unit: PrivacyUnit) -> str:
        """The query for these expressions of all rows and, where there are units, of each row's unit.

        Rows without a unit are one unit.
        """
        recoders = self._recoders(expressions, unit)
        parts = [self.raw[each.reads[0]].sql if each.reads[0] in recoders else each.sql for each in expressions]
        named = ", ".join(f"{part} AS {part_name(k)}" for k, part in enumerate(parts))
        relation = self._relation(
            [name for each in expressions for name in each.reads] + ([unit.column] if unit.column else []),
            {self.raw[name].name: recoder for name, recoder in recoders.items()},
        )
        if unit.column is None:
            return f"SELECT {named} FROM {relation}"
        key = f"COALESCE('=' || {self.raw[unit.column].as_text()}, '')"
        return f"SELECT {named}, {key} AS {UNIT} FROM {relation}"

    def _recoders(self, expressions: Sequence[Expression], unit: PrivacyUnit) -> dict[str, Recoder]:
        """For dictionaries of texts that nothing but one expression reads, alone."""
        readers = Counter([name for each in expressions for name in each.reads] + [unit.column])
        return {
            name: Recoder(self._aside, self.raw[name].name, each.sql)
            for each in expressions
            for name in each.reads
            if name in self.folded and len(each.reads) == readers[name] == 1
        }

    def _read_batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        yield from read_batches(self.connection, sql)

    def one_row(self, names: Sequence[str], query: Callable[[str], str], *, schema: Schema | None = None) -> list[Any]:
        """The one row of a query over these columns; `query` gives its SQL for the relation that holds them, if any."""
        with self.quiet_failures():
            if schema is not None:
                self._create_types(schema)
            return list(self.connection.sql(query(self._relation(list(names)) if names else "")).fetchall()[0])

    @cached_property
    def _aside(self) -> Any:
        """The engine for small questions while it streams the rows; types that are temporary are its own."""
        return self.connection.cursor()

    def keep(self, name: str, schema: Schema, query: Callable[[str], str]) -> None:
        """Keep the result of a query over a schema's fields as a table of the engine."""
        with self.quiet_failures():
            self._create_types(schema)
            source = query(self._relation(list(schema.fields)))
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {source}")

    def _create_types(self, schema: Schema) -> None:
        for column in schema.columns:
            if isinstance(column, Categorical) and not column.boolean and enum_name(column) not in self._types:
                for engine in (self.connection, self._aside):
                    engine.execute(f"CREATE TEMP TYPE {enum_name(column)} AS {enum_type(column)}")
                self._types.add(enum_name(column))

    @contextmanager
    def quiet_failures(self) -> Iterator[None]:
        """Turn the engine's failures into one sentence that quotes nothing; ours (an interruption too) stay as they are."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # engines and readers fail in many ways, and any of their texts may quote a cell
            if is_interruption(error):
                raise KeyboardInterrupt from None
            withhold(error)
            own = None if self.stream is None else self.stream.take_failure()
            if isinstance(own, UserError | KeyboardInterrupt):
                raise own from None
            raise UserError(
                f"{self.label}: the engine failed while reading it (its message may quote cells, so it is withheld). "
                "Check that the file is complete and of the kind its name says."
            ) from None


def withhold(error: BaseException | None) -> None:
    """Take the words from an exception and from those behind it: they stay reachable as `__context__`."""
    while error is not None:
        error.args = ("withheld",)
        if isinstance(error, UnicodeDecodeError | UnicodeEncodeError):
            error.object = error.object[:0]
        error = error.__cause__ or error.__context__


def raw_columns(connection: Any, relation: str) -> dict[str, RawColumn]:
    """The columns of a relation with their engine types; reads no row."""
    described = connection.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {name: RawColumn(name, kind) for name, kind, *_ in described}


__all__ = ["DuckTable", "connect", "identifier", "raw_columns"]
