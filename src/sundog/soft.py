"""SoftRows: records that a gradient can move. Labels become probabilities, numbers stay numbers in [0, 1].

Every column is either soft over the cells of an axis (a row of probabilities: labels, or a numeric column cut into bins),
or a number at its position between the public bounds, with a probability of being missing where it may be. A threshold
between two grid points becomes a sigmoid of the given sharpness (RAP++, Definition 11): soft membership tends to exact
membership as the sharpness grows, because thresholds lie half-way between grid points.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.rows import Rows
from sundog.schema import Numeric, Schema


@dataclass(frozen=True)
class Layout:
    """How each column of soft rows is held: the axis over whose cells it is soft, or None for a number."""

    schema: Schema
    axes: tuple[Axis | None, ...]

    @staticmethod
    def of(schema: Schema, *, binned: Mapping[str, Axis] | None = None) -> "Layout":
        """Labels soft over all codes, numbers as numbers, unless an axis is named for the column."""
        named = binned or {}
        axes = [
            named.get(column.name) or (None if isinstance(column, Numeric) else Axis.whole(column))
            for column in schema.columns
        ]
        return Layout(schema, tuple(axes))


@partial(jax.tree_util.register_dataclass, data_fields=["values", "missing"], meta_fields=["layout"])
@dataclass(frozen=True, eq=False)
class SoftRows:
    """`values[c]` is (rows, cells), or (rows,) for a number; `missing[c]` is (rows,) for numbers that may be missing."""

    layout: Layout
    values: tuple[Float[Array, "..."], ...]
    missing: tuple[Float[Array, " rows"] | None, ...]

    @staticmethod
    def from_rows(rows: Rows, layout: Layout) -> "SoftRows":
        """Exact rows as soft ones: one-hot cells, and numbers at their grid positions."""
        values: list[Any] = []
        missing: list[Any] = []
        for column, axis, codes in zip(rows.schema.columns, layout.axes, rows.codes, strict=True):
            if axis is not None:
                values.append(jnp.asarray(np.eye(axis.size, dtype=np.float32)[axis.cells(codes)]))
                missing.append(None)
                continue
            absent = codes == column.missing
            steps = column.steps if isinstance(column, Numeric) else column.size
            values.append(jnp.asarray(np.where(absent, 0, codes) / max(steps - 1, 1), dtype=jnp.float32))
            missing.append(jnp.asarray(absent, dtype=jnp.float32) if column.nullable else None)
        return SoftRows(layout, tuple(values), tuple(missing))

    def cells(self, axis: Axis, sharpness: float) -> Float[Array, "rows cells"]:
        """Soft membership of every row in every cell of an axis; each row sums to 1."""
        place = self.layout.schema.position(axis.column)
        held = self.layout.axes[place]
        if held is None:
            return self._number_cells(place, axis, sharpness)
        return self.values[place] if held == axis else self.values[place] @ coarsening(held, axis)

    def interval(
        self, name: str, low: Float[Array, " queries"], high: Float[Array, " queries"], *, sharpness: float
    ) -> Float[Array, "rows queries"]:
        """Soft membership of every row in each of several half-open runs of codes of one column.

        Of a bin that lies partly inside, that part counts: rounding spreads values evenly over their bins.
        """
        place = self.layout.schema.position(name)
        held = self.layout.axes[place]
        if held is None:
            rise = self._above(place, low, sharpness) - self._above(place, high, sharpness)
            inside = rise * self._present(place)[:, None]
            absent, code = self.missing[place], self.layout.schema.columns[place].missing
            if absent is None or code is None:
                return inside
            return inside + absent[:, None] * ((low <= code) & (code < high))
        starts = held.run_starts()
        first, end = (jnp.asarray(codes, low.dtype)[:, None] for codes in (starts, np.append(starts[1:], held.codes)))
        inside = jnp.clip(jnp.minimum(end, high) - jnp.maximum(first, low), 0.0) / (end - first)
        return jnp.matmul(self.values[place], inside, precision="highest")

    def position(self, name: str) -> tuple[Float[Array, " rows"], Float[Array, " rows"]]:
        """A column's positions in [0, 1], and the probability that each is there (not missing)."""
        place = self.layout.schema.position(name)
        held = self.layout.axes[place]
        if held is None:
            return self.values[place], self._present(place)
        centres, there = _centres(held, self.layout.schema.columns[place])
        present = self.values[place] @ there
        return (self.values[place] @ (centres * there)) / jnp.maximum(present, 1e-9), present

    def _present(self, place: int) -> Float[Array, " rows"]:
        absent = self.missing[place]
        return jnp.ones_like(self.values[place]) if absent is None else 1.0 - absent

    def _above(self, place: int, codes: Float[Array, " queries"], sharpness: float) -> Float[Array, "rows queries"]:
        """Sigmoid for "at or above this code"; codes 0 and `steps` are exact, since nothing lies beyond the bounds."""
        column = self.layout.schema.columns[place]
        steps = column.steps if isinstance(column, Numeric) else column.size
        thresholds = (codes - 0.5) / max(steps - 1, 1)
        soft = jax.nn.sigmoid(sharpness * (self.values[place][:, None] - thresholds[None, :]))
        return jnp.where(codes <= 0, 1.0, jnp.where(codes >= steps, 0.0, soft))

    def _number_cells(self, place: int, axis: Axis, sharpness: float) -> Float[Array, "rows cells"]:
        column = self.layout.schema.columns[place]
        starts = [start for start in axis.run_starts() if start != column.missing]
        above = self._above(place, jnp.asarray([*starts, axis.codes - column.nullable], dtype=jnp.float32), sharpness)
        cells = (above[:, :-1] - above[:, 1:]) * self._present(place)[:, None]
        absent = self.missing[place]
        return cells if absent is None else jnp.concatenate([cells, absent[:, None]], axis=1)


def coarsening(fine: Axis, coarse: Axis) -> Float[np.ndarray, "fine coarse"]:
    """The 0/1 matrix that adds up the cells of a finer axis to those of a coarser one."""
    if fine.codes != coarse.codes:
        raise UserError(f"column {coarse.column!r}: its two axes belong to different domains.")
    first = np.asarray(fine.run_starts())
    last = np.append(first[1:], fine.codes) - 1
    target = coarse.cells(first)
    if not np.array_equal(target, coarse.cells(last)):
        raise UserError(f"column {coarse.column!r}: a query's bins cut through the bins that the rows are held in.")
    return np.eye(coarse.size, dtype=np.float32)[target]


def _centres(axis: Axis, column: Any) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    first = np.asarray(axis.run_starts(), dtype=float)
    last = np.append(first[1:], axis.codes) - 1
    there = (first != column.missing).astype(np.float32) if column.nullable else np.ones(axis.size, np.float32)
    values = column.size - column.nullable
    return (((first + last) / 2) / max(values - 1, 1)).astype(np.float32), there
