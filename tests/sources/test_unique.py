"""Which keys a database itself keeps present and unique: only constraints that hold for every row, of types of one text per value."""

import json

import pytest

import postgresql
from linked_tables import key, label
from mutation.faults import fault_in, named
from privacy.stand_ins import run_command
from sundog.domain.linked.views import LinkedSchema
from sundog.errors import UserError
from sundog.private.table import PrivateTables, open_private
from sundog.sources import unique
from sundog.sources.unique import whole_table


def schema(*fields, **more):
    """Homes with persons; only the key of homes is trusted."""
    own = [f"home_{name}" for name in fields]
    return LinkedSchema.from_document(document(fields, own, **more))


def document(fields, own, **more):
    return {
        "name": "homes",
        "resources": [
            {
                "name": "homes",
                "schema": {
                    "primaryKey": list(fields),
                    "fields": [*(key(name, "string") for name in fields), label("type", "flat", "house")],
                    **more,
                },
            },
            {
                "name": "persons",
                "maximumPerParent": 2,
                "schema": {
                    "foreignKeys": [
                        {"fields": own, "reference": {"resource": "homes", "fields": list(fields)}},
                    ],
                    "fields": [*(key(name, "string") for name in own), label("sex", "f", "m")],
                    **more,
                },
            },
        ],
    }


def ensured(place, *, fields=("id",), sql=None, missing=()):
    """Whether a database is taken to keep the key of its homes present and unique."""
    package = schema(*fields, missingValues=list(missing)).package
    queries = {name: (place, whole_table(name)) for name in ("homes", "persons")}
    if sql is not None:
        queries["homes"] = (place, sql)
    return set(open_private(PrivateTables(package, queries)).ensured) == {"homes"}


HOMES = "CREATE TABLE homes (id {kind}, type text{more})"
PERSONS = "CREATE TABLE persons (home_id {kind}, sex text)"


def homes(kind, more=""):
    return HOMES.format(kind=kind, more=more)


POSTGRESQL = {
    "primary key": (True, homes("integer PRIMARY KEY")),
    "primary key of text": (True, homes("text PRIMARY KEY")),
    "primary key of limited text": (True, homes("varchar(9) PRIMARY KEY")),
    "primary key of uuid": (True, homes("uuid PRIMARY KEY")),
    "unique and not null": (True, homes("bigint NOT NULL UNIQUE")),
    "unique index on what is not null": (True, homes("bigint NOT NULL"), "CREATE UNIQUE INDEX ON homes (id)"),
    "with other columns in the index": (True, homes("integer", ", PRIMARY KEY (id) INCLUDE (type)")),
    "checked when a transaction ends": (True, homes("integer PRIMARY KEY DEFERRABLE INITIALLY DEFERRED")),
    "partitioned": (
        True,
        homes("integer PRIMARY KEY") + " PARTITION BY RANGE (id)",
        "CREATE TABLE low PARTITION OF homes FOR VALUES FROM (0) TO (9)",
    ),
    "unique, and may be null": (False, homes("integer UNIQUE")),
    "unique with one null": (False, homes("integer UNIQUE NULLS NOT DISTINCT")),
    "no constraint": (False, homes("integer NOT NULL")),
    "an index that is not unique": (False, homes("integer NOT NULL"), "CREATE INDEX ON homes (id)"),
    "together with another column": (False, homes("integer NOT NULL", ", PRIMARY KEY (id, type)")),
    "unique in some rows": (
        False,
        homes("integer NOT NULL"),
        "CREATE UNIQUE INDEX ON homes (id) WHERE type = 'flat'",
    ),
    "an expression is unique": (False, homes("text NOT NULL"), "CREATE UNIQUE INDEX ON homes (lower(id))"),
    "together with an expression": (False, homes("text NOT NULL"), "CREATE UNIQUE INDEX ON homes (id, lower(type))"),
    "an index that is not valid": (
        False,
        homes("integer PRIMARY KEY"),
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'homes_pkey'::regclass",
    ),
    "other tables inherit from it": (
        False,
        homes("integer PRIMARY KEY"),
        "CREATE TABLE more () INHERITS (homes)",
        "INSERT INTO homes VALUES (1, 'flat')",
        "INSERT INTO more VALUES (1, 'flat')",
    ),
    "a view": (False, "CREATE TABLE held (id integer PRIMARY KEY, type text)", "CREATE VIEW homes AS TABLE held"),
    "a materialized view": (
        False,
        "CREATE TABLE held (id integer PRIMARY KEY, type text)",
        "CREATE MATERIALIZED VIEW homes AS TABLE held",
        "CREATE UNIQUE INDEX ON homes (id)",
    ),
    "a table of this name in another schema": (
        False,
        homes("integer NOT NULL"),
        "CREATE SCHEMA other",
        "CREATE TABLE other.homes (id integer PRIMARY KEY, type text)",
    ),
    "moments": (False, homes("timestamp PRIMARY KEY")),
    "zoned moments": (False, homes("timestamptz PRIMARY KEY")),
    "padded text": (False, homes("char(5) PRIMARY KEY")),
    "a type of its own": (False, "CREATE DOMAIN word AS text", homes("word PRIMARY KEY")),
    "a type of its own with a known name": (
        False,
        "CREATE DOMAIN keys.text AS float8",
        "CREATE TABLE homes (id keys.text PRIMARY KEY, type varchar)",
    ),
    "not null for new rows alone": (
        False,
        homes("integer NOT NULL UNIQUE", ", CONSTRAINT known CHECK (id IS NOT NULL)"),
        # what PostgreSQL 18 writes for NOT NULL ... NOT VALID
        "UPDATE pg_constraint SET contype = 'n', convalidated = false WHERE conname = 'known'",
    ),
    "floats": (False, homes("float8 PRIMARY KEY")),
}
"""By name: whether the key is kept unique, and the statements that make the tables."""
EMPTY = ("DROP SCHEMA IF EXISTS other CASCADE", "DROP SCHEMA IF EXISTS keys CASCADE", "CREATE SCHEMA keys")


