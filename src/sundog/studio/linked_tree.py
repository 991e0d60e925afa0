"""Linked tables as a picture: the tree of tables, each with its key, how many rows of one parent are used, and its columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sundog.domain.linked.package import Package
from sundog.domain.linked.table import LinkedTable, key_text
from sundog.studio.field_forms import FieldRow, rows_of


@dataclass(frozen=True)
class TreeTable:
    """One table of the picture, with those below it."""

    name: str
    bounds: str
    key: str
    place: str
    order: str
    fields: tuple[FieldRow, ...]
    below: "tuple[TreeTable, ...]"

    @property
    def all(self) -> "list[TreeTable]":
        """The table and all below it, as they are listed."""
        return [self, *(table for child in self.below for table in child.all)]


def tree_of(package: Package, document: Mapping[str, Any]) -> TreeTable:
    """The whole tree; the root first. `document`: what the owner wrote, which holds the fields as they were declared."""
    declared = {resource["name"]: resource["schema"] for resource in document["resources"]}
    return _table(package, package.root, declared)


def unit_text(package: Package) -> str:
    """The field whose values are protected."""
    return f"{package.root.name}.{key_text(package.root.key)}"


def public_tables(package: Package, document: Mapping[str, Any]) -> list[str]:
    """The reference tables: not private, not read."""
    private = {table.name for table in package.tables}
    return [str(resource["name"]) for resource in document["resources"] if resource["name"] not in private]


def _table(package: Package, table: LinkedTable, declared: Mapping[str, Any]) -> TreeTable:
    fields = () if table.bare else tuple(rows_of(declared[table.name]))
    below = tuple(_table(package, child, declared) for child in package.children(table.name))
    return TreeTable(
        table.name, _bounds(package, table), _keys(package, table), _place(table), table.order or "", fields, below
    )


def _bounds(package: Package, table: LinkedTable) -> str:
    if table.parent is None:
        return f"the root: one value of {key_text(table.key)} with every row that carries it is protected"
    whole = package.most_per_root(table.name)
    per_root = "" if table.parent == package.root.name else f", so at most {whole:,} of one {package.root.name}"
    return f"{table.least:,} to {table.most:,} rows of one {table.parent}{per_root}"


def _keys(package: Package, table: LinkedTable) -> str:
    own = f"key {key_text(table.key)}" if table.key else "no key"
    parent = package.above(table.name)
    if parent is None:
        return own
    linked = f"{own}; {key_text(table.foreign_key)} names {parent.name}.{key_text(parent.key)}"
    apart = table.unit_key and parent is not package.root
    return f"{linked}; {key_text(table.unit_key)} holds the key of {package.root.name}" if apart else linked


def _place(table: LinkedTable) -> str:
    if table.bare:
        return "nothing but its key: its records are the keys that the rows below it name"
    return table.path or f"{table.name}.*, or the table of this name in a database"
