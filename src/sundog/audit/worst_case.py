"""Worst-case neighbours: a small made-up table, and the same table with one record that is far from everyone.

Ten records agree in every column. The canary differs from them in all columns but one. Its pairs are therefore as unexpected as can
be for some columns and ordinary for others, so that it also changes which queries an adaptive method chooses. It is added (the
number of rows is private), or takes the place of an eleventh record (it is public). No real table is touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.sources import Source, open_table

LABELS = ["common", "rare"]
FIELDS = {
    "first": {"type": "string", "constraints": {"enum": LABELS, "required": True}},
    "second": {"type": "string", "constraints": {"enum": LABELS, "required": True}},
    "third": {"type": "string", "constraints": {"enum": LABELS, "required": True}},
    "amount": {"type": "integer", "constraints": {"minimum": 0, "maximum": 7, "required": True}},
}
SCHEMA = Schema.from_json(
    {
        "name": "audit",
        "fields": [{"name": name, **field} for name, field in FIELDS.items()],
        "targets": ["first"],
    }
)
ORDINARY: dict[str, Any] = {"first": "common", "second": "common", "third": "common", "amount": 0}
CANARY: dict[str, Any] = {"first": "rare", "second": "rare", "third": "common", "amount": 7}
ROWS = 10

Table = Mapping[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Neighbouring:
    """Two tables that differ in one record: as a user would give them, opened once for many runs, and as rows."""

    tables: tuple[Table, Table]
    sources: tuple[Source, Source]
    rows: tuple[Rows, Rows]
    canary: Rows


def worst_case(neighbours: Neighbours) -> Neighbouring:
    """The table without and with the canary."""
    kept = [ORDINARY] * ROWS
    without = kept if neighbours == "add-remove" else [*kept, ORDINARY]
    tables = _table(without), _table([*kept, CANARY])
    sources = open_table(tables[0]), open_table(tables[1])
    first, second = (source.read(SCHEMA) for source in sources)
    return Neighbouring(tables, sources, (first, second), second.take(np.array([ROWS])))


def _table(records: list[dict[str, Any]]) -> Table:
    return {name: [record[name] for record in records] for name in FIELDS}
