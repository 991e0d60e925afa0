"""Parquet files and DuckDB databases."""

import os
import random
import signal
import threading

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import tables
from sundog.domain import Schema
from sundog.errors import UserError
from sundog.sources import open_table

SCHEMA = Schema.from_json({"fields": [{"name": "a", "categories": ["x", "y"]}]})


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT unnest(['x', 'y', 'z']) AS a, 5 AS b")
    return path


def codes(data, **options):
    return sorted(tables.encoded(data, SCHEMA, **options)[0])


def test_the_only_table_is_read(database):
    assert codes(database) == [0, 1, 2]


def test_a_query_is_read(database):
    assert codes(database, sql="SELECT * FROM visits WHERE a <> 'z';") == [0, 1]
    assert codes(database, sql="SELECT * FROM visits WHERE a <> 'z' -- not these") == [0, 1]
    assert codes(database, sql="SELECT upper('x') AS b, 'y' AS a") == [1]


def test_several_tables_need_a_query(database):
    with duckdb.connect(str(database)) as connection:
        connection.execute('CREATE TABLE "other table" AS SELECT 1 AS a')
    with pytest.raises(UserError, match="holds the tables 'other table', 'visits'; say which with --sql"):
        open_table(database)


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM nowhere", "SELECT a FROM visits; DROP TABLE visits", "DELETE FROM visits", ""]
)
def test_wrong_queries_are_refused_and_change_nothing(database, sql):
    with pytest.raises(UserError, match=r"the query on '.*data.duckdb' cannot be read .*spelled right"):
        open_table(database, sql=sql)
    assert codes(database) == [0, 1, 2]


def test_a_query_that_fails_on_a_row_is_quiet(database):
    source = open_table(database, sql="SELECT CAST(a AS INTEGER) AS a FROM visits")
    with pytest.raises(UserError, match="the engine failed") as caught:
        source.read(SCHEMA)
    assert "'x'" not in str(caught.value) + str(caught.value.__context__)


def test_a_failure_in_the_middle_of_the_stream_is_quiet(database):
    """Later batches fail as another kind of exception than the first."""
    query = "SELECT CASE WHEN i = 900000 THEN error('secret ' || i) ELSE 'x' END AS a FROM range(1000000) t(i)"
    with pytest.raises(UserError, match="the engine failed") as caught:
        open_table(database, sql=query).read(SCHEMA)
    assert "secret" not in str(caught.value) + str(caught.value.__context__)


def test_not_a_database(tmp_path):
    (tmp_path / "t.duckdb").write_bytes(b"a,b\n1,2\n" * 1000)
    with pytest.raises(UserError, match="cannot be opened as a DuckDB or SQLite database"):
        open_table(tmp_path / "t.duckdb")


def test_parquet_files_of_one_table(tmp_path):
    parquet.write_table(pa.table({"a": ["x"], "b": [1]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"b": [1], "a": ["y"]}), tmp_path / "2.parquet")
    assert codes(tmp_path / "*.parquet") == [0, 1]
    assert codes(tmp_path / "[1].parquet") == [0]


def test_a_parquet_file_with_a_pattern_for_a_name(tmp_path):
    parquet.write_table(pa.table({"a": ["x"]}), tmp_path / "a*.parquet")
    parquet.write_table(pa.table({"a": ["y"]}), tmp_path / "ab.parquet")
    assert codes(tmp_path / "a*.parquet") == [0]


@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
def test_a_parquet_file_cut_short(tmp_path, part):
    whole = tables.write_parquet(tmp_path / "t.parquet", tables.table(500)).read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(UserError, match=r"t.parquet' cannot be read; check that it is complete"):
        open_table(tmp_path / "t.parquet")


def test_damaged_parquet_files_are_refused_in_words(tmp_path):
    """Bytes changed anywhere: read or refused, and nothing else."""
    path = tables.write_parquet(tmp_path / "t.parquet", tables.table(50))
    whole, refused = path.read_bytes(), 0
    for seed in range(60):
        draw, damaged = random.Random(seed), bytearray(whole)
        for _ in range(draw.choice([1, 8])):
            damaged[draw.randrange(len(whole))] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            open_table(path).read(tables.schema())
        except UserError:
            refused += 1
    assert 10 < refused < 60


def test_reading_writes_nothing(database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    codes(database)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_ctrl_c_while_the_engine_reads_is_no_failure_of_the_engine(database):
    endless = "SELECT 'x' AS a FROM range(1000000000) l, range(1000) r WHERE (l.range * r.range) % 700001 = 3"
    pressed = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        codes(database, sql=endless)
    pressed.join()
