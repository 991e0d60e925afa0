"""What a Table Schema document declares: columns with their domains. Messages name the field and the remedy."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any, TypedDict

from sundog.domain.bounds import bins_of, decimals_of, units_of
from sundog.domain.categories import read_categories
from sundog.domain.columns import Categorical, Column, Identifier, Label, Numeric
from sundog.domain.constraints.kinds import Constraint
from sundog.domain.constraints.read import read_constraints
from sundog.domain.derived import Derived, read_derived
from sundog.domain.dialect import Dialect, read_dialect
from sundog.domain.forms import Document, FieldModel, missing_texts, parse_document
from sundog.domain.known_keys import only_known
from sundog.domain.offsets import kept_bounds, read_offsets, shown
from sundog.domain.origin import Origin
from sundog.domain.spelling import read_format, read_marks
from sundog.errors import UserError


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
    columns = read_columns(modelled)
    identifiers = tuple(
        Identifier(
            field.name,
            regenerate=field.sundog.regenerate,
            whole_number=field.type == "integer",
            missing_values=missing_texts(field),
        )
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
        constraints=(*read_constraints(model.constraints, columns), *kept_bounds(columns)),
        derived=read_derived(model.fields, [shown(column) for column in columns]),
        origins={field.name: field.sundog.origin for field in model.fields},
        document=only_known(document, Document),
    )


def _refuse_duplicates(names: tuple[str, ...]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"schema: field {name!r} is declared {names.count(name)} times; names must be unique.")


def read_columns(fields: Sequence[FieldModel]) -> tuple[Column, ...]:
    """The columns of the modelled fields, those relative to others too."""
    plain = {field.name: read_column(field) for field in fields if field.relative_to is None}
    offsets = read_offsets([field for field in fields if field.relative_to is not None], plain)
    return tuple((plain | offsets)[field.name] for field in fields)


def read_column(field: FieldModel) -> Column:
    """The column of a field that is neither an identifier nor relative to another."""
    if field.offset is not None:
        raise UserError(
            f"field {field.name!r}: an offset needs relativeTo, the name of the field that it is a distance from."
        )
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
    decimals = decimals_of(field, low, high)
    unit = units_of(field, decimals)
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
        bins=bins_of(field, unit, lower, upper),
        missing_values=missing_texts(field),
        format=read_format(field),
        marks=read_marks(field),
    )
