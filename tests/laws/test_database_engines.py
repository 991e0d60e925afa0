"""The law of engines for databases: streamed from PostgreSQL, counted by it, or read from SQLite, totals are those of one machine.

For every class of queries, kind of column and unit bound, bit for bit. Wrong engines must be found.
"""

import random
import sqlite3
from datetime import date, datetime, time, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import postgresql
from laws.query_examples import EXAMPLES, SCHEMA, random_query
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import CLASSES, BinaryTree, Conditional, Counting, Joined, Marginal, Ranges
from sundog.sources import OnServer, open_table
from sundog.sources.server import statements, table

ENGINES = ("streamed", "pushed down", "sqlite")
BOUNDS = (None, 1, 2, 5)
PUSHED = (Marginal, Ranges, BinaryTree, Conditional, Joined)
COLOURS = st.sampled_from(["red", "green", "blue", "", None])
NUMBERS = st.one_of(st.none(), st.integers(-3, 9), st.sampled_from([2**62, -(2**62)]))
RECORDS = st.lists(st.tuples(COLOURS, NUMBERS, NUMBERS, st.integers(0, 3)), min_size=1, max_size=60)
ALL = [case.query for name in CLASSES for case in EXAMPLES[name]]


@pytest.fixture
def held(postgresql_url, tmp_path):
    """A table as each engine holds it, and the query that reads it."""

    def hold(rows, kinds):
        postgresql.ingest(postgresql_url, "law", rows)
        casts = ", ".join(
            f'"{name}"::{kinds[name]} AS "{name}"' if name in kinds else f'"{name}"' for name in rows.column_names
        )
        path = tmp_path / "law.sqlite"
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as connection:
            connection.execute(
                f"CREATE TABLE law ({', '.join(chr(34) + name + chr(34) for name in rows.column_names)})"
            )
            marks = ", ".join("?" * rows.num_columns)
            connection.executemany(f"INSERT INTO law VALUES ({marks})", zip(*map(_cells, rows.columns), strict=True))
        connection.close()
        sql = f'SELECT {casts} FROM "law"'
        return {
            "streamed": (postgresql_url, sql),
            "pushed down": (OnServer(postgresql_url), sql),
            "sqlite": (path, None),
        }

    return hold


def _cells(column):
    """As SQLite keeps them: moments are texts there."""
    return [str(cell) if isinstance(cell, date | datetime | time) else cell for cell in column.to_pylist()]


def totals(held, schema, queries, bound):
    data, sql = held
    unit = PrivacyUnit() if bound is None else PrivacyUnit(column="who", rows=bound)
    size = sum(query.size for query in queries)
    return open_table(data, sql=sql).add_up(schema, unit, add=Counting(queries), size=size)


def can_push(query):
    return getattr(query, "tallies", None) is not None


def check(engine, held, *, schema=SCHEMA, queries=ALL, bounds=BOUNDS):
    asked = [query for query in queries if engine != "pushed down" or can_push(query)]
    for bound in bounds:
        expected = totals(held["laptop"], schema, asked, bound)
        assert np.array_equal(totals(held[engine], schema, asked, bound), expected), (engine, bound)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=6)
@given(records=RECORDS, seed=st.integers(0, 2**32 - 1))
def test_every_class_of_queries_counts_the_same(engine, held, records, seed):
    colour, age, hours, who = zip(*records, strict=True)
    columns = {"colour": colour, "age": age, "hours": hours, "only": ["one"] * len(who), "fixed": [7] * len(who)}
    kinds = {"colour": pa.string(), "age": pa.int64(), "hours": pa.int64()}
    rows = pa.table(
        {name: pa.array(cells, kinds.get(name)) for name, cells in columns.items()} | {"who": pa.array(who)}
    )
    check(engine, held(rows, {}) | {"laptop": (rows, None)}, queries=[*ALL, random_query(seed)], bounds=BOUNDS)


def test_which_classes_a_server_counts():
    assert {type(query) for query in ALL} == set(CLASSES.values())
    assert {type(query) for query in ALL if can_push(query)} == set(PUSHED)
    with pytest.raises(UserError, match=r"push-down: .* is no count that a server makes; marginals, trees, ranges"):
        _ = Counting([query for query in ALL if not can_push(query)]).tallies


def number(name, low, high, **more):
    return {"name": name, "type": more.pop("type", "number"), "constraints": {"minimum": low, "maximum": high}, **more}


def moment(name, kind, low, high, **sundog):
    return {"name": name, "type": kind, "constraints": {"minimum": low, "maximum": high}, "sundog": sundog}


