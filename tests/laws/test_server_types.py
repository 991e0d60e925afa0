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


def totals(data, sql, schema, *, rows):
    query = Marginal.of(schema, "cell")
    source = open_table(data, sql=sql)
    if isinstance(source, table.ServerTable):
        try:
            source.check(schema.fields, unit=None if rows is None else "who")
            source.check_counts(schema, Counting([query]).tallies)
        except UserError:
            return None
    unit = PrivacyUnit() if rows is None else PrivacyUnit(column="who", rows=rows)
    return source.add_up(schema, unit, add=Counting([query]), size=query.size)


def same(url, kind, type_):
    """Whether push-down counts a cell as streaming does; None where it is refused before it counts."""
    cells = ", ".join(f"('{cell}'::{type_}, {place % 3})" for place, cell in enumerate(CELLS[type_]))
    sql = f"SELECT * FROM (VALUES {cells}, (NULL::{type_}, 1)) AS made (cell, who)"
    schema = Schema.from_json({"fields": [{"name": "cell", **KINDS[kind]}]})
    for rows in (None, 1):
        counted = totals(OnServer(url), sql, schema, rows=rows)
        if counted is None:
            return None
        if not np.array_equal(counted, totals(url, sql, schema, rows=rows)):
            return False
    return True


def test_an_oid_counts_as_it_streams(postgresql_url):
    assert all(same(postgresql_url, kind, "oid") for kind in ("whole", "time"))


@pytest.mark.long
def test_every_type_counts_as_every_kind_or_is_refused_first(postgresql_url):
    found = {(type_, kind): same(postgresql_url, kind, type_) for type_ in CELLS for kind in KINDS}
    assert [cell for cell, equal in found.items() if equal is False] == []
    assert sum(equal is True for equal in found.values()) == COUNTED
    assert all(found["oid", kind] for kind in ("label", "number label", "whole", "number", "time", "required whole"))


def test_an_oid_that_is_cast_to_a_double_is_found(postgresql_url, monkeypatch):
    monkeypatch.setattr(table, "_on_server", lambda quoted, column: table.ServerColumn(column.name, quoted, "int8"))
    with pytest.raises(UserError):
        same(postgresql_url, "time", "oid")
