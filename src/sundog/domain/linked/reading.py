"""What users give as a schema: that of one table, or a Data Package of linked ones."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sundog.domain.linked.package import is_package
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.schema import Schema, load_document
from sundog.errors import UserError


def schema_from(document: Mapping[str, Any]) -> Schema:
    """The schema of a document, of one table or of linked ones."""
    return LinkedSchema.from_document(document) if is_package(document) else Schema.from_json(document)


def declared(given: Schema | Mapping[str, Any] | str | Path) -> Schema:
    """A schema as users give it: as it is, as a document, or as the path of one."""
    if isinstance(given, Schema):
        return given
    if not isinstance(given, Mapping | str | PathLike):
        raise UserError(
            f"schema: found a {type(given).__name__}; give a Schema, a Table Schema document (a dictionary with 'fields'), or its path."
        )
    return schema_from(given if isinstance(given, Mapping) else load_document(given))


def refuse_linked(schema: Schema, what: str) -> None:
    """Say clearly that something is for one table only."""
    if isinstance(schema, LinkedSchema):
        raise UserError(
            f"{what}: it is for one table, and this schema is a package of {len(schema.package.tables)} linked tables. "
            "Linked tables can be planned, checked, synthesized, measured, generated, asked, evaluated and verified; for the rest use "
            "the schema and the file of one of the tables."
        )
