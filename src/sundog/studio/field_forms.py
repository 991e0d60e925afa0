"""A field of a schema as a form and back: only what was changed on the form changes in the document."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from sundog.domain.documents import read_column
from sundog.domain.forms import FieldModel, parse_document
from sundog.domain.review import Review, describe
from sundog.errors import UserError

TYPES = {
    "string": "labels (text)",
    "boolean": "yes or no",
    "integer": "whole number",
    "number": "number with decimals",
    "date": "date",
    "datetime": "date and time",
    "time": "time of day",
}
ROLES = {
    "modelled": "modelled: measured with noise and generated",
    "left-out": "left out: an identifier, a name, free text",
    "regenerated": "left out, and created for every synthetic row",
    "derived": "computed from other columns",
    "offset": "modelled as its distance from another column",
}
SHORT = {
    "modelled": "modelled",
    "left-out": "left out",
    "regenerated": "created",
    "derived": "computed",
    "offset": "offset",
}
"""The same in a word or two."""
STATES = {
    "fromData": "needs review",
    "reviewed": "reviewed",
    "declared": "declared",
    "paid": "paid for",
}
ROLE_KEYS = ("identifier", "derived", "relativeTo", "offset")
OWN_NUMBERS = {"bins": "bins", "decimals": "decimals", "resolution": "resolution"}


@dataclass(frozen=True)
class FieldRow:
    """A line of the schema page."""

    place: int
    name: str
    kind: str
    domain: str
    why: str
    role: str
    missing: str
    because: str
    state: str
    open: bool
    problem: str


def rows_of(document: Mapping[str, Any]) -> list[FieldRow]:
    """All lines; a field that cannot be read says why."""
    models = parse_document(document).fields
    return [
        _row(place, model, given, document)
        for place, (model, given) in enumerate(zip(models, document["fields"], strict=True))
    ]


def _row(place: int, model: FieldModel, given: Mapping[str, Any], document: Mapping[str, Any]) -> FieldRow:
    kind, domain, missing, problem = "—", "", "—", ""
    role = role_of(given)
    try:
        if role == "modelled":
            kind, domain, missing = _described(model)
        elif role == "offset":
            kind, domain = TYPES[model.type], describe(model).partition(", modelled as its ")[2]
        elif role == "derived":
            domain = str(given["derived"])
    except UserError as error:
        problem = str(error)
    target = model.name in document.get("targets", [])
    return FieldRow(
        place,
        model.name,
        kind,
        domain,
        str(given.get("why", "")),
        SHORT[role] + (", target" if target else ""),
        missing,
        model.sundog.public_because or "",
        STATES[model.sundog.origin],
        model.sundog.origin == "fromData",
        problem,
    )


def _described(model: FieldModel) -> tuple[str, str, str]:
    """The kind, the bounds or labels, and whether cells may be missing."""
    words, _, missing = describe(model).rpartition("; ")
    column = read_column(model)
    kind = TYPES[model.type] if not hasattr(column, "labels") or model.type == "boolean" else "labels"
    domain = words.partition(", ")[2] if hasattr(column, "labels") else words.partition(" from ")[2]
    return kind, "" if model.type == "boolean" else domain, missing


def role_of(field: Mapping[str, Any]) -> str:
    """What becomes of a column."""
    if field.get("derived") is not None:
        return "derived"
    if field.get("relativeTo") is not None:
        return "offset"
    if field.get("identifier"):
        return "regenerated" if field.get("sundog", {}).get("regenerate") else "left-out"
    return "modelled"


def shown(field: Mapping[str, Any], targets: list[str]) -> dict[str, Any]:
    """What the form shows of a field."""
    bounds, own = field.get("constraints", {}), field.get("sundog", {})
    return {
        "type": field.get("type", "string"),
        "role": role_of(field),
        "minimum": _plain(bounds.get("minimum")),
        "maximum": _plain(bounds.get("maximum")),
        "labels": _lines(field.get("categories") or bounds.get("enum")),
        "ordered": bool(field.get("categoriesOrdered")),
        "missing": not bounds.get("required", False),
        "missing_values": _lines(field.get("missingValues")),
        "derived": field.get("derived") or "",
        "relative_to": field.get("relativeTo") or "",
        "offset_minimum": _plain((field.get("offset") or {}).get("minimum")),
        "offset_maximum": _plain((field.get("offset") or {}).get("maximum")),
        "format": field.get("format") or "",
        "decimal_char": field.get("decimalChar") or "",
        "group_char": field.get("groupChar") or "",
        "true_values": _lines(field.get("trueValues")),
        "false_values": _lines(field.get("falseValues")),
        "out_of_domain": _plain(own.get("outOfDomain")),
        **{name: _plain(own.get(key)) for name, key in OWN_NUMBERS.items()},
        "because": own.get("publicBecause") or "",
        "target": field.get("name") in targets,
    }


def changed(field: Mapping[str, Any], form: FormData, targets: list[str]) -> dict[str, Any]:
    """The field with what the form says; what it shows as it was stays as it was."""
    was, now = shown(field, targets), given(form)
    different = {key for key in was if was[key] != now[key]}
    made = dict(field)
    bounds, own = dict(field.get("constraints", {})), dict(field.get("sundog", {}))
    if "role" in different:
        made = {key: value for key, value in made.items() if key not in ROLE_KEYS}
        own.pop("regenerate", None)
    if now["role"] in ("left-out", "regenerated"):
        return _left_out(made, now)
    simple = {"type": "type", "format": "format", "decimal_char": "decimalChar", "group_char": "groupChar"}
    simple |= {"derived": {"derived": "derived"}, "offset": {"relative_to": "relativeTo"}}.get(now["role"], {})
    for name, key in simple.items():
        if name in different:
            made[key] = now[name] or None
    for name in different & {"minimum", "maximum"}:
        bounds[name] = _value(now[name])
    if now["role"] == "offset" and different & {"offset_minimum", "offset_maximum"}:
        made["offset"] = _dropped({name: _value(now[f"offset_{name}"]) for name in ("minimum", "maximum")})
    if "labels" in different:
        bounds.pop("enum", None)
        made["categories"] = _labels(now["labels"], now["type"]) or None
    if "ordered" in different:
        made["categoriesOrdered"] = now["ordered"] or None
    if "missing" in different:
        bounds["required"] = None if now["missing"] else True
    for name, key in {
        "missing_values": "missingValues",
        "true_values": "trueValues",
        "false_values": "falseValues",
    }.items():
        if name in different:
            made[key] = now[name].split("\n") if now[name] or name == "missing_values" else None
    for name in different & {*OWN_NUMBERS, "out_of_domain"}:
        own[OWN_NUMBERS.get(name, "outOfDomain")] = _value(now[name])
    own["publicBecause"] = now["because"] or None
    return _dropped({**made, "constraints": _dropped(bounds), "sundog": _dropped(own)})


def answered(review: Review, place: int, form: FormData) -> Review:
    """The review after the form's answer about one field."""
    document = dict(review.document)
    field, targets = document["fields"][place], list(document.get("targets", []))
    name, made = field["name"], changed(field, form, targets)
    if role_of(made) in ("modelled", "offset") and not made.get("sundog", {}).get("publicBecause"):
        raise UserError(
            f"field {name!r}: say why its domain is public: where the bounds or the list are known from, whoever is in the table."
        )
    kept = [target for target in targets if target != name] + ([name] if form.get("target") else [])
    with_targets = {**document, "targets": kept} if kept else {k: v for k, v in document.items() if k != "targets"}
    dropped = dict.fromkeys(key for key in field if key not in made)
    return Review(with_targets).change(name, {**dropped, **made})


