"""Vectors of totals, one per task, added by a tree in the cluster: each task counts once, however often it ran.

A task's vector travels as rows (first task, piece of the vector, tasks that it holds, cells). Spark runs a task again when its
executor dies, and may run two copies at once, but takes the rows of one of them. We do not rely on that alone: every sum knows
the tasks it holds, so that what arrives twice is added once, and what could be neither added nor left out stops the run. The
last check is that all tasks are there. Accumulators, which Spark may add to again when it repeats a task, are not used.
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
COLUMNS = pa.schema([("first", pa.int32()), ("piece", pa.int32()), ("tasks", pa.binary()), ("cells", pa.binary())])
TYPES = "first int, piece int, tasks binary, cells binary"


@dataclass
class Sums:
    """Sums by key, each with the tasks that it holds."""

    _held: dict[Any, tuple[frozenset[int], Int[np.ndarray, " cells"]]] = field(default_factory=dict)

    def add(self, key: Any, tasks: frozenset[int], cells: Int[np.ndarray, " cells"]) -> None:
        """Add cells that hold these tasks; those that are in the sum already are not added again."""
        held, total = self._held.get(key, (frozenset[int](), np.zeros_like(cells)))
        if tasks <= held:
            return
        if held & tasks:
            raise RuntimeError("totals of some tasks arrived in two different sums")
        self._held[key] = (held | tasks, total + cells)

    def __iter__(self) -> Iterator[tuple[Any, frozenset[int], Int[np.ndarray, " cells"]]]:
        return ((key, tasks, total) for key, (tasks, total) in self._held.items())


def told(task: int, totals: Int[np.ndarray, " cells"]) -> Iterator[pa.RecordBatch]:
    """The rows that tell the totals of one task."""
    for piece in range(_pieces(len(totals))):
        yield _batch(piece, frozenset([task]), totals[piece * PIECE : (piece + 1) * PIECE])


def tree_total(frame: Any, tasks: int, *, size: int) -> Int[np.ndarray, " cells"]:
    """The sum of all vectors of a frame of such rows, told by at most this many tasks."""
    span, width, pieces = 1, tasks, _pieces(size)
    while width > 1 and (width > FAN or width * size * 8 > MOST_AT_ONCE):
        span, width = span * FAN, math.ceil(width / FAN)
        frame = frame.repartition(min(width * pieces, tasks), *_keys(frame, span)).mapInArrow(_merging(span), TYPES)
    sums = Sums()
    for row in frame.collect():
        sums.add(row["piece"], _tasks(row["tasks"]), np.frombuffer(row["cells"], np.int64))
    return _whole(sums, size)


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
    everyone = frozenset[int]().union(*(tasks for tasks, _ in held.values()))
    complete = set(held) == set(range(_pieces(size))) and all(tasks == everyone for tasks, _ in held.values())
    if not complete or everyone != frozenset(range(len(everyone))):
        raise RuntimeError("totals of some tasks did not arrive")
    return np.concatenate([held[piece][1] for piece in sorted(held)])
