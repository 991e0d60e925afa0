"""How far targets are from rows: Gower's distance, a part per column, without ever holding all distances at once.

A label counts 0 or 1, a number its difference over the public range, a missing value 0 from another and 1 from the rest.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric
from sundog.domain.rows import Rows

CELLS = 1 << 22
"""This many distances are held at a time."""

Distances = Float[np.ndarray, "targets rows"]


def distances(targets: Rows, rows: Rows, columns: Sequence[int]) -> Iterator[Distances]:
    """The distances of targets, a few at a time and in order, from all rows, by these columns."""
    step = max(1, CELLS // max(len(rows), 1))
    for first in range(0, len(targets), step):
        part = targets.take(np.arange(first, min(first + step, len(targets))))
        found = np.zeros((len(part), len(rows)), dtype=np.float32)
        for column in columns:
            found += _of_column(part, rows, column)
        yield found


def nearest(targets: Rows, rows: Rows, columns: Sequence[int], *, count: int = 1) -> Int[np.ndarray, "targets count"]:
    """The nearest rows of every target, in no order."""
    kept = min(count, len(rows))
    found = [
        each.argmin(axis=1)[:, None] if kept == 1 else np.argpartition(each, kept - 1, axis=1)[:, :kept]
        for each in distances(targets, rows, columns)
    ]
    return np.concatenate(found)


def _of_column(targets: Rows, rows: Rows, column: int) -> Distances:
    declared = rows.schema.columns[column]
    ours, theirs = targets.codes[column], rows.codes[column]
    if not isinstance(declared, Numeric):
        return (ours[:, None] != theirs).astype(np.float32)
    left, right = (
        np.where(codes == declared.steps, np.float32(np.nan), codes.astype(np.float32)) for codes in (ours, theirs)
    )
    apart = np.abs(left[:, None] - right) / np.float32(max(declared.steps - 1, 1))
    missing = np.isnan(apart)
    if missing.any():
        apart[missing] = (np.isnan(left)[:, None] != np.isnan(right))[missing]
    return apart
