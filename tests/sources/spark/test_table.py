"""Tables that Spark holds: the same totals as here, whatever becomes of tasks; what cannot be done is refused by name."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sundog
import tables
from linked_tables import package, random_homes, tables_of
from spark_sessions import frame_of, needs_spark, spark
from sundog.api.charging import Terms, curator_for
from sundog.api.check import check_table
from sundog.api.evaluate import evaluate_tables
from sundog.api.options import Charged, Confirmation, Privacy
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private.table import PrivateTable
from sundog.queries import Marginal, add_all
from sundog.sources import OnSpark, open_table
from sundog.sources.spark import open_on_spark, open_spark_frame
from sundog.sources.spark import table as spark_table

__all__ = ["spark"]
pytestmark = needs_spark
HERE = "local[2,4]"
UNITS = (PrivacyUnit(), PrivacyUnit(column="who", rows=2))


@pytest.fixture
def path(tmp_path):
    """400 rows of 90 people, who are spread over many row groups."""
    table = tables.arrow(tables.table(400, seed=5)).append_column("who", pa.array([k % 90 for k in range(400)]))
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    return tmp_path / "t.parquet"


def totals(source, unit, add=None, schema=None):
    schema = schema or tables.schema()
    queries = [Marginal.of(schema, name) for name in schema.names]
    size = sum(query.size for query in queries)
    return source.add_up(schema, unit, add=add or (lambda rows, out: add_all(queries, rows, out)), size=size)


def failing_once(queries, marks):
    """An adder that fails, after it has counted, in the first attempt of every second task."""

    def add(rows, out):
        from pathlib import Path

        from pyspark import TaskContext

        add_all(queries, rows, out)
        task = TaskContext.get()
        if task.partitionId() % 2 and task.attemptNumber() == 0:
            Path(marks, f"{task.stageId()}-{task.partitionId()}").touch()
            raise ValueError

    return add


@pytest.mark.parametrize("unit", UNITS)
def test_tasks_that_are_run_again_count_once(spark, path, tmp_path, unit):
    schema = tables.schema()
    expected = totals(open_table(path), unit)
    add = failing_once([Marginal.of(schema, name) for name in schema.names], str(tmp_path))
    assert np.array_equal(totals(open_on_spark(OnSpark(str(path), HERE)), unit, add), expected)
    failed = [found for found in tmp_path.iterdir() if "-" in found.name]
    assert len(failed) == 4, "half of eight tasks fail once"


@pytest.mark.parametrize("unit", UNITS)
def test_many_tasks(spark, path, unit, monkeypatch):
    monkeypatch.setattr(spark_table, "PER_CORE", 20)
    source = open_on_spark(OnSpark(str(path), HERE))
    assert source.tasks == 40
    assert np.array_equal(totals(source, unit), totals(open_table(path), unit))


@pytest.mark.parametrize("unit", UNITS)
def test_texts_are_counted_where_they_are(spark, path, unit):
    expected = open_table(path).value_counts("region", unit)
    for source in (open_spark_frame(frame_of(spark, path)), open_on_spark(OnSpark(str(path), HERE))):
        assert source.value_counts("region", unit) == expected


def test_names_that_sql_would_mix_up(spark):
    values = {"a": [1, 2], "A": [3, 4], "a.b": [5, 6], "a`b": [7, 8], " ": [9, 9]}
    schema = Schema.from_json(
        {"fields": [{"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}} for n in values]}
    )
    frame = spark.createDataFrame(list(zip(*values.values(), strict=True)), list(values))
    found = totals(open_spark_frame(frame), PrivacyUnit(column="a.b"), schema=schema)
    assert np.array_equal(found, totals(open_table(values), PrivacyUnit(column="a.b"), schema=schema))


@pytest.mark.parametrize("groups", [True, False])
def test_no_rows(spark, tmp_path, groups):
    empty = tables.arrow(tables.table(0))
    with parquet.ParquetWriter(tmp_path / "t.parquet", empty.schema) as writer:
        if groups:
            writer.write_table(empty)
    frame = frame_of(spark, tmp_path / "t.parquet")
    for source in (
        open_spark_frame(frame),
        open_spark_frame(frame.where("1 = 0")),
        open_on_spark(OnSpark(str(tmp_path / "*.parquet"), HERE)),
    ):
        for unit in (PrivacyUnit(), PrivacyUnit(column="visit")):
            assert not totals(source, unit).any()


def test_fit_a_frame(spark, path, own_ledger):
    fitted = sundog.Synthesizer(tables.DOCUMENT, rho=0.5, method="independent", seed=1).fit(frame_of(spark, path))
    assert abs(fitted.sample().num_rows - 400) < 100


def test_buying_labels_counts_in_the_cluster(spark, path):
    curator = curator_for(
        PrivateTable(frame_of(spark, path)),
        tables.schema(),
        privacy=Privacy(epsilon=5.0, delta=1e-5),
        charged=Charged(dataset="d"),
        consent=Confirmation(confirmed=True),
        terms=Terms("zcdp", "test", delta_thresholds=1e-6),
    )
    assert "low" in curator.categories("grade", 0.5, delta=1e-6)


def test_what_needs_rows_is_refused(spark, path, own_ledger):
    frame, schema = frame_of(spark, path), tables.schema()
    source = open_spark_frame(frame)
    for ask in (lambda: source.read(schema), lambda: source.numbers("age")):
        with pytest.raises(UserError, match="counted there and never fetched"):
            ask()
    with pytest.raises(UserError, match="can only be counted where they are"):
        check_table(frame, schema, dataset="d")
    with pytest.raises(UserError, match="can only be counted where they are"):
        evaluate_tables(frame, {"s": tables.table()}, schema=schema, dataset="d")
    assert not own_ledger.exists()


def test_linked_tables_are_refused(spark, own_ledger):
    frames = {name: spark.createDataFrame(pa.table(table)) for name, table in tables_of(random_homes(5)).items()}
    with pytest.raises(UserError, match="linked tables are joined by their keys in this process"):
        sundog.Synthesizer(package(), rho=1.0).fit(frames)
    assert not own_ledger.exists() or b"gaussian" not in own_ledger.read_bytes()


def test_columns_that_hold_several_values_are_refused(spark):
    frame = spark.createDataFrame([([1, 2], 3)], ["several", "one"])
    with pytest.raises(UserError, match="'several': its cells are lists"):
        open_spark_frame(frame).check(("several",))
    open_spark_frame(frame).check(("one",))


def test_two_columns_of_one_name_are_refused(spark):
    with pytest.raises(UserError, match="columns 1 and 2 have the same name"):
        open_spark_frame(spark.createDataFrame([(1, 2)], ["x", "x"]))


def test_files_that_are_not_parquet_are_refused(spark, tmp_path):
    for data in ("t.csv", str(tmp_path / "*.parquet")):
        with pytest.raises(UserError, match="must name Parquet files"):
            open_on_spark(OnSpark(data, HERE))
