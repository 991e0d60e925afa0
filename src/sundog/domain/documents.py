"""What a Table Schema document declares: columns with their domains. Messages name the field and the remedy."""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from typing import Any, TypedDict

from sundog.domain.categories import read_categories
from sundog.domain.columns import EPOCH, GRID_LIMIT, Categorical, Column, Identifier, Label, Numeric
from sundog.domain.constraints.kinds import Constraint
from sundog.domain.constraints.read import read_constraints
from sundog.domain.derived import Derived, read_derived
from sundog.domain.dialect import Dialect, read_dialect
from sundog.domain.forms import Document, FieldModel, missing_texts, parse_document
from sundog.domain.known_keys import only_known
from sundog.domain.origin import Origin
from sundog.domain.spelling import read_format, read_marks
from sundog.errors import UserError

DEFAULT_GRID = 1_000_000
"""A number without declared decimals gets the fewest decimals that make at least this many grid points."""


class Declared(TypedDict):
    """What a document declares: the parts of a Schema."""

    columns: tuple[Column, ...]
    identifiers: tuple[Identifier, ...]
    targets: tuple[str, ...]
    name: str | None
    field_order: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    derived: tuple[Derived, ...]
    dialect: Dialect
    origins: Mapping[str, Origin]
    document: Mapping[str, Any]


def read_document(document: Mapping[str, Any]) -> Declared:
    """What a Table Schema document declares."""
    model = parse_document(document)
    names = tuple(field.name for field in model.fields)
    _refuse_duplicates(names)
    modelled = [field for field in model.fields if not field.identifier and field.derived is None]
    columns = tuple(read_column(field) for field in modelled)
    identifiers = tuple(
        Identifier(field.name, regenerate=field.sundog.regenerate, whole_number=field.type == "integer")
        for field in model.fields
        if field.identifier and field.derived is None
    )
    return Declared(
        columns=columns,
        identifiers=identifiers,
        targets=tuple(model.targets),
        name=model.name,
        field_order=names,
        dialect=read_dialect(model.dialect, names),
        constraints=read_constraints(model.constraints, columns),
        derived=read_derived(model.fields, columns),
        origins={field.name: field.sundog.origin for field in model.fields},
        document=only_known(document, Document),
    )


def _refuse_duplicates(names: tuple[str, ...]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"schema: field {name!r} is declared {names.count(name)} times; names must be unique.")


def read_column(field: FieldModel) -> Column:
    """The column of a field that is not an identifier."""
    nullable = not field.constraints.required
    if field.type == "boolean":
        return _boolean(field, nullable)
    if field.categories is not None or field.constraints.enum is not None:
        return _categorical(field, nullable)
    if field.type == "string":
        raise UserError(
            f"field {field.name!r}: a string field needs 'categories' (its public list of values), or "
            "'identifier': true. Where the list is unknown, pay for it with: sundog schema complete."
        )
    return _numeric(field, nullable)


def _boolean(field: FieldModel, nullable: bool) -> Categorical:
    return Categorical(
        field.name,
        labels=(False, True),
        nullable=nullable,
        fallback=_fallback(field, (False, True), nullable),
        true_texts=tuple(field.true_values),
        false_texts=tuple(field.false_values),
        missing_values=missing_texts(field),
    )


def _categorical(field: FieldModel, nullable: bool) -> Categorical:
    labels, parents = read_categories(field)
    place = field.sundog.out_of_domain
    if isinstance(place, str) and place != "missing" and place not in labels and field.type == "string":
        labels = (*labels, place)  # a declared "other" label
        parents = (*parents, None) if parents else ()
    return Categorical(
        field.name,
        labels=labels,
        ordered=field.categories_ordered,
        nullable=nullable,
        fallback=_fallback(field, labels, nullable),
        missing_values=missing_texts(field),
        parents=parents,
    )


def _fallback(field: FieldModel, labels: tuple[Label, ...], nullable: bool) -> int:
    place = field.sundog.out_of_domain
    if place is None:
        return len(labels) if nullable else 0
    if place == "missing" and "missing" not in labels:
        if not nullable:
            raise UserError(
                f"field {field.name!r}: sundog.outOfDomain is 'missing', but the field is required; "
                "drop constraints.required or name a category."
            )
        return len(labels)
    if place not in labels:
        raise UserError(f"field {field.name!r}: sundog.outOfDomain is {place!r}; it must be 'missing' or a category.")
    return labels.index(place)


