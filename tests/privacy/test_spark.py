"""What Spark must not do to privacy: count a task twice, split a unit, hand rows to the driver, quote cells in a log.

Each check is shown to fail on a wrong mechanism.
"""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import tables
from spark_sessions import frame_of, needs_spark, run_driver, spark
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Marginal, add_all
from sundog.sources import OnSpark, open_table
from sundog.sources.frames import open_frame
from sundog.sources.spark import table as spark_table
from sundog.sources.spark import tasks, totals
from sundog.sources.spark.table import SparkTable
from sundog.sources.spark.tasks import Count, FrameShare

__all__ = ["spark"]
pytestmark = needs_spark
SCHEMA = tables.schema()
QUERIES = [Marginal.of(SCHEMA, "region", "age"), Marginal.of(SCHEMA, "day")]
SIZE = sum(query.size for query in QUERIES)
TWO = PrivacyUnit(column="who", rows=2)


def add(rows, out):
    add_all(QUERIES, rows, out)


def counted(source, unit):
    return source.add_up(SCHEMA, unit, add=lambda rows, out: add_all(QUERIES, rows, out), size=SIZE)


@pytest.fixture
def path(tmp_path):
    """400 rows of 90 people, who are spread over many row groups."""
    table = tables.arrow(tables.table(400, seed=5)).append_column("who", pa.array([k % 90 for k in range(400)]))
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    return tmp_path / "t.parquet"


class Attempt:
    """What an attempt of a task knows of itself."""

    def __init__(self, partition, number):
        self.partitionId, self.attemptNumber = (lambda: partition), (lambda: number)
        self.taskAttemptId = lambda: 100 * partition + number


def told_by(monkeypatch, attempts, values, behind):
    """The totals of what attempts of tasks tell, each of them of all these rows; the tasks behind them have these numbers."""
    import pyspark

    monkeypatch.setattr(tasks, "remove_own_folders", lambda: None)
    told = []
    for attempt in [*attempts, *(Attempt(number, 0) for number in behind)]:
        monkeypatch.setattr(pyspark.TaskContext, "get", classmethod(lambda cls, made=attempt: made))
        counts = Count(FrameShare(values.schema), SCHEMA, add, SIZE).run
        told += (totals._close if attempt.partitionId() in behind else counts)(iter(values.to_batches()))
    frame = type("Frame", (), {"collect": lambda self: [row for batch in told for row in batch.to_pylist()]})()
    return totals.tree_total(frame, 3, size=SIZE)


def check_a_repeated_task_counts_once(monkeypatch):
    """Both attempts of one task tell their totals, as two copies of a slow task might."""
    values = tables.arrow(tables.table(40))
    found = told_by(monkeypatch, (Attempt(0, 0), Attempt(1, 0), Attempt(1, 1)), values, behind=(2, 3))
    assert np.array_equal(found, 2 * counted(open_frame(values), PrivacyUnit())), "a task counted twice"


def check_no_task_is_lost(monkeypatch):
    """Of three tasks the last tells nothing."""
    with pytest.raises(RuntimeError, match="did not arrive"):
        told_by(monkeypatch, (Attempt(0, 0), Attempt(1, 0)), tables.arrow(tables.table(40)), behind=(3, 4))


def check_random_rows_are_refused(frame):
    with pytest.raises(UserError, match="each pass would see other rows"):
        open_table(frame)


def check_units_are_whole(spark, path):
    expected = counted(open_table(path), TWO)
    for table in (frame_of(spark, path), OnSpark(str(path), "local[2,4]")):
        assert np.array_equal(counted(open_table(table), TWO), expected), "a unit was split over tasks"


def check_the_driver_sees_totals_alone(spark, path, monkeypatch):
    """Whatever is fetched from the cluster is totals by task, or the packages of an executor."""
    from pyspark.sql.classic.dataframe import DataFrame

    fetched = []
    for name in (
        "collect",
        "toArrow",
        "toPandas",
        "toLocalIterator",
        "_collect_as_arrow",
        "take",
        "head",
        "tail",
        "show",
    ):
        real = getattr(DataFrame, name)

        def fetch(self, *given, real=real, **named):
            fetched.append(tuple(self.columns))
            return real(self, *given, **named)

        monkeypatch.setattr(DataFrame, name, fetch)
    for unit in (PrivacyUnit(), TWO):
        counted(open_table(frame_of(spark, path)), unit)
    assert set(fetched) <= {tuple(totals.COLUMNS.names), ("found",)}, "rows were fetched"
    assert fetched


def test_a_repeated_task_counts_once(monkeypatch):
    check_a_repeated_task_counts_once(monkeypatch)


def test_no_task_is_lost(monkeypatch):
    check_no_task_is_lost(monkeypatch)


@pytest.mark.parametrize("step", ["sample", "limit", "random filter"])
def test_random_rows_are_refused(spark, path, step, monkeypatch):
    frame = frame_of(spark, path)
    frame = {"sample": frame.sample(0.5), "limit": frame.limit(9), "random filter": frame.where("rand() < 0.5")}[step]
    check_random_rows_are_refused(frame)
    monkeypatch.setattr(spark_table, "check_repeatable", lambda frame: None)
    with pytest.raises(pytest.fail.Exception):
        check_random_rows_are_refused(frame)


