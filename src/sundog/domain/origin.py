"""Where a field's domain comes from, and which keys of a schema document may be released.

    declared   the owner wrote it down from public knowledge (the default)
    reviewed   drafted from the data, then compared with public knowledge by a person
    paid       found by noisy counts, which the ledger charged (`receipts` name the entries)
    fromData   read off the rows, and nobody has reviewed it

The first three are public. The last is not: whoever holds the release can tell something about single rows from it. So
it is refused where a budget is spent, unless the owner accepts it, and then the certificate names the columns.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel

from sundog.errors import UserError

Origin = Literal["declared", "reviewed", "paid", "fromData"]

CATEGORY_KEYS = ("value", "label")
"""What an entry of a category list may say, where it is an object."""
MEANING: dict[Origin, str] = {
    "declared": "declared by the owner",
    "reviewed": "drafted from the data, then reviewed by the owner",
    "paid": "found by noisy counts that were paid for",
    "fromData": "read off the rows without noise",
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


def grouped(origins: Mapping[str, Origin]) -> dict[Origin, list[str]]:
    """The fields by where their domains come from; origins that no field has are left out."""
    groups: dict[Origin, list[str]] = {origin: [] for origin in MEANING}
    for name, origin in origins.items():
        groups[origin].append(name)
    return {origin: names for origin, names in groups.items() if names}


def refuse_unreviewed(origins: Mapping[str, Origin], *, accepted: bool) -> None:
    """Refuse a schema with fields that were read off the rows and not reviewed, unless the owner accepts that."""
    unreviewed = grouped(origins).get("fromData", [])
    if not unreviewed or accepted:
        return
    shown = ", ".join(repr(name) for name in unreviewed[:6]) + (
        f" and {len(unreviewed) - 6} more" if unreviewed[6:] else ""
    )
    raise UserError(
        f"schema: {len(unreviewed)} fields were read off the rows and nobody has reviewed them ({shown}). Bounds and lists "
        "from the rows tell about single rows, and no guarantee covers that. Review them with: sundog schema review "
        "SCHEMA; or accept it with --accept-unreviewed (accept_unreviewed=True in Python), and the certificate will say so."
    )