KINDS = Schema.from_json(
    {
        "fields": [
            {"name": "label", "categories": ["a", "it's", 'q"', "\\", "é\u200d", ""]},
            {"name": "padded", "categories": ["ab", "abc"]},
            {"name": "level", "type": "integer", "categories": [0, 1, 2], "missingValues": ["", "9"]},
            {"name": "whole_label", "categories": ["0", "1", "7"], "missingValues": ["7"]},
            {"name": "flag", "type": "boolean"},
            {"name": "yes", "type": "boolean", "trueValues": ["1", "yes"], "falseValues": ["0", "no"]},
            number("count", -5, 40, type="integer"),
            number("money", -2, 3.5, sundog={"decimals": 2}),
            number("real", 0, 1, sundog={"decimals": 3}, missingValues=["", "0.25"]),
            number("small", 0, 9, sundog={"decimals": 1}),
            moment("day", "date", "1990-01-01", "2023-12-31"),
            moment("seen", "datetime", "2000-01-01T00:00:00", "2023-12-31T23:59:59", resolution=900),
            moment("zoned", "datetime", "2000-01-01T00:00:00", "9000-12-31T23:59:59", resolution=1),
            moment("clock", "time", "06:00:00", "20:00:00", resolution=60),
            moment("hour", "time", "00:00:00", "23:59:59", resolution=1),
        ]
    }
)
ARROW = {
    "label": pa.string(), "padded": pa.string(), "level": pa.int64(), "whole_label": pa.int64(), "flag": pa.bool_(), "yes": pa.string(), "count": pa.int64(),
    "money": pa.float64(), "real": pa.float64(), "small": pa.float32(), "day": pa.date32(), "seen": pa.timestamp("us"), "zoned": pa.timestamp("us"),
    "clock": pa.time64("us"), "hour": pa.float64(),
}  # fmt: skip
CASTS = {
    "padded": "char(7)",
    "level": "numeric",
    "money": "numeric(12, 4)",
    "zoned": "timestamptz",
    "count": "int2",
    "whole_label": "int4",
}


def made_cells(seed, rows=250):
    draw = random.Random(seed)
    start = datetime(2000, 1, 1)
    doubles = [
        0.0,
        -0.0,
        0.25,
        0.0005,
        0.1235,
        1e-320,
        1e300,
        -1e300,
        float("inf"),
        float("-inf"),
        float("nan"),
        2.005,
        3.495,
    ]
    moments = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2004, 2, 29, 11, 59, 59, 999999)]

    def double(high):
        return draw.choice([None, *doubles, draw.uniform(-high, high), round(draw.uniform(0, high), 2)])

    def at():
        return draw.choice([None, *moments, start + timedelta(microseconds=draw.randrange(2**50))])

    make = {
        "label": lambda: draw.choice(["a", "it's", 'q"', "\\", "é\u200d", "", None, "A", "a ", "other"]),
        "padded": lambda: draw.choice(["ab", "abc", "b", None]),
        "level": lambda: draw.choice([0, 1, 2, 3, 9, None]),
        "whole_label": lambda: draw.choice([0, 1, 7, 8, None]),
        "flag": lambda: draw.choice([True, False, None]),
        "yes": lambda: draw.choice(["1", "yes", "no", "0", "YES", None]),
        "count": lambda: draw.choice([None, -32768, 32767, draw.randrange(-9, 50)]),
        "money": lambda: draw.choice([None, round(draw.uniform(-4, 5), 4), -2.005, 3.495, 0.125]),
        "real": lambda: double(1.5),
        "small": lambda: double(12),
        "day": lambda: draw.choice([None, date(1, 1, 1), date(9999, 12, 31), date(1990, 1, 1) + timedelta(draw.randrange(-99, 12999))]),
        "seen": at,
        "zoned": at,
        "clock": lambda: draw.choice([None, time(0), time(23, 59, 59, 999999), time(draw.randrange(24), draw.randrange(60), 30)]),
        "hour": lambda: double(90_000),
    }  # fmt: skip
    table = pa.table({name: pa.array([make[name]() for _ in range(rows)], kind) for name, kind in ARROW.items()})
    return table.append_column(
        "who", pa.array([draw.choice(["p", "q", "é", None, str(draw.randrange(60))]) for _ in range(rows)])
    )


def every_kind():
    return [Marginal.of(KINDS, name) for name in KINDS.names] + [
        Marginal.of(KINDS, "label", "day"),
        Marginal.of(KINDS, "flag", "money", "yes"),
    ]


@pytest.mark.parametrize("engine", ["streamed", "pushed down"])
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_kind_of_column_counts_the_same(engine, held, seed):
    rows = made_cells(seed)
    there = held(rows, CASTS) | {"laptop": (rows, None)}
    check(engine, there, schema=KINDS, queries=every_kind(), bounds=(None, 1, 3))


