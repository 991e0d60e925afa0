"""What a release folder says of itself: README.txt for people, datapackage.json for machines. Public values only.

datapackage.json is a Data Package (v2) whose one resource is the synthetic table, with the keys of Croissant 1.1 that have no
place there under `croissant`: a JSON-LD description that says that the rows are synthetic and how they were made.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.domain.linked.table import LinkedTable, keys_of
from sundog.domain.linked.views import LinkedSchema
from sundog.released import Released
from sundog.report.certificate import claim
from sundog.report.release_files import about, in_order, is_table
from sundog.report.words import promise, warning_sentences
from sundog.version import __version__

UNLISTED = {"certificate.sig"}
"""It is written after the texts that could name it."""
MEDIA = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}


def write_description(folder: Path, released: Released, *, method: str | None) -> None:
    """README.txt and datapackage.json, for the files that are in the folder."""
    for name, text in description(released, method=method, there=[path.name for path in folder.iterdir()]).items():
        (folder / name).write_bytes(text.encode())


def description(released: Released, *, method: str | None, there: Iterable[str]) -> dict[str, str]:
    """The texts of README.txt and datapackage.json of a release with these files."""
    names = in_order({*there, "README.txt", "datapackage.json", "certificate.json", "certificate.html"} - UNLISTED)
    package = data_package(released, method=method, tables=sorted(filter(is_table, names)))
    return {
        "datapackage.json": json.dumps(package, indent=2, ensure_ascii=False) + "\n",
        "README.txt": _readme(released, method=method, there=names),
    }


def data_package(released: Released, *, method: str | None, tables: list[str]) -> dict[str, Any]:
    """The synthetic table, or tables, as a Data Package."""
    described = f"Synthetic rows made by Sundog {__version__}" + (f" (method {method})" if method else "")
    title = "synthetic tables" if isinstance(released.schema, LinkedSchema) else "synthetic table"
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": _slug(released.dataset),
        "title": f"{released.dataset}: {title}",
        "description": f"{described}. {claim(released.guarantee)}",
        "resources": _resources(released.schema, tables),
        "croissant": _croissant(released, described=described, tables=tables),
    }


def _resources(schema: Schema, tables: list[str]) -> list[dict[str, Any]]:
    """The one table, or the linked ones with their keys."""
    if not isinstance(schema, LinkedSchema):
        return [{"name": "synthetic", "schema": _table_schema(schema), **_files(tables)}]
    package = schema.package
    return [_linked_resource(table, package.above(table.name), tables) for table in package.tables]


def _linked_resource(table: LinkedTable, parent: LinkedTable | None, tables: list[str]) -> dict[str, Any]:
    file = next((name for name in tables if name.split(".")[1] == table.name), None)
    bounds = {} if parent is None else {"maximumPerParent": table.most, "minimumPerParent": table.least}
    schema: dict[str, Any] = {"fields": []} if table.bare else _table_schema(table.schema)
    known = {field["name"] for field in schema["fields"]}
    added = [{"name": key, "type": _key_type(table, key)} for key in table.key_fields if key not in known]
    schema["fields"] = [*(_marked(field, table.schema) for field in added), *schema["fields"]]
    return {"name": table.name, "schema": {**schema, **keys_of(table, parent)}, **bounds, **_file(file)}


def _key_type(table: LinkedTable, key: str) -> str:
    return "integer" if table.identifier(key).whole_number else "string"


def _table_schema(schema: Schema) -> dict[str, Any]:
    fields = [_field(column) for column in schema.shown]
    fields += [{"name": each.name, "type": each.type} for each in schema.derived]
    fields += [{"name": each.name, "type": "string"} for each in schema.identifiers if each.regenerate]
    return {"fields": [_marked(field, schema) for field in fields], "missingValues": [""]}


def _marked(field: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """The field with where it comes from, if not from its owner: a mark is never lost."""
    origin = schema.origins.get(field["name"], "declared")
    return field if origin == "declared" else {**field, "sundog": {"origin": origin}}


def _files(tables: list[str]) -> dict[str, Any]:
    """The file of the one table, or those of its parts in their order."""
    parts = [name for name in tables if name.startswith("synthetic.part-")]
    return {**_file(parts[0]), "path": parts} if parts else _file(tables[0] if tables else None)


def _file(name: str | None) -> dict[str, Any]:
    if name is None:
        return {"data": []}
    ending = Path(name).suffix
    return {"path": name, "format": ending[1:], "mediatype": MEDIA[ending]}


def _croissant(released: Released, *, described: str, tables: list[str]) -> dict[str, Any]:
    files = [{"@type": "cr:FileObject", "@id": name, "contentUrl": name} for name in tables]
    return {
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": f"{released.dataset}: synthetic table",
        "description": described,
        "rai:hasSyntheticData": True,
        "rai:personalSensitiveInformation": "None: the rows are synthetic, made from differentially private measurements.",
        "rai:dataUseCases": "Exploration, teaching, method development; confirm findings that matter on the real data.",
        "privacyGuarantee": claim(released.guarantee),
        "distribution": files,
    }


def _field(column: Column) -> dict[str, Any]:
    required = {} if column.nullable else {"required": True}
    if isinstance(column, Categorical):
        kind = "boolean" if column.boolean else _label_type(column)
        listed = {} if column.boolean else {"categories": list(column.labels)}
        ordered = {"categoriesOrdered": True} if column.ordered else {}
        return {"name": column.name, "type": kind, **listed, **ordered, "constraints": required}
    kind = column.kind if column.kind in ("integer", "number", "date", "datetime", "time") else "number"
    bounds = {"minimum": _bound(column, 0), "maximum": _bound(column, column.steps - 1)}
    return {"name": column.name, "type": kind, "constraints": {**bounds, **required}}


def _label_type(column: Categorical) -> str:
    kinds = {type(label) for label in column.labels}
    return "integer" if kinds == {int} else "number" if kinds <= {int, float} else "string"


def _bound(column: Numeric, code: int) -> Any:
    text = column.describe(code)
    return int(text) if column.kind == "integer" else float(text) if column.kind == "number" else text


def _slug(name: str) -> str:
    made = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())
    return made.strip("-") or "table"


def _readme(released: Released, *, method: str | None, there: list[str]) -> str:
    width = max(len(name) for name in there)
    listed = [f"  {name:<{width}}  {about(name)}" for name in there]
    lines = [
        f"{released.dataset}: a synthetic table",
        "",
        "The rows in this folder are made up. They were drawn from a model of noisy counts of a real table, so that anyone may",
        "use them; no real row is among them on purpose, and what they tell about any single person is limited:",
        "",
        f"  {claim(released.guarantee)}",
        f"  {promise(released.guarantee)}",
        *(f"  WARNING: {warning}" for warning in warning_sentences(released)),
        "",
        f"Made with Sundog {__version__}" + (f", method {method}." if method else "."),
        "",
        "Files",
        *listed,
        "",
        "How to use it",
        *(
            ["  Open report.html first: it says how far each column and pair can be relied on."]
            if "report.html" in there
            else []
        ),
        *(
            ["  Open explore.html to look at numbers with their intervals; it loads nothing."]
            if "explore.html" in there
            else []
        ),
        "  For a number with an error bar:  sundog answer FOLDER --by COLUMN",
        "  To check that nothing was changed:  sundog verify FOLDER",
        "  Findings that matter should be confirmed on the real data by its owner.",
        "",
    ]
    return "\n".join(lines)