@pytest.fixture
def server(postgresql_url):
    """A schema of its own, in which tables are made and found."""
    url = f"{postgresql_url}&options=-csearch_path%3Dkeys"
    postgresql.run(postgresql_url, *EMPTY)
    yield url
    postgresql.run(postgresql_url, *EMPTY[:2])


@pytest.mark.parametrize("name", POSTGRESQL)
def test_what_postgresql_keeps_unique(name, server):
    expected, *statements = POSTGRESQL[name]
    postgresql.run(server, *statements, PERSONS.format(kind="text"))
    assert ensured(server) is expected


def test_keys_of_several_fields_in_postgresql(server):
    made = "CREATE TABLE homes (area text, id integer, type text, PRIMARY KEY (area, id))"
    postgresql.run(server, made, "CREATE TABLE persons (home_area text, home_id integer, sex text)")
    assert ensured(server, fields=("id", "area"))
    assert not ensured(server, fields=("id", "area"), sql='SELECT * FROM "homes" WHERE true')


def test_a_part_of_a_key_that_may_be_null_is_not_ensured(server, tmp_path):
    """One field of the key is unique, and so is the key; but the other field may be missing in some row."""
    made = "CREATE TABLE homes (area text, id integer PRIMARY KEY, type text)"
    persons = "CREATE TABLE persons (home_area text, home_id integer, sex text)"
    postgresql.run(server, made, persons)
    assert not ensured(server, fields=("id", "area"))
    assert not ensured(duckdb_file(tmp_path, made, persons), fields=("id", "area"))


MISSING = {
    "text, and nothing is missing": (True, "text", []),
    "text, which may be empty": (False, "text", [""]),
    "text, which may be a word": (False, "text", ["NA"]),
    "numbers, which are no words": (True, "integer", ["", "NA"]),
    "numbers, which may be a number": (False, "integer", ["", "-1"]),
    "UUIDs, which are no words": (True, "uuid", ["", "NA"]),
    "UUIDs, which may be one": (False, "uuid", ["00000000-0000-0000-0000-000000000000"]),
}
"""By name: whether the key is kept present, its type, and its declared missing values."""


@pytest.mark.parametrize("name", MISSING)
def test_a_key_that_may_be_a_declared_missing_value_is_not_ensured(name, server, tmp_path):
    """The database knows nothing of missing values: that a run goes on tells that none is there, which is one bit."""
    expected, kind, missing = MISSING[name]
    statements = homes(f"{kind} PRIMARY KEY"), PERSONS.format(kind=kind)
    postgresql.run(server, *statements)
    assert ensured(server, missing=missing) is expected
    assert ensured(duckdb_file(tmp_path, *statements), missing=missing) is expected


