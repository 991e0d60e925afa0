"""Linked tables as one source: the rows of all views (domain/linked/views.py), each root with at most its declared rows.

Every table is read by the source of its kind and encoded by the same code as a single table; keys are compared as texts, as
`--unit` compares them. What one root contributes depends on its own record and on the rows below it, and on nothing else:

- A root without a key is left out. Of roots with equal keys one is kept, and of the children of one parent at most `maximumPerParent`: those with the
  smallest hash of the row and its keys.
- A row whose parent is not there (an orphan) is left out. A row whose parent key occurs under several roots is below each.
- Order within a parent is by the order column, then by that hash.

Codes of all tables are held in memory, in the smallest type that holds them; no view is, only a batch of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.linked.package import Package
from sundog.domain.linked.structure import differences, pairs_of, sizes_of, within
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import LinkedSchema, View, has_value, table_columns
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.random.keys import Key, permutation, split
from sundog.sources.base import Adder, Source
from sundog.sources.linked_columns import add_of_children, sequence_columns
from sundog.sources.plain import numpy_of

BATCH = 1 << 16
TEXT = pa.large_string()
"""Keys as texts: those of a column may have more than 2 GB together."""
Codes = Int[np.ndarray, " rows"]


@runtime_checkable
class KeyedSource(Protocol):
    """A source that can also tell keys."""

    def keyed(
        self, schema: Schema, keys: tuple[str, ...]
    ) -> Iterator[tuple[Rows, list[pa.Array], Int[np.ndarray, " rows"]]]:
        """Batches of encoded rows, their keys as texts (null where there is none), and a hash of each row and its keys."""


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
    _held: dict[str, _Held] = field(default_factory=dict, repr=False)

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
                _keyed(self.tables[table.name])
                for key in table.keys:
                    self.tables[table.name].check(table.schema.fields, unit=key)
            except UserError as error:
                raise UserError(f"table {table.name!r}: {error}") from None

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
        return LinkedSource(self.package, self.tables, held)

    def _tables(self) -> dict[str, _Held]:
        if not self._held:
            held: dict[str, _Held] = {}
            for table in self.package.tables:
                bare = table.parent is None and table.name not in self.tables
                held[table.name] = self._bare_root(table) if bare else self._held_table(table, held)
            for table in self.package.tables:
                below = {child: (held[child].columns, held[child].parent) for child in held}
                own = held[table.name]
                add_of_children(self.package, table, own.columns, parents=len(own), below=below)
            self._held = held
        return self._held

    def _held_table(self, table: LinkedTable, held: Mapping[str, _Held]) -> _Held:
        return _hold(table, self.tables[table.name], held.get(table.parent or ""))

    def _bare_root(self, root: LinkedTable) -> _Held:
        """A root that is no table of its own: one record for every key that a row below it names."""
        children = [table for table in self.package.tables if table.parent == root.name]
        named = [read_keyed(child, self.tables[child.name])[1][-1] for child in children]
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


def _hold(table: LinkedTable, source: Source, parent: _Held | None) -> _Held:
    """Read a table, link it to its parent, and keep at most the declared rows of each."""
    rows, keys, rank = read_keyed(table, source)
    own = keys[0] if table.key is not None else pa.nulls(len(rank), TEXT)
    place, above = _grouped(own) if parent is None else _below(keys[-1], rank, parent.key, most=table.most)
    order = np.lexsort((rank[place], above))
    place, above = place[order], above[order]
    kept = within(above) < table.most
    place, above = place[kept], above[kept]
    if table.order is not None:
        order = np.lexsort((rank[place], rows.column(table.order)[place], above))
        place, above = place[order], above[order]
    columns = {f"{table.name}.{name}": rows.column(name)[place] for name in table.schema.names}
    if table.order is not None:
        columns |= sequence_columns(table, columns[f"{table.name}.{table.order}"], above)
    root = np.arange(len(place)) if parent is None else parent.root[above]
    return _Held(columns, above, root, own.take(pa.array(place)), rank[place])


def _keyed(source: Source) -> KeyedSource:
    if not isinstance(source, KeyedSource):
        raise UserError(
            "linked tables are joined by their keys in this process, which cannot be done with rows that are only counted where "
            "they are (in a Spark cluster, or in a database that adds up); give a file, a query or a frame."
        )
    return source


def read_keyed(table: LinkedTable, source: Source) -> tuple[Rows, list[pa.Array], Int[np.ndarray, " rows"]]:
    """A whole table: its encoded rows, its keys as texts (null where there is none), and the hash of each row and its keys."""
    batches = list(_keyed(source).keyed(table.schema, table.keys))
    rows = Rows.concatenate([batch for batch, _, _ in batches], table.schema)
    texts = [
        pa.concat_arrays([pa.array([], TEXT), *(keys[k].cast(TEXT) for _, keys, _ in batches)])
        for k in range(len(table.keys))
    ]
    return rows, texts, np.concatenate([np.empty(0, np.uint64), *(rank for _, _, rank in batches)])


def _grouped(keys: pa.Array) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """Roots that have a key, and a number for each key: without one, nothing says whose record it is."""
    numbers = numpy_of(pc.fill_null(keys.dictionary_encode().indices.cast(pa.int64()), -1))
    place = np.flatnonzero(numbers >= 0)
    return place, numbers[place]


def _below(
    wanted: pa.Array, rank: Int[np.ndarray, " rows"], keys: pa.Array, *, most: int
) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """Rows and their parents; of each key the rows that a parent would keep are chosen first.

    Where a key that should be unique is not, rows times parents would fill the memory.
    """
    numbers = numpy_of(pc.fill_null(wanted.dictionary_encode().indices.cast(pa.int64()), -1))
    order = np.lexsort((rank, numbers))
    chosen = order[within(numbers[order]) < most]
    place, above = joined_keys(wanted.take(pa.array(chosen)), keys)
    return chosen[place], above


def joined_keys(wanted: pa.Array, keys: pa.Array) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """Rows and their parents, for every parent that has the wanted key; a null matches nothing."""
    both = pa.concat_arrays([keys, wanted]).dictionary_encode().indices.cast(pa.int64())
    numbers = numpy_of(pc.fill_null(both, -1))
    above, below = numbers[: len(keys)], numbers[len(keys) :]
    order = np.argsort(above, kind="stable")
    low, high = (np.searchsorted(above[order], below, side=side) for side in ("left", "right"))
    matches = np.where(below < 0, 0, high - low)
    place = np.repeat(np.arange(len(below)), matches)
    return place, order[np.repeat(low, matches) + within(place)]
