"""A small made-up table with a column of every kind, and the ways to hand it over. Importable as `tables`."""

import csv
import random
from datetime import date, datetime, timedelta

import pyarrow as pa
from pyarrow import parquet

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.sources import open_table

FIELDS = [
    {"name": "visit", "type": "integer", "identifier": True},
    {"name": "smoker", "type": "boolean"},
    {"name": "region", "type": "string", "categories": ["01", "02", "North, upper", 'the "old" town', "3"]},
    {
        "name": "grade",
        "type": "string",
        "categories": ["low", "middle", "high"],
        "categoriesOrdered": True,
        "constraints": {"required": True},
    },
    {"name": "parity", "type": "integer", "categories": [0, 1, 2]},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 110, "required": True}},
    {
        "name": "cost",
        "type": "number",
        "constraints": {"minimum": -50, "maximum": 5000},
        "sundog": {"decimals": 2, "bins": 10},
    },
    {"name": "day", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2023-12-31"}},
    {
        "name": "seen",
        "type": "datetime",
        "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2023-12-31T23:59:59"},
        "sundog": {"resolution": 60, "bins": 12},
    },
]
DOCUMENT = {"name": "clinic", "targets": ["smoker"], "fields": FIELDS}


def schema():
    return Schema.from_json(DOCUMENT)


def table(rows=60, *, seed=1):
    """Values that all lie in the domain, nulls included; typed as Python knows them."""
    draw = random.Random(seed)
    start = datetime(2020, 1, 1)

    def one_of(*values):
        return [draw.choice(values) for _ in range(rows)]

    moments = [start + timedelta(minutes=draw.randrange(4 * 365 * 1440)) for _ in range(rows)]
    return {
        "visit": list(range(1000, 1000 + rows)),
        "smoker": one_of(True, False, None),
        "region": one_of("01", "02", "North, upper", 'the "old" town', "3", None),
        "grade": one_of("low", "middle", "high"),
        "parity": one_of(0, 1, 2, None),
        "age": [draw.randrange(111) for _ in range(rows)],
        "cost": [None if draw.random() < 0.2 else draw.randrange(-5000, 500001) / 100 for _ in range(rows)],
        "day": [
            None if draw.random() < 0.2 else date(2020, 1, 1) + timedelta(draw.randrange(1461)) for _ in range(rows)
        ],
        "seen": [None if draw.random() < 0.2 else moment for moment in moments],
    }


ARROW = pa.schema(
    [
        ("visit", pa.int64()),
        ("smoker", pa.bool_()),
        ("region", pa.string()),
        ("grade", pa.string()),
        ("parity", pa.int64()),
        ("age", pa.int64()),
        ("cost", pa.float64()),
        ("day", pa.date32()),
        ("seen", pa.timestamp("s")),
    ]
)


def arrow(values):
    return pa.table(values, schema=ARROW)


def text(value):
    """A cell as a careful person would write it into a CSV file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else str(value)


def write_csv(path, values, *, delimiter=",", encoding="utf-8", newline="\n"):
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=newline)
        writer.writerow(values)
        writer.writerows(zip(*([text(value) for value in column] for column in values.values()), strict=True))
    return path


def write_parquet(path, values):
    parquet.write_table(arrow(values), path)
    return path


def encoded(data, public=None, **options):
    """The codes of a table, column by column, in its own order."""
    return [column.tolist() for column in open_table(data, **options).read(public or schema()).codes]


def code_rows(data, public, unit, **options):
    """The sorted encoded rows that a unit bound lets through."""
    batches = open_table(data, **options)._batches(public, unit)
    return sorted(zip(*(c.tolist() for c in Rows.concatenate(list(batches), public).codes), strict=True))
