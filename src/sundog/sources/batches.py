"""Tables that arrive as Arrow record batches: files that Arrow reads, in one part or several, and lazy frames.

A part (a file) is read by its own types, so no file changes how another one is read: where parts differ, a column has
one column of the engine per type, null in the parts of another type. Batches are made plain (sources.plain) on their
way, and only columns that a question needs are read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.base import check_names
from sundog.sources.duck import FED, SEVERAL, DuckTable, connect, raw_columns
from sundog.sources.encode import RawColumn
from sundog.sources.plain import TEXTS, plain, plain_type
from sundog.sources.recode import Recoder

SPELLED_APART = (
    "files of the table store it as different types, in which one unit may be spelled in different ways (a long number in a "
    "float loses digits), so that its rows could not be bounded together; store it as one type in all files, such as text."
)


@dataclass(frozen=True)
class Part:
    """A stretch of a table: its columns' types, its batches with some columns, and why columns cannot be read."""

    label: str
    types: dict[str, pa.DataType]
    read: Callable[[list[str]], Iterator[pa.RecordBatch]]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _EngineColumn:
    """A column of the engine: the cells of one column that are of one type."""

    column: str
    type: pa.DataType


@dataclass(frozen=True)
class _Fed:
    """How a column of the engine is fed: its cells made plain, or recoded."""

    column: _EngineColumn
    recoder: Recoder | None

    @property
    def type(self) -> pa.DataType:
        return self.column.type if self.recoder is None else self.recoder.type

    def cells(self, batch: pa.RecordBatch, part: Part) -> pa.Array:
        if plain_type(part.types[self.column.column]) != self.column.type:
            return pa.nulls(batch.num_rows, self.column.type)
        array = batch.column(self.column.column)
        return plain(array) if self.recoder is None else self.recoder.apply(array)


def part_of(
    label: str, schema: pa.Schema, *, read: Callable[[list[str]], Iterator[pa.RecordBatch]], **refused: str
) -> Part:
    """A part with the columns of an Arrow schema."""
    check_names(schema.names, label)
    several = {name: SEVERAL for name, kind in zip(schema.names, schema.types, strict=True) if plain_type(kind) is None}
    return Part(label, dict(zip(schema.names, schema.types, strict=True)), read, several | refused)


def open_parts(parts: Sequence[Part]) -> DuckTable:
    """The table of all parts."""
    for part in parts[1:]:
        if part.types.keys() != parts[0].types.keys():
            other = next(iter(part.types.keys() ^ parts[0].types.keys()))
            raise UserError(
                f"{part.label} has other columns than {parts[0].label} (such as {other!r}); files of one table must agree."
            )
    columns = {name: _engine_columns(name, parts) for name in parts[0].types}
    numbered = {f"c{k}": column for k, column in enumerate(c for found in columns.values() for c in found)}
    connection = connect()
    empty = pa.schema([(name, column.type) for name, column in numbered.items()]).empty_table()
    connection.register(FED, empty if numbered else pa.table({"none": []}))
    described = iter(raw_columns(connection, FED).values()) if numbered else iter(())
    raw = {name: _raw(name, [next(described) for _ in found]) for name, found in columns.items()}

    def feed(wanted: tuple[str, ...], recoders: Mapping[str, Recoder]) -> pa.RecordBatchReader:
        chosen = {name: _Fed(numbered[name], recoders.get(name)) for name in wanted}
        schema = pa.schema([(name, fed.type) for name, fed in chosen.items()])
        return pa.RecordBatchReader.from_batches(schema, _batches(parts, list(chosen.values()), schema))

    refused = {name: reason for part in parts for name, reason in part.refused.items()}
    apart = {name: SPELLED_APART for name, found in columns.items() if len({_spelling(column) for column in found}) > 1}
    texts = frozenset(name for name, found in columns.items() if [column.type for column in found] == [TEXTS])
    return DuckTable(connection, FED, raw, parts[0].label, feed=feed, folded=texts, refused=refused, no_units=apart)


def _engine_columns(name: str, parts: Sequence[Part]) -> list[_EngineColumn]:
    """One column per plain type that the column has in some part; none where its cells are no single values."""
    kinds = dict.fromkeys(plain_type(part.types[name]) for part in parts if name not in part.refused)
    return [_EngineColumn(name, kind) for kind in kinds]


def _spelling(column: _EngineColumn) -> str:
    """Columns of one spelling write equal values in the same way: whole numbers of any width, and all kinds of text."""
    whole, text = pa.types.is_integer(column.type), column.type in (TEXTS, pa.large_string())
    return "whole" if whole else "text" if text else str(column.type)


def _raw(name: str, described: list[RawColumn]) -> RawColumn:
    if not described:
        return RawColumn(name, "none")
    return RawColumn(described[0].name, described[0].type, tuple(described[1:]))


def _batches(parts: Sequence[Part], chosen: list[_Fed], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    names = list(dict.fromkeys(fed.column.column for fed in chosen))
    for part in parts:
        for batch in part.read(names):
            yield pa.RecordBatch.from_arrays([fed.cells(batch, part) for fed in chosen], schema=schema)
