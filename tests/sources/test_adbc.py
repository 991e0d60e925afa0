"""Tables in PostgreSQL and SQLite, streamed through ADBC; a real server, in a folder of its own."""

import gc
import json
import os
import signal
import sqlite3
import threading

import pyarrow as pa
import pytest

import postgresql
import tables
from privacy.stand_ins import run_command
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Counting, Marginal
from sundog.sources import OnServer, adbc, drivers, open_table
from sundog.sources.addresses import address_of
from sundog.sources.drivers import Driver

LABELS = Schema.from_json({"fields": [{"name": "a", "categories": ["x", "y"]}]})
SECRET = "s3cret-0cean"


def codes(data, schema=LABELS, **options):
    return [column.tolist() for column in open_table(data, **options).read(schema).codes]


@pytest.fixture
def lite(tmp_path):
    path = tmp_path / "data.sqlite"

    def write(columns, rows):
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE IF EXISTS visits")
            connection.execute(f"CREATE TABLE visits ({columns})")
            marks = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f"INSERT INTO visits VALUES ({marks})", rows)
        connection.close()
        return path

    return write


def test_a_table_in_postgresql_reads_like_its_file(postgresql_url, tmp_path):
    values = tables.table(500)
    postgresql.ingest(postgresql_url, "clinic", tables.arrow(values))
    sql = 'SELECT * FROM "clinic" ORDER BY visit; -- all'
    path = tables.write_parquet(tmp_path / "t.parquet", values)
    assert tables.encoded(postgresql_url, sql=sql.split(" -- ", maxsplit=1)[0]) == tables.encoded(path)
    assert tables.encoded(postgresql_url, sql=sql.replace(";", "")) == tables.encoded(path)


def test_a_table_in_sqlite_reads_like_its_cells(lite):
    cells = [1, 2.0, "3", b"1", None, 1.5, "x", b"\xff", 2**62, 0.1, "", " 2"]
    schema = Schema.from_json(
        {
            "fields": [
                {"name": "a", "type": "integer", "categories": [1, 2, 3]},
                {"name": "b", "type": "number", "constraints": {"minimum": 0, "maximum": 3}, "sundog": {"decimals": 1}},
                {"name": "c", "categories": ["1", "x", "0.1"]},
            ]
        }
    )
    path = lite("a, b, c", [(cell,) * 3 for cell in cells])
    assert codes(path, schema) == codes(dict.fromkeys("abc", cells), schema)
    assert codes(path, schema, sql="SELECT c AS a, b, a AS c FROM visits") == codes(path, schema)


def test_a_cell_of_another_type_after_many_rows_is_read(lite):
    """The driver takes a column's type from its first rows; here the first one is ours."""
    rows = [(None,)] * 150_000 + [("x",), (1,), (1.5,), ("y",)]
    found = codes(lite("a", rows))[0]
    assert [found.count(code) for code in (0, 1, 2)] == [1, 1, 150_002]


@pytest.mark.parametrize("ending", [".db", ".sqlite3"])
def test_the_first_bytes_say_which_database_a_file_is(lite, ending):
    path = lite("a", [("x",)])
    renamed = path.rename(path.with_suffix(ending))
    assert codes(renamed) == [[0]]
    with sqlite3.connect(renamed) as connection:
        connection.execute("CREATE TABLE more (a)")
    connection.close()
    with pytest.raises(UserError, match='holds the tables more, visits; say which rows to read with --sql "SELECT'):
        open_table(renamed)


def test_sqlite_files_are_only_read(lite, tmp_path):
    path = lite("a", [("x",)])
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    for sql in ("DELETE FROM visits RETURNING *", "SELECT * FROM visits; DROP TABLE visits", "SELECT a FROM nowhere"):
        with pytest.raises(UserError, match="cannot be read"):
            open_table(path, sql=sql)
    assert codes(path) == [[0]]
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


EXTREME = """
    SELECT * FROM (VALUES
        (1, 'x'::text, 1.25::numeric, date '2020-02-01', timestamp '2020-02-01 10:00', 'x'::char(5)),
        (2, NULL, 'NaN', 'infinity', 'infinity', 'y'),
        (3, 'y', 1e400, '-infinity', '-infinity', NULL),
        (4, '', -1e400, '0044-03-15 BC', '0044-03-15 BC', 'z'),
        (5, 'z', 1e-400, NULL, NULL, ''),
        (6, 'x', NULL, '5000000-01-01', '200000-01-01', 'x')
    ) AS cells (id, a, n, d, t, c)"""
