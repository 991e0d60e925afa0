"""Schema: the declared public facts about a table. Nothing in it is ever read from private rows for free."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sundog.domain.categories import with_category_files
from sundog.domain.columns import Column, Identifier
from sundog.domain.constraints.kinds import Constraint
from sundog.domain.derived import Derived
from sundog.domain.dialect import STANDARD, Dialect
from sundog.domain.documents import read_document
from sundog.domain.offsets import shown
from sundog.domain.origin import Origin
from sundog.errors import UserError
from sundog.json_files import read_json


@dataclass(frozen=True)
class Schema:
    """The modelled columns in order, the identifier columns, the prediction targets, and the document it came from.

    >>> schema = Schema.from_json({"fields": [{"name": "smoker", "type": "boolean"}]})
    >>> schema.names, schema.column("smoker").size
    (('smoker',), 3)
    """

    columns: tuple[Column, ...]
    identifiers: tuple[Identifier, ...] = ()
    targets: tuple[str, ...] = ()
    name: str | None = None
    field_order: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    derived: tuple[Derived, ...] = field(default=(), compare=False)
    """Fields computed from others, each after those that it uses; never measured."""
    dialect: Dialect = field(default=STANDARD, compare=False)
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False, repr=False)
    """Where each field comes from, be it modelled, derived, an identifier or, as `table.field`, a key of linked tables; one that is
    not named was declared."""
    document: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.columns:
            raise UserError("schema: it has no column to model (identifiers are left out); declare at least one field.")
        for target in self.targets:
            if target not in self.names:
                raise UserError(
                    f"schema targets: {target!r} is not a modelled field; fields are {_listed(self.names)}."
                )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The modelled columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def declared_names(self) -> tuple[str, ...]:
        """The columns that the owner declared."""
        return self.names

    @cached_property
    def shown(self) -> tuple[Column, ...]:
        """The columns as they come out: in place of a distance the field that it gives."""
        return tuple(shown(column) for column in self.columns)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields that a table must have for its rows to be encoded: those shown, and what they are relative to."""
        return tuple(dict.fromkeys(name for column in self.columns for name in column.fields))

    @cached_property
    def widened(self) -> "Schema":
        """The schema with the fields that distances give as further columns: what can be asked of synthetic rows."""
        more = tuple(field for field, column in zip(self.shown, self.columns, strict=True) if field is not column)
        return replace(self, columns=(*self.columns, *more)) if more else self

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def position(self, name: str) -> int:
        """Where a column stands."""
        if name not in self._positions:
            raise UserError(f"column {name!r} is not in the schema; its columns are {_listed(self.names)}.")
        return self._positions[name]

    def column(self, name: str) -> Column:
        """One column by name."""
        return self.columns[self.position(name)]

    def to_json(self) -> dict[str, Any]:
        """The Table Schema document this schema was read from, with the keys that Sundog knows and no other."""
        return dict(self.document)

    def with_dialect(self, changes: Mapping[str, Any]) -> "Schema":
        """The schema with other keys of its `dialect`: how a text file of this table is written."""
        return type(self).from_json(amend_dialect(self.document, changes)) if changes else self

    def unreviewed_as(self, other: "Schema") -> "Schema":
        """The schema with those fields marked as read from the rows that another one marks so: a mark is never lost."""
        names = {name for name in self.origins if other.origins.get(name) == "fromData"}
        fields = [
            {**field, "sundog": {**field.get("sundog", {}), "origin": "fromData"}} if field["name"] in names else field
            for field in self.document.get("fields", [])
        ]
        origins: dict[str, Origin] = {**self.origins, **dict.fromkeys(names, "fromData")}
        return replace(self, origins=origins, document={**self.document, "fields": fields}) if names else self

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> "Schema":
        """A schema from a Data Package Table Schema document."""
        return Schema(**read_document(document))

    @staticmethod
    def of(given: "Schema | Mapping[str, Any] | str | Path") -> "Schema":
        """A schema as users give it: as it is, as a document, or as the path of one."""
        if isinstance(given, Schema):
            return given
        return Schema.from_json(given) if isinstance(given, Mapping) else Schema.load(given)

    @staticmethod
    def load(path: str | Path) -> "Schema":
        """A schema from a Table Schema JSON file."""
        return Schema.from_json(load_document(path))


def amend_dialect(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A document with other keys of its `dialect`."""
    declared = document.get("dialect", {})
    if not isinstance(declared, Mapping):
        raise UserError('schema dialect: found no object; write one such as {"delimiter": ";"}.')
    return {**document, "dialect": {**declared, **changes}} if changes else dict(document)


def load_document(path: str | Path) -> dict[str, Any]:
    """A JSON object from a file, with the category lists of files that it names; messages name the file."""
    document = read_json(path, what="schema file", absent="draft one with: sundog schema draft DATA")
    return with_category_files(document, Path(path).parent)


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
