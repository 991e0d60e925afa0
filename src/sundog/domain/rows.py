"""Rows: encoded records, one integer code per column (see schema.columns), with optional weights.

Batches of private rows, synthetic rows and public tables are all Rows; what may happen to them depends on where they
are held, never on their type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.derived.fields import column_values
from sundog.domain.offsets import shown_codes
from sundog.errors import UserError


@dataclass(frozen=True, eq=False)
class Rows:
    """Codes column by column. `weights`, where given, say how much each row counts."""

    schema: Schema
    codes: tuple[Int[np.ndarray, " rows"], ...]
    weights: Float[np.ndarray, " rows"] | None = None
    _cells: dict[Axis, Int[np.ndarray, " rows"]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.schema.columns) or len({np.shape(column) for column in self.codes}) > 1:
            raise UserError("rows: they need one list of codes per column of the schema, all of one length.")
        for column, codes in zip(self.schema.columns, self.codes, strict=True):
            if codes.ndim != 1 or codes.dtype.kind not in "iu":
                raise UserError(f"rows: the codes of column {column.name!r} are no whole numbers.")
            if len(codes) and not (codes.min() >= 0 and codes.max() < column.size):
                raise UserError(f"rows: a code of column {column.name!r} lies outside 0..{column.size - 1}.")

    def __len__(self) -> int:
        return len(self.codes[0])

    def column(self, name: str) -> Int[np.ndarray, " rows"]:
        """The codes of one column, one per row."""
        return self.codes[self.schema.position(name)]

    def cells(self, axis: Axis) -> Int[np.ndarray, " rows"]:
        """The cell of every row on an axis; worked out once per batch and shared by all queries."""
        if axis not in self._cells:
            if axis.codes != self.schema.column(axis.column).size:  # its cells could lie outside any vector of totals
                raise UserError(
                    f"axis of column {axis.column!r}: it was made for another schema; make it from this one."
                )
            self._cells[axis] = axis.cells(self.column(axis.column))
        return self._cells[axis]

    def unit_interval(self, name: str) -> Float[np.ndarray, " rows"]:
        """A numeric column scaled to [0, 1] by its public bounds; NaN where missing."""
        column = self.schema.column(name)
        if not isinstance(column, Numeric):
            raise TypeError(f"column {name!r} is not numeric")
        codes = self.column(name)
        scaled = codes / max(column.steps - 1, 1)
        return np.where(codes == column.steps, np.nan, scaled)

    def take(self, picked: Int[np.ndarray, " picked"]) -> "Rows":
        """Some rows, in that order; without weights."""
        return Rows(self.schema, tuple(column[picked] for column in self.codes))

    def widened(self) -> "Rows":
        """The rows with the fields that distances give as further columns."""
        wide = self.schema.widened
        if wide is self.schema:
            return self
        codes = shown_codes(self.schema.columns, self.codes)
        more = (codes[column.name] for column in wide.columns[len(self.codes) :])
        return Rows(wide, (*self.codes, *more), self.weights)

    def to_arrow(self, *, before: int = 0, total: int | None = None) -> pa.Table:
        """The values as a user knows them: labels, numbers, dates, null for missing; identifiers renumbered.

        Weights, where there are any, are a last column `weight`. Where the rows are a part of `total` rows, `before` is the number of rows before them.
        """
        return self._table(as_text=False, before=before, total=total)

    def to_text(self) -> pa.Table:
        """The values as a CSV file shows them."""
        return self._table(as_text=True)

    def _table(self, *, as_text: bool, before: int = 0, total: int | None = None) -> pa.Table:
        codes = shown_codes(self.schema.columns, self.codes)
        fields = [column for column in self.schema.shown if column.name in codes]
        parts = {
            column.name: column.text(codes[column.name]) if as_text else column.decode(codes[column.name])
            for column in fields
        }
        parts |= self._derived({column.name: (column, codes[column.name]) for column in fields}, as_text=as_text)
        for identifier in self.schema.identifiers:
            if identifier.regenerate:
                parts[identifier.name] = identifier.regenerated(len(self), before=before, total=total)
        order = [name for name in self.schema.field_order or parts if name in parts]
        weights = {} if self.weights is None else {weights_name(self.schema): pa.array(self.weights)}
        return pa.table({name: parts[name] for name in order} | weights)

    def _derived(
        self, fields: Mapping[str, tuple[Column, Int[np.ndarray, " rows"]]], *, as_text: bool
    ) -> dict[str, pa.Array]:
        """The derived fields, computed from the others."""
        if not self.schema.derived:
            return {}
        used = {name for each in self.schema.derived for name in each.node.columns}
        values = {name: column_values(*fields[name]) for name in used if name in fields}
        made: dict[str, pa.Array] = {}
        for each in self.schema.derived:
            if set(each.node.columns) <= values.keys():  # else these are rows of some of the columns
                array, values[each.name] = each.decode(values, len(self))
                made[each.name] = each.spelled(array) if as_text else array
        return made

    @staticmethod
    def concatenate(batches: Sequence["Rows"], schema: Schema) -> "Rows":
        """Several batches as one."""
        if not batches:
            return Rows(schema, tuple(np.empty(0, dtype=np.int64) for _ in schema.columns))
        return Rows(schema, tuple(np.concatenate(column) for column in zip(*(b.codes for b in batches), strict=True)))


def weights_name(schema: Schema) -> str:
    """A name for the weights that no column has."""
    name = "weight"
    while name in (*schema.names, *schema.field_order):
        name += "_"
    return name
