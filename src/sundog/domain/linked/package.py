"""Package: several tables that form a tree. One root table names the privacy unit; every other table has one parent.

A Data Package (datapackage.json) says it: `primaryKey` and `foreignKeys` in each table's schema, and for each child table
`maximumPerParent`, the most rows of one parent that are used (public). A child with `orderBy` is a sequence; `unitKey` names the
fields of a table that hold the root's key. Tables that are marked `public` are reference tables: they are not private and not
modelled. `constraints` across tables are read by rules.py.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sundog.domain.linked.rules import Rule, read_rules
from sundog.domain.linked.table import Link, LinkedTable, key_fields, key_text, keys_of, read_table
from sundog.domain.schema import load_document
from sundog.errors import UserError

MOST_PER_ROOT = 1_000_000
"""Beyond 2^20 rows of one root, a row would have no weight left."""
KEPT = ("name", "title", "privacyUnit")
KEPT_OF_TABLE = ("name", "title", "maximumPerParent", "minimumPerParent", "orderBy", "unitKey")


@dataclass(frozen=True)
class Package:
    """The tables, parents before children; the first one is the root."""

    tables: tuple[LinkedTable, ...]
    document: Mapping[str, Any] = field(compare=False)
    name: str | None = None
    rules: tuple[Rule, ...] = ()
    """The constraints across tables."""

    @property
    def root(self) -> LinkedTable:
        """The table whose key names the protected unit: each value with every row that carries it."""
        return self.tables[0]

    @cached_property
    def _by_name(self) -> dict[str, LinkedTable]:
        return {table.name: table for table in self.tables}

    def table(self, name: str) -> LinkedTable:
        """One table by name."""
        return self._by_name[name]

    def children(self, name: str) -> tuple[LinkedTable, ...]:
        """The tables directly below one."""
        return tuple(table for table in self.tables if table.parent == name)

    def above(self, name: str) -> LinkedTable | None:
        """The parent of a table; the root has none."""
        parent = self.table(name).parent
        return None if parent is None else self.table(parent)

    @cached_property
    def named_by_key(self) -> tuple[str, ...]:
        """The tables whose keys must name one record each, for what one unit can change to be bounded.

        These are the tables that others refer to by that key alone. Where every table below carries the root's key, a row belongs to
        its own unit whatever the key in between holds. The root is among them although its records with equal keys are one unit:
        only one of them would be used.
        """
        root = self.root.name
        referred = [(table.name, self.children(table.name)) for table in self.tables if not table.bare]
        return tuple(
            name for name, below in referred if below and (name == root or not all(child.unit_key for child in below))
        )

    def most_per_root(self, name: str) -> int:
        """The most rows of a table that one root can have."""
        table = self.table(name)
        return table.most * (self.most_per_root(table.parent) if table.parent is not None else 1)

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> "Package":
        """A package from a Data Package document."""
        resources = _resources(document)
        root = _root(document, resources)
        links = {name: _parent(document, resource, resources, root=root) for name, resource in resources.items()}
        ordered = _parents_first(root, links)
        tables = _joined([read_table(resources[name], links[name]) for name in ordered], links)
        name = document.get("name")
        rules = read_rules(document.get("constraints", []), tables)
        known = _known(document, tables, resources)
        package = Package(tables, known, name if isinstance(name, str) else None, rules)
        _check_rows(package)
        _check_sizes(package)
        return package

    @staticmethod
    def load(path: str | Path) -> "Package":
        """A package from a file; messages name it."""
        return Package.from_json(load_document(path))


def is_package(document: Mapping[str, Any]) -> bool:
    """Whether a document describes several tables and not one."""
    return isinstance(document.get("resources"), list)


def _resources(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The private tables by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for resource in document["resources"]:
        name = resource.get("name") if isinstance(resource, Mapping) else None
        if not isinstance(name, str) or not re.fullmatch(r"[\w-]{1,64}", name):
            raise UserError("package: every resource needs a name of 1 to 64 letters, digits, '_' and '-'.")
        if name in found:
            raise UserError(f"package: two resources are named {name!r}; rename one.")
        if not isinstance(resource.get("schema"), Mapping):
            raise UserError(f"table {name!r}: it has no schema; give its fields under 'schema'.")
        if not isinstance(resource.get("public", False), bool):
            raise UserError(f"table {name!r} public: it must be true or false.")
        if not isinstance(resource["schema"].get("foreignKeys", []), list):
            raise UserError(f"table {name!r} foreignKeys: it must be a list of keys.")
        if not resource.get("public"):
            found[name] = resource
    if not found:
        raise UserError("package: it has no private table; list at least one resource that is not public.")
    return found


def _root(document: Mapping[str, Any], resources: Mapping[str, Mapping[str, Any]]) -> str:
    named = document.get("privacyUnit")
    if named is not None:
        if not isinstance(named, str) or named not in resources:
            raise UserError(
                f"package privacyUnit: {str(named)[:60]!r} is no private table; there are {_listed(resources)}."
            )
        return named
    free = [name for name, resource in resources.items() if not _links(resource, resources)]
    if len(free) != 1:
        raise UserError(
            f"package: {len(free)} tables have no parent ({_listed(free)}); a tree has one root. Name it under 'privacyUnit' "
            'and link the others by foreignKeys, or mark reference tables as "public": true.'
            + "".join(_lost(document, resources[name]) for name in free)
        )
    return free[0]


def _links(resource: Mapping[str, Any], resources: Mapping[str, Any]) -> list[Link]:
    """The foreign keys to private tables."""
    found = []
    for key in resource["schema"].get("foreignKeys", ()):
        reference = key.get("reference", {}) if isinstance(key, Mapping) else {}
        other = reference.get("resource") if isinstance(reference, Mapping) else None
        if isinstance(other, str) and other in resources and other != resource["name"]:
            own, above = key_fields(key, "fields", resource), key_fields(reference, "fields", resource)
            if not own or len(own) != len(above):
                raise UserError(
                    f"table {resource['name']!r} foreignKeys: found {len(own)} fields that refer to {len(above)} of {other!r}; "
                    "give as many fields as that table's primaryKey has."
                )
            found.append(Link(own, other, above))
    return found


def _lost(document: Mapping[str, Any], resource: Mapping[str, Any]) -> str:
    """Which foreign keys refer to tables that the package does not have, in words."""
    references = [key.get("reference") for key in resource["schema"].get("foreignKeys", ()) if isinstance(key, Mapping)]
    named = [each["resource"] for each in references if isinstance(each, Mapping) and "resource" in each]
    known = [each["name"] for each in document["resources"]]
    lost = [str(name)[:60] for name in named if name not in known]
    return f" {resource['name']!r} refers to {_listed(lost)}, which the package does not have." if lost else ""


def _parent(
    document: Mapping[str, Any], resource: Mapping[str, Any], resources: Mapping[str, Any], *, root: str
) -> Link | None:
    """The foreign key to the parent; None for the root."""
    name, links = resource["name"], _links(resource, resources)
    if name == root:
        if links:
            raise UserError(f"table {name!r}: it is the root, so it cannot have the parent {links[0].parent!r}.")
        return None
    if len(links) != 1:
        raise UserError(
            f"table {name!r}: it has {len(links)} foreign keys to private tables; every table but the root {root!r} needs "
            'exactly one parent. Mark reference tables as "public": true, or leave the table out.'
            + _lost(document, resource)
        )
    return links[0]


def _parents_first(root: str, links: Mapping[str, Link | None]) -> list[str]:
    ordered = [root]
    for name in ordered:
        ordered += [child for child, link in links.items() if link is not None and link.parent == name]
    lost = [name for name in links if name not in ordered]
    if lost:
        raise UserError(
            f"package: the tables {_listed(lost)} refer to each other in a circle instead of to the root {root!r}."
        )
    return ordered


def _joined(tables: Sequence[LinkedTable], links: Mapping[str, Link | None]) -> tuple[LinkedTable, ...]:
    """The tables with foreign keys in the order of the keys that they name, and with their unit keys; parents come first."""
    made: dict[str, LinkedTable] = {}
    for table in tables:
        link = links[table.name]
        parent = None if link is None else made[link.parent]
        made[table.name] = table if link is None or parent is None else _below(table, parent, link=link, root=tables[0])
    return tuple(made.values())


def _below(table: LinkedTable, parent: LinkedTable, *, link: Link, root: LinkedTable) -> LinkedTable:
    if sorted(link.above) != sorted(parent.key):
        raise UserError(
            f"table {table.name!r}: its foreign key refers to {key_text(link.above)!r} of {parent.name!r}, which is not that table's "
            "primaryKey."
        )
    own = dict(zip(link.above, link.own, strict=True))
    handed = tuple(own.get(name, "") for name in parent.unit_key)
    unit_key = handed if all(handed) else ()
    if table.unit_key and (len(table.unit_key) != len(root.key) or unit_key not in ((), table.unit_key)):
        raise UserError(
            f"table {table.name!r} unitKey: found {key_text(table.unit_key)!r}; it must name the fields that hold "
            f"{key_text(root.key)!r} of {root.name!r}"
            + (f", which its foreign key does: {key_text(unit_key)!r}." if unit_key else ", in that order.")
        )
    return replace(table, foreign_key=tuple(own[name] for name in parent.key), unit_key=table.unit_key or unit_key)


def _check_rows(package: Package) -> None:
    """A root of keys alone has no rows of its own: they are named by those below it."""
    if package.root.bare and len(package.tables) == 1:
        raise UserError(
            f"table {package.root.name!r}: it has nothing but its key, and no table lies below it, so there is nothing to count; "
            "give it another field, or a table that refers to it."
        )


def _check_sizes(package: Package) -> None:
    """The bounds of all tables on the way down multiply."""
    for table in package.tables:
        if package.most_per_root(table.name) > MOST_PER_ROOT:
            raise UserError(
                f"table {table.name!r}: with maximumPerParent of the tables above it, one record of {package.root.name!r} may "
                f"have more than {MOST_PER_ROOT} rows in it; lower one of them."
            )


def _known(
    document: Mapping[str, Any], tables: Sequence[LinkedTable], resources: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The document with the keys that Sundog knows and no other: it becomes part of what is released."""
    top = {name: document[name] for name in KEPT if isinstance(document.get(name), str)}
    listed = []
    by_name = {table.name: table for table in tables}
    for table in tables:
        resource = resources[table.name]
        kept = {name: resource[name] for name in KEPT_OF_TABLE if isinstance(resource.get(name), str | int | list)}
        listed.append({**kept, "schema": {**table.schema.to_json(), **keys_of(table, by_name.get(table.parent or ""))}})
    rules = {"constraints": document["constraints"]} if document.get("constraints") else {}  # no key is left unread
    return {**top, "privacyUnit": tables[0].name, "resources": listed, **rules}


def _listed(names: Any) -> str:
    return ", ".join(repr(name) for name in names) or "none"
