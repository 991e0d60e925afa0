"""What was declared later: a release under another schema, at no cost, as long as what was measured stays.

Constraints, derived fields, targets, formats, identifiers, titles, whether labels have an order, and in which order they are
listed may change: all of it works on synthetic rows, or only renames codes. What was measured may not: names, types, bounds,
decimals, resolution, the set of labels, whether values may be missing. Where a domain comes from is a fact about the
measuring, so it stays as it was released.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Categorical, Column, Schema
from sundog.domain.axis import Axis
from sundog.errors import UserError
from sundog.queries import Marginal, Query
from sundog.released.measurement import Measurement
from sundog.released.released import Released

Codes = dict[str, Int[np.ndarray, " codes"]]
"""For columns whose labels are listed in another order, the old code of every new one."""


def amended(released: Released, schema: Schema) -> Released:
    """The release under a schema that declares more, or other, than the one it was measured under."""
    before = released.schema
    _check_names(before, schema)
    for column in before.columns:
        _check_column(column, schema.column(column.name))
    made = Schema.from_json(_with_origins(schema, before))
    codes = {
        new.name: np.array([old.labels.index(label) for label in new.labels] + [len(old.labels)] * new.nullable)
        for old, new in zip(before.columns, made.columns, strict=True)
        if isinstance(old, Categorical) and isinstance(new, Categorical) and old.labels != new.labels
    }
    if not codes:
        return replace(released, schema=made)
    return replace(
        released,
        schema=made,
        measurements=tuple(_recoded(m, codes, made) for m in released.measurements),
        adjustments=tuple(_recoded(m, codes, made) for m in released.adjustments),
        scores=tuple(
            replace(s, candidates=tuple(_query(query, codes, made) for query in s.candidates)) for s in released.scores
        ),
    )


def _check_names(before: Schema, after: Schema) -> None:
    for name in before.names:
        if name not in after.names:
            raise UserError(
                f"schema: column {name!r} was measured, and the new schema does not model it under that name; keep it as it was "
                "(a derived field needs a name of its own)."
            )
    for name in after.names:
        if name not in before.names:
            raise UserError(
                f"schema: column {name!r} was not measured, so nothing is known of it; declare it as derived, or measure again."
            )
    if before.names != after.names:
        raise UserError(
            "schema: the measured fields stand in another order; keep theirs (derived fields may stand anywhere)."
        )


def _check_column(before: Column, after: Column) -> None:
    facts = [_facts(column) for column in (before, after)]
    for (what, old), (_, new) in zip(facts[0].items(), facts[1].items(), strict=True):
        if old != new:
            raise UserError(
                f"schema: column {before.name!r} was measured with another {what}; keep what was measured, declare a constraint "
                "where values should be kept within narrower bounds, or measure again."
            )


def _facts(column: Column) -> dict[str, Any]:
    """What a measurement depends on, by a word for it."""
    if isinstance(column, Categorical):
        kind = ("boolean" if column.boolean else "labels", "", "")
        return {"type": kind, "list of categories": frozenset(column.labels), "'required'": column.nullable}
    own = column.distance.own if column.distance is not None else column
    return {
        "type": (own.kind, own.decimals, own.resolution),
        "minimum or maximum": (column.lower, column.upper),
        "'required'": column.nullable,
    }


def _with_origins(schema: Schema, before: Schema) -> dict[str, Any]:
    """The new document, in which measured fields come from where they came from; others must be public too."""
    known = {field["name"]: field.get("sundog", {}) for field in before.to_json()["fields"]}
    fields = []
    for field in schema.to_json()["fields"]:
        own = {key: value for key, value in field.get("sundog", {}).items() if key not in ("origin", "receipts")}
        said = known.get(field["name"])
        if said is None and field.get("sundog", {}).get("origin") == "fromData":
            raise UserError(
                f"schema: field {field['name']!r} was read from the rows, and nobody has reviewed it; review it with: sundog schema "
                "review SCHEMA."
            )
        kept = field.get("sundog", {}) if said is None else said
        own |= {key: kept[key] for key in ("origin", "receipts") if key in kept}
        fields.append(
            {**{key: value for key, value in field.items() if key != "sundog"}, **({"sundog": own} if own else {})}
        )
    return {**schema.to_json(), "fields": fields}


def _recoded(measurement: Measurement, codes: Codes, schema: Schema) -> Measurement:
    """A measurement in terms of the new codes."""
    old = measurement.query
    new = _query(old, codes, schema)
    if new is old or not isinstance(old, Marginal):
        return measurement
    values = measurement.values.reshape([axis.size for axis in old.axes])
    for place, axis in enumerate(old.axes):
        if axis.column in codes and _whole(axis):
            values = values.take(codes[axis.column], axis=place)
    return replace(measurement, query=new, values=values.ravel())


def _query(query: Query, codes: Codes, schema: Schema) -> Query:
    if not set(query.columns) & set(codes):
        return query
    if not isinstance(query, Marginal):
        name = next(name for name in query.columns if name in codes)
        raise UserError(
            f"schema: the categories of {name!r} are listed in another order, which {query.describe()!r} depends on; keep the "
            "order that was measured."
        )
    return replace(query, axes=tuple(_axis(axis, codes, schema) for axis in query.axes))


def _axis(axis: Axis, codes: Codes, schema: Schema) -> Axis:
    if axis.column not in codes:
        return axis
    column = schema.column(axis.column)
    if _whole(axis):
        return Axis.whole(column)
    groups: Sequence[int] = axis.cell_of[codes[axis.column]].tolist()
    return Axis.grouped(column, list(groups))


def _whole(axis: Axis) -> bool:
    return axis.starts is None and axis.groups is None