def test_units_are_whole(spark, path):
    check_units_are_whole(spark, path)


def test_the_driver_sees_totals_alone(spark, path, monkeypatch):
    check_the_driver_sees_totals_alone(spark, path, monkeypatch)


def plain_sum(self, key, told, cells):
    """Adds whatever arrives."""
    held, total = self._held.get(key, (frozenset(), 0))
    self._held[key] = (held | told, total + cells)


def test_mutant_sums_that_do_not_know_their_tasks(monkeypatch):
    monkeypatch.setattr(totals.Sums, "add", plain_sum)
    with pytest.raises(AssertionError, match="counted twice"):
        check_a_repeated_task_counts_once(monkeypatch)


def test_mutant_tasks_named_by_their_attempts(monkeypatch):
    def number():
        import pyspark

        return pyspark.TaskContext.get().taskAttemptId()

    def whatever_arrived(sums, size):
        return np.concatenate([cells for _, _, cells in sums])

    monkeypatch.setattr(totals, "task_number", number)
    monkeypatch.setattr(totals, "_whole", whatever_arrived)
    with pytest.raises(AssertionError, match="counted twice"):
        check_a_repeated_task_counts_once(monkeypatch)


def test_mutant_totals_in_which_only_gaps_are_noticed(monkeypatch):
    def without_gaps(sums, size):
        held = {piece: (tasks, cells) for piece, tasks, cells in sums if piece >= 0}
        assert all(tasks == frozenset(range(len(tasks))) for tasks, _ in held.values())
        return np.concatenate([held[piece][1] for piece in sorted(held)])

    monkeypatch.setattr(totals, "_whole", without_gaps)
    with pytest.raises(pytest.fail.Exception):
        check_no_task_is_lost(monkeypatch)


@pytest.mark.parametrize("keys", [(), ("part0",)], ids=["in turn", "by another column"])
def test_mutant_units_split_over_tasks(spark, path, monkeypatch, keys):
    def dealt(self, frame, encode):
        return frame.mapInArrow(encode.run, encode.types).repartition(self.tasks, *keys)

    monkeypatch.setattr(SparkTable, "_gathered", dealt)
    with pytest.raises(AssertionError, match="split over tasks"):
        check_units_are_whole(spark, path)


def test_mutant_rows_in_the_driver(spark, path, monkeypatch):
    def fetched(self, schema, unit, *, add, size):
        frame, share = self._shares(schema.fields, unit)
        table = frame.toArrow().rename_columns(share.schema.names)
        return open_frame(table).add_up(schema, unit, add=add, size=size)

    monkeypatch.setattr(SparkTable, "add_up", fetched)
    with pytest.raises(AssertionError, match="rows were fetched"):
        check_the_driver_sees_totals_alone(spark, path, monkeypatch)


def test_executors_know_no_ledger(spark, path):
    """A retried task that spent would spend twice. Functions of a function travel whole: executors do not have this file."""

    def private_modules(rows, out):
        """Counts, in place of rows, the modules that executors should not know."""
        import sys

        out[0] += sum(name.startswith("sundog.private") for name in sys.modules)

    def spending(rows, out):
        """Opens the ledger in an executor."""
        import sundog.private.ledger  # noqa: F401

        private_modules(rows, out)

    source = open_table(frame_of(spark, path))
    assert source.add_up(SCHEMA, PrivacyUnit(), add=private_modules, size=1)[0] == 0
    assert source.add_up(SCHEMA, PrivacyUnit(), add=spending, size=1)[0] > 0


FAILING = """
import warnings; warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
from pyspark.sql.functions import concat, lit
import tables
from contextlib import contextmanager
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.sources import open_table
from sundog.sources.spark import session

@contextmanager
def log_on(session):
    yield

if {mutant!r} == "log stays on":
    session._log_off = log_on
if {mutant!r} == "pyspark's own loggers":
    session.LOGGERS = ()
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.read.parquet("file://" + {path!r})

def telling(rows, out):
    raise ValueError({token!r} + str(rows.codes))

failing = frame.withColumn("age", concat(frame.region, lit({token!r})).cast("int"))
for table in (frame, failing):
    try:
        open_table(table).add_up(tables.schema(), PrivacyUnit(), add=telling, size=1)
    except UserError as error:
        print("refused:", error)
"""
TOKEN = "Zq7SECRET"


def check_no_log_quotes_a_cell(path, *, mutant=""):
    """A step of ours that fails with a cell in its words, and a plan of the user's that fails at a cell."""
    done = run_driver(FAILING.format(path=str(path), token=TOKEN, mutant=mutant))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused: the table: Spark failed while reading it") == 2
    assert TOKEN not in done.stdout + done.stderr, "a log quotes a cell"


def test_no_log_quotes_a_cell(path):
    check_no_log_quotes_a_cell(path)


@pytest.mark.parametrize("mutant", ["log stays on", "pyspark's own loggers"])
def test_mutant_logs(path, mutant):
    with pytest.raises(AssertionError, match="a log quotes a cell"):
        check_no_log_quotes_a_cell(path, mutant=mutant)
