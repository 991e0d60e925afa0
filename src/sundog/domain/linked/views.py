"""Views: the flat tables that a tree of tables is counted as. Each root contributes to a view a total weight of at most 1.

- the rows of a table, with the columns of its parent beside them;
- pairs of siblings: two rows below one parent. In a sequence these are neighbours in order and, where a parent has few rows, the first
  row with every later one; else all ordered pairs, or, where a parent may have many rows, neighbours in a circle whose order is a hash.

A root with k rows in a view gives each the weight 1/k (see queries/shared.py), so what one root can change does not grow
with the number of its rows. Columns are named `table.column`; those of the second sibling end in `@2`, and `table.column@-` is how
much more the second has of a number than the first. Columns that the structure itself gives are `table.#child` (number of children, of
the parent), `table.#child.#first` (where the sequence of its children begins, of the parent), `table.#child.#mean.column` (the mean of a
number over its children, of a parent that may have more than ALL_PAIRS of them: neighbours alone forget from row to row whose they are), `table.#position`, `table.#place` and `table.#gap` (of a sequence). The order column of a sequence
is in no view: its first value is a column of the parent, so that it counts once per parent, and the others follow by gaps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from sundog.domain.columns import GRID_LIMIT, Categorical, Column, Numeric
from sundog.domain.linked.package import Package
from sundog.domain.linked.table import UNIT, LinkedTable
from sundog.domain.schema import Schema
from sundog.errors import UserError

ALL_PAIRS = 8
"""Up to this many rows of one parent, all ordered pairs of siblings are looked at."""
PLACES = ("only", "first", "inner", "last")
SECOND = "@2"
DIFFERENCE = "@-"
GAP = "#gap"
MEAN = ".#mean."

Siblings = Literal["first", "next", "ring", "pairs"]


@dataclass(frozen=True)
class View:
    """A flat table: the columns that are new in it, those of the parent, and the most rows that one root has in it."""

    name: str
    table: str
    own: tuple[str, ...]
    given: tuple[str, ...] = ()
    siblings: Siblings | None = None
    most: int = 1
    root: bool = False
    numbers: tuple[str, ...] = ()
    """Of siblings: the columns of which the view has the difference between the two."""

    @property
    def shares(self) -> str:
        """The column that holds how many rows of the view the root has."""
        return f"{self.name}#"

    @property
    def ordered(self) -> bool:
        """Whether it is of siblings of which one comes before the other."""
        return self.siblings in ("first", "next")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns of the view."""
        return (*self.own, *self.given)


@dataclass(frozen=True)
class LinkedSchema(Schema):
    """The columns of all views of a package, as one schema."""

    package: Package = None  # type: ignore[assignment]  # a dataclass field after fields with defaults

    @staticmethod
    def from_package(package: Package) -> "LinkedSchema":
        """The schema of a package."""
        columns = {column.name: column for table in package.tables for column in table_columns(package, table)}
        for table in package.tables[1:]:
            columns |= {name: replace(columns[_first(name)], name=name) for name in _second_names(package, table)}
        for view in views_of(package):
            columns |= {f"{name}{DIFFERENCE}": difference_of(columns[name]) for name in view.numbers}
            columns[view.shares] = Numeric(view.shares, "integer", 1, view.most)
        targets = tuple(f"{table.name}.{name}" for table in package.tables for name in table.schema.targets)
        origins = {
            f"{table.name}.{name}": origin
            for table in package.tables
            for name, origin in table.schema.origins.items()
            if not (table.bare and name == UNIT)
        }
        return LinkedSchema(
            tuple(columns.values()),
            targets=tuple(target for target in targets if target in columns),
            name=package.name,
            origins=origins,
            document=package.document,
            package=package,
        )

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> "LinkedSchema":
        """The schema of a Data Package document."""
        return LinkedSchema.from_package(Package.from_json(document))

    def with_dialect(self, changes: Mapping[str, Any]) -> "LinkedSchema":
        """Refused: each table says how its own file is written."""
        if changes:
            raise UserError(
                "linked tables: say how text files are written in each table's schema ('dialect'), not by flags."
            )
        return self

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The views, in the order in which they are measured."""
        return views_of(self.package)

    @property
    def declared_names(self) -> tuple[str, ...]:
        """The columns of the tables, without those that the structure gives."""
        return tuple(f"{table.name}.{name}" for table in self.package.tables for name in table.schema.names)

    def view(self, name: str) -> View:
        """One view by name."""
        return next(view for view in self.views if view.name == name)

    def of_view(self, view: View) -> Schema:
        """The schema of a view's columns."""
        names = (*view.names, *self._seconds(view), *(f"{name}{DIFFERENCE}" for name in view.numbers))
        targets = tuple(target for target in self.targets if target in names)
        return Schema(tuple(self.column(name) for name in names), targets=targets, name=self.name, origins=self.origins)

    def _seconds(self, view: View) -> tuple[str, ...]:
        return tuple(f"{name}{SECOND}" for name in view.own) if view.siblings else ()