def _numeric(field: FieldModel, nullable: bool) -> Numeric:
    low, high = field.constraints.minimum, field.constraints.maximum
    if field.type == "time":  # the day has public bounds of its own
        low, high = low or "00:00:00", high or "23:59:59"
    if low is None or high is None:
        lacking = "minimum" if low is None else "maximum"
        raise UserError(
            f"field {field.name!r}: constraints.{lacking} is missing; a {field.type} field needs public bounds. "
            "Where they are unknown, pay for them with: sundog schema complete."
        )
    if field.sundog.out_of_domain is not None:
        raise UserError(
            f"field {field.name!r}: sundog.outOfDomain is for categories; a {field.type} outside its bounds counts as the "
            "nearest bound. Drop it, and widen the bounds if they should not be reached."
        )
    decimals = _decimals(field, low, high)
    unit = _units_of(field, decimals)
    lower, upper = unit(low, ROUND_CEILING), unit(high, ROUND_FLOOR)
    if lower > upper:
        raise UserError(
            f"field {field.name!r}: no value lies between minimum {low!r} and maximum {high!r} on its grid."
        )
    return Numeric(
        field.name,
        field.type if field.type in ("integer", "date", "datetime", "time") else "number",
        lower=lower,
        upper=upper,
        decimals=decimals,
        resolution=field.sundog.resolution or 1,
        nullable=nullable,
        fixed_decimals=field.sundog.decimals is not None,
        bins=_bins(field, unit, lower, upper),
        missing_values=missing_texts(field),
        format=read_format(field),
        marks=read_marks(field),
    )


def _decimals(field: FieldModel, low: Any, high: Any) -> int:
    if field.type != "number":
        return 0
    if field.sundog.decimals is not None:
        return field.sundog.decimals
    bounds = _number(field, low), _number(field, high)
    span, reach = float(bounds[1] - bounds[0]), float(max(map(abs, bounds)))
    if not span > 1e-15:
        return 0
    return max(0, min(15, math.ceil(math.log10(DEFAULT_GRID / span)), math.floor(math.log10(GRID_LIMIT / reach))))


def _number(field: FieldModel, value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number.adjusted() > 30 or isinstance(value, bool):
        raise UserError(f"field {field.name!r}: bound or bin edge {value!r} is not a number between -1e30 and 1e30.")
    return number


def _units_of(field: FieldModel, decimals: int) -> Any:
    """A function (value, rounding) -> grid units for this field's type."""
    if field.type in ("integer", "number"):
        return lambda value, rounding: int(_number(field, value).scaleb(decimals).to_integral_value(rounding))
    seconds = field.sundog.resolution or 1

    def units(value: Any, rounding: str) -> int:
        moment = _moment(field, value)
        if field.type == "date":
            return (moment.date() - EPOCH).days
        exact = Decimal(int(moment.replace(tzinfo=UTC).timestamp())) / seconds
        return int(exact.to_integral_value(rounding))

    return units


def _moment(field: FieldModel, value: Any) -> datetime:
    try:
        if field.type == "time":
            return datetime.combine(EPOCH, time.fromisoformat(value)).replace(tzinfo=None)
        if field.type == "date":
            return datetime.combine(date.fromisoformat(value), time())
        return datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=None)
    except (TypeError, ValueError, AttributeError):
        example = {"date": "2024-12-31", "time": "23:59:59"}.get(field.type, "2024-12-31T23:59:59")
        raise UserError(
            f"field {field.name!r}: bound {value!r} is not an ISO {field.type} such as {example}."
        ) from None


def _bins(field: FieldModel, unit: Any, lower: int, upper: int) -> int | tuple[int, ...] | None:
    bins = field.sundog.bins
    if bins is None or isinstance(bins, int):
        if bins is not None and bins < 1:
            raise UserError(f"field {field.name!r}: sundog.bins is {bins}; it must be 1 or more.")
        return bins
    edges = [unit(edge, ROUND_CEILING) - lower for edge in bins]
    inner = tuple(edge for edge in edges if 0 < edge <= upper - lower)
    if list(inner) != sorted(set(inner)):
        raise UserError(f"field {field.name!r}: sundog.bins must be edges in increasing order.")
    return inner
