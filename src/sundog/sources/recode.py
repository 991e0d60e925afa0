"""Columns of few texts, encoded text by text: the engine computes an expression once per text of a dictionary.

The expression is the one that reads single cells (sources.encode), so there is one definition of what a cell means; only
the cells that are the same text are not read again and again. What a cell becomes depends on its own text alone.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sundog.sources.plain import folded

VIEW = "texts"


@dataclass
class Recoder:
    """What an expression of one engine column makes of cells that arrive as a dictionary of texts."""

    engine: Any
    column: str
    expression: str
    _last: tuple[pa.Array, pa.Array] | None = field(default=None, repr=False)

    @cached_property
    def type(self) -> pa.DataType:
        """The type of what it makes."""
        return self._answers(pa.array([], pa.large_string())).type

    def apply(self, array: pa.Array) -> pa.Array:
        """The expression of every cell; a place that the dictionary lacks is null."""
        places, values = folded(array)
        if self._last is None or not self._last[0].equals(values):
            self._last = (values, self._answers(values))
        indices = np.clip(places, -1, len(values)) + 1
        return self._last[1].take(pa.Array.from_buffers(pa.int64(), len(indices), [None, pa.py_buffer(indices)]))

    def _answers(self, values: pa.Array) -> pa.Array:
        """What becomes of null, of the texts in their order, and of null again."""
        null = pa.nulls(1, values.type)
        self.engine.register(VIEW, pa.table({self.column: pa.concat_arrays([null, values, null])}))
        return (
            self.engine.sql(f"SELECT {self.expression} AS answer FROM {VIEW}")
            .to_arrow_table()["answer"]
            .combine_chunks()
        )