def table_columns(package: Package, table: LinkedTable) -> tuple[Column, ...]:
    """The columns of a table by their full names: its own, what its place in the tree says, and its numbers of children."""
    own = [_named(column, f"{table.name}.{column.name}") for column in table.schema.columns]
    if table.order is not None:
        own = [_only_first(column) if column.name == f"{table.name}.{table.order}" else column for column in own]
        own += _sequence_columns(table)
    children = package.children(table.name)
    counts = [Numeric(count_name(table.name, child.name), "integer", child.least, child.most) for child in children]
    firsts = [
        _only_first(_named(child.schema.column(child.order), first_name(table.name, child.name)))
        for child in children
        if child.order is not None
    ]
    means = [
        replace(column, name=mean_name(table.name, child.name, column.name), nullable=True)
        for child in children
        for column in averaged(child)
    ]
    return (*own, *counts, *firsts, *means)


def averaged(child: LinkedTable) -> list[Numeric]:
    """The numbers of a child table, gaps included, of which its parent knows the mean: none where a parent has few rows."""
    if child.most <= ALL_PAIRS:
        return []
    gaps = [replace(_sequence_columns(child)[0], name=GAP)] if child.order is not None else []
    numbers = [_named(column, column.name) for column in child.schema.columns if column.name != child.order]
    return [column for column in (*numbers, *gaps) if isinstance(column, Numeric)]


def _named(column: Column, name: str) -> Column:
    """The column under its full name; a distance is a number like any other there."""
    return replace(column, name=name, distance=None) if isinstance(column, Numeric) else replace(column, name=name)


def difference_of(column: Column) -> Numeric:
    """The column of how much more the second sibling has than the first; missing where one of them has no value."""
    if not isinstance(column, Numeric):
        raise UserError(f"field {column.name!r}: labels have no differences.")
    most = column.steps - 1
    return Numeric(f"{column.name}{DIFFERENCE}", "integer", -most, most, nullable=column.nullable)


def count_name(parent: str, child: str) -> str:
    """The column of a parent that holds its number of rows in a child table."""
    return f"{parent}.#{child}"


def first_name(parent: str, child: str) -> str:
    """The column of a parent that holds the order column's value in its first row of a sequence."""
    return f"{parent}.#{child}.#first"


def mean_name(parent: str, child: str, column: str) -> str:
    """The column of a parent that holds the mean of a number over its rows in a child table."""
    return f"{parent}.#{child}{MEAN}{column}"


def is_mean(name: str) -> bool:
    """Whether a column is the mean of a number over children."""
    return MEAN in name


def is_count(name: str) -> bool:
    """Whether a column is a number of children."""
    return ".#" in name and not (structural(name) or has_value(name) or is_mean(name))


def has_value(name: str) -> bool:
    """Whether a column tells values that rows have: it is declared, or says where a sequence begins or how far its rows lie apart."""
    return ".#" not in name or (name.removesuffix(SECOND).endswith((f".{GAP}", ".#first")) and not is_mean(name))


def structural(name: str) -> bool:
    """Whether a column is known from a row's place in its sequence, before any other."""
    return name.endswith((".#position", ".#place"))


def _only_first(column: Column) -> Column:
    """The order column: its value is known of the first row of a sequence; the others are told by gaps."""
    return replace(column, nullable=True)


def _sequence_columns(table: LinkedTable) -> list[Column]:
    steps = table.schema.column(table.order or "").steps  # type: ignore[union-attr]  # package.py chose a numeric one
    return [
        Numeric(f"{table.name}.{GAP}", "integer", 0, steps - 1, nullable=True),
        Numeric(f"{table.name}.#position", "integer", 1, table.most),
        Categorical(f"{table.name}.#place", labels=PLACES),
    ]


def views_of(package: Package) -> tuple[View, ...]:
    """The views of a package: the root, then for each table its rows and its siblings."""
    found = [View(package.root.name, package.root.name, own=_names(package, package.root), root=True)]
    for table in package.tables[1:]:
        parent, most = package.table(table.parent or ""), package.most_per_root(table.name)
        found.append(
            View(table.name, table.name, _names(package, table), _names(package, parent, plain=True), most=most)
        )
        if table.most > 1:
            found.append(_sibling_view(package, table))
    return tuple(found)


def _sibling_view(package: Package, table: LinkedTable) -> View:
    short, most = table.most <= ALL_PAIRS, table.most
    kind: Siblings = ("first" if short else "next") if table.order is not None else "pairs" if short else "ring"
    per_parent = {"first": 2 * most - 3, "next": most - 1, "ring": most, "pairs": most * (most - 1)}[kind]
    most = package.most_per_root(table.name) // table.most * per_parent
    names, numbers = _names(package, table, plain=True), _numbers(table)
    return View(f"{table.name}@", table.name, names, siblings=kind, most=most, numbers=numbers)


def _numbers(table: LinkedTable) -> tuple[str, ...]:
    """The declared numbers of a table that have differences, without the order column: its gaps are measured."""
    return tuple(
        f"{table.name}.{column.name}"
        for column in table.schema.columns
        if isinstance(column, Numeric) and column.name != table.order and 2 * column.steps <= GRID_LIMIT
    )


def _names(package: Package, table: LinkedTable, *, plain: bool = False) -> tuple[str, ...]:
    """The names of a table's columns; plain: without those that its place in a sequence gives."""
    names = [column.name for column in table_columns(package, table) if column.name != f"{table.name}.{table.order}"]
    return tuple(name for name in names if not plain or not structural(name))


def _second_names(package: Package, table: LinkedTable) -> list[str]:
    return [f"{name}{SECOND}" for name in _names(package, table, plain=True)] if table.most > 1 else []


def _first(name: str) -> str:
    return name.removesuffix(SECOND)
