"""Which primary keys a database itself keeps unique: what its catalogue says of a whole table. No row is read.

Only a constraint that is enforced for every row counts (PRIMARY KEY, or UNIQUE on fields that are NOT NULL), over all fields of the key,
of types whose different values are different texts. Not a partial index, nor that of a table whose rows include those of tables
inheriting from it, nor a field that could hold one of its declared missing values: of these the database knows nothing. SQLite is not
asked: its columns hold values of any type, so that 1 and '1' may both be there.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sundog.domain.linked.package import Package
from sundog.domain.linked.table import LinkedTable
from sundog.sources.adbc import Database
from sundog.sources.drivers import POSTGRESQL
from sundog.sources.duck import DuckTable
from sundog.sources.encode import INTEGERS, identifier, literal

TEXTS = ("VARCHAR", "text", "varchar")
DISTINCT_TEXTS = (*INTEGERS, "UUID", "int2", "int4", "int8", "uuid", *TEXTS)
ON_POSTGRESQL = """
SELECT json_agg(json_build_array(
    a.attname,
    CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname END,
    a.attnotnull AND NOT EXISTS (
        SELECT 1 FROM pg_constraint n
        WHERE n.conrelid = c.oid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum] AND NOT n.convalidated
    )
))::text AS name
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
            kept = _unique(opened[name], name)
            found |= {name} if any(_is_key(package.table(name), fields) for fields in kept) else set()
    return frozenset(found)


def _is_key(table: LinkedTable, fields: Mapping[str, str]) -> bool:
    """Whether these fields, given with their types, are its key, of which no part can be a declared missing value."""
    return fields.keys() == set(table.key) and not any(
        _could_be(word, kind) for name, kind in fields.items() for word in table.identifier(name).missing_values
    )


def _could_be(word: str, kind: str) -> bool:
    """Whether a field of this type could hold a word; a word of letters alone is neither a number nor a UUID."""
    return kind in TEXTS or not (word == "" or word.isalpha())


def _unique(table: DuckTable, name: str) -> Iterator[dict[str, str]]:
    """The types by name of fields of which no two rows hold the same, and of which none is null."""
    if isinstance(table.stream, Database):
        yield from _on_postgresql(table.stream, name) if table.stream.driver is POSTGRESQL else ()
    elif table.feed is None:
        yield from _on_duckdb(table, name)


def _on_postgresql(database: Database, name: str) -> Iterator[dict[str, str]]:
    for fields in map(json.loads, database.catalogued(ON_POSTGRESQL.format(name=literal(identifier(name))))):
        if all(kind in DISTINCT_TEXTS and there for _, kind, there in fields):
            yield {field: kind for field, kind, _ in fields}


def _on_duckdb(table: DuckTable, name: str) -> Iterator[dict[str, str]]:
    with table.quiet_failures():
        found = table.connection.execute(ON_DUCKDB.format(name=literal(name))).fetchall()
    there = {field for kind, fields in found if kind in ("NOT NULL", "PRIMARY KEY") for field in fields}
    for kind, fields in found:
        if kind not in ("PRIMARY KEY", "UNIQUE") or not set(fields) <= there:
            continue
        if all(field in table.raw and table.raw[field].type in DISTINCT_TEXTS for field in fields):
            yield {field: table.raw[field].type for field in fields}
