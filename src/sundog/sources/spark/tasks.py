"""What executors do with their share of the rows: the steps of one machine, from Arrow batches to codes to totals.

A task opens its share as the table that a single machine would open (sources.batches, sources.columnar) and adds it up by the
same method. Where a unit may have several rows there are two steps: the first encodes rows and names their units, Spark
gathers the rows of each unit in one place, and the second keeps and counts the first rows of each (sources.units). What travels
between the two are codes, not cells. Which value names which unit is decided in the first step alone, by the one definition that
there is, so that Spark's own idea of equal values does not matter.

Whatever fails here fails with a sentence of ours: Spark writes the text of an exception to logs on several machines.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.sizes import memory
from sundog.sources.base import Adder
from sundog.sources.batches import open_parts, part_of
from sundog.sources.columnar import Stretch, open_stretches
from sundog.sources.duck import DuckTable, connect, withhold
from sundog.sources.encode import storage_type
from sundog.sources.spark.totals import told
from sundog.sources.spill import remove_own_folders
from sundog.sources.units import UNIT, count_texts, first_rows, part_name, rows_of

Batches = Iterable[pa.RecordBatch]
TEXT = "string"
STORED = {
    "UTINYINT": ("tinyint", pa.int8(), pa.uint8()),
    "USMALLINT": ("smallint", pa.int16(), pa.uint16()),
    "UINTEGER": ("int", pa.int32(), pa.uint32()),
    "BIGINT": ("bigint", pa.int64(), pa.int64()),
}
"""How codes travel: Spark has no unsigned numbers, so their bits travel as signed ones of the same width."""
COUNTED = "text string, count bigint"
FAILED = "a task failed; its message may quote cells, so it is withheld"
PACKAGES = ("sundog", "duckdb", "numpy", "pyarrow")


class Share(Protocol):
    """How a task comes by its share of the rows."""

    def open(self, batches: Batches) -> DuckTable:
        """The table of its share; `batches` are what Spark hands to the task."""


@dataclass(frozen=True)
class FrameShare:
    """Rows that Spark hands over, with these columns in this order."""

    schema: pa.Schema

    def open(self, batches: Batches) -> DuckTable:
        """The table of these rows; they can be read once."""
        rows = (batch.rename_columns(self.schema.names) for batch in batches)
        return open_parts([part_of("the table", self.schema, read=lambda names: (b.select(names) for b in rows))])


@dataclass(frozen=True)
class FileShare:
    """Stretches of files that the executor reads itself, by the number that Spark hands over."""

    stretches: tuple[tuple[Stretch, ...], ...]

    def open(self, batches: Batches) -> DuckTable:
        """The table of the stretches of this task."""
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        return open_stretches([stretch for number in numbers for stretch in self.stretches[number]])


@dataclass(frozen=True)
class Count:
    """Adds up all rows of a share."""

    share: Share
    schema: Schema
    add: Adder
    size: int

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """The totals of this task."""
        with _task():
            table = _sharing(self.share.open(batches))
            yield from told(table.add_up(self.schema, PrivacyUnit(), add=self.add, size=self.size))


@dataclass(frozen=True)
class Encode:
    """The first step where rows per unit are bounded: codes (or, without a schema, the texts of a column) and units."""

    share: Share
    schema: Schema | None
    column: str
    unit: PrivacyUnit

    @property
    def types(self) -> str:
        """What it gives, in Spark's words."""
        kinds = [TEXT] if self.schema is None else [STORED[kind][0] for kind in _stored(self.schema)]
        return ", ".join([*(f"{part_name(k)} {kind}" for k, kind in enumerate(kinds)), f"{UNIT} {TEXT}"])

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Every row of this task, encoded."""
        with _task():
            table = _sharing(self.share.open(batches))
            if self.schema is None:
                yield from table.unbounded_texts(self.column, self.unit)
            else:
                for batch in table.unbounded(self.schema, self.unit):
                    yield _viewed(batch, [STORED[kind][1] for kind in _stored(self.schema)])


@dataclass(frozen=True)
class CountFirst:
    """The second step: adds up the first rows of each unit. All rows of a unit must be in the same task."""

    schema: Schema
    rows: int
    add: Adder
    size: int

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """The totals of this task."""
        with _task():
            counted = np.zeros(self.size, dtype=np.int64)
            kinds = [STORED[kind][2] for kind in _stored(self.schema)]
            for batch in _first((_viewed(batch, kinds) for batch in batches), kinds, rows=self.rows):
                self.add(rows_of(self.schema, batch), counted)
            yield from told(counted)


@dataclass(frozen=True)
class CountTexts:
    """How often each text of a column occurs, in a share."""

    share: Share
    column: str

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """The counts of this task."""
        with _task():
            yield _text_counts(_sharing(self.share.open(batches)).value_counts(self.column, PrivacyUnit()))


@dataclass(frozen=True)
class CountFirstTexts:
    """The same, for the first rows of each unit."""

    rows: int

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """The counts of this task."""
        with _task():
            yield _text_counts(count_texts(_first(batches, [pa.string()], rows=self.rows)))


def versions(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The packages of an executor, by which it is known before anything is spent that it can do its part."""
    del batches
    yield pa.RecordBatch.from_pydict({"found": [" ".join(f"{name} {version(name)}" for name in PACKAGES)]})


def _first(batches: Batches, kinds: list[pa.DataType], *, rows: int) -> Iterator[pa.RecordBatch]:
    schema = pa.schema([*((part_name(k), kind) for k, kind in enumerate(kinds)), (UNIT, pa.string())])
    engine = connect()
    _share_machine(engine)
    with pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in batches)) as reader:
        yield from first_rows(engine, reader, rows=rows)
    engine.close()


def _stored(schema: Schema) -> list[str]:
    return [storage_type(column.size) for column in schema.columns]


def _viewed(batch: pa.RecordBatch, kinds: list[pa.DataType]) -> pa.RecordBatch:
    """The same bits, as numbers of these types; the unit behind them stays."""
    parts = [batch.column(k).view(kind) for k, kind in enumerate(kinds)]
    return pa.RecordBatch.from_arrays([*parts, *batch.columns[len(kinds) :]], names=batch.schema.names)


def _text_counts(counts: dict[str, int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"text": pa.array(counts.keys(), pa.string()), "count": pa.array(counts.values(), pa.int64())}
    )


def _sharing(table: DuckTable) -> DuckTable:
    _share_machine(table.connection)
    return table


def _share_machine(engine: Any) -> None:
    """One thread per task, and a part of the memory: Spark runs as many tasks at once as there are cores."""
    engine.execute("SET threads = 1")
    engine.execute(f"SET memory_limit = '{memory() // (2 * (os.cpu_count() or 1))}B'")


@contextmanager
def _task() -> Iterator[None]:
    """Nothing that a failure says leaves the executor, and no spill file stays: its processes end without tidying up."""
    try:
        yield
    except (UserError, GeneratorExit):
        raise
    except BaseException as error:
        withhold(error)
        raise RuntimeError(FAILED) from None
    finally:
        remove_own_folders()
