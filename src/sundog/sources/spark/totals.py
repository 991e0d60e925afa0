"""Vectors of totals, one per task, added by a tree in the cluster: each task counts once, however often it ran.

A task's vector travels as rows (first task, piece of the vector, tasks that it holds, cells). Spark runs a task again when its
executor dies, and may run two copies at once, but takes the rows of one of them. We do not rely on that alone: every sum knows
the tasks it holds, so that what arrives twice is added once, and what could be neither added nor left out stops the run: copies
that differ, and sums that share some tasks. Accumulators, which Spark may add to again when it repeats a task, are not used.

The last check is that all tasks are there. How many there are is known to Spark alone, which may decide it while it runs. So
tasks that count nothing are put behind the others (`closed`): the number of the first of them is the number of those that count.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int

PIECE = 1 << 16
"""Cells per row: half a megabyte, so that batches of rows stay small and long vectors are added by several tasks."""
FAN = 16
"""How many vectors are added in one place."""
MOST_AT_ONCE = 1 << 28
"""Bytes that the driver takes as the last step of the tree."""
CLOSING = -1
"""The piece of tasks that count nothing and stand behind all others."""
CLOSERS = 2
"""So many of them: one partition could be put into one task with the only one of another frame."""
COLUMNS = pa.schema([("first", pa.int32()), ("piece", pa.int32()), ("tasks", pa.binary()), ("cells", pa.binary())])
TYPES = "first int, piece int, tasks binary, cells binary"


@dataclass
class Sums:
    """Sums by key, each with the tasks that it holds."""

    _held: dict[Any, tuple[frozenset[int], Int[np.ndarray, " cells"]]] = field(default_factory=dict)

    def add(self, key: Any, tasks: frozenset[int], cells: Int[np.ndarray, " cells"]) -> None:
        """Add cells that hold these tasks; those that are in the sum already are not added again."""
        held, total = self._held.get(key, (frozenset[int](), np.zeros_like(cells)))
        if tasks == held and not np.array_equal(cells, total):
            raise RuntimeError("two copies of a task have counted other rows")
        if tasks <= held:
            return
        if held & tasks:
            raise RuntimeError("totals of some tasks arrived in two different sums")
        self._held[key] = (held | tasks, total + cells)

    def __iter__(self) -> Iterator[tuple[Any, frozenset[int], Int[np.ndarray, " cells"]]]:
        return ((key, tasks, total) for key, (tasks, total) in self._held.items())


def told(totals: Int[np.ndarray, " cells"]) -> Iterator[pa.RecordBatch]:
    """The rows that tell the totals of this task."""
    for piece in range(_pieces(len(totals))):
        yield _batch(piece, frozenset([task_number()]), totals[piece * PIECE : (piece + 1) * PIECE])


def closed(frame: Any) -> Any:
    """A frame of such rows, with tasks behind all others that tell their own numbers alone."""
    behind = frame.sparkSession.range(0, CLOSERS, 1, CLOSERS).mapInArrow(_close, TYPES)
    return frame.unionAll(behind)


def tree_total(frame: Any, tasks: int, *, size: int) -> Int[np.ndarray, " cells"]:
    """The sum of all vectors of a closed frame of such rows, told by at most this many tasks that count."""
    span, width, pieces = 1, tasks, _pieces(size)
    while width > 1 and (width > FAN or width * size * 8 > MOST_AT_ONCE):
        span, width = span * FAN, math.ceil(width / FAN)
        frame = frame.repartition(min(width * pieces, tasks), *_keys(frame, span)).mapInArrow(_merging(span), TYPES)
    sums = Sums()
    for row in frame.collect():
        sums.add(row["piece"], _tasks(row["tasks"]), np.frombuffer(row["cells"], np.int64))
    return _whole(sums, size)


def _close(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task tells that counts nothing."""
    del batches
    yield _batch(CLOSING, frozenset([task_number()]), np.zeros(0, dtype=np.int64))


def task_number() -> int:
    """The number of this task among those of its step; the same when it is run again."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise RuntimeError("this runs in Spark's executors")
    return context.partitionId()


def merge(batches: Iterable[pa.RecordBatch], *, span: int) -> Iterator[pa.RecordBatch]:
    """The rows of as many neighbouring tasks as the span says added up, piece by piece."""
    sums = Sums()
    for batch in batches:
        for row in batch.to_pylist():
            cells = np.frombuffer(row["cells"], np.int64)
            sums.add((row["first"] // span, row["piece"]), _tasks(row["tasks"]), cells)
    for (_, piece), tasks, cells in sums:
        yield _batch(piece, tasks, cells)


def _merging(span: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    return lambda batches: merge(batches, span=span)


def _keys(frame: Any, span: int) -> list[Any]:
    return [(frame["first"] / span).cast("int"), frame["piece"]]


def _pieces(size: int) -> int:
    return max(1, math.ceil(size / PIECE))


def _batch(piece: int, tasks: frozenset[int], cells: Int[np.ndarray, " cells"]) -> pa.RecordBatch:
    held = np.array(sorted(tasks), dtype=np.int32).tobytes()
    arrays = [[min(tasks)], [piece], [held], [np.ascontiguousarray(cells, dtype=np.int64).tobytes()]]
    return pa.RecordBatch.from_arrays(
        [pa.array(values, kind) for values, kind in zip(arrays, COLUMNS.types, strict=True)], schema=COLUMNS
    )


def _tasks(told: bytes) -> frozenset[int]:
    return frozenset(np.frombuffer(told, np.int32).tolist())


def _whole(sums: Sums, size: int) -> Int[np.ndarray, " cells"]:
    """The vector of all pieces; refuses one in which a task is absent."""
    held = {piece: (tasks, cells) for piece, tasks, cells in sums}
    closing, _ = held.pop(CLOSING, (frozenset[int](), None))
    counted = min(closing, default=0)
    behind = frozenset(range(counted, counted + CLOSERS))
    expected = frozenset(range(counted))
    pieces = set(range(_pieces(size))) if counted else set[int]()
    if closing != behind or set(held) != pieces or any(tasks != expected for tasks, _ in held.values()):
        raise RuntimeError("totals of some tasks did not arrive")
    return np.concatenate([held[piece][1] for piece in sorted(held)]) if held else np.zeros(size, dtype=np.int64)
