"""One table of a package: its modelled columns, its keys, and how it hangs below its parent.

A key has one field or several. The unit key is the fields of a table that hold the root's key: those of a foreign key to the root,
those of a foreign key through which the parent's unit key is handed down, or those that the table names (`unitKey`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sundog.domain.columns import Identifier, Numeric
from sundog.domain.schema import Schema
from sundog.errors import UserError
from sundog.sizes import whole_number

MOST_CHILDREN = 10_000
UNIT = "#unit"


@dataclass(frozen=True)
class LinkedTable:
    """One table of the tree: its modelled columns, its key, and how it hangs below its parent."""

    name: str
    schema: Schema
    key: tuple[str, ...] = ()
    parent: str | None = None
    foreign_key: tuple[str, ...] = ()
    """Its fields that name the parent, in the order of the parent's key."""
    unit_key: tuple[str, ...] = ()
    """Its fields that hold the root's key, in that order; none where only its parent says whose row it is."""
    most: int = 1
    least: int = 0
    order: str | None = None
    path: str | None = field(default=None, compare=False)
    bare: bool = False
    """Whether it has a key and nothing else: a root that only says which rows belong together."""

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """What is read to join it: its own key, its parent's, and the root's where that is apart from these."""
        apart = self.unit_key if self.unit_key not in (self.key, self.foreign_key) else ()
        return tuple(key for key in (self.key, self.foreign_key, apart) if key)

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The fields of all its keys, each once."""
        return tuple(dict.fromkeys(name for key in self.keys for name in key))

    def identifier(self, name: str) -> Identifier:
        """One field of a key."""
        return next(each for each in self.schema.identifiers if each.name == name)


@dataclass(frozen=True)
class Link:
    """A foreign key to a private table: its own fields, the parent, and the parent's fields."""

    own: tuple[str, ...]
    parent: str
    above: tuple[str, ...]