ALL_KINDS = Schema.from_json(
    {
        "fields": [
            {"name": "a", "categories": ["x", "y"]},
            {"name": "n", "type": "number", "constraints": {"minimum": 0, "maximum": 9}, "sundog": {"decimals": 1}},
            {"name": "d", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
            {
                "name": "t",
                "type": "datetime",
                "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-12-31T00:00:00"},
                "sundog": {"resolution": 3600},
            },
            {"name": "c", "categories": ["x", "y"]},
        ]
    }
)


def test_no_cell_of_postgresql_stops_a_run(postgresql_url):
    days, hours = 365, 8760
    assert codes(postgresql_url, ALL_KINDS, sql=EXTREME) == [
        [0, 2, 1, 2, 2, 0],
        [13, 91, 90, 0, 0, 91],
        [31, days, 0, 0, days + 1, days],
        [31 * 24 + 10, hours, 0, 0, hours + 1, hours],
        [0, 1, 2, 2, 2, 0],
    ]


def test_kinds_that_arrow_lacks_are_text_and_several_values_are_refused(postgresql_url):
    sql = """SELECT '1.2.3.4'::inet AS i, 'aa0e8400-e29b-41d4-a716-446655440000'::uuid AS u, '{"a": 1}'::jsonb AS j,
        ARRAY[1, 2] AS l, ROW(1, 2) AS r, interval '1 day' AS v, 12.5::money AS m, '7'::oid AS o"""
    fields = [
        {"name": "i", "categories": ["1.2.3.4/32"]},
        {"name": "u", "categories": ["aa0e8400-e29b-41d4-a716-446655440000"]},
        {"name": "j", "categories": ['{"a": 1}']},
        {"name": "m", "type": "number", "constraints": {"minimum": 0, "maximum": 20}, "sundog": {"decimals": 1}},
        {"name": "o", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
    ]
    assert codes(postgresql_url, Schema.from_json({"fields": fields}), sql=sql) == [[0], [0], [0], [125], [7]]
    for name in "lrv":
        with pytest.raises(UserError, match=f"column '{name}': its cells are lists, structs or intervals"):
            open_table(postgresql_url, sql=sql).check((name,))


def test_names_are_quoted(postgresql_url, lite):
    name = 'a"; DROP TABLE "visits'
    schema = Schema.from_json({"fields": [{"name": name, "categories": ["x"]}]})
    quoted = '"' + name.replace('"', '""') + '"'
    assert codes(postgresql_url, schema, sql=f"SELECT 'x'::text AS {quoted}") == [[0]]
    assert codes(lite(quoted, [("x",)]), schema) == [[0]]


def test_all_passes_of_a_run_see_one_snapshot(postgresql_url):
    postgresql.run(postgresql_url, "DROP TABLE IF EXISTS now", "CREATE TABLE now AS SELECT 'x'::text AS a")
    table = open_table(postgresql_url, sql="SELECT a FROM now")
    assert len(table.read(LABELS)) == 1
    postgresql.run(postgresql_url, "INSERT INTO now VALUES ('y'), ('x')", "DELETE FROM now WHERE ctid = '(0,1)'")
    assert table.read(LABELS).codes[0].tolist() == [0]
    assert sorted(codes(postgresql_url, sql="SELECT a FROM now")[0]) == [0, 1]


def test_all_passes_over_sqlite_see_one_snapshot(lite):
    path = lite("a", [("x",)])
    with sqlite3.connect(path) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        table = open_table(path)
        assert len(table.read(LABELS)) == 1
        writer.execute("INSERT INTO visits VALUES ('y')")
        writer.commit()
        assert len(table.read(LABELS)) == 1
        assert len(open_table(path).read(LABELS)) == 2
    writer.close()


def test_labels_are_quoted_whatever_the_server_takes_a_backslash_for(postgresql_url):
    postgresql.run(
        postgresql_url,
        "ALTER ROLE sundog SET standard_conforming_strings = off",
        "ALTER ROLE sundog SET backslash_quote = on",
    )
    try:
        label = "it\\'s"
        schema = Schema.from_json({"fields": [{"name": "a", "categories": ["x", label]}]})
        query = Marginal.of(schema, "a")
        source = open_table(
            OnServer(postgresql_url), sql="SELECT chr(105) || chr(116) || chr(92) || chr(39) || 's' AS a"
        )
        totals = source.add_up(schema, PrivacyUnit(), add=Counting([query]), size=query.size)
        assert totals.tolist() == [0, 1, 0]
    finally:
        postgresql.run(postgresql_url, "ALTER ROLE sundog RESET ALL")


def test_a_snapshot_per_pass_is_found(postgresql_url, monkeypatch):
    begin = tuple(statement.replace("REPEATABLE READ", "READ COMMITTED") for statement in drivers.BEGIN)
    monkeypatch.setattr(adbc, "DRIVERS", {"postgresql": Driver(**(vars(drivers.POSTGRESQL) | {"begin": begin}))})
    with pytest.raises(AssertionError):
        test_all_passes_of_a_run_see_one_snapshot(postgresql_url)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT nothing FROM pg_class", "it names a column that is not there"),
        ("SELECT * FROM nothing", "it names a table that is not there"),
        ("SELEC 1", "its syntax is wrong"),
        ("CREATE TABLE made (a int)", "its syntax is wrong"),
        ("SELECT 1 AS a; DROP TABLE now", "its syntax is wrong"),
        ("", "its syntax is wrong"),
    ],
)
def test_wrong_queries_are_refused(postgresql_url, sql, reason):
    with pytest.raises(UserError, match=f"the query on postgresql:///postgres cannot be read .{reason}.;"):
        open_table(postgresql_url, sql=sql)


