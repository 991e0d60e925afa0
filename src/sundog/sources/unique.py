"""Which primary keys a database itself keeps unique: what its catalogue says of a whole table. No row is read.

Only a constraint that is enforced for every row counts (PRIMARY KEY, or UNIQUE on fields that are NOT NULL), over fields of the key,
of types whose different values are different texts. Not a partial index, nor that of a table whose rows include those of tables
inheriting from it. SQLite is not asked: its columns hold values of any type, so that 1 and '1' may both be there.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sundog.domain.linked.package import Package
from sundog.sources.adbc import Database
from sundog.sources.drivers import POSTGRESQL
from sundog.sources.duck import DuckTable
from sundog.sources.encode import INTEGERS, identifier, literal

DISTINCT_TEXTS = (*INTEGERS, "VARCHAR", "UUID", "int2", "int4", "int8", "text", "varchar", "uuid")
ON_POSTGRESQL = """
SELECT json_agg(json_build_array(a.attname, t.typname, a.attnotnull))::text AS name
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
JOIN unnest(i.indkey) WITH ORDINALITY k(number, place) ON k.place <= i.indnkeyatts
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
JOIN pg_type t ON t.oid = a.atttypid
WHERE i.indrelid = to_regclass({name}) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
AND (c.relkind = 'p' OR c.relkind = 'r' AND NOT EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhparent = c.oid))
GROUP BY i.indexrelid
"""
ON_DUCKDB = """
SELECT constraint_type, constraint_column_names FROM duckdb_constraints()
WHERE database_name = current_database() AND schema_name = current_schema() AND lower(table_name) = lower({name})
"""


def whole_table(name: str) -> str:
    """The query for all rows of a table."""
    return f"SELECT * FROM {identifier(name)}"


def ensured_keys(package: Package, given: Mapping[str, Any], opened: Mapping[str, Any]) -> frozenset[str]:
    """The tables whose primary key their database keeps present and unique; `given` says where each lies."""
    found = set()
    for name in package.named_by_key:
        place = given.get(name)
        if isinstance(place, tuple) and place[1] == whole_table(name) and isinstance(opened[name], DuckTable):
            key = set(package.table(name).key)
            found |= {name} if any(fields <= key for fields in _unique(opened[name], name)) else set()
    return frozenset(found)


def _unique(table: DuckTable, name: str) -> Iterator[set[str]]:
    """The sets of fields of which no two rows hold the same, and of which none is null."""
    if isinstance(table.stream, Database):
        yield from _on_postgresql(table.stream, name) if table.stream.driver is POSTGRESQL else ()
    elif table.feed is None:
        yield from _on_duckdb(table, name)


def _on_postgresql(database: Database, name: str) -> Iterator[set[str]]:
    for fields in map(json.loads, database.catalogued(ON_POSTGRESQL.format(name=literal(identifier(name))))):
        if all(kind in DISTINCT_TEXTS and there for _, kind, there in fields):
            yield {field for field, _, _ in fields}


def _on_duckdb(table: DuckTable, name: str) -> Iterator[set[str]]:
    with table.quiet_failures():
        found = table.connection.execute(ON_DUCKDB.format(name=literal(name))).fetchall()
    there = {field for kind, fields in found if kind in ("NOT NULL", "PRIMARY KEY") for field in fields}
    for kind, fields in found:
        if kind not in ("PRIMARY KEY", "UNIQUE") or not set(fields) <= there:
            continue
        if all(field in table.raw and table.raw[field].type in DISTINCT_TEXTS for field in fields):
            yield set(fields)
