"""Reviewing a draft: a person compares every field with public knowledge, keeps it, changes it, or leaves it out.

The same steps serve a terminal and a page: `questions` lists what is open, each answer gives a new document, and a field
that was answered is marked `reviewed` and loses its `why`, which told what was seen in the data.

>>> review = Review({"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 97},
...                              "sundog": {"origin": "fromData"}, "why": "Whole numbers."}]})
>>> [question.name for question in review.questions]
['age']
>>> review.change("age", {"constraints": {"minimum": 0, "maximum": 120}}).done
True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sundog.domain.columns import Categorical
from sundog.domain.documents import read_column, read_document
from sundog.domain.forms import FieldModel, parse_document
from sundog.domain.grids import SECONDS_PER_DAY, unit_named
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
        """The fields that nobody has reviewed yet, in order."""
        model = parse_document(self.document)
        return [
            Question(field.name, describe(field), str(given.get("why", "")), given)
            for field, given in zip(model.fields, self.document["fields"], strict=True)
            if field.sundog.origin == "fromData"
        ]

    @property
    def done(self) -> bool:
        """Whether every field has been reviewed."""
        return not self.questions

    def keep(self, name: str) -> "Review":
        """The field is right, and publicly known to be so."""
        return self._answered(name, self._field(name))

    def leave_out(self, name: str) -> "Review":
        """The column is not modelled."""
        return self._answered(name, {"name": name, "type": "string", "identifier": True})

    def change(self, name: str, changes: Mapping[str, Any]) -> "Review":
        """The field with other keys; a key with None is dropped. It is checked at once."""
        changed = {key: value for key, value in {**self._field(name), **changes}.items() if value is not None}
        return self._answered(name, changed)

    def _field(self, name: str) -> dict[str, Any]:
        for field in self.document["fields"]:
            if field.get("name") == name:
                return dict(field)
        raise UserError(f"review: the schema has no field {name!r}.")

    def _answered(self, name: str, field: Mapping[str, Any]) -> "Review":
        own = {**field.get("sundog", {}), "origin": "reviewed"}
        marked = {key: value for key, value in {**field, "sundog": own}.items() if key != "why"}
        fields = [marked if other.get("name") == name else other for other in self.document["fields"]]
        made = {**self.document, "fields": fields}
        _check(made, str(marked.get("name")), before=self.document)
        after = Review(made)
        return Review({key: value for key, value in made.items() if key != "description"}) if after.done else after


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