def test_a_query_cannot_change_anything(postgresql_url):
    postgresql.run(
        postgresql_url,
        "CREATE TABLE IF NOT EXISTS told (a text)",
        "CREATE OR REPLACE FUNCTION tell() RETURNS text LANGUAGE sql AS 'INSERT INTO told VALUES (1) RETURNING a'",
    )
    with pytest.raises(UserError, match="stopped in the middle"):
        codes(postgresql_url, sql="SELECT tell() AS a")
    assert codes(postgresql_url, sql="SELECT a FROM told") == [[]]


def test_messages_of_the_server_do_not_quote_cells(postgresql_url):
    sql = f"SELECT CAST('{SECRET}' || i AS int) AS a FROM generate_series(1, 3) AS i"
    source = open_table(postgresql_url, sql=sql)
    with pytest.raises(UserError, match="its message may quote cells, so it is withheld") as caught:
        source.read(LABELS)
    told, error = "", caught.value
    while error is not None:
        told, error = told + str(error) + repr(error.args), error.__cause__ or error.__context__
    assert SECRET not in told
    with pytest.raises(UserError, match="stopped in the middle"):  # the transaction is over; no other snapshot is taken
        source.read(LABELS)


def test_a_failure_after_many_rows_is_quiet(postgresql_url):
    sql = f"SELECT CASE WHEN i = 900000 THEN CAST('{SECRET}' || i AS int)::text ELSE 'x' END AS a FROM generate_series(1, 1000000) AS i"
    with pytest.raises(UserError, match="stopped in the middle") as caught:
        codes(postgresql_url, sql=sql)
    assert SECRET not in str(caught.value) + str(caught.value.__context__)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@host/db",
        f"postgresql://me%3A{SECRET}@host/db",
        f"postgresql:///db?password={SECRET}",
        f"postgresql:///db?host=x&sslPassword={SECRET}",
        f"snowflake://me:{SECRET}@account/db",
        f"postgresql://me:{SECRET}/x@host/db",
        f"postgresql://me:{SECRET}?x@host/db",
        f"postgresql://me:{SECRET}#x@host/db",
        f"postgresql://me:12/{SECRET}@host/db",
        f"postgresql://me:12?{SECRET}@host/db",
        f"postgresql://me:12#{SECRET}@host/db",
        f"host=x password={SECRET}",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(address):
    with pytest.raises(UserError, match=r"Leave it out: set PGPASSWORD, or use ~/\.pgpass or a service file") as caught:
        open_table(address, sql="SELECT 1 AS a")
    assert SECRET not in str(caught.value)


def test_messages_name_neither_user_nor_parameters():
    assert address_of("postgresql://me@host:5432/db?sslmode=require").label == "postgresql://host:5432/db"
    assert address_of("postgresql://host:1,[::1]:2/db?user=me@there").label == "postgresql://host:1,[::1]:2/db"


def test_no_connection_is_told_with_its_reason(tmp_path):
    with pytest.raises(
        UserError, match=r"postgresql:///db: no connection to the database \(.*No such file or directory"
    ):
        open_table(f"postgresql:///db?host={tmp_path}&user=me", sql="SELECT 1")