def test_a_number_of_any_length_names_no_record(server):
    """Two of them could be one float: the key is refused before any row is read."""
    postgresql.run(server, homes("numeric PRIMARY KEY"), PERSONS.format(kind="text"))
    assert not ensured(server)


DUCKDB = {
    "primary key": (True, homes("INTEGER PRIMARY KEY")),
    "primary key of text": (True, homes("VARCHAR PRIMARY KEY")),
    "primary key compared without case": (True, homes("VARCHAR COLLATE NOCASE PRIMARY KEY")),
    "unique and not null": (True, homes("BIGINT NOT NULL UNIQUE")),
    "unique, and may be null": (False, homes("BIGINT UNIQUE")),
    "together with another column": (False, homes("BIGINT", ", PRIMARY KEY (id, type)")),
    "no constraint": (False, homes("BIGINT NOT NULL")),
    "moments": (False, homes("TIMESTAMP PRIMARY KEY")),
    "decimals": (False, homes("DECIMAL(9, 2) PRIMARY KEY")),
    "floats": (False, homes("DOUBLE PRIMARY KEY")),
    "a view": (False, "CREATE TABLE held (id INTEGER PRIMARY KEY, type text)", "CREATE VIEW homes AS FROM held"),
    "a table of this name in another schema": (
        False,
        homes("INTEGER NOT NULL"),
        "CREATE SCHEMA other",
        "CREATE TABLE other.homes (id INTEGER PRIMARY KEY, type text)",
    ),
}


def duckdb_file(folder, *statements):
    import duckdb

    place = folder / "homes.duckdb"
    connection = duckdb.connect(str(place))
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return str(place)


@pytest.mark.parametrize("name", DUCKDB)
def test_what_duckdb_keeps_unique(name, tmp_path):
    expected, *statements = DUCKDB[name]
    assert ensured(duckdb_file(tmp_path, *statements, PERSONS.format(kind="text"))) is expected


def test_sqlite_is_not_asked(tmp_path):
    """A column of numbers holds texts as well: 1 and '1.0 ' may both be there."""
    import sqlite3

    place = tmp_path / "homes.sqlite"
    with sqlite3.connect(place) as connection:
        connection.execute(homes("COLLATE NOCASE PRIMARY KEY NOT NULL"))
        connection.execute(PERSONS.format(kind="text"))
        connection.executemany("INSERT INTO homes VALUES (?, 'flat')", [(1,), ("1",)])
    connection.close()
    assert not ensured(str(place))
    source = open_private(
        PrivateTables(schema("id").package, {n: (str(place), whole_table(n)) for n in ("homes", "persons")})
    )
    with pytest.raises(UserError, match="table 'homes'"):
        source.check_keys()  # one text, two records


FILLED = (
    homes("INTEGER PRIMARY KEY"),
    PERSONS.format(kind="INTEGER"),
    "INSERT INTO homes SELECT range, 'flat' FROM range(40)",
    "INSERT INTO persons SELECT range, 'f' FROM range(40)",
)


def run(folder, place, **more):
    (folder / "schema.json").write_text(json.dumps(document(["id"], ["home_id"], **more)), encoding="utf-8")
    call = ("synthesize", place, "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-6", "-o", "out")
    return run_command(folder, *call)


def check_certified(folder, place):
    made = run(folder, place)
    assert made.code == 0, made.stderr
    certificate = json.loads(made.files["out/certificate.json"])
    assert any("ensured by the database" in line for line in certificate["restsOn"])
    assert "disclosed" not in {entry["mechanism"] for entry in made.ledger}


def test_the_certificate_says_what_a_database_ensures(tmp_path):
    check_certified(tmp_path, duckdb_file(tmp_path, *FILLED))


def test_the_certificate_says_what_a_server_ensures(tmp_path, server):
    postgresql.run(
        server,
        *(each.replace("FROM range(40)", "FROM generate_series(0, 39) AS range") for each in FILLED),
    )
    check_certified(tmp_path, server)


@pytest.mark.parametrize(("missing", "code"), [("7", 2), ("70", 0)])
def test_a_constraint_that_a_declared_missing_value_could_break_is_one_bit(missing, code, tmp_path):
    """The database knows nothing of it: the ledger says the same whether the key is refused or not."""
    made = run(tmp_path, duckdb_file(tmp_path, *FILLED), missingValues=["", missing])
    assert made.code == code
    disclosed = [entry for entry in made.ledger if entry["mechanism"] == "disclosed"]
    assert len(disclosed) == 1
    assert disclosed[0]["details"] == {"bits": 1}
    assert "homes" in disclosed[0]["label"]
    assert made.ledger[0] == disclosed[0]


