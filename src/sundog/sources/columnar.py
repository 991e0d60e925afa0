"""Files of typed columns, read by Arrow batch by batch: Parquet, Arrow IPC (Feather) and ORC.

Arrow hands cells over as they are stored and checks none of them, which the engine's own readers do not promise: those
stop at text that is no UTF-8 and at moments that overflow. (For ORC it does not promise it of moments, so these are
refused.) No filter is pushed into a file, so statistics of row groups
decide nothing. A file that is damaged as a whole (not a value in it) is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from sundog.errors import UserError
from sundog.sources.batches import Part, open_parts, part_of
from sundog.sources.duck import DuckTable, withhold
from sundog.sources.units import BATCH

Opened = TypeVar("Opened")
SHORT_DICTIONARY = 1 << 16
"""Bytes of a Parquet dictionary page up to which it is kept as a dictionary."""

ORC_MOMENTS = (
    "its moments are stored as ORC, whose reader stops at the first that lies beyond the years 1678 to 2261, so that one "
    "cell would decide whether a run succeeds; store it as text or days, or the table as Parquet."
)


def open_columnar(paths: list[str], kind: str) -> DuckTable:
    """The table in these files, all of one ending."""
    return open_parts([_part(path, OPENERS[kind]) for path in paths])


class Stretch(NamedTuple):
    """Some row groups of a Parquet file, by their numbers."""

    path: str
    groups: tuple[int, ...]


def stretches(paths: list[str], most: int) -> tuple[tuple[Stretch, ...], ...]:
    """The row groups of Parquet files, dealt out in order to at most this many readers."""
    groups = [(path, group) for path in paths for group in range(_part(path, _count_groups))]
    if not groups:
        return ((Stretch(paths[0], ()),),)
    readers = max(1, min(most, len(groups)))
    shares = [groups[k * len(groups) // readers : (k + 1) * len(groups) // readers] for k in range(readers)]
    return tuple(
        tuple(Stretch(path, tuple(group for _, group in run)) for path, run in groupby(share, key=itemgetter(0)))
        for share in shares
    )


def open_stretches(chosen: Sequence[Stretch]) -> DuckTable:
    """The table of some row groups; each is read as it would be in the whole."""
    return open_parts([_part(path, partial(_parquet, groups=groups)) for path, groups in chosen])


def _count_groups(path: str, label: str) -> int:
    from pyarrow import parquet

    del label
    with parquet.ParquetFile(path) as file:
        return file.metadata.num_row_groups


def _part(path: str, opener: Callable[[str, str], Opened]) -> Opened:
    label = f"data file {path!r}"
    try:
        return opener(path, label)
    except UserError:
        raise
    except Exception as error:  # readers fail in many ways, and any of their texts may quote what they read
        withhold(error)
        raise UserError(f"{label} cannot be read; check that it is complete and of the kind its name says.") from None


def _parquet(path: str, label: str, groups: Sequence[int] | None = None) -> Part:
    """All row groups, or those that are given."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        options = {"read_dictionary": _dictionaries(file.metadata), "coerce_int96_timestamp_unit": "us"}

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        with parquet.ParquetFile(path, **options) as file:
            yield from file.iter_batches(batch_size=BATCH, columns=names, row_groups=groups)

    with parquet.ParquetFile(path, **options) as file:
        return part_of(label, file.schema_arrow, read=read)


def _dictionaries(metadata: Any) -> list[str]:
    """Columns whose texts are few, so that they are cheaper to read as dictionaries; their codes are the same."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    chunks = [[group.column(k) for group in groups] for k in range(metadata.num_columns)] if groups else []
    return [column[0].path_in_schema for column in chunks if all(map(_is_short_dictionary, column))]


def _is_short_dictionary(chunk: Any) -> bool:
    has_one = chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page and chunk.dictionary_page_offset
    return bool(has_one) and 0 < chunk.data_page_offset - chunk.dictionary_page_offset < SHORT_DICTIONARY


def _ipc(path: str, label: str) -> Part:
    """The file format or the stream format, uncompressed or not; Feather files are the former."""

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(path) as mapped:
            for batch in _ipc_batches(mapped):
                yield from _slices(batch.select(names))

    with pa.memory_map(path) as mapped:
        reader = _ipc_reader(mapped)
        return part_of(label, reader.schema, read=read)


def _ipc_reader(mapped: Any) -> Any:
    try:
        return pa.ipc.open_file(mapped)
    except pa.ArrowInvalid:
        mapped.seek(0)
        return pa.ipc.open_stream(mapped)


def _ipc_batches(mapped: Any) -> Iterator[pa.RecordBatch]:
    reader = _ipc_reader(mapped)
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        yield from (reader.get_batch(k) for k in range(reader.num_record_batches))
    else:
        yield from reader


def _orc(path: str, label: str) -> Part:
    from pyarrow import orc

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        file = orc.ORCFile(path)
        for stripe in range(file.nstripes):
            yield from _slices(file.read_stripe(stripe, columns=names))

    schema = orc.ORCFile(path).schema
    moments = [name for name, kind in zip(schema.names, schema.types, strict=True) if pa.types.is_timestamp(kind)]
    return part_of(label, schema, read=read, **dict.fromkeys(moments, ORC_MOMENTS))


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    yield from (batch.slice(begin, BATCH) for begin in range(0, batch.num_rows, BATCH))


OPENERS: dict[str, Callable[[str, str], Part]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _ipc,
    ".arrows": _ipc,
    ".ipc": _ipc,
    ".feather": _ipc,
    ".orc": _orc,
}
