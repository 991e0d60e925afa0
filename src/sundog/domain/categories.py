"""Category lists: in the document or in a file of their own, flat or with parents (codes of ICD, NACE, zip areas).

A list's entries are labels, or objects with a `value`, a `label` for people, and a `parent`: the value (or just the name)
of what it belongs to. Labels too rare to be measured then stand together with their siblings under their parent, not in
an unnamed remainder (see estimate.bins). `categories` may also name a CSV or JSON file, relative to the schema's: a CSV
file has a header line with `value` (else its first column is meant), and may have `parent` and `label`.

What is no list of categories but text in disguise is refused: too many labels, or labels too long.
"""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sundog.domain.columns import Label
from sundog.domain.forms import FieldModel
from sundog.errors import UserError
from sundog.json_files import parsed_json, read_text

MOST_LABELS, MOST_WITH_PARENTS = 50_000, 200_000
LONGEST_LABEL = 200
TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}
FILE_TYPES = {"integer": int, "number": float}


def read_categories(field: FieldModel) -> tuple[tuple[Label, ...], tuple[Label | None, ...]]:
    """The labels of a field, and their parents (none at all where no label has one)."""
    listed = field.categories if field.categories is not None else field.constraints.enum or []
    labels = tuple(item["value"] if isinstance(item, Mapping) and "value" in item else item for item in listed)
    if not labels:
        raise UserError(f"field {field.name!r}: its category list is empty; list at least one category.")
    for label in labels:
        _check_label(field, label)
    if len(set(labels)) < len(labels):
        seen: set[Label] = set()
        twice = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise UserError(f"field {field.name!r}: category {twice!r} is listed twice; categories must be distinct.")
    parents = tuple(item.get("parent") if isinstance(item, Mapping) else None for item in listed)
    parents = parents if any(parent is not None for parent in parents) else ()
    _refuse_text(field, labels, parents)
    _refuse_circles(field, labels, parents)
    return labels, parents


def _check_label(field: FieldModel, label: Any) -> None:
    if not isinstance(label, TYPES.get(field.type, (str,))) or isinstance(label, bool):
        kind = type(label).__name__
        raise UserError(f"field {field.name!r}: category {label!r} is a {kind}, but the field's type is {field.type}.")
    limit = math.inf if isinstance(label, float) else 2**63 if field.type == "integer" else 2**53
    if isinstance(label, int | float) and not abs(label) < limit:
        raise UserError(f"field {field.name!r}: category {label!r} is no number that 64 bits hold; list strings.")


def _refuse_text(field: FieldModel, labels: tuple[Label, ...], parents: tuple[Label | None, ...]) -> None:
    most = MOST_WITH_PARENTS if parents else MOST_LABELS
    if len(labels) > most:
        deeper = "" if parents else f", or give each a parent (then {MOST_WITH_PARENTS:,} are allowed)"
        raise UserError(
            f"field {field.name!r}: the schema lists {len(labels):,} categories; at most {most:,} can be measured. Names, "
            f'addresses and free text cannot be modelled: declare "identifier": true. Codes: list coarser ones{deeper}.'
        )
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if longest > LONGEST_LABEL:
        raise UserError(
            f"field {field.name!r}: the schema lists a category of {longest:,} characters; at most {LONGEST_LABEL} are "
            'allowed. Free text cannot be modelled: declare "identifier": true, or list short codes for it.'
        )


def _refuse_circles(field: FieldModel, labels: tuple[Label, ...], parents: tuple[Label | None, ...]) -> None:
    above = dict(zip(labels, parents, strict=True)) if parents else {}
    safe: set[Label] = set()
    for label in above:
        path: list[Label] = []
        place: Label | None = label
        while place is not None and place not in safe:
            if place in path:
                raise UserError(f"field {field.name!r}: category {place!r} is its own ancestor; correct its parents.")
            path.append(place)
            place = above.get(place)
        safe.update(path)


def with_category_files(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The document with the lists themselves where its fields name files."""
    fields = document.get("fields")
    if not isinstance(fields, list):
        return dict(document)
    return {**document, "fields": [_with_file(field, folder) for field in fields]}


def _with_file(field: Any, folder: Path) -> Any:
    named = field.get("categories") if isinstance(field, Mapping) else None
    if not isinstance(named, str):
        return field
    said = f"field {field.get('name')!r}: its categories file {named!r}"
    text = read_text(folder / named, place=said, absent="name a UTF-8 CSV or JSON file, relative to the schema")
    listed = _from_json(text, said) if Path(named).suffix.lower() == ".json" else _from_csv(text, said)
    return {**field, "categories": [_typed(item, field, said) for item in listed]}


def _from_json(text: str, said: str) -> list[Any]:
    listed = parsed_json(text, place=said)
    if not isinstance(listed, list):
        raise UserError(f"{said} holds no list; write a list of labels, or of objects with a value and a parent.")
    return listed


def _from_csv(text: str, said: str) -> list[dict[str, Any]]:
    rows = list(csv.DictReader(text.splitlines()))
    names = list(rows[0]) if rows else []
    if not names or any(None in row for row in rows):
        raise UserError(f"{said} needs a header line with `value` (and perhaps `parent`), and no longer line below it.")
    value = "value" if "value" in names else names[0]
    kept = {"value": value, **{key: key for key in ("parent", "label") if key in names and key != value}}
    return [{key: row[name] for key, name in kept.items() if row[name] not in ("", None)} for row in rows]


def _typed(item: Any, field: Mapping[str, Any], said: str) -> Any:
    """Labels of a file as the field's type writes them: a CSV file knows text alone."""
    kind = FILE_TYPES.get(field.get("type", "string"))
    if kind is None or not isinstance(item, Mapping):
        return item
    try:
        return {key: kind(value) if key in ("value", "parent") else value for key, value in item.items()}
    except (TypeError, ValueError):
        raise UserError(
            f"{said} holds a value or parent that is no {field['type']}, as the field's type asks."
        ) from None