def key_fields(holder: Mapping[str, Any], name: str, resource: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a key, written as a text or as a list; none where it is absent."""
    given = holder.get(name)
    if given is None or given == []:
        return ()
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Sequence) or not all(isinstance(each, str) for each in given):
        raise UserError(f"table {resource['name']!r} {name}: it must be the name of a field or a list of names.")
    twice = next((each for each in given if list(given).count(each) > 1), None)
    if twice is not None:
        raise UserError(f"table {resource['name']!r} {name}: it names {twice[:60]!r} twice; name each field once.")
    return tuple(given)


def key_text(key: Sequence[str]) -> str:
    """A key as users read it: 'id', or 'home, number'."""
    return ", ".join(key)


def read_table(resource: Mapping[str, Any], link: Link | None) -> LinkedTable:
    """A table as its resource declares it; `link` is its foreign key, which the root lacks."""
    name, document = resource["name"], resource["schema"]
    key = key_fields(document, "primaryKey", resource)
    if link is None and not key:
        raise UserError(f"table {name!r}: the root needs a primaryKey, which names the protected unit.")
    own = link.own if link is not None else ()
    unit_key = key_fields(resource, "unitKey", resource)
    if link is None and unit_key not in ((), key):
        raise UserError(f"table {name!r} unitKey: it is the root, whose primaryKey names the unit; leave unitKey out.")
    try:
        schema = Schema.from_json(_modelled(document, [*key, *own, *unit_key], root=link is None))
        _check_parts(document, key, names=[*own, *unit_key])
    except UserError as error:
        raise UserError(f"table {name!r}: {error}") from None
    bare = link is None and schema.names == (UNIT,) and schema.column(UNIT).size == 1
    _check_names(name, () if bare else schema.fields)
    most, least = (1, 1) if link is None else _bounds(resource, link.parent)
    if link is not None and key and set(key) <= {*own} and most > 1:
        raise UserError(
            f"table {name!r}: its primaryKey is its foreign key, so one {link.parent!r} has at most one row; set "
            "maximumPerParent to 1, or add the field that tells its rows apart to the primaryKey."
        )
    path = resource.get("path")
    return LinkedTable(
        name,
        schema,
        key,
        None if link is None else link.parent,
        own,
        unit_key if link is not None else key,
        most=most,
        least=least,
        order=_order(resource, schema),
        path=path if isinstance(path, str) else None,
        bare=bare,
    )


def _bounds(resource: Mapping[str, Any], parent: str) -> tuple[int, int]:
    """The most and the fewest rows of one parent."""
    name = resource["name"]
    if "maximumPerParent" not in resource:
        raise UserError(f"table {name!r}: it needs maximumPerParent, the most rows of one {parent!r} that are used.")
    most = whole_number(f"table {name!r} maximumPerParent", resource["maximumPerParent"], most=MOST_CHILDREN)
    said, least = f"table {name!r} minimumPerParent", resource.get("minimumPerParent", 0)
    return most, whole_number(said, least, least=0, most=most)


def _check_parts(document: Mapping[str, Any], key: Sequence[str], *, names: Sequence[str]) -> None:
    """Refuse a key of several fields with one that looks like a value: keys are renumbered, so its values would be lost."""
    parts = [name for name in key if name not in names] if len(key) > 1 else []
    for field_ in document["fields"]:
        valued = field_.get("type", "string") not in ("string", "integer") or "categories" in field_
        if field_["name"] in parts and valued and field_.get("identifier") is not True:
            raise UserError(
                f"field {field_['name']!r} is a part of its primaryKey and declared as values to model. Keys are renumbered "
                'and never modelled: leave it out of the primaryKey, or mark it "identifier": true.'
            )


def _check_names(table: str, fields: Sequence[str]) -> None:
    """Names that the views give to columns of their own are not free: two columns of one name would be one."""
    for name in fields:
        if name.startswith("#") or ".#" in name or name.endswith(("@2", "@-")):
            raise UserError(
                f"table {table!r}: field {name!r} has a name that linked tables use for numbers of children, places and "
                "siblings (it begins with '#', holds '.#' or ends in '@2' or '@-'); rename it."
            )


def _modelled(document: Mapping[str, Any], keys: list[str], *, root: bool) -> dict[str, Any]:
    """The schema with its keys as identifiers: they are renumbered and never modelled.

    A root that has nothing but its key gets a column of one label, so that it can be counted.
    """
    fields = document.get("fields")
    if not isinstance(fields, list):
        return dict(document)
    if root and all(isinstance(field, Mapping) and field.get("name") in keys for field in fields):
        fields = [*fields, {"name": UNIT, "type": "string", "categories": ["unit"], "constraints": {"required": True}}]
    names = [field.get("name") for field in fields if isinstance(field, Mapping)]
    for key in keys:
        if key not in names:
            raise UserError(f"its key {key[:60]!r} is not among its fields.")
        if any(isinstance(field, Mapping) and field.get("name") == key and field.get("derived") for field in fields):
            raise UserError(f"its key {key[:60]!r} is a derived field; a key must be a field that the table holds.")
    return {
        **document,
        "fields": [
            {**field, "identifier": True} if isinstance(field, Mapping) and field.get("name") in keys else field
            for field in fields
        ],
    }


def _order(resource: Mapping[str, Any], schema: Schema) -> str | None:
    """The first modelled column by which rows are ordered; keys that only number rows make no sequence."""
    given = resource.get("orderBy", ())
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise UserError(f"table {resource['name']!r} orderBy: it must be a list of field names.")
    known = {*schema.names, *(each.name for each in schema.identifiers)}
    for name in given:
        if name not in known:
            raise UserError(f"table {resource['name']!r} orderBy: {name!r} is not among its fields.")
    numeric = [column.name for column in schema.columns if isinstance(column, Numeric) and column.distance is None]
    found = next((name for name in given if name in numeric), None)
    labels = [name for name in given if name in schema.names]
    if found is None and labels:
        raise UserError(
            f"table {resource['name']!r} orderBy: rows cannot be ordered by {labels[0]!r}; name a number, a date or a time, or leave "
            "orderBy out."
        )
    return found


def keys_of(table: LinkedTable, parent: LinkedTable | None) -> dict[str, Any]:
    """The keys of a table as a Table Schema says them."""
    keys: dict[str, Any] = {"primaryKey": list(table.key)} if table.key else {}
    if parent is not None:
        reference = {"resource": parent.name, "fields": list(parent.key)}
        keys["foreignKeys"] = [{"fields": list(table.foreign_key), "reference": reference}]
    return keys
