"""Reads released.json, whoever wrote it: every number is checked before anything is made of it.

A release is handed around, so this file may be mistaken or hostile. It can only say something false, which a certificate
cannot prevent; it must not crash a reader, ask for memory that its own size does not justify, or never end.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from sundog.arrays import whole_array
from sundog.domain import Schema
from sundog.domain.linked.reading import schema_from
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Query, Shared, load_query
from sundog.released.measurement import Guarantee, KeyGround, Measurement, NoiseKind, Payment, Scores
from sundog.sizes import MOST_ROWS, whole_number

LEAST_STDDEV, MOST_STDDEV = 2.0**-21, 2.0**58
"""What noise of the allowed scales can have; see private.noise."""
MOST_MEASUREMENTS = 10**6
LINE = {"receipt", "mechanism", "what", "rho", "delta"}
"""What a certificate says of a payment beside its details."""
UNIT = {"neighbours", "column", "rows", "below"}


def read_parts(document: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a release, by the names of its fields."""
    schema = schema_from(_of(document, "schema", Mapping))
    guarantee = _guarantee(_of(document, "guarantee", Mapping))
    if guarantee.unit.below != isinstance(schema, LinkedSchema):
        raise UserError(
            "unit: linked tables, and only they, protect a value of the root's key with every row that carries it."
        )
    if guarantee.keys and not (
        isinstance(schema, LinkedSchema) and set(guarantee.keys) <= set(schema.package.named_by_key)
    ):
        raise UserError("keys: they must be of linked tables whose keys others refer to.")
    rows = document.get("publicRows")
    return {
        "schema": schema,
        "measurements": tuple(_measurement(item, schema) for item in _items(document, "measurements")),
        "guarantee": guarantee,
        "payments": tuple(_payment(item) for item in _items(document, "payments")),
        "dataset": _of(document, "dataset", str),
        "public_rows": None if rows is None else whole_number("publicRows", rows, least=0, most=MOST_ROWS),
        "noise": _of(document, "noise", str),
        "rows_from_elsewhere": "rowsFromElsewhere" in document and _of(document, "rowsFromElsewhere", bool),
        "scores": tuple(_scores(item, schema) for item in _items(document, "scores")),
        "adjustments": tuple(_measurement(item, schema) for item in _items(document, "adjustments")),
    }


def _measurement(item: Mapping[str, Any], schema: Schema) -> Measurement:
    query = _query(_of(item, "query", Mapping), schema)
    values = whole_array("values", _of(item, "values", list), dimensions=1)
    if len(values) != query.size:
        raise UserError(f"values: found {len(values)} for a query of {query.size} answers.")
    kind = _of(item, "noise", str)
    if kind not in get_args(NoiseKind):
        raise UserError(f"noise: found {kind[:100]!r}; allowed are {', '.join(get_args(NoiseKind))}.")
    stddev = _number(item, "stddev", least=LEAST_STDDEV, most=MOST_STDDEV)
    return Measurement(query, values, stddev, _of(item, "receipt", str), kind)


def _scores(item: Mapping[str, Any], schema: Schema) -> Scores:
    candidates = tuple(_query(query, schema) for query in _items(item, "candidates"))
    values = whole_array("scores", _of(item, "values", list), dimensions=1)
    if not candidates or len(values) != sum(query.size // query.block for query in candidates):
        raise UserError(f"scores: found {len(values)}, which are not one per block of the candidates.")
    if len({_view(query) for query in candidates}) > 1:
        raise UserError(
            "scores: their candidates are of several views of linked tables; those of one view are scored together."
        )
    stddev = _number(item, "stddev", least=LEAST_STDDEV, most=MOST_STDDEV)
    return Scores(candidates, values, stddev, _of(item, "receipt", str))


def _view(query: Query) -> str | None:
    """The view of linked tables that a query is of."""
    return query.shares if isinstance(query, Shared) else None


def _query(document: Mapping[str, Any], schema: Schema) -> Query:
    """A query; where a part is missing or of the wrong type, the query's own reader stumbles over it."""
    try:
        query = load_query(document, schema)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UserError(
            f"query {str(document.get('query'))[:40]!r}: it cannot be read ({type(error).__name__})."
        ) from None
    if isinstance(schema, LinkedSchema) != isinstance(query, Shared):
        raise UserError("query: of linked tables, and only of them, shared queries are asked.")
    return query


def _guarantee(document: Mapping[str, Any]) -> Guarantee:
    unit = _of(document, "unit", Mapping)
    if not {"neighbours", "column", "rows"} <= set(unit) <= UNIT or not isinstance(unit["column"], str | None):
        raise UserError("unit: it must have neighbours, column and rows.")
    accounting = _of(document, "accounting", str)
    if accounting not in ("gaussian", "zcdp"):
        raise UserError(f"accounting: found {accounting[:40]!r}; allowed are gaussian and zcdp.")
    most = {"epsilon": 1e300, "delta": 1.0}
    stated = {name: _number(document, name, most=most[name]) for name in most if document.get(name) is not None}
    if "epsilon" in stated and "delta" not in stated:
        raise UserError("delta: it must be stated where epsilon is.")
    keys = _of(document, "keys", Mapping) if "keys" in document else {}
    if not all(ground in get_args(KeyGround) for ground in keys.values()):
        raise UserError(f"keys: each must be one of {', '.join(get_args(KeyGround))}.")
    spent = _number(document, "delta_spent", most=1.0)
    return Guarantee(PrivacyUnit(**unit), accounting, _number(document, "rho"), spent, **stated, keys=dict(keys))


def _payment(document: Mapping[str, Any]) -> Payment:
    texts = {name: _of(document, name, str) for name in ("receipt", "mechanism", "label")}
    details = _of(document, "details", Mapping)
    if not all(isinstance(value, str | int | float | None) for value in details.values()):
        raise UserError("details: each must be a text or a number.")
    if LINE & set(details):
        raise UserError("details: they cannot repeat what the payment says.")
    for name in {"stddev", "scale"} & set(details):
        _number(details, name)
    return Payment(**texts, rho=_number(document, "rho"), delta=_number(document, "delta", most=1.0), details=details)


def _items(document: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    items = _of(document, name, list)
    if len(items) > MOST_MEASUREMENTS or not all(isinstance(item, Mapping) for item in items):
        raise UserError(f"{name}: it must be a list of at most {MOST_MEASUREMENTS} objects.")
    return items


def _number(document: Mapping[str, Any], name: str, *, least: float = 0.0, most: float = 1e300) -> float:
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise UserError(f"{name}: it must be a number in {least:g}..{most:g}.")
    return float(value) if math.isfinite(value) else most


def _of(document: Mapping[str, Any], name: str, kind: Any) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        raise UserError(f"{name}: found {type(value).__name__}, expected {_KINDS.get(kind, kind.__name__)}.")
    return value


_KINDS: dict[Any, str] = {Mapping: "an object", list: "a list", str: "a text"}