def test_a_key_that_was_wrongly_taken_to_be_ensured_is_one_bit(tmp_path, monkeypatch):
    """The rows are looked at in any case; a refusal is disclosed, as that of any key."""
    monkeypatch.setattr("sundog.private.table.ensured_keys", lambda *_: frozenset({"homes"}))
    statements = homes("INTEGER"), *FILLED[1:], "INSERT INTO homes VALUES (3, 'flat')"
    made = run(tmp_path, duckdb_file(tmp_path, *statements))
    assert made.code == 2
    assert [entry["mechanism"] for entry in made.ledger] == ["disclosed"]
    assert "homes" in made.ledger[0]["label"]


UNSAFE = {
    "a key that may be null": ("a.attnotnull", "true", "unique, and may be null"),
    "an index of some rows": ("AND i.indpred IS NULL", "", "unique in some rows"),
    "an index of an expression": ("AND i.indexprs IS NULL", "", "together with an expression"),
    "an index that is not valid": ("AND i.indisvalid", "", "an index that is not valid"),
    "an index that is not unique": ("AND i.indisunique", "", "an index that is not unique"),
    "tables that inherit": (
        "AND NOT EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhparent = c.oid)",
        "",
        "other tables inherit from it",
    ),
    "a type of a known name": (
        "CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname END",
        "t.typname",
        "a type of its own with a known name",
    ),
    "a key that may be null in old rows": ("AND NOT n.convalidated", "AND false", "not null for new rows alone"),
    "some table of this name": (
        "i.indrelid = to_regclass({name})",
        "c.relname = trim({name}, '\"')",
        "a table of this name in another schema",
    ),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_mutants_that_trust_other_constraints(name, server, monkeypatch):
    old, new, case = UNSAFE[name]
    expected, *statements = POSTGRESQL[case]
    wrong = unique.ON_POSTGRESQL.replace(old, new)
    assert wrong != unique.ON_POSTGRESQL
    monkeypatch.setattr(unique, "ON_POSTGRESQL", wrong)
    postgresql.run(server, *statements, PERSONS.format(kind="text"))
    assert ensured(server) is not expected


def test_mutant_a_table_of_this_name_in_another_schema_of_duckdb(tmp_path, monkeypatch):
    wrong = unique.ON_DUCKDB.replace("AND schema_name = current_schema()", "")
    assert wrong != unique.ON_DUCKDB
    monkeypatch.setattr(unique, "ON_DUCKDB", wrong)
    statements = DUCKDB["a table of this name in another schema"][1:]
    assert ensured(duckdb_file(tmp_path, *statements, PERSONS.format(kind="text")))


def test_mutant_unique_keys_of_duckdb_that_may_be_null(tmp_path):
    fault = next(each for each in named() if each.name == "a key of DuckDB that may be null is trusted")
    with fault_in(fault):
        assert ensured(duckdb_file(tmp_path, homes("BIGINT UNIQUE"), PERSONS.format(kind="text")))


@pytest.mark.parametrize("kind", ["text", "integer"])
def test_mutant_declared_missing_values_are_not_looked_at(kind, tmp_path):
    fault = next(each for each in named() if each.name == "a key of a database that may be a missing value is trusted")
    with fault_in(fault):
        place = duckdb_file(tmp_path, homes(f"{kind} PRIMARY KEY"), PERSONS.format(kind=kind))
        assert ensured(place, missing=["-1"])


def test_mutant_a_part_of_a_key_is_enough(tmp_path):
    made = "CREATE TABLE homes (area text, id integer PRIMARY KEY, type text)"
    fault = next(each for each in named() if each.name == "a part of a database's key is taken for the whole")
    with fault_in(fault):
        place = duckdb_file(tmp_path, made, "CREATE TABLE persons (home_area text, home_id integer, sex text)")
        assert ensured(place, fields=("id", "area"))


@pytest.mark.parametrize("name", ["moments", "padded text", "floats", "a type of its own"])
def test_mutants_that_trust_every_type(name, server, monkeypatch):
    monkeypatch.setattr(unique, "DISTINCT_TEXTS", type("Every", (), {"__contains__": lambda self, kind: True})())
    postgresql.run(server, *POSTGRESQL[name][1:], PERSONS.format(kind="text"))
    assert ensured(server)
