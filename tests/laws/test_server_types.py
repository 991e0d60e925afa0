"""The law of types on a server: for each PostgreSQL type read as each kind of column, push-down counts what streaming counts.

Or it is refused before a row is read: never by the server, in the middle of a run that has paid.
"""

import numpy as np
import pytest

from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Counting, Marginal
from sundog.sources import OnServer, open_table
from sundog.sources.server import table

CELLS = {
    "int2": ["0", "1", "-7", "32767"],
    "int4": ["0", "1", "-7", "2147483647"],
    "int8": ["0", "1", "-7", "9223372036854775807", "-9223372036854775808"],
    "oid": ["0", "1", "7", "86399", "4294967295"],
    "float4": ["0", "1", "-7.5", "Infinity", "NaN", "1e30"],
    "float8": ["0", "1", "0.25", "-Infinity", "NaN", "1e300", "86399.5"],
    "numeric": ["0", "1", "0.25", "NaN", "1e400", "-1e400", "1e-400"],
    "money": ["0", "1", "-7.5", "92233720368547758.07"],
    "bool": ["true", "false"],
    "text": ["0", "1", "a", "", "2020-01-05", "true"],
    "varchar(20)": ["0", "1", "a", "", "2020-01-05"],
    "char(12)": ["0", "1", "a", "2020-01-05"],
    "name": ["0", "1", "a", ""],
    "date": ["2020-01-05", "infinity", "-infinity", "0044-03-15 BC"],
    "timestamp": ["2020-01-05 07:08:09.5", "infinity", "-infinity", "0044-03-15 00:00:00 BC"],
    "timestamptz": ["2020-01-05 07:08:09.5+02", "infinity", "-infinity", "9999-12-31 23:59:59+00"],
    "time": ["07:08:09.5", "24:00:00", "00:00:00"],
    "timetz": ["07:08:09.5+02", "00:00:00+00"],
    "interval": ["1 day", "7 hours"],
    "bytea": ["\\\\x00ff", "a"],
    "uuid": ["00000000-0000-0000-0000-000000000001"],
    "json": ["1", '{"a": 1}'],
    "jsonb": ["1", '{"a": 1}'],
    "inet": ["10.0.0.1"],
    "int4[]": ["{1,2}"],
}  # fmt: skip
"""Cells of every type, as PostgreSQL writes them; NULL is added."""
KINDS = {
    "label": {"categories": ["0", "1", "a", "true"]},
    "number label": {"type": "integer", "categories": [0, 1, 7]},
    "truth": {"type": "boolean"},
    "other truth": {"type": "boolean", "trueValues": ["1"], "falseValues": ["0"]},
    "whole": {"type": "integer", "constraints": {"minimum": -9, "maximum": 100_000}},
    "number": {"type": "number", "constraints": {"minimum": 0, "maximum": 9}, "sundog": {"decimals": 2}},
    "date": {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
    "datetime": {"type": "datetime", "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-12-31T23:59:59"}, "sundog": {"resolution": 60}},
    "time": {"type": "time", "sundog": {"resolution": 60}},
    "required whole": {"type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
}  # fmt: skip
COUNTED = 105
"""Of all cells, those that a server counts; the others it refuses."""


def schema_of(kinds):
    return Schema.from_json({"fields": [{"name": kind, **KINDS[kind]} for kind in kinds]})


def accepted(source, kind):
    """Whether a server says, before it reads a row, that it can count such a column."""
    schema = schema_of([kind])
    try:
        source.check_counts(schema, Counting([Marginal.of(schema, kind)]).tallies)
    except UserError:
        return False
    return True


def counted(url, type_):
    """The kinds as which push-down counts a type, and of these the ones that it counts otherwise than streaming does."""
    cells = ", ".join(f"('{cell}'::{type_})" for cell in CELLS[type_])
    shown = ", ".join(f'cell AS "{kind}"' for kind in KINDS)
    sql = f"SELECT {shown} FROM (VALUES {cells}, (NULL::{type_})) AS made (cell)"
    server = open_table(OnServer(url), sql=sql)
    kinds = [kind for kind in KINDS if accepted(server, kind)]
    if not kinds:
        return [], []
    schema = schema_of(kinds)
    queries = [Marginal.of(schema, kind) for kind in kinds]
    sizes = [query.size for query in queries]
    made = [
        np.split(source.add_up(schema, PrivacyUnit(), add=Counting(queries), size=sum(sizes)), np.cumsum(sizes)[:-1])
        for source in (server, open_table(url, sql=sql))
    ]
    return kinds, [kind for kind, here, there in zip(kinds, *made, strict=True) if not np.array_equal(here, there)]


def test_every_type_counts_as_every_kind_or_is_refused_first(postgresql_url):
    found = {type_: counted(postgresql_url, type_) for type_ in CELLS}
    assert {type_: other for type_, (_, other) in found.items() if other} == {}
    assert sum(len(kinds) for kinds, _ in found.values()) == COUNTED
    assert {"label", "number label", "whole", "number", "time", "required whole"} <= set(found["oid"][0])


def test_an_oid_that_is_cast_to_a_double_is_found(postgresql_url, monkeypatch):
    monkeypatch.setattr(table, "_on_server", lambda quoted, column: table.ServerColumn(column.name, quoted, "int8"))
    with pytest.raises(UserError):
        counted(postgresql_url, "oid")
