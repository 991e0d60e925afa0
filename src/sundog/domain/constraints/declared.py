"""What a schema file may declare under `constraints`, and the fields that a declaration names."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sundog.domain.columns import Column, Numeric
from sundog.domain.constraints.kinds import LEAST_SHARPNESS, MOST_SHARPNESS, SHARPNESS
from sundog.errors import UserError

Operator = Literal["<", "<=", "=", "!=", ">=", ">"]


class Declared(BaseModel):
    """What all declarations have."""

    model_config = ConfigDict(allow_inf_nan=False, extra="forbid")
    name: str | None = None


class Compare(Declared):
    """One field compared with another, which is moved by an offset."""

    kind: Literal["compare"]
    left: str
    operator: Operator
    right: str
    offset: float | str | None = None
    strength: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Sum(Declared):
    """A weighted sum of fields within bounds, or equal to a number or a field."""

    kind: Literal["sum"]
    columns: list[str] | None = None
    weights: dict[str, float] | None = None
    minimum: float | None = None
    maximum: float | None = None
    equals: float | str | None = None
    strength: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Ratio(Declared):
    """One field in proportion to another."""

    kind: Literal["ratio"]
    numerator: str
    denominator: str
    minimum: float | None = None
    maximum: float | None = None
    strength: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Determined(Declared):
    """A field that others determine."""

    kind: Literal["determines"]
    columns: list[str] = Field(min_length=1)
    column: str
    map: dict[str, Any] = {}


class Excluded(Declared):
    """A combination that no row may have."""

    kind: Literal["impossible"]
    where: dict[str, Any] = Field(min_length=1)


class Guarded(Declared):
    """A threshold statistic that should not be right."""

    kind: Literal["protected"]
    weights: dict[str, float] = Field(min_length=1)
    threshold: float
    strength: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    sharpness: float = Field(default=SHARPNESS, ge=LEAST_SHARPNESS, le=MOST_SHARPNESS, allow_inf_nan=False)


AnyDeclared = Annotated[Compare | Sum | Ratio | Determined | Excluded | Guarded, Field(discriminator="kind")]
DECLARATION: TypeAdapter[Any] = TypeAdapter(AnyDeclared)


def column_of(name: str, field: str, columns: Mapping[str, Column]) -> Column:
    """The field that a constraint names."""
    if field not in columns:
        shown = ", ".join(repr(known) for known in list(columns)[:12])
        raise UserError(f"constraint {name!r}: {field!r} is not a modelled field; fields are {shown}.")
    return columns[field]


def numeric_of(name: str, field: str, columns: Mapping[str, Column]) -> Numeric:
    """The same, and it must hold numbers or dates."""
    column = column_of(name, field, columns)
    if not isinstance(column, Numeric):
        raise UserError(
            f"constraint {name!r}: field {field!r} has labels; this constraint needs numbers or dates. "
            "Labels can be compared with '=' and '!=' or named in an 'impossible' combination."
        )
    return column


def code_column_of(name: str, field: str, columns: Mapping[str, Column]) -> Column:
    """The field that a constraint on single values names; one that is modelled as a distance has no such values."""
    column = column_of(name, field, columns)
    if field != column.name:
        raise UserError(
            f"constraint {name!r}: field {field!r} is modelled as a distance, so its single values are not; name the distance, "
            f"{column.name!r}, or use a 'compare', 'sum' or 'ratio'."
        )
    return column
