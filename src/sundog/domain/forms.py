"""The form of a schema document (Data Package Table Schema, JSON): its keys, their types and defaults.

What the standard lacks stands in a field's `sundog` object:
`bins` (a number, or the inner edges), `decimals`, `resolution` (seconds, for datetimes and times), `outOfDomain` ("missing", or a
category), `regenerate` (for identifiers), `origin` (where the domain comes from; see origin.py), `receipts` and `publicBecause` (why the
domain is public, in the owner's words).
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sundog.domain.dialect import DialectModel
from sundog.domain.origin import Origin
from sundog.errors import UserError


class SundogProperty(BaseModel):
    """What Sundog adds to a field."""

    model_config = ConfigDict(extra="forbid")
    bins: int | list[float | str] | None = None
    decimals: int | None = Field(default=None, ge=0, le=15)
    resolution: int | None = Field(default=None, ge=1)
    out_of_domain: str | int | float | bool | None = Field(default=None, alias="outOfDomain")
    regenerate: bool = False
    origin: Origin = "declared"
    receipts: list[str] = []
    public_because: str | None = Field(default=None, alias="publicBecause", max_length=500)


class Constraints(BaseModel):
    """The constraints of a field that bound its domain; others are allowed and ignored."""

    model_config = ConfigDict(extra="allow")
    required: bool = False
    minimum: int | float | str | None = None
    maximum: int | float | str | None = None
    enum: list[Any] | None = None


class OffsetBounds(BaseModel):
    """The bounds of a field's distance from the one that it is relative to: numbers, or texts such as "36 hours"."""

    model_config = ConfigDict(extra="forbid")
    minimum: int | float | str
    maximum: int | float | str


class LabelledValue(BaseModel):
    """A missing value with its meaning."""

    model_config = ConfigDict(extra="allow")
    value: str


MissingValue = str | LabelledValue


class FieldModel(BaseModel):
    """One field of the document."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(min_length=1)
    type: Literal["string", "integer", "number", "boolean", "date", "datetime", "time"] = "string"
    format: str | None = None
    decimal_char: str | None = Field(default=None, alias="decimalChar")
    group_char: str | None = Field(default=None, alias="groupChar")
    bare_number: bool | None = Field(default=None, alias="bareNumber")
    missing_values: list[MissingValue] | None = Field(default=None, alias="missingValues")
    categories: list[Any] | None = None
    categories_ordered: bool = Field(default=False, alias="categoriesOrdered")
    constraints: Constraints = Constraints()
    identifier: bool = False
    derived: str | None = None
    relative_to: str | None = Field(default=None, alias="relativeTo")
    offset: OffsetBounds | None = None
    true_values: list[str] = Field(default=["true", "True", "TRUE", "1"], alias="trueValues", min_length=1)
    false_values: list[str] = Field(default=["false", "False", "FALSE", "0"], alias="falseValues", min_length=1)
    sundog: SundogProperty = SundogProperty()


class Document(BaseModel):
    """A schema document as it is written: its fields, and what holds for all of them."""

    model_config = ConfigDict(extra="allow")
    fields: list[FieldModel] = Field(min_length=1)
    targets: list[str] = []
    name: str | None = None
    missing_values: list[MissingValue] = Field(default=[""], alias="missingValues")
    constraints: list[Any] = []
    dialect: DialectModel = DialectModel()


def parse_document(document: Mapping[str, Any]) -> Document:
    """The document's parts, checked for form only; fields have the defaults that the document declares for all."""
    _refuse_package(document)
    try:
        model = Document.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = _place(first["loc"], document)
        raise UserError(f"schema {place}: {first['msg']}. `sundog help schema` says what is allowed.") from None
    _refuse_halves(document)
    return model.model_copy(update={"fields": [_with_defaults(field, model) for field in model.fields]})


def _refuse_package(document: Mapping[str, Any]) -> None:
    if "resources" in document and "fields" not in document:
        raise UserError(
            "schema: this is a Data Package of linked tables, and what was asked is for one table. Linked tables can be "
            "planned, checked, synthesized, measured, generated, asked, evaluated and verified; for the rest name one of the "
            "tables, such as a synthetic.NAME.csv of a release, and give that table's own schema."
        )


def _refuse_halves(document: Mapping[str, Any]) -> None:
    """Refuse text that no engine takes; a run would stop at it after spending."""
    try:
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        found = error.object[error.start : error.end].encode("ascii", "backslashreplace").decode()
        raise UserError(
            f"schema: it holds {found}, which is half of a character (a lone surrogate) and occurs in no text; write the "
            "whole character."
        ) from None


def _with_defaults(field: FieldModel, model: Document) -> FieldModel:
    """The field with the document's missing values and number marks where it declares none of its own."""
    common = {
        "missing_values": model.missing_values,
        "decimal_char": model.dialect.decimal_char,
        "group_char": model.dialect.group_char,
        "bare_number": model.dialect.bare_number,
    }
    return field.model_copy(update={key: value for key, value in common.items() if getattr(field, key) is None})


def missing_texts(field: FieldModel) -> tuple[str, ...]:
    """The texts that mean "missing" in a field."""
    return tuple(value if isinstance(value, str) else value.value for value in field.missing_values or ())


def _place(location: tuple[int | str, ...], document: Mapping[str, Any]) -> str:
    if len(location) > 1 and location[0] == "fields" and isinstance(location[1], int):
        field = document["fields"][location[1]]
        name = field.get("name") if isinstance(field, Mapping) else None
        rest = ".".join(str(part) for part in location[2:])
        return f"field {name!r}" + (f", {rest}" if rest else "") if name else f"field number {location[1] + 1}, {rest}"
    return ".".join(str(part) for part in location) or "document"
