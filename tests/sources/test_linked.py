"""Linked tables in one database are read on one snapshot: a row that is written between two tables is in none of them."""

import subprocess
import sys

import pytest

import postgresql
from linked_tables import below, key, label
from sundog.domain.linked.package import Package
from sundog.private.table import PrivateTables, open_private
from sundog.sources import databases

HOMES = {"name": "homes", "schema": {"primaryKey": ["id"], "fields": [key("id"), label("type", "flat", "house")]}}
CARDS = {
    "name": "cards",
    "maximumPerParent": 9,
    "schema": {"foreignKeys": below("homes"), "fields": [key("parent"), label("colour", "gold", "red")]},
}
PACKAGE = Package.from_json({"name": "homes", "resources": [HOMES, CARDS]})
MADE = (
    "CREATE TABLE homes (id integer, type text)",
    "CREATE TABLE cards (parent integer, colour text)",
    "INSERT INTO homes VALUES (1, 'flat')",
    "INSERT INTO cards VALUES (1, 'gold')",
)
LATER = ("INSERT INTO homes VALUES (2, 'flat')", "INSERT INTO cards VALUES (1, 'red')")
WRITER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as writer:
    for statement in sys.argv[2:]:
        writer.execute(statement)
writer.close()
"""


def rows_seen(place, run, monkeypatch):
    """The rows of each table that a run sees while both get a row after the first was opened, and again after it was read."""
    opened, open_one = [], databases.query_table

    def interrupted(database, sql):
        if opened:
            run(*LATER)
        opened.append(sql)
        return open_one(database, sql)

    monkeypatch.setattr(databases, "query_table", interrupted)
    tables = {name: (place, f'SELECT * FROM "{name}"') for name in ("homes", "cards")}
    source = open_private(PrivateTables(PACKAGE, tables))
    homes = source.tables["homes"].read(PACKAGE.table("homes").schema)
    run(*LATER)
    return len(homes), len(source.tables["cards"].read(PACKAGE.table("cards").schema))


@pytest.fixture
def lite(tmp_path):
    """An SQLite file that can be written to while it is read, and what writes to it."""
    pytest.importorskip("adbc_driver_sqlite", reason="needs: pip install 'sundog[databases]'")
    place = str(tmp_path / "homes.sqlite")

    def run(*statements):  # in a process of its own: locks of a file hold between processes
        subprocess.run([sys.executable, "-c", WRITER, place, *statements], check=True)

    run("PRAGMA journal_mode = WAL", *MADE)
    return place, run


@pytest.fixture
def server(postgresql_url):
    """A PostgreSQL server with the tables, and what writes to them."""

    def run(*statements):
        postgresql.run(postgresql_url, *statements)

    run("DROP TABLE IF EXISTS homes, cards", *MADE)
    yield postgresql_url, run
    run("DROP TABLE homes, cards")


@pytest.mark.parametrize("kind", ["lite", "server"])
def test_all_tables_see_one_snapshot(kind, request, monkeypatch):
    place, run = request.getfixturevalue(kind)
    homes, cards = rows_seen(place, run, monkeypatch)
    assert homes == cards


@pytest.mark.parametrize(("kind", "connect"), [("lite", "connect_sqlite"), ("server", "connect_address")])
def test_a_connection_per_table_is_found(kind, connect, request, monkeypatch):
    place, run = request.getfixturevalue(kind)
    make, open_one = getattr(databases, connect), databases.query_table
    monkeypatch.setattr(databases, "query_table", lambda _, sql: open_one(make(place), sql))
    homes, cards = rows_seen(place, run, monkeypatch)
    assert homes < cards