def test_credentials_come_from_the_environment_or_a_service_file(postgresql_url, monkeypatch, tmp_path):
    host = postgresql_url.partition("host=")[2].partition("&")[0]
    (tmp_path / "services").write_text(f"[mine]\nhost={host}\nuser=sundog\ndbname=postgres\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv("PGSERVICE", "mine")
    assert codes("postgresql://", sql="SELECT 'y'::text AS a") == [[1]]
    monkeypatch.delenv("PGSERVICE")
    assert codes("postgresql:///?service=mine", sql="SELECT 'y'::text AS a") == [[1]]


@pytest.mark.parametrize(
    ("address", "install"),
    [("snowflake://account/db", "pip install adbc-driver-snowflake"), ("bigquery://project", "adbc-driver-bigquery")],
)
def test_a_driver_that_is_not_installed_is_named(address, install):
    with pytest.raises(UserError, match=f"install it with: .*{install}|needs the driver {install}"):
        open_table(address, sql="SELECT 1")
    with pytest.raises(UserError, match="unknown kind of database 'oracle'; allowed are postgresql"):
        open_table("oracle://host/db", sql="SELECT 1")


def test_any_other_driver_goes_through_the_same_door(monkeypatch):
    """DuckDB's own ADBC driver stands for those that cannot be installed here."""

    def connect(module, address):
        return pytest.importorskip("adbc_driver_duckdb.dbapi").connect(":memory:")

    monkeypatch.setitem(drivers.DRIVERS, "mssql", Driver("adbc-driver-manager", connect, drivers._as_it_is))
    assert codes("mssql://host/db", sql="SELECT unnest(['x', 'q', 'y']) AS a") == [[0, 2, 1]]
    with pytest.raises(UserError, match='mssql://host/db; say which rows to read with --sql "SELECT'):
        open_table("mssql://host/db")


def test_credentials_of_other_drivers_come_from_the_environment(monkeypatch):
    monkeypatch.setenv(drivers.PASSWORD, SECRET)
    given = {}

    class Module:
        def connect(self, **options):
            given.update(options)

    drivers._connect_named(Module(), address_of("mssql://host/db"))
    assert given == {"driver": "mssql", "db_kwargs": {"uri": "mssql://host/db", "password": SECRET}}


def test_rows_per_unit_are_bounded_as_for_files(postgresql_url, lite):
    draws = tables.table(300)
    values = {"a": ["xyz"[age % 3] for age in draws["age"]], "u": [age % 40 for age in draws["age"]]}
    postgresql.ingest(postgresql_url, "units", pa.table(values))
    path = lite("a, u", list(zip(*values.values(), strict=True)))
    unit = PrivacyUnit(column="u", rows=2)
    wanted = tables.code_rows(values, LABELS, unit)
    assert tables.code_rows(postgresql_url, LABELS, unit, sql="SELECT * FROM units") == wanted
    assert tables.code_rows(path, LABELS, unit) == wanted


def test_numbers_of_any_length_name_no_units(postgresql_url):
    sql = "SELECT 'x'::text AS a, 1::numeric AS u, 1::bigint AS v"
    with pytest.raises(UserError, match="unit column 'u': it is a number of any length, sent as a float"):
        open_table(postgresql_url, sql=sql).check(("a",), unit="u")
    open_table(postgresql_url, sql=sql).check(("a", "u"), unit="v")


def test_a_database_whose_characters_utf8_lacks_is_refused(postgresql_url):
    postgresql.run(
        postgresql_url,
        "DROP DATABASE IF EXISTS old",
        "CREATE DATABASE old ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0",
    )
    with pytest.raises(UserError, match="encoded as WIN1252, of which some characters have no UTF-8 form"):
        open_table(postgresql_url.replace("///postgres", "///old"), sql="SELECT 1 AS a")


def test_a_table_that_is_let_go_closes_its_connection(postgresql_url):
    count = "SELECT CASE count(*) WHEN 1 THEN 'x' ELSE 'y' END AS a FROM pg_stat_activity WHERE backend_type = 'client backend'"
    gc.collect()
    table = open_table(postgresql_url, sql="SELECT 'x'::text AS a")
    assert codes(postgresql_url, sql=count) == [[1]]
    del table
    gc.collect()
    assert codes(postgresql_url, sql=count) == [[0]]


def test_ctrl_c_while_the_server_works(postgresql_url):
    """Pressed once the server is at work. With one thread the engine reads where Ctrl-C arrives."""
    endless = "SELECT 'x'::text AS a FROM generate_series(1, 1000000000) AS i WHERE i % 7 = 8"
    working = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%generate_series%'"

    def press():
        with postgresql.connected(postgresql_url) as cursor:
            while not cursor.execute(working).fetchone()[0]:
                pass
        os.kill(os.getpid(), signal.SIGINT)

    table, pressed = open_table(postgresql_url, sql=endless), threading.Thread(target=press, daemon=True)
    table.connection.execute("SET threads = 1")
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        table.read(LABELS)
    pressed.join()


def test_a_release_from_a_server_tells_nothing_of_how_it_was_reached(postgresql_url, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    postgresql.ingest(postgresql_url, "clinic", tables.arrow(tables.table(200)))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    budget = ("--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "--method", "independent", "-o", "out")
    outcome = run_command(tmp_path, "synthesize", postgresql_url, "--sql", 'SELECT * FROM "clinic"', *budget)
    assert outcome.code == 0, outcome.stderr
    written = outcome.stdout + outcome.stderr + "".join(map(str, outcome.ledger))
    for word in (SECRET, "postgresql:", postgresql_url.partition("host=")[2].partition("&")[0], "SELECT"):
        assert word not in written
        assert not [
            name for name, content in outcome.files.items() if name.startswith("out") and word.encode() in content
        ]


def test_an_address_names_no_account(postgresql_url, tmp_path):
    document = {key: value for key, value in tables.DOCUMENT.items() if key != "name"}
    (tmp_path / "schema.json").write_text(json.dumps(document), encoding="utf-8")
    budget = ("--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "-o", "out")
    outcome = run_command(tmp_path, "synthesize", postgresql_url, "--sql", "SELECT 1 AS a", *budget)
    assert outcome.code == 2
    assert "there is no name under which to record the spending" in outcome.stderr


def push_down(place, url, *options, sql='SELECT * FROM "clinic"'):
    (place / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    budget = ("--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "-o", "out")
    return run_command(place, "synthesize", url, "--sql", sql, "--push-down", *budget, *options)


@pytest.mark.parametrize("method", ["independent", "mst"])
def test_a_release_counted_by_the_server(postgresql_url, tmp_path, method):
    postgresql.ingest(postgresql_url, "clinic", tables.arrow(tables.table(200)))
    outcome = push_down(tmp_path, postgresql_url, "--method", method)
    assert outcome.code == 0, outcome.stderr
    assert "out/synthetic.csv" in outcome.files


@pytest.mark.parametrize(
    ("options", "sql", "message"),
    [
        (("--method", "rap++"), 'SELECT * FROM "clinic"', "is no count that a server makes"),
        (("--adjust", "columns"), 'SELECT * FROM "clinic"', "adjust: what it measures depends on the synthetic rows"),
        ((), 'SELECT *, age::text AS more, cost::text AS "cost " FROM "clinic"', None),
        ((), 'SELECT visit, smoker, region, grade, parity, age::text AS age, cost, day, seen FROM "clinic"', "'age' is stored as text"),
        (("--unit", "cost"), 'SELECT * FROM "clinic"', "'cost' is stored as float8; units are named by text or whole numbers"),
        (("--engine", "spark"), 'SELECT * FROM "clinic"', "leave one out"),
    ],
)  # fmt: skip
def test_what_a_server_cannot_count_is_refused_before_anything_is_spent(
    postgresql_url, tmp_path, options, sql, message
):
    postgresql.ingest(postgresql_url, "clinic", tables.arrow(tables.table(200)))
    outcome = push_down(tmp_path, postgresql_url, *(options or ("--method", "independent")), sql=sql)
    assert outcome.code == (0 if message is None else 2), outcome.stderr
    assert (message or "") in " ".join(outcome.stderr.split())
    assert message is None or not outcome.ledger


def test_only_a_server_counts(tmp_path, lite):
    with pytest.raises(UserError, match="push-down: the table is a file; only a database server"):
        open_table(OnServer(str(lite("a", [("x",)]))))


def test_rows_on_a_server_cannot_be_read(postgresql_url):
    source = open_table(OnServer(postgresql_url), sql="SELECT 'x'::text AS a")
    unit = PrivacyUnit()
    for refused in (
        lambda: source.read(LABELS),
        lambda: source.numbers("a"),
        lambda: source.value_counts("a", unit),
        lambda: source.add_up(LABELS, unit, add=lambda rows, out: None, size=1),
    ):
        with pytest.raises(UserError, match="the rows stay on the server, which only counts"):
            refused()


def test_rows_before_the_marked_one_are_refused():
    """They would be lost: the marked row is not one of the table."""
    batch = pa.RecordBatch.from_pydict({"example": [0, 1], "c0": [5, 6]})
    with pytest.raises(RuntimeError, match="in another order"):
        list(adbc._without_first(iter([batch])))
