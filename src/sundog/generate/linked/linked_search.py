"""Linked search: the root by pooled search, then every table below it with its parents' values fixed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Int

from sundog.declare import Range, check_declared
from sundog.domain.linked.rules import Across
from sundog.domain.linked.structure import above_of, pairs_of, sequence_places, sizes_of
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import LinkedSchema, View, count_name, first_name, table_columns
from sundog.estimate.bins import leaves_of
from sundog.generate.linked.bonds import Bonds
from sundog.generate.linked.child import Child, Seen, fit_child
from sundog.generate.linked.rows import LinkedRows, TableRows, values_of
from sundog.generate.linked.sequences import begun, paced
from sundog.generate.linked.tables import Family
from sundog.generate.pooled.pooled_search import PooledSearch
from sundog.random.draws import evenly
from sundog.random.keys import Key, split
from sundog.released import Released
from sundog.released.per_view import linked_schema, of_view

MOST_ROWS = 200_000
Codes = Int[np.ndarray, " rows"]
Repair = Callable[[Key, LinkedSchema, Mapping[str, TableRows], str], TableRows]
"""Makes the rows of a table satisfy what is declared of them, given the tables above it."""


@dataclass(frozen=True, eq=False)
class LinkedState:
    """The tables by name, parents before children."""

    schema: LinkedSchema
    tables: dict[str, TableRows]


@dataclass(frozen=True)
class LinkedSearch:
    """The settings of the search; they are those of pooled search."""

    passes: Annotated[int, "How many times as many candidates are tried as there are cells.", Range(1, 10**6)] = 20
    tolerance: Annotated[
        float, "The search ends when a pass lowers the loss by less than this part of it.", Range(0, 1)
    ] = 0.01

    def __post_init__(self) -> None:
        check_declared(self)

    def fit(self, key: Key, released: Released, *, repair: Repair) -> LinkedState:
        """All tables, from the root down, each repaired before the next one is made below it."""
        schema = linked_schema(released)
        tables: dict[str, TableRows] = {}
        for each, table in zip(split(key, len(schema.package.tables)), schema.package.tables, strict=True):
            first_key, make_key, repair_key = split(each, 3)
            root = table.parent is None
            if table.order is not None and table.parent is not None:
                tables[table.parent] = _beginning(first_key, schema, table, tables)
            made = self._root(make_key, released, schema) if root else self._child(make_key, table, released, tables)
            tables[table.name] = repair(repair_key, schema, tables | {table.name: made}, table.name)
        return LinkedState(schema, tables)

    def _root(self, key: Key, released: Released, schema: LinkedSchema) -> TableRows:
        flat = of_view(released, schema.view(schema.package.root.name))
        rows = min(flat.rows, max(1, round(MOST_ROWS / _rows_per_root(released, schema))))
        fit_key, sample_key = split(key, 2)
        search = PooledSearch(rows=rows)
        state = search.fit(fit_key, search.init(fit_key, flat.schema), released=flat)
        if search.ending(state).interrupted:
            raise KeyboardInterrupt  # the tables below have no such thing as the best rows so far
        drawn = search.sample(sample_key, state, rows=rows)
        codes = {name: drawn.column(name) for name in flat.schema.names}
        return TableRows(codes, np.arange(rows))

    def _child(self, key: Key, table: LinkedTable, released: Released, tables: Mapping[str, TableRows]) -> TableRows:
        schema, above = linked_schema(released), tables[table.parent or ""]
        view, siblings = _views(schema, table)
        parent = _parents(table, above)
        if not len(parent):
            columns = [column.name for column in table_columns(schema.package, table)]
            return TableRows({name: np.empty(0, dtype=np.int64) for name in columns}, parent)
        place = sequence_places(table, parent)
        given = {name: above.columns[name][parent] for name in view.given} | place
        parents = {name: made.parent for name, made in tables.items()} | {table.name: parent}
        root = above_of(schema.package, parents, table=table.name, above=schema.package.root.name)
        ties, pair_roots = family_of(parent, root, siblings)
        bonds = _bonds(schema, table, tables, parents)
        rows = of_view(released, view)
        seen, between = Seen.of(rows, roots=len(np.unique(root))), None
        if siblings is not None and pair_roots:
            pairs = of_view(released, siblings)
            between = Seen.of_siblings(pairs, siblings, roots=pair_roots, rows=rows, seen=seen)
        child = Child(table, bonds, view=view, rows=seen, siblings=between)
        fit_key, pace_key = split(key, 2)
        free = fit_child(fit_key, child, given, family=ties, effort=(self.passes, self.tolerance))
        return paced(pace_key, table, TableRows(free | place, parent), above=above, limits=bonds.order_limits(table))


def _parents(table: LinkedTable, above: TableRows) -> Codes:
    """The parent of every row, by the parents' numbers of children."""
    number = above.columns[count_name(table.parent or "", table.name)].astype(np.int64) + table.least
    return np.repeat(np.arange(len(above)), number)


