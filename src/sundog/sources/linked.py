"""Linked tables as one source: the rows of all views (domain/linked/views.py), each root with at most its declared rows.

Every table is read by the source of its kind and encoded by the same code as a single table; keys are compared as texts, as
`--unit` compares them (linked_keys.py). What one unit contributes, one value of the root's key with every row that carries it, depends
on these rows and on nothing else:

- A row without a key is left out. Of roots with equal keys one is kept, and of the children of one parent at most `maximumPerParent`: those with the
  smallest hash of the row and its keys.
- A row whose parent is not there (an orphan) is left out, and so is a row whose own unit key names another unit than its parent's.
- Order within a parent is by the order column, then by that hash.

Codes of all tables are held in memory, in the smallest type that holds them; no view is, only a batch of it.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.linked.package import Package
from sundog.domain.linked.structure import differences, pairs_of, sizes_of
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import LinkedSchema, View, has_value, table_columns
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.random.keys import Key, permutation, split
from sundog.sources.base import Adder, Source
from sundog.sources.linked_columns import add_of_children, sequence_columns
from sundog.sources.linked_keys import (
    TEXT,
    Codes,
    Keyed,
    first_of_each,
    identifiers,
    joint_numbers,
    keyed_source,
    matched,
    numbers_of,
    read_keyed,
    refuse_repeated,
)

BATCH = 1 << 16


@dataclass(frozen=True, eq=False)
class _Held:
    """A table as it is used: codes by full name, each row's parent and root, and the hash that orders what has no order."""

    columns: dict[str, Int[np.ndarray, " rows"]]
    parent: Int[np.ndarray, " rows"]
    root: Int[np.ndarray, " rows"]
    key: pa.Array
    rank: Int[np.ndarray, " rows"]

    def __len__(self) -> int:
        return len(self.parent)


