"""One table of a package: its modelled columns, its keys, and how it hangs below its parent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sundog.domain.columns import Numeric
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
    key: str | None
    parent: str | None = None
    foreign_key: str | None = None
    most: int = 1
    least: int = 0
    order: str | None = None
    path: str | None = field(default=None, compare=False)
    parent_key: str | None = None
    bare: bool = False
    """Whether it has a key and nothing else: a root that only says which rows belong together."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that are read as keys: its own, and its parent's."""
        return tuple(key for key in (self.key, self.foreign_key) if key is not None)


def one_field(holder: Mapping[str, Any], name: str, resource: Mapping[str, Any]) -> str:
    """A key of one field; written as a text or as a list of one."""
    given = holder.get(name)
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence) and len(given) == 1 and isinstance(given[0], str):
        return given[0]
    raise UserError(
        f"table {resource['name']!r}: its keys must have one field each; join several into one column first."
    )


def read_table(resource: Mapping[str, Any], link: tuple[str, str, str] | None) -> LinkedTable:
    """A table as its resource declares it; `link` is its own field, its parent and that one's field."""
    name, document = resource["name"], resource["schema"]
    key = one_field(document, "primaryKey", resource) if document.get("primaryKey") else None
    if link is None and key is None:
        raise UserError(f"table {name!r}: the root needs a primaryKey, which names the protected unit.")
    own, parent, parent_key = link if link is not None else (None, None, None)
    try:
        schema = Schema.from_json(_modelled(document, [each for each in (key, own) if each], root=link is None))
    except UserError as error:
        raise UserError(f"table {name!r}: {error}") from None
    bare = link is None and schema.names == (UNIT,) and schema.column(UNIT).size == 1
    _check_names(name, () if bare else schema.fields)
    most, least = 1, 1
    if link is not None:
        if "maximumPerParent" not in resource:
            raise UserError(
                f"table {name!r}: it needs maximumPerParent, the most rows of one {parent!r} that are used."
            )
        most = whole_number(f"table {name!r} maximumPerParent", resource["maximumPerParent"], most=MOST_CHILDREN)
        least = whole_number(
            f"table {name!r} minimumPerParent", resource.get("minimumPerParent", 0), least=0, most=most
        )
    path = resource.get("path")
    return LinkedTable(
        name,
        schema,
        key,
        parent,
        own,
        most=most,
        least=least,
        order=_order(resource, schema),
        path=path if isinstance(path, str) else None,
        parent_key=parent_key,
        bare=bare,
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
            raise UserError(f"its key {key!r} is not among its fields.")
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


def keys_of(table: LinkedTable) -> dict[str, Any]:
    """The keys of a table as a Table Schema says them."""
    keys: dict[str, Any] = {} if table.key is None else {"primaryKey": [table.key]}
    if table.parent is not None:
        reference = {"resource": table.parent, "fields": [table.parent_key]}
        keys["foreignKeys"] = [{"fields": [table.foreign_key], "reference": reference}]
    return keys