def _left_out(field: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """A column that is not modelled declares no domain: none that was read from the rows may stay in the document."""
    made = {"name": field["name"], "type": "string", "identifier": True}
    return made | ({"type": now["type"], "sundog": {"regenerate": True}} if now["role"] == "regenerated" else {})


def given(form: FormData) -> dict[str, Any]:
    """What the form says, in the shape of `shown`."""
    texts = (
        "minimum",
        "maximum",
        "derived",
        "relative_to",
        "offset_minimum",
        "offset_maximum",
        "format",
        "out_of_domain",
        "because",
        *OWN_NUMBERS,
    )
    made: dict[str, Any] = {name: str(form.get(name) or "").strip() for name in texts}
    made |= {name: str(form.get(name) or "") for name in ("decimal_char", "group_char")}
    for name in ("labels", "missing_values", "true_values", "false_values"):
        made[name] = str(form.get(name) or "").replace("\r\n", "\n").rstrip("\n")
    made |= {name: bool(form.get(name)) for name in ("ordered", "missing", "target")}
    kind, role = str(form.get("type")), str(form.get("role"))
    if kind not in TYPES or role not in ROLES:
        raise UserError("field: the form lacks a kind or a role; load the page again.")
    return made | {"type": kind, "role": role}


def _labels(text: str, kind: str) -> list[Any]:
    """One label per line; a line that is a JSON object is a label with its parent."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return [_label(line, kind) for line in lines]


def _label(line: str, kind: str) -> Any:
    if kind != "string" or (line.startswith("{") and line.endswith("}")):
        return _value(line)
    return line


def _value(text: str) -> Any:
    """A number or an object where the text is one; None for nothing."""
    if not text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, int | float | dict | list) else text


def _plain(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lines(values: Any) -> str:
    return "\n".join(_plain(value) for value in values) if isinstance(values, list) else ""


def _dropped(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if value is not None and value != {}}