@dataclass
class LinkedSource:
    """The sources of a package's tables, by name."""

    package: Package
    tables: Mapping[str, Source]
    ensured: Collection[str] = ()
    """The tables whose primary keys are unique by a constraint of their database."""
    _held: dict[str, _Held] = field(default_factory=dict, repr=False)
    _checked: bool = field(default=False, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all views."""
        return LinkedSchema.from_package(self.package).names

    def check(self, names: tuple[str, ...], *, unit: str | None = None) -> None:
        """Refuse, before any row is read, tables that lack a column or a key, or whose key cannot name a record."""
        del names, unit  # of the views, which follow from the tables
        for table in self.package.tables:
            if table.bare and table.name not in self.tables:
                continue
            try:
                keyed_source(self.tables[table.name]).check_keys(table.schema, identifiers(table))
            except UserError as error:
                raise UserError(f"table {table.name!r}: {error}") from None

    def check_keys(self) -> None:
        """Refuse tables whose keys must name one record each and do not.

        It reads the rows, so its disclosure is recorded before. What was read is kept: the keys that are joined are those checked.
        """
        if not self._checked:
            self._held = self._joined(check=True)
            self._checked = True

    def add_up(self, schema: Schema, unit: PrivacyUnit, *, add: Adder, size: int) -> Int[np.ndarray, " cells"]:
        """The totals over the rows of all views; `unit` is one root by declaration."""
        if not isinstance(schema, LinkedSchema):
            raise UserError("linked tables: only queries on their views can be counted.")
        totals = np.zeros(size, dtype=np.int64)
        for view in schema.views:
            for batch in self._batches(view, schema):
                add(batch, totals)
        return totals

    def value_counts(self, column: str, unit: PrivacyUnit) -> NoReturn:
        """Refused: linked tables are read through their views alone."""
        raise UserError(
            f"linked tables: the labels of {column!r} must be declared; they cannot be paid for in a package."
        )

    def read(self, schema: Schema) -> NoReturn:
        """Refused: linked tables are read through their views alone."""
        raise UserError("linked tables: they cannot be read as one table.")

    def numbers(self, column: str) -> Float[np.ndarray, " rows"]:
        """Refused: linked tables are read through their views alone."""
        raise UserError(f"linked tables: {column!r} cannot be read as one column.")

    def read_view(self, view: View, schema: LinkedSchema) -> Rows:
        """All rows of a view at once, in the tables' order, unweighted: for tables that are public or synthetic, and for evaluation."""
        tables = self._tables()
        first, second = self._members(view)
        return _RowsOf(view, schema, tables).take(first, second, np.ones(len(first), dtype=np.int64))

    def parents_of(self, name: str) -> tuple[Codes, int]:
        """Each row's parent, and how many parents there are; for the same."""
        tables, parent = self._tables(), self.package.table(name).parent
        return tables[name].parent, len(tables[parent]) if parent is not None else len(tables[name])

    def _members(self, view: View) -> tuple[Codes, Codes | None]:
        """The rows of a table that make a view, and their siblings in one of pairs."""
        own = self._tables()[view.table]
        return pairs_of(own.parent, own.rank, view.siblings) if view.siblings else (np.arange(len(own)), None)

    def dealt(self, key: Key) -> "LinkedSource":
        """The same tables with the rows of every child table dealt to random parents: a floor for evaluation."""
        held = {}
        for each, (name, rows) in zip(split(key, len(self.package.tables)), self._tables().items(), strict=True):
            table = self.package.table(name)
            columns = {column.name: column for column in table_columns(self.package, table)}
            whole, *parts = split(each, 1 + len(columns))
            order = permutation(whole, len(rows)) if table.parent is not None else np.arange(len(rows))
            free = {column: codes[order] for column, codes in rows.columns.items() if ".#" not in column}
            for part, column in zip(parts, columns.values(), strict=True):
                if ".#" in column.name and has_value(column.name):  # rows of a sequence keep their places
                    free[column.name] = _exchanged(part, rows.columns[column.name], missing=column.missing)
            held[name] = replace(rows, columns=rows.columns | free)
        return LinkedSource(self.package, self.tables, _held=held)

    def _tables(self) -> dict[str, _Held]:
        if not self._held:
            self._held = self._joined(check=False)
        return self._held

    def _joined(self, *, check: bool) -> dict[str, _Held]:
        held: dict[str, _Held] = {}
        for table in self.package.tables:
            bare = table.parent is None and table.name not in self.tables
            held[table.name] = self._bare_root(table) if bare else self._held_table(table, held, check=check)
        for table in self.package.tables:
            below = {child: (held[child].columns, held[child].parent) for child in held}
            own = held[table.name]
            add_of_children(self.package, table, own.columns, parents=len(own), below=below)
        return held

    def _held_table(self, table: LinkedTable, held: Mapping[str, _Held], *, check: bool) -> _Held:
        keyed = read_keyed(table, self.tables[table.name])
        if check and table.name in self.package.named_by_key:
            refuse_repeated(table, keyed.own)
        parent, root = held.get(table.parent or ""), held.get(self.package.root.name)
        place, above = _roots(keyed) if parent is None or root is None else _below(table, keyed, parent, root=root)
        return _hold(table, keyed, place, above=above, parent=parent)

    def _bare_root(self, root: LinkedTable) -> _Held:
        """A root that is no table of its own: one record for every key that a row below it names."""
        named = [read_keyed(child, self.tables[child.name]).parent for child in self.package.children(root.name)]
        keys = pa.concat_arrays([pa.array([], TEXT), *named]).drop_null().unique()
        place = np.arange(len(keys))
        columns = {f"{root.name}.{name}": np.zeros(len(keys), dtype=np.int64) for name in root.schema.names}
        return _Held(columns, place, place, keys, place.astype(np.uint64))

    def _batches(self, view: View, schema: LinkedSchema) -> Iterator[Rows]:
        """The rows of a view, those of roots with equally many rows together."""
        tables = self._tables()
        first, second = self._members(view)
        roots = tables[view.table].root[first]
        number = sizes_of(roots)
        rows = _RowsOf(view, schema, tables)
        order = np.argsort(number, kind="stable")
        ends = np.flatnonzero(np.diff(number[order])) + 1
        for group in np.split(order, ends):
            for start in range(0, len(group), BATCH):
                chosen = group[start : start + BATCH]
                yield rows.take(first[chosen], None if second is None else second[chosen], number[chosen])


def _exchanged(key: Key, codes: Codes, *, missing: int | None) -> Codes:
    """The codes with those that are there in another order."""
    made, there = codes.copy(), np.flatnonzero(codes != missing)
    made[there] = codes[there][permutation(key, len(there))]
    return made


class _RowsOf:
    """Makes batches of a view's rows."""

    def __init__(self, view: View, schema: LinkedSchema, tables: Mapping[str, _Held]) -> None:
        flat = schema.of_view(view)
        self.schema = Schema((*flat.columns, schema.column(view.shares)))
        self.view, self.own = view, tables[view.table]
        parent = schema.package.table(view.table).parent
        self.above = tables[parent] if view.given and parent is not None else None

    def take(
        self, first: Int[np.ndarray, " rows"], second: Int[np.ndarray, " rows"] | None, number: Int[np.ndarray, " rows"]
    ) -> Rows:
        """These rows of the table (and their siblings), with the root's number of rows in the view."""
        codes = [self.own.columns[name][first] for name in self.view.own]
        if self.above is not None:
            codes += [self.above.columns[name][self.own.parent[first]] for name in self.view.given]
        if second is not None:
            held = self.own.columns
            codes += [held[name][second] for name in self.view.own]
            codes += [
                differences(self.schema.column(name), held[name][first], held[name][second])
                for name in self.view.numbers
            ]
        return Rows(self.schema, (*codes, number - 1))


def _hold(table: LinkedTable, keyed: Keyed, place: Codes, *, above: Codes, parent: _Held | None) -> _Held:
    """The rows of a table at these places, in order below these parents."""
    rows, rank = keyed.rows, keyed.rank
    by = (rank[place],) if table.order is None else (rank[place], rows.column(table.order)[place])
    order = np.lexsort((*by, above))
    place, above = place[order], above[order]
    columns = {f"{table.name}.{name}": rows.column(name)[place] for name in table.schema.names}
    if table.order is not None:
        columns |= sequence_columns(table, columns[f"{table.name}.{table.order}"], above)
    root = np.arange(len(place)) if parent is None else parent.root[above]
    return _Held(columns, above, root, keyed.own.take(pa.array(place)), rank[place])


def _roots(keyed: Keyed) -> tuple[Codes, Codes]:
    """Roots that have a key, one of each, and a number for it: without a key, nothing says whose record it is."""
    numbers = numbers_of(keyed.own)
    place = first_of_each(numbers, keyed.rank, most=1)
    return place, numbers[place]


def _below(table: LinkedTable, keyed: Keyed, parent: _Held, *, root: _Held) -> tuple[Codes, Codes]:
    """Rows and their parents; of the rows that name one parent at most the declared number, whichever other parents there are."""
    wanted, keys = [keyed.parent], [parent.key]
    if keyed.unit is not None and parent is not root:
        wanted, keys = [*wanted, keyed.unit], [*keys, root.key.take(pa.array(parent.root))]
    below, above = joint_numbers(wanted, keys)
    chosen = first_of_each(below, keyed.rank, most=table.most)
    place, parents = matched(below[chosen], above)
    return chosen[place], parents