@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_kind_of_cell_of_sqlite_counts_the_same(held, seed):
    """SQLite has fewer types: the laptop reads the cells that it keeps, NaN as null."""
    rows = made_cells(seed).drop_columns(["padded"])
    schema = Schema.from_json({"fields": [field for field in KINDS.to_json()["fields"] if field["name"] != "padded"]})
    there = held(rows, {})
    cells = {name: [None if cell != cell else cell for cell in _cells(rows[name])] for name in rows.column_names}
    queries = [Marginal.of(schema, name) for name in schema.names]
    check("sqlite", there | {"laptop": (cells, None)}, schema=schema, queries=queries, bounds=(None, 1, 3))


def test_distances_count_the_same(held):
    document = {
        "fields": [
            moment("came", "date", "2020-01-01", "2020-12-31"),
            {"name": "left", "type": "datetime", "relativeTo": "came", "offset": {"minimum": "0 days", "maximum": "30 days"}, "sundog": {"resolution": 3600}},
        ]
    }  # fmt: skip
    schema = Schema.from_json(document)
    draw = random.Random(1)
    came = [draw.choice([None, date(2020, 1, 1) + timedelta(draw.randrange(-9, 400))]) for _ in range(300)]
    left = [None if day is None or draw.random() < 0.1 else datetime(day.year, day.month, day.day) + timedelta(hours=draw.randrange(-50, 900)) for day in came]  # fmt: skip
    rows = pa.table(
        {
            "came": pa.array(came, pa.date32()),
            "left": pa.array(left, pa.timestamp("us")),
            "who": pa.array([k % 40 for k in range(300)]),
        }
    )
    there = held(rows, {}) | {"laptop": (rows, None)}
    queries = [Marginal.of(schema, name) for name in schema.names]
    for engine in ("streamed", "pushed down"):
        check(engine, there, schema=schema, queries=queries, bounds=(None, 2))


def test_many_tallies_take_several_statements(held, monkeypatch):
    monkeypatch.setattr(statements, "PASSES", 2)
    monkeypatch.setattr(statements, "COUNTS", 3)
    monkeypatch.setattr(statements, "ARGUMENTS", 2)
    rows = made_cells(5)
    check(
        "pushed down",
        held(rows, CASTS) | {"laptop": (rows, None)},
        schema=KINDS,
        queries=every_kind(),
        bounds=(None, 2),
    )


def test_only_totals_come_back(held, monkeypatch):
    """What the server sends has three columns of whole numbers: tally, cell, count."""
    sent = []
    batches = table.Database.batches

    def watched(self, sql):
        for batch in batches(self, sql):
            sent.append(batch)
            yield batch

    rows = made_cells(3)
    there = held(rows, CASTS)["pushed down"]
    source = open_table(there[0], sql=there[1])
    monkeypatch.setattr(table.Database, "batches", watched)
    queries = every_kind()
    source.add_up(
        KINDS, PrivacyUnit(column="who", rows=2), add=Counting(queries), size=sum(query.size for query in queries)
    )
    assert sent
    assert {kind for batch in sent for kind in batch.schema.types} == {pa.int64()}
    assert all(batch.num_columns == 3 for batch in sent)
    assert sum(len(batch) for batch in sent) <= sum(query.size for query in queries)


ALIKE = [
    "red",
    "Red",
    "red ",
    " red",
    "r\u00e9d",
    "re\u0301d",
    "it's",
    'q"',
    "back\\slash",
    "100%",
    "%s",
    "$1",
    "a,b",
    "\t",
    "\n",
    "null",
    "=",
    "x" * 200,
]
"""Texts that a collation, padding or quoting could mix up."""
LOOKALIKES = Schema.from_json(
    {
        "fields": [
            {"name": "select", "categories": ALIKE, "missingValues": ["%s", "it's", ""]},
            {"name": "unit", "categories": [text for text in ALIKE if text.strip() == text]},
            number("code0", 0, 9, type="integer"),
        ]
    }
)  # fmt: skip


@pytest.fixture
def alike(postgresql_url):
    """Texts that look alike, in a column that ignores case and accents, and names of columns that our own SQL uses."""
    draw = random.Random(2)
    texts = [draw.choice([*ALIKE, None, ""]) for _ in range(400)]
    rows = pa.table({"select": texts, "unit": texts[1:] + texts[:1], "code0": [draw.randrange(12) for _ in texts]})
    postgresql.ingest(postgresql_url, "alike", rows.append_column("who", pa.array(texts)))
    postgresql.run(
        postgresql_url,
        "CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
        *(f'ALTER TABLE alike ALTER "{name}" TYPE text COLLATE loose' for name in ("select", "unit", "who")),
    )
    sql = "SELECT * FROM alike"
    return {
        "streamed": (postgresql_url, sql),
        "pushed down": (OnServer(postgresql_url), sql),
        "laptop": (rows.append_column("who", pa.array(texts)), None),
    }


