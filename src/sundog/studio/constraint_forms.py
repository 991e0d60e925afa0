"""Constraints of a schema as forms: what each kind asks, and the declaration that its answers make."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.datastructures import FormData

from sundog.declare import typed
from sundog.errors import UserError

Kind = Literal["column", "columns", "operator", "number", "text", "lines"]

MOST_DIGITS = 40
"""The most digits that a number may have."""


@dataclass(frozen=True)
class Asked:
    """One entry of a form."""

    name: str
    label: str
    kind: Kind
    hint: str = ""
    needed: bool = True


OPERATORS = ("<", "<=", "=", "!=", ">=", ">")
KINDS: dict[str, tuple[str, tuple[Asked, ...]]] = {
    "compare": (
        "One column compared with another",
        (
            Asked("left", "Column", "column"),
            Asked("operator", "must be", "operator"),
            Asked("right", "other column", "column"),
        ),
    ),
    "sum": (
        "A sum of columns within bounds",
        (
            Asked("columns", "Columns that are added", "columns"),
            Asked("minimum", "At least", "number", needed=False),
            Asked("maximum", "At most", "number", needed=False),
            Asked("equals", "Or equal to", "text", "a number, or a column", needed=False),
        ),
    ),
    "ratio": (
        "One column in proportion to another",
        (
            Asked("numerator", "Column", "column"),
            Asked("denominator", "divided by", "column"),
            Asked("minimum", "At least", "number", needed=False),
            Asked("maximum", "At most", "number", needed=False),
        ),
    ),
    "determines": (
        "Columns that determine another",
        (
            Asked("columns", "Rows that agree on", "columns"),
            Asked("column", "agree on", "column"),
            Asked("map", "Where the mapping is public", "lines", "one line each: value = value", needed=False),
        ),
    ),
    "impossible": (
        "A combination that no row may have",
        (
            Asked(
                "where",
                "All of these at once",
                "lines",
                "one line each: column = value, or column = minimum to maximum",
            ),
        ),
    ),
    "protected": (
        "A threshold statistic that should not be right",
        (
            Asked("weights", "Weights", "lines", "one line each: column = weight"),
            Asked("threshold", "Threshold", "number"),
        ),
    ),
}


def declaration(form: FormData) -> dict[str, Any]:
    """The constraint that a form declares."""
    kind = str(form.get("kind"))
    if kind not in KINDS:
        raise UserError(f"constraint: choose one of {', '.join(KINDS)}.")
    made: dict[str, Any] = {"kind": kind}
    for asked in KINDS[kind][1]:
        value = _read(asked, form)
        if value in (None, [], {}, ""):
            if asked.needed:
                raise UserError(f"constraint: {asked.label.lower()} is missing.")
            continue
        made[asked.name] = value
    name = str(form.get("constraint_name") or "").strip()
    return made | ({"name": name} if name else {})


def _read(asked: Asked, form: FormData) -> Any:
    if asked.kind == "columns":
        return [str(value) for value in form.getlist(asked.name)]
    text = str(form.get(asked.name) or "").strip()
    if asked.kind == "number":
        return _number(text)
    if asked.kind == "operator" and text not in OPERATORS:
        raise UserError(f"constraint: choose one of {' '.join(OPERATORS)}.")
    if asked.kind == "lines":
        values = dict(_pair(line) for line in text.split("\n") if line.strip())
        return {name: _condition(value) for name, value in values.items()} if asked.name == "where" else values
    return _number(text) if asked.name == "equals" and _is_number(text) else text


def _pair(line: str) -> tuple[str, Any]:
    name, equals, value = line.rpartition("=")
    if not equals:
        raise UserError("constraint: a line lacks its '='; write one line each, such as: age = 9.")
    return name.strip(), typed(value.strip())


def _condition(value: Any) -> Any:
    """`0 to 9` as a range, anything else as a value."""
    if isinstance(value, str) and " to " in value:
        low, _, high = value.partition(" to ")
        return {"minimum": typed(low.strip()), "maximum": typed(high.strip())}
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float | int | None:
    if not text:
        return None
    if not _is_number(text) or len(text) > MOST_DIGITS:
        raise UserError("constraint: a bound is no number; write one such as 0.5.")
    return int(text) if text.lstrip("-").isdigit() else float(text)


def sentence(constraint: Mapping[str, Any]) -> str:
    """A declared constraint in words."""
    kind = constraint.get("kind")
    about, _ = KINDS.get(str(kind), (str(kind), ()))
    told = {
        "compare": lambda c: f"{c['left']} {c['operator']} {c['right']}",
        "sum": lambda c: " + ".join(c.get("columns") or c.get("weights") or []) + _bounds(c),
        "ratio": lambda c: f"{c['numerator']} / {c['denominator']}" + _bounds(c),
        "determines": lambda c: f"{', '.join(c['columns'])} determines {c['column']}",
        "impossible": lambda c: "never: " + " and ".join(f"{k} = {_told(v)}" for k, v in c["where"].items()),
        "protected": lambda c: f"{', '.join(c['weights'])} above {c['threshold']} is not to be reproduced",
    }.get(str(kind))
    try:
        return f"{about}: {told(constraint)}" if told is not None else about
    except (KeyError, TypeError, AttributeError):
        return about


def _bounds(constraint: Mapping[str, Any]) -> str:
    parts = [("≥", "minimum"), ("≤", "maximum"), ("=", "equals")]
    return "".join(f" {mark} {constraint[key]}" for mark, key in parts if constraint.get(key) is not None)


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value.get('minimum', '')} to {value.get('maximum', '')}"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
