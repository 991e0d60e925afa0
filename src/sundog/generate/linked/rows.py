"""Synthetic linked tables: codes of every table and each row's parent; and as users see them, with keys that fit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from sundog.domain.linked.structure import differences, pairs_of, sizes_of, within
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import LinkedSchema, View
from sundog.domain.rows import Rows

Codes = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class TableRows:
    """A synthetic table: codes by full column name, and each row's parent. Rows are sorted by parent."""

    columns: dict[str, Codes]
    parent: Codes

    def __len__(self) -> int:
        return len(self.parent)

    def taken(self, rows: Codes, parent: Codes) -> "TableRows":
        """These rows, with new parents."""
        return TableRows({name: codes[rows] for name, codes in self.columns.items()}, parent)


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """All tables of a package, by name; its length is the number of roots."""

    schema: LinkedSchema
    tables: Mapping[str, TableRows]

    def __len__(self) -> int:
        return len(self.tables[self.schema.package.root.name])

    def rows(self, name: str) -> Rows:
        """A table under its own schema, without keys."""
        table = self.schema.package.table(name)
        codes = values_of(table, self.tables[name])
        return Rows(table.schema, tuple(codes[f"{name}.{column}"] for column in table.schema.names))

    def view(self, view: View) -> Rows:
        """A view of the tables as it was measured: each root counts once, its rows in equal parts."""
        own = self.tables[view.table]
        first, second = np.arange(len(own)), None
        if view.siblings:
            first, second = pairs_of(own.parent, first, view.siblings)
        codes = [own.columns[name][first] for name in view.own]
        if view.given:
            above = self.tables[self.schema.package.table(view.table).parent or ""]
            codes += [above.columns[name][own.parent[first]] for name in view.given]
        if second is not None:
            held = own.columns
            codes += [held[name][second] for name in view.own]
            codes += [
                differences(self.schema.column(name), held[name][first], held[name][second]) for name in view.numbers
            ]
        chosen = _each_root_once(self._roots(view.table)[first])
        return Rows(self.schema.of_view(view), tuple(column[chosen] for column in codes))

    def _roots(self, name: str) -> Codes:
        table, parent = self.schema.package.table(name), self.tables[name].parent
        return parent if table.parent is None else self._roots(table.parent)[parent]

    def to_arrow(self) -> dict[str, pa.Table]:
        """Every table as users know it, keys included."""
        return {
            table.name: self._keyed(table, self.rows(table.name).to_arrow()) for table in self.schema.package.tables
        }

    def to_text(self) -> dict[str, pa.Table]:
        """The same as a CSV file shows it."""
        return {table.name: self._keyed(table, self.rows(table.name).to_text()) for table in self.schema.package.tables}

    def _keyed(self, table: LinkedTable, values: pa.Table) -> pa.Table:
        parts = {name: values.column(name) for name in values.column_names if not table.bare}
        parts |= self._keys[table.name]
        order = [name for name in table.schema.field_order or parts if name in parts]
        return pa.table({name: parts[name] for name in order})

    @cached_property
    def _keys(self) -> dict[str, dict[str, pa.Array]]:
        """The fields of all keys by table: those of the parent's and the root's key, and numbers for the others."""
        package = self.schema.package
        made: dict[str, dict[str, pa.Array]] = {}
        for table in package.tables:
            handed: dict[str, pa.Array] = {}
            parent = package.above(table.name)
            if parent is not None:
                roots, rows = pa.array(self._roots(table.name)), pa.array(self.tables[table.name].parent)
                root, above = made[package.root.name], made[parent.name]
                unit = zip(table.unit_key, package.root.key, strict=True) if table.unit_key else ()
                handed = {own: root[name].take(roots) for own, name in unit}
                handed |= {own: above[name].take(rows) for own, name in zip(table.foreign_key, parent.key, strict=True)}
            own = [name for name in table.key if name not in handed]
            made[table.name] = handed | {name: self._numbered(table, name) for name in own}
        return made

    def _numbered(self, table: LinkedTable, name: str) -> pa.Array:
        """1, 2, 3, ... as the table declares the field: within the record that the other fields of the key name, if they do."""
        rows, groups = self.tables[table.name], None
        if table.parent is not None and set(table.foreign_key) <= set(table.key):
            groups = rows.parent
        elif table.parent is not None and table.unit_key and set(table.unit_key) <= set(table.key):
            groups = self._roots(table.name)
        declared = replace(table.identifier(name), regenerate=True)
        if groups is None:
            return declared.regenerated(len(rows))
        places = within(groups)  # rows are sorted by parent, and parents by theirs
        return declared.regenerated(int(places.max(initial=-1)) + 1).take(pa.array(places))


def _each_root_once(root: Codes) -> Codes:
    """About as many rows as there are, each as often as one by its root's number of rows says, give or take one."""
    if not len(root):
        return np.empty(0, dtype=np.int64)
    shares = np.cumsum(1.0 / sizes_of(root))
    places = (np.arange(len(root)) + 0.5) / len(root) * shares[-1]
    return np.minimum(np.searchsorted(shares, places), len(root) - 1)


def values_of(table: LinkedTable, made: TableRows) -> dict[str, Codes]:
    """The codes of a table's own columns by full name, each row with its own value of the order column."""
    codes = {f"{table.name}.{column}": made.columns[f"{table.name}.{column}"] for column in table.schema.names}
    return codes if table.order is None else codes | {f"{table.name}.{table.order}": _in_order(table, made)}


def _in_order(table: LinkedTable, made: TableRows) -> Codes:
    """The order column: first value plus gaps, kept below the upper bound."""
    steps = table.schema.column(table.order or "").steps  # type: ignore[union-attr]
    if not len(made):
        return np.empty(0, dtype=np.int64)
    first = made.columns[f"{table.name}.{table.order}"].astype(np.int64)
    gap = made.columns[f"{table.name}.#gap"].astype(np.int64)
    begins = np.diff(made.parent, prepend=-1) != 0
    steps_on = np.where(begins, np.minimum(first, steps - 1), np.where(gap >= steps, 0, gap))
    total = np.cumsum(steps_on)
    start = np.maximum.accumulate(np.where(begins, np.arange(len(made)), 0))
    return np.minimum(total - (total - steps_on)[start], steps - 1)
