"""Pay for what a schema does not declare: category lists by a threshold, numeric and date bounds by a histogram.

Unknown bounds of a number are found on a public scale of signed powers of two, those of a date on a scale of years: the
bounds reach from the lowest to the highest cell whose noisy count stands clear of the noise. Everything goes through the
curator and the ledger.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.columns import EPOCH, GRID_LIMIT
from sundog.domain.dialect import read_dialect
from sundog.domain.documents import read_column
from sundog.domain.forms import FieldModel, missing_texts, parse_document
from sundog.domain.spelling import read_format, read_marks
from sundog.errors import UserError
from sundog.private.curator import Curator
from sundog.queries import Marginal
from sundog.released import Measurement

POWERS = 85
"""Powers of two from 2^-20 to 2^64, on either side of zero."""
YEARS = range(1800, 2200)
CLEAR = 5.0
"""A cell counts as occupied when it stands this many standard deviations above zero."""


@dataclass(frozen=True)
class Gaps:
    """The fields of a document that lack their domain, and a schema under which the rest can be counted."""

    labels: tuple[str, ...]
    numbers: tuple[str, ...]
    provisional: Schema


def find_gaps(document: Mapping[str, Any]) -> Gaps:
    """What would have to be paid for."""
    model = parse_document(document)
    fields = [f for f in model.fields if not f.identifier and f.derived is None and f.relative_to is None]
    labels = tuple(f.name for f in fields if f.type == "string" and not _declared(f))
    numbers = tuple(f.name for f in fields if f.type not in ("string", "boolean") and not _declared(f))
    columns = tuple(_provisional(field) for field in fields)
    if not columns:
        raise UserError("schema: it has no field to model; identifiers need no domain.")
    dialect = read_dialect(model.dialect, tuple(field.name for field in model.fields))
    return Gaps(labels, numbers, Schema(columns, name=model.name, dialect=dialect))


def complete(document: Mapping[str, Any], curator: Curator, *, gaps: Gaps, delta: float) -> dict[str, Any]:
    """The document with its gaps filled, each at an equal share of the curator's budget."""
    count = len(gaps.labels) + len(gaps.numbers)
    rho = curator.spending.total_rho / count * (1 - 2.0**-40)
    found: dict[str, dict[str, Any]] = {}
    for name in gaps.labels:
        found[name] = {"categories": list(curator.categories(name, rho, delta=delta / len(gaps.labels)))}
    for name in gaps.numbers:
        found[name] = _bounds(curator, name, rho=rho)
    receipts = [payment.receipt for payment in curator.released().payments]
    paid = dict(zip((*gaps.labels, *gaps.numbers), receipts, strict=True))
    return {**document, "fields": [_fill(f, found.get(f["name"]), paid.get(f["name"])) for f in document["fields"]]}


def _bounds(curator: Curator, name: str, *, rho: float) -> dict[str, Any]:
    column = curator.schema.column(name)
    axis = _years(column) if column.kind == "date" else Axis.whole(column)  # type: ignore[union-attr]
    schema = replace(curator.schema, columns=(column,), targets=())
    measurement = curator.measure_domain(schema, Marginal((axis,)), rho=rho)
    cells = _occupied(measurement, axis.size - column.nullable)
    if not cells:
        return {}
    first, last = cells[0], cells[-1]
    if column.kind == "date":  # type: ignore[union-attr]
        return {"minimum": f"{YEARS[first]}-01-01", "maximum": f"{YEARS[last]}-12-31"}
    low, high = first - POWERS, last - POWERS
    return {"minimum": _edge(low, outward=low < 0), "maximum": _edge(high, outward=high > 0)}


def _occupied(measurement: Measurement, cells: int) -> list[int]:
    return [cell for cell in range(cells) if measurement.values[cell] > CLEAR * measurement.stddev]


def _edge(power: int, *, outward: bool) -> int | float:
    """The edge of a signed power-of-two cell that lies away from (or towards) zero."""
    if power == 0:
        return 0
    edge = math.copysign(2.0 ** (abs(power) - 21 + outward), power)
    return int(edge) if edge.is_integer() else edge


def _years(column: Column) -> Axis:
    first = (date(YEARS[0], 1, 1) - EPOCH).days
    return Axis.cut(column, [(date(year, 1, 1) - EPOCH).days - first for year in YEARS])


def _declared(field: FieldModel) -> bool:
    bounded = field.constraints.minimum is not None and field.constraints.maximum is not None
    return field.categories is not None or field.constraints.enum is not None or bounded or field.type == "time"


def _provisional(field: FieldModel) -> Column:
    if _declared(field) or field.type == "boolean":
        return read_column(field)
    missing = missing_texts(field)
    if field.type == "string":
        return Categorical(field.name, labels=("unknown",), nullable=True, fallback=1, missing_values=missing)
    if field.type in ("date", "datetime"):
        days = [(date(year, *rest) - EPOCH).days for year, *rest in ((YEARS[0], 1, 1), (YEARS[-1], 12, 31))]
        shown = Numeric(field.name, "date", lower=days[0], upper=days[1], format=read_format(field))
    else:
        shown = Numeric(field.name, "magnitude", lower=-POWERS, upper=POWERS, marks=read_marks(field))
    return replace(shown, nullable=True, missing_values=missing)


def _fill(field: dict[str, Any], domain: dict[str, Any] | None, receipt: str | None) -> dict[str, Any]:
    if not domain:
        return field
    own = field.get("sundog", {})
    kept = own.get("origin") == "fromData" and {"minimum", "maximum"} & field.get("constraints", {}).keys()
    marked = {**field, "sundog": {**own, "origin": "fromData" if kept else "paid", "receipts": [receipt]}}
    if "categories" in domain:
        return {**marked, "categories": domain["categories"]}
    bounds = {
        key: _typed(field, value, end="23:59:59" if key == "maximum" else "00:00:00") for key, value in domain.items()
    }
    return {**marked, "constraints": {**bounds, **field.get("constraints", {})}}


def _typed(field: dict[str, Any], value: Any, *, end: str) -> Any:
    """A bound as the field's type writes it; numbers no farther from zero than its grid may reach."""
    if field["type"] in ("date", "datetime"):
        return f"{value}T{end}" if field["type"] == "datetime" else value
    most = (GRID_LIMIT // 2 - 1) // 10 ** field.get("sundog", {}).get("decimals", 0)
    value = min(max(value, -most), most)
    return math.floor(value) if field["type"] == "integer" else value
