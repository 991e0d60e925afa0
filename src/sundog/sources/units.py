"""At most this many rows of each unit: rows are sorted by unit, and the first rows of each are kept.

Which rows of a unit are kept depends on a hash of the unit and of what is kept, and on no other unit's rows, so that one unit
can change no more than its own rows. It depends neither on where the rows were encoded nor on their order, so that rows that
were gathered by unit from many machines are bounded as on one. The hash is MD5, which database servers have too: a server
that counts for us (sources.server) keeps the same rows.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.sources.plain import numpy_of

BATCH = 1 << 16
UNIT = "unit"
GATHERED = "gathered"
HASH_DIGITS = 12
"""48 bits: the engine sorts so short a text without a look at memory elsewhere."""


def part_name(place: int) -> str:
    """The name of what is computed of every row, by its place."""
    return f"part{place}"


def by_unit(selected: str, parts: int) -> str:
    """The query that sorts what was selected by unit, and within a unit by a hash."""
    order = ", ".join([UNIT, *(part_name(k) for k in range(parts))])
    return f"SELECT * FROM ({selected}) ORDER BY {UNIT}, left(md5(concat_ws(',', {order})), {HASH_DIGITS})"


def first_rows(engine: Any, batches: pa.RecordBatchReader, *, rows: int) -> Iterator[pa.RecordBatch]:
    """At most this many rows of each unit, of batches that hold all rows of their units; the last column is the unit."""
    engine.register(GATHERED, batches)
    parts = len(batches.schema.names) - 1
    yield from first_of_each(read_batches(engine, by_unit(f"SELECT * FROM {GATHERED}", parts)), rows)


def read_batches(engine: Any, sql: str) -> Iterator[pa.RecordBatch]:
    """What a query gives; closed in any case, and without Python's lock, which a text file's reader may wait for."""
    with engine.sql(sql).to_arrow_reader(BATCH) as reader:
        yield from reader


def first_of_each(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The first `rows` rows of every run of equal units (the last column), also where a run crosses batches."""
    last, seen = None, 0
    for batch in batches:
        if not len(batch):
            continue
        unit = batch.column(batch.num_columns - 1)
        changes = numpy_of(pc.not_equal(unit.slice(1), unit.slice(0, len(unit) - 1)).cast(pa.uint8())).astype(bool)
        place = np.arange(len(unit))
        begin = np.where(np.concatenate([[unit[0].as_py() != last], changes]), place, -seen)
        rank = place - np.maximum.accumulate(begin)
        last, seen = unit[-1].as_py(), int(rank[-1]) + 1
        yield batch.filter(pa.array(rank < rows))


def rows_of(schema: Schema, batch: pa.RecordBatch) -> Rows:
    """A batch of codes as encoded rows; what stands behind the codes is left out."""
    return Rows(schema, tuple(numpy_of(batch.column(k)) for k in range(len(schema.columns))))


def count_texts(batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """How often each text of the first column occurs; nulls are not counted."""
    counts: Counter[str] = Counter()
    for batch in batches:
        values, numbers = pc.value_counts(batch.column(0)).flatten()
        counts.update(dict(zip(values.to_pylist(), numbers.to_pylist(), strict=True)))
    return {value: count for value, count in counts.items() if value is not None}
