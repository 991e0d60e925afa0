"""The codebook: what every field of the table is, in words, from the schema and the released measurements alone."""

from dataclasses import dataclass

from sundog.domain import Categorical, Column, Schema
from sundog.domain.grids import unit_of
from sundog.domain.origin import MEANING
from sundog.report.explore.tables import Tables

LABELS = 100
"""This many labels are listed; datapackage.json has all of them."""
LONGEST = 120
"""This many characters of a name or label are shown."""


@dataclass(frozen=True)
class Entry:
    """One field: its name, its kind, its values, and how it got into the table."""

    name: str
    kind: str
    values: tuple[str, ...]
    more: str
    made: str


def codebook(schema: Schema, tables: Tables | None) -> list[Entry]:
    """The modelled columns, then computed fields and identifiers."""
    columns = [_column(column, schema, tables) for column in schema.widened.columns]
    derived = [
        Entry(each.name, each.type, (), "", f"computed from other fields: {short(each.text)}")
        for each in schema.derived
    ]
    numbered = [
        Entry(each.name, "identifier", (), "", "renumbered; says nothing about the real one")
        for each in schema.identifiers
        if each.regenerate
    ]
    return [*columns, *derived, *numbered]


def short(text: str) -> str:
    """A text cut to what a page can show."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _column(column: Column, schema: Schema, tables: Tables | None) -> Entry:
    missing = "; may be missing" if column.nullable else ""
    origin = MEANING[schema.origins.get(column.fields[0], "declared")]
    made = f"{_measured(column, schema, tables)}; its domain was {origin}"
    if isinstance(column, Categorical):
        shown = tuple(short(str(label)) for label in column.labels[:LABELS])
        left = len(column.labels) - len(shown)
        kind = f"{len(column.labels)} {'ordered ' if column.ordered else ''}labels{missing}"
        return Entry(column.name, kind, shown, f"and {left} more, in datapackage.json" if left else "", made)
    low, high = column.describe(0), column.describe(column.steps - 1)
    unit = f" ({unit_of(column)})" if unit_of(column) else ""
    return Entry(column.name, f"{column.kind}{unit}{missing}", (f"{low} to {high}",), "", made)


def _measured(column: Column, schema: Schema, tables: Tables | None) -> str:
    if column.name not in schema.names:
        return "follows from another field and its distance from it"
    alone = tables is not None and column.name in tables.columns
    return "measured with noise" if alone else "not measured: a guess of the method"
