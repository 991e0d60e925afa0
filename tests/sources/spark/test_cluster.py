"""A standalone cluster of one master and two workers: the same totals, also when an executor is killed in the middle."""

import json
import re
import subprocess
import sys
import time

import pytest
from pyarrow import parquet

import tables
from spark_sessions import cluster, driver_environment, needs_spark, run_driver

pytestmark = needs_spark
TOKEN = "Zq7SECRET"
SLOW = """
import sys, warnings; warnings.simplefilter("ignore")
import numpy as np, tables
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Marginal, add_all
from sundog.sources import OnSpark, open_table
from sundog.sources.spark import open_on_spark

schema = tables.schema()
queries = [Marginal.of(schema, name) for name in schema.names]
size = sum(query.size for query in queries)

def slow(seconds):
    def add(rows, out):
        import time
        time.sleep(seconds)
        add_all(queries, rows, out)
    return add

unit = PrivacyUnit(column="age", rows=3)
source = open_on_spark(OnSpark({path!r}, {master!r}))
for bound in (PrivacyUnit(), unit):
    expected = open_table({path!r}).add_up(schema, bound, add=slow(0), size=size)
    source.check(schema.fields)
    print("COUNTING", flush=True)
    assert np.array_equal(source.add_up(schema, bound, add=slow({seconds}), size=size), expected)
    print("EXACT", flush=True)
"""
FAILING = """
import warnings; warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
from pyspark.sql.functions import concat, lit
import tables
from sundog.domain.unit import PrivacyUnit
from sundog.sources import open_table

spark = SparkSession.builder.master({master!r}).config("spark.ui.enabled", "false").getOrCreate()
frame = spark.read.parquet("file://" + {path!r})
schema = tables.schema()

def telling(rows, out):
    raise ValueError({token!r} + str(rows.codes))

def attempt(frame):
    try:
        open_table(frame).add_up(schema, PrivacyUnit(), add=telling, size=1)
    except Exception as error:
        print(type(error).__name__, error)

attempt(frame)
attempt(frame.withColumn("age", concat(frame.region, lit({token!r})).cast("int")))
"""


@pytest.fixture
def path(tmp_path):
    parquet.write_table(tables.arrow(tables.table(400, seed=5)), tmp_path / "t.parquet", row_group_size=20)
    return tmp_path / "t.parquet"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def test_killed_executors_change_nothing(path, made):
    code = SLOW.format(path=str(path), master=made.address, seconds=1.0)
    driver = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=driver_environment(),
    )
    killed = 0
    for line in driver.stdout:
        if line.startswith("COUNTING"):
            time.sleep(2.5)  # some tasks are done, others run
            victims = made.executors()
            assert len(victims) == 2
            victims[0].kill()
            killed += 1
    assert driver.wait(200) == 0, driver.stderr.read()
    assert killed == 2


def test_no_log_of_the_cluster_quotes_a_cell(path, made):
    done = run_driver(FAILING.format(path=str(path), master=made.address, token=TOKEN))
    assert done.returncode == 0
    assert done.stdout.count("UserError the table: Spark failed while reading it") == 2
    assert TOKEN not in done.stdout + done.stderr
    ours = re.sub(r"CAST_INVALID_INPUT.*", "", made.logs())  # what Spark's own cast says stays on the executors
    assert "a task failed; its message may quote cells" in ours
    assert TOKEN not in ours


def test_the_command_counts_in_the_cluster(path, made, tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT))
    arguments = [
        "synthesize",
        str(path),
        "--schema",
        str(tmp_path / "schema.json"),
        "--rho",
        "1",
        "--method",
        "independent",
    ]
    arguments += ["--engine", "spark", "--master", made.address, "-o", str(tmp_path / "out"), "--json"]
    done = run_driver(f"import sys; sys.argv = ['sundog', *{arguments!r}]; from sundog.cli.app import main; main()")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"]
