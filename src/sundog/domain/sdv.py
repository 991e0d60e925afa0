"""Import of SDV metadata (JSON): what it declares is kept; bounds and categories it lacks are listed, never inferred."""

from collections.abc import Mapping
from typing import Any

from sundog.errors import UserError

KINDS = {
    "boolean": "boolean",
    "categorical": "string",
    "numerical": "number",
    "datetime": "datetime",
    "unknown": "string",
}
INTEGER_FORMATS = {"Int64", "Int32", "Int16", "Int8", "UInt64", "UInt32", "UInt16", "UInt8"}


def from_sdv(metadata: Mapping[str, Any], *, table: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """A Table Schema document, and a sentence for each thing that is still to be filled in."""
    name, columns, key = _table(metadata, table)
    fields, lacking = [], []
    for column, facts in columns.items():
        field, lack = _field(column, facts, identifier=column == key)
        fields.append(field)
        lacking += [lack] if lack else []
    return {"name": name, "fields": fields}, lacking


def _table(metadata: Mapping[str, Any], table: str | None) -> tuple[str, Mapping[str, Any], str | None]:
    if "tables" in metadata:
        tables = metadata["tables"]
        chosen = table or (next(iter(tables)) if len(tables) == 1 else None)
        if chosen is None or chosen not in tables:
            raise UserError(f"SDV metadata: it describes the tables {', '.join(tables)}; say which with --table.")
        return chosen, tables[chosen].get("columns", {}), tables[chosen].get("primary_key")
    if "columns" not in metadata:
        raise UserError("SDV metadata: found neither 'columns' nor 'tables'; export it with metadata.save_to_json.")
    return table or "table", metadata["columns"], metadata.get("primary_key")


def _field(name: str, facts: Mapping[str, Any], *, identifier: bool) -> tuple[dict[str, Any], str | None]:
    kind = facts.get("sdtype", "unknown")
    if identifier or kind not in KINDS:  # ids, names, addresses, e-mail: never modelled
        return {"name": name, "type": "string", "identifier": True}, None
    if kind == "numerical":
        whole = facts.get("computer_representation") in INTEGER_FORMATS
        return {"name": name, "type": "integer" if whole else "number"}, f"{name}: constraints.minimum and .maximum"
    if kind == "datetime":
        pattern = str(facts.get("datetime_format") or "")
        day = pattern != "" and not any(mark in pattern for mark in ("%H", "%I", "%M", "%S"))
        form = {"format": pattern} if pattern else {}
        return {
            "name": name,
            "type": "date" if day else "datetime",
            **form,
        }, f"{name}: constraints.minimum and .maximum"
    if kind == "boolean":
        return {"name": name, "type": "boolean"}, None
    order = {"categories": list(facts["order"]), "categoriesOrdered": True} if facts.get("order") else {}
    return {"name": name, "type": "string", **order}, None if order else f"{name}: categories"
