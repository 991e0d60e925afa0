"""Derived fields of a schema: which there are, in which order they are computed, and their values in the declared type.

A number is rounded to the field's decimals (half up, as values are read onto a grid), and clamped to its bounds where these
are declared; a text that is not among declared categories is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from sundog.domain.columns import Categorical, Column, Numeric
from sundog.domain.derived.parse import Node, parse_expression
from sundog.domain.derived.values import FARTHEST, Kind, Values, objects
from sundog.domain.forms import FieldModel
from sundog.errors import UserError

KINDS: Mapping[str, Kind] = {
    "integer": "number",
    "number": "number",
    "date": "date",
    "datetime": "moment",
    "boolean": "truth",
    "string": "text",
}


@dataclass(frozen=True)
class Derived:
    """A field computed from others: its name, how it is written, and the expression."""

    name: str
    type: str
    text: str
    node: Node
    decimals: int = 0
    low: int | None = None
    high: int | None = None
    categories: tuple[str, ...] = ()

    def decode(self, values: Mapping[str, Values], rows: int) -> tuple[pa.Array, Values]:
        """The field as an Arrow array, and as values that further fields may use."""
        made = self.node.value(values, rows)
        if self.type in ("integer", "number"):
            return self._number(made)
        if self.type == "date":
            days = objects([max(-(2**31), min(int(day), 2**31 - 1)) for day in made.of])
            array = pa.array(days.astype(np.int32), mask=made.missing).cast(pa.date32())
            return array, Values("date", days, made.missing)
        if self.type == "datetime":
            seconds = objects([max(-FARTHEST, min(int(at), FARTHEST)) for at in made.of])
            return pa.array(seconds.astype(np.int64), mask=made.missing).cast(pa.timestamp("s")), made
        if self.type == "boolean":
            return pa.array(np.array([bool(held) for held in made.of], dtype=bool), mask=made.missing), made
        return self._text(made)

    def spelled(self, array: pa.Array) -> pa.Array:
        """The field as a CSV file shows it: dates as in ISO 8601, numbers with their decimals."""
        import pyarrow.compute as pc

        if self.type in ("date", "datetime"):
            pattern = "%Y-%m-%d" if self.type == "date" else "%Y-%m-%dT%H:%M:%S"
            return pc.strftime(array.cast(pa.timestamp("s")), format=pattern)
        if self.type == "number":
            texts = [None if value is None else f"{value:.{self.decimals}f}" for value in array.to_pylist()]
            return pa.array(texts, type=pa.string())
        return array.cast(pa.string())

    def _number(self, made: Values) -> tuple[pa.Array, Values]:
        scale = 10**self.decimals
        units = (2 * made.of * scale + made.over) // (2 * made.over)
        low = -FARTHEST if self.low is None else self.low
        high = FARTHEST if self.high is None else self.high
        kept = objects([max(low, min(int(unit), high)) for unit in units])
        values = Values("number", kept, made.missing, scale)
        whole: Int[np.ndarray, " rows"] = kept.astype(np.int64)
        if self.type == "integer":
            return pa.array(whole, mask=made.missing), values
        return pa.array(whole / float(scale), mask=made.missing), values

    def _text(self, made: Values) -> tuple[pa.Array, Values]:
        unknown = (
            np.array([text not in self.categories for text in made.of], dtype=bool)
            if self.categories
            else np.zeros(len(made), dtype=bool)
        )
        missing = made.missing | unknown
        texts = [None if absent else str(text) for text, absent in zip(made.of, missing, strict=True)]
        return pa.array(texts, type=pa.string()), Values("text", made.of, missing)


def read_derived(fields: Sequence[FieldModel], columns: Sequence[Column]) -> tuple[Derived, ...]:
    """The derived fields, each after those that it uses."""
    kinds = {column.name: kind_of(column) for column in columns}
    waiting, made = [field for field in fields if field.derived is not None], []
    declared = {field.name: KINDS[field.type] for field in waiting}
    while waiting:
        ready = [field for field in waiting if not _uses(field, kinds, declared, waiting)]
        if not ready:
            raise UserError(f"field {waiting[0].name!r}: its derivation needs itself, or fields that need it.")
        made += [_derived(field, kinds) for field in ready]
        kinds |= {field.name: declared[field.name] for field in ready}
        waiting = [field for field in waiting if field not in ready]
    return tuple(made)


def _uses(
    field: FieldModel, kinds: Mapping[str, Kind], declared: Mapping[str, Kind], waiting: Sequence[FieldModel]
) -> bool:
    """Whether it uses a field that is not computed yet."""
    node = parse_expression(field.derived or "", {**declared, **kinds}, said=_said(field))
    return any(other.name in node.columns for other in waiting)


def _said(field: FieldModel) -> str:
    return f"field {field.name!r}, derived"


def _derived(field: FieldModel, kinds: Mapping[str, Kind]) -> Derived:
    node = parse_expression(field.derived or "", kinds, said=_said(field))
    if node.kind != KINDS[field.type]:
        remedy = "; wrap it in days(), hours(), minutes() or seconds()" if node.kind == "duration" else ""
        raise UserError(f"{_said(field)}: it gives a {node.kind}, but the field's type is {field.type}{remedy}.")
    if field.identifier:
        raise UserError(f"field {field.name!r}: an identifier cannot be derived; leave one of the two out.")
    decimals = (field.sundog.decimals or 0) if field.type == "number" else 0
    if field.type == "number" and field.sundog.decimals is None:
        raise UserError(f"field {field.name!r}: a derived number needs sundog.decimals, to which it is rounded.")
    low, high = (_bound(field, bound, decimals) for bound in (field.constraints.minimum, field.constraints.maximum))
    listed = field.categories if field.categories is not None else field.constraints.enum or []
    labels = tuple(str(item["value"] if isinstance(item, Mapping) and "value" in item else item) for item in listed)
    return Derived(field.name, field.type, field.derived or "", node, decimals, low, high, labels)


def _bound(field: FieldModel, bound: object, decimals: int) -> int | None:
    if bound is None or field.type not in ("integer", "number"):
        return None
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not abs(bound) * 10**decimals < FARTHEST:
        raise UserError(f"field {field.name!r}: bound {bound!r} is not a number that its grid can hold.")
    return round(bound * 10**decimals)


def kind_of(column: Column) -> Kind:
    """The kind of a column's values in expressions."""
    if isinstance(column, Numeric):
        return {"date": "date", "datetime": "moment"}.get(column.kind, "number")  # type: ignore[return-value]
    if column.boolean:
        return "truth"
    return "number" if all(isinstance(label, int) for label in column.labels) else "text"


def column_values(column: Column, codes: Int[np.ndarray, " rows"]) -> Values:
    """A column's values, exactly."""
    missing = codes == column.missing if column.missing is not None else np.zeros(len(codes), dtype=bool)
    if isinstance(column, Categorical):
        listed = [*column.labels, column.labels[0]]
        found = objects([listed[code] for code in codes])
        kind = kind_of(column)
        return Values(kind, found if kind != "text" else objects([str(label) for label in found]), missing)
    units = objects([int(code) + column.lower for code in codes])
    if column.kind == "datetime":
        return Values("moment", units * column.resolution, missing)
    return Values(kind_of(column), units, missing, 10**column.decimals if column.kind == "number" else 1)