def check_alike(engine, alike):
    queries = [Marginal.of(LOOKALIKES, name) for name in LOOKALIKES.names]
    check(engine, alike, schema=LOOKALIKES, queries=queries, bounds=(None, 1, 5))


@pytest.mark.parametrize("engine", ["streamed", "pushed down"])
def test_texts_that_look_alike_stay_apart(alike, engine):
    check_alike(engine, alike)


def test_a_server_that_mixes_up_texts_is_found(alike, monkeypatch):
    def by_own_collation(*given, **more):
        return CODED(*given, **more).replace('COLLATE "C" AS unit', "AS unit")

    monkeypatch.setattr(statements, "_coded", by_own_collation)
    with pytest.raises(AssertionError):
        check_alike("pushed down", alike)


def test_settings_of_the_role_change_no_count(held, postgresql_url):
    rows = made_cells(7)
    there = held(rows, CASTS) | {"laptop": (rows, None)}
    postgresql.run(
        postgresql_url,
        "ALTER ROLE sundog SET timezone = 'Asia/Tokyo'",
        "ALTER ROLE sundog SET datestyle = 'German'",
        "ALTER ROLE sundog SET extra_float_digits = -5",
    )
    try:
        for engine in ("streamed", "pushed down"):
            check(engine, there, schema=KINDS, queries=every_kind(), bounds=(None, 2))
    finally:
        postgresql.run(postgresql_url, "ALTER ROLE sundog RESET ALL")


def test_all_counts_of_a_server_see_one_snapshot(postgresql_url):
    schema = Schema.from_json({"fields": [{"name": "a", "categories": ["x"]}]})
    postgresql.run(postgresql_url, "DROP TABLE IF EXISTS now", "CREATE TABLE now AS SELECT 'x'::text AS a")
    source = open_table(OnServer(postgresql_url), sql="SELECT a FROM now")
    for _ in range(2):
        query = Marginal.of(schema, "a")
        assert source.add_up(schema, PrivacyUnit(), add=Counting([query]), size=query.size).tolist() == [1, 0]
        postgresql.run(postgresql_url, "INSERT INTO now VALUES ('x')")


def test_what_functions_of_the_server_say_is_not_heard(postgresql_url, capfd):
    postgresql.run(
        postgresql_url,
        "CREATE OR REPLACE FUNCTION told(cell text) RETURNS text LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE NOTICE 'cell %', cell; RAISE WARNING 'cell %', cell; RETURN cell; END $$",
    )
    schema = Schema.from_json({"fields": [{"name": "a", "categories": ["s3cret"]}]})
    query = Marginal.of(schema, "a")
    for data in (postgresql_url, OnServer(postgresql_url)):
        source = open_table(data, sql="SELECT told('s3cret') AS a")
        assert source.add_up(schema, PrivacyUnit(), add=Counting([query]), size=query.size)[0] == 1
    assert "s3cret" not in "".join(capfd.readouterr())


WRONG = {
    "a unit is split": (statements, "unit_sql", lambda raw: f"COALESCE('=' || {raw.text} || ctid, '')"),
    "units become one": (statements, "unit_sql", lambda raw: "'='"),
    "rows beyond the bound": (statements, "_coded", lambda *given, unit, **more: CODED(*given, unit=PrivacyUnit(column=unit.column, rows=unit.rows + 1), **more)),
    "counted twice": (table, "statements", lambda *given, **more: [sql for sql in STATEMENTS(*given, **more) for _ in range(2)]),
    "rows are kept by another hash": (statements, "HASH_DIGITS", 1),
    "the place of null is the last label": (statements, "code_sql", lambda column, *raw: CODE(column, *raw).replace(f", {column.null_code})", ", 0)")),
}  # fmt: skip
CODED, STATEMENTS, CODE = statements._coded, table.statements, statements.code_sql


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_server_is_found(held, monkeypatch, name):
    rows = made_cells(11)
    there = held(rows, CASTS) | {"laptop": (rows, None)}
    data, sql = there["pushed down"]
    there["pushed down"] = (data, sql.replace('FROM "law"', ', ctid::text FROM "law"'))
    where, what, wrong = WRONG[name]
    monkeypatch.setattr(where, what, wrong)
    with pytest.raises(AssertionError):
        check("pushed down", there, schema=KINDS, queries=every_kind(), bounds=(2,))