def _beginning(key: Key, schema: LinkedSchema, table: LinkedTable, tables: Mapping[str, TableRows]) -> TableRows:
    """The parents of a sequence, of which each that has rows says where it begins, and no other."""
    above = tables[table.parent or ""]
    parent = _parents(table, above)
    parents = {name: made.parent for name, made in tables.items()} | {table.name: parent}
    limits = _bonds(schema, table, tables, parents).order_limits(table)
    name = first_name(table.parent or "", table.name)
    firsts = begun(key, table, above.columns[name], parent=parent, limits=limits)
    return TableRows(above.columns | {name: firsts}, above.parent)


def _bonds(
    schema: LinkedSchema, table: LinkedTable, tables: Mapping[str, TableRows], parents: Mapping[str, Codes]
) -> Bonds:
    """The rules across tables that rows of a table must keep, with what is above them."""
    package = schema.package
    rules = tuple(rule for rule in package.rules if rule.table == table.name)
    codes: dict[str, Codes] = {}
    for rule in rules:
        if isinstance(rule, Across):
            place = above_of(package, parents, table=table.name, above=rule.above)
            values = values_of(package.table(rule.above), tables[rule.above])
            codes |= {name: values[name][place] for name in rule.rule.columns if name not in rule.own}
    return Bonds(schema, rules, codes, parents[table.name])


def sample_linked(key: Key, state: LinkedState, *, rows: int) -> LinkedRows:
    """As many roots with everything below them: all, or each as often as the others, give or take one."""
    root = state.schema.package.root.name
    held = state.tables[root]
    chosen = np.arange(len(held)) if rows == len(held) else evenly(key, len(held), rows=rows)
    made = {root: held.taken(chosen, np.arange(rows))}
    taken: Mapping[str, Codes] = {root: chosen}
    for table in state.schema.package.tables[1:]:
        below = state.tables[table.name]
        above = taken[table.parent or ""]
        sizes = np.bincount(below.parent, minlength=len(state.tables[table.parent or ""]))
        starts = np.cumsum(sizes) - sizes
        parent = np.repeat(np.arange(len(above)), sizes[above])
        within = np.arange(len(parent)) - np.repeat(np.cumsum(sizes[above]) - sizes[above], sizes[above])
        picked = starts[above][parent] + within
        made[table.name] = below.taken(picked, parent)
        taken = {**taken, table.name: picked}
    return LinkedRows(state.schema, made)


def _views(schema: LinkedSchema, table: LinkedTable) -> tuple[View, View | None]:
    of_table = [view for view in schema.views if view.table == table.name]
    return of_table[0], of_table[1] if len(of_table) > 1 else None


def _rows_per_root(released: Released, schema: LinkedSchema) -> float:
    """About how many rows the largest table has per root, at least 1."""
    expected = {schema.package.root.name: 1.0}
    for table in schema.package.tables[1:]:
        name = count_name(table.parent or "", table.name)
        leaves = leaves_of(of_view(released, schema.view(table.parent or "")))[name]
        mean = float(leaves.proportions @ (leaves.axis.firsts + (leaves.axis.widths - 1) / 2)) + table.least
        expected[table.name] = expected[table.parent or ""] * max(mean, 0.0)
    return max(1.0, *expected.values())


def family_of(parent: Codes, root: Codes, siblings: View | None) -> tuple[Family, int]:
    """The weights and pairs of rows that are sorted by parent, and how many roots have pairs."""
    rows = len(parent)
    row_weight = 1.0 / sizes_of(root)
    first, second = (
        (np.empty(0, np.int64),) * 2
        if siblings is None or siblings.siblings is None
        else pairs_of(parent, np.arange(rows), siblings.siblings)
    )
    number = np.bincount(root[first], minlength=int(root.max(initial=0)) + 1)
    pair_weight = 1.0 / np.maximum(number[root], 1)
    after, before = _grouped(first, second, rows), _grouped(second, first, rows)
    return Family(row_weight, pair_weight, after, before), int((number > 0).sum())


def _grouped(of: Codes, others: Codes, rows: int) -> tuple[Codes, Codes]:
    """For every row where its partners begin, and the partners."""
    order = np.argsort(of, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(of, minlength=rows))]), others[order]
