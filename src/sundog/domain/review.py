"""Reviewing a draft: a person compares every field with public knowledge, keeps it, changes it, or leaves it out.

A draft is of one table, or a package of linked ones put together from the drafts of each.

The same steps serve a terminal and a page: `questions` lists what is open, each answer gives a new document, and a field
that was answered is marked `reviewed` and loses its `why`, which told what was seen in the data.

>>> review = Review({"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 97},
...                              "sundog": {"origin": "fromData"}, "why": "Whole numbers."}]})
>>> [question.name for question in review.questions]
['age']
>>> review.change("age", {"constraints": {"minimum": 0, "maximum": 120}}).done
True
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sundog.domain.columns import Categorical
from sundog.domain.documents import read_column, read_document
from sundog.domain.forms import FieldModel, parse_document
from sundog.domain.grids import SECONDS_PER_DAY, unit_named
from sundog.domain.linked.package import Package, is_package
from sundog.domain.offsets import read_distance
from sundog.errors import UserError

SHOWN = 12
"""This many labels of a list are shown."""


@dataclass(frozen=True)
class Question:
    """One field that waits for review: what it declares, in words, and why the draft says so."""

    name: str
    declares: str
    why: str
    field: Mapping[str, Any]


@dataclass(frozen=True)
class Review:
    """A schema document under review. Every answer gives a new one."""

    document: Mapping[str, Any]

    @property
    def questions(self) -> list[Question]:
        """The fields that nobody has reviewed yet, in order; of linked tables by their names `table.field`."""
        return [question for prefix, table in self._tables.items() for question in _questions(table, prefix)]

    @property
    def done(self) -> bool:
        """Whether every field has been reviewed."""
        return not self.questions

    def keep(self, name: str) -> "Review":
        """The field is right, and publicly known to be so."""
        return self._answered(name, self._field(name))

    def leave_out(self, name: str) -> "Review":
        """The column is not modelled."""
        return self._answered(name, {"name": self._field(name)["name"], "type": "string", "identifier": True})

    def change(self, name: str, changes: Mapping[str, Any]) -> "Review":
        """The field with other keys; a key with None is dropped. It is checked at once."""
        changed = {key: value for key, value in {**self._field(name), **changes}.items() if value is not None}
        return self._answered(name, changed)

    @property
    def _tables(self) -> dict[str, Mapping[str, Any]]:
        """The schema of each table by what stands before the names of its fields; their keys are identifiers."""
        if not is_package(self.document):
            parse_document(self.document)
            return {"": self.document}
        keys = {table.name: table.key_fields for table in Package.from_json(self.document).tables}
        return {
            f"{each['name']}.": _with_keys(each["schema"], keys[each["name"]])
            for each in self.document["resources"]
            if each["name"] in keys
        }

    def _place(self, name: str) -> tuple[str, int]:
        """What stands before the field's name, and where the field stands in its table."""
        for prefix, table in self._tables.items():
            for place, field in enumerate(table["fields"]):
                if name == f"{prefix}{field.get('name')}":
                    return prefix, place
        raise UserError(f"review: the schema has no field {name!r}.")

    def _field(self, name: str) -> dict[str, Any]:
        prefix, place = self._place(name)
        return dict(self._tables[prefix]["fields"][place])

    def _answered(self, name: str, field: Mapping[str, Any]) -> "Review":
        prefix, place = self._place(name)
        table = self._tables[prefix]
        own = {**field.get("sundog", {}), "origin": "reviewed"}
        marked = {key: value for key, value in {**field, "sundog": own}.items() if key != "why"}
        made = {**table, "fields": [*table["fields"][:place], marked, *table["fields"][place + 1 :]]}
        _check(made, str(marked.get("name")), before=table)
        if not _questions(made, prefix):
            made = {key: value for key, value in made.items() if key != "description"}
        return self._with(prefix, made)

    def _with(self, prefix: str, table: Mapping[str, Any]) -> "Review":
        """The review with another schema of one table; refused at once where the tables then do not fit together."""
        if not prefix:
            return Review(table)
        resources = [
            {**each, "schema": table} if f"{each['name']}." == prefix else each for each in self.document["resources"]
        ]
        made = {**self.document, "resources": resources}
        Package.from_json(made)
        return Review(made)


def _questions(document: Mapping[str, Any], prefix: str) -> list[Question]:
    model = parse_document(document)
    return [
        Question(f"{prefix}{field.name}", describe(field), str(given.get("why", "")), given)
        for field, given in zip(model.fields, document["fields"], strict=True)
        if field.sundog.origin == "fromData"
    ]


def _with_keys(document: Mapping[str, Any], keys: Collection[str]) -> Mapping[str, Any]:
    """The schema of one of several tables, its keys marked as identifiers: they are never modelled."""
    fields = [{**field, "identifier": True} if field["name"] in keys else field for field in document["fields"]]
    return {**document, "fields": fields}


def _check(document: Mapping[str, Any], name: str, *, before: Mapping[str, Any]) -> None:
    """Refuse an answer that cannot be read, or that other fields cannot be read with."""
    field = next(one for one in parse_document(document).fields if one.name == name)
    if not (field.identifier or field.derived is not None or field.relative_to is not None):
        read_column(field)
    try:
        read_document(before)
    except UserError:  # something else is still lacking
        return
    read_document(document)


def describe(field: FieldModel) -> str:
    """What a field declares, in a line."""
    if field.identifier:
        return "left out (an identifier, a name or free text)"
    if field.derived is not None:
        return f"{field.type}, computed: {field.derived}"
    if field.relative_to is not None:
        distance = read_distance(field)
        seconds = SECONDS_PER_DAY if field.type == "date" else field.sundog.resolution or 1
        unit = "" if field.type in ("integer", "number") else unit_named(seconds)
        ends = f"{distance.describe(0)} to {distance.describe(distance.steps - 1)}"
        return f"{field.type}, modelled as its distance from {field.relative_to}: {ends} {unit}".rstrip()
    column = read_column(field)
    missing = "never missing" if field.constraints.required else "may be missing"
    if isinstance(column, Categorical):
        shown = ", ".join(str(label) for label in column.labels[:SHOWN])
        more = f" and {len(column.labels) - SHOWN} more" if len(column.labels) > SHOWN else ""
        return f"{field.type}, {len(column.labels)} labels: {shown}{more}; {missing}"
    form = f" written {field.format}" if field.format else ""
    return f"{field.type}{form} from {column.describe(0)} to {column.describe(column.steps - 1)}; {missing}"
