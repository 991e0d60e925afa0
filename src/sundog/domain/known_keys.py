"""Which keys of a schema document Sundog knows: only these are ever copied into a release.

A schema is public, and its author may still have written into it what is not: a number of rows, a note about a person.
Keys that no model declares are therefore left out, at every depth, and named when a command loads the schema. Of the
keys that the standard has for people (titles, descriptions, sources) and of a draft's reasons nothing is said.
"""

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel

CATEGORY_KEYS = ("value", "label", "parent")
"""What an entry of a category list may say, where it is an object."""
FOR_PEOPLE = {
    *("$schema", "title", "description", "homepage", "sources", "licenses", "contributors", "keywords", "version"),
    *("created", "id", "profile", "image", "example", "rdfType", "primaryKey", "uniqueKeys", "foreignKeys", "why"),
    *("fieldsMatch", "unique", "pattern", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum"),
}


def only_known(document: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The document with the keys that the model knows, at every depth; all others (notes, drafts' reasons) are left out."""
    parts = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    return {key: _known(value, key, parts[key]) for key, value in document.items() if key in parts}


def _known(value: Any, key: str, kind: Any) -> Any:
    if key == "categories" and isinstance(value, list):
        return [_category(item) for item in value]
    model = _model_in(kind)
    if model is None:
        return value
    if isinstance(value, Mapping):
        return only_known(value, model)
    return [only_known(item, model) if isinstance(item, Mapping) else item for item in value or []]


def _category(item: Any) -> Any:
    return {key: item[key] for key in CATEGORY_KEYS if key in item} if isinstance(item, Mapping) else item


def _model_in(kind: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `list[Model] | None`, if there is one."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next((model for part in get_args(kind) if (model := _model_in(part)) is not None), None)


def unknown_keys(document: Mapping[str, Any], model: type[BaseModel]) -> list[str]:
    """The keys that are left out, by their places ("rows", "fields.note"), each once; those for people are not told."""
    parts = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    found = [key for key in document if key not in parts and key not in FOR_PEOPLE]
    for key, value in document.items():
        inner = _model_in(parts.get(key))
        for item in value if isinstance(value, list) else [value]:
            if inner is not None and isinstance(item, Mapping):
                found += [f"{key}.{below}" for below in unknown_keys(item, inner)]
    return list(dict.fromkeys(found))
