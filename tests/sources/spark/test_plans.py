"""DataFrames that Spark would compute differently in every pass are refused, before anything is spent; those that are held are not."""

import pytest
from pyarrow import parquet

import sundog
import tables
from spark_sessions import frame_of, needs_spark, spark
from sundog.errors import UserError
from sundog.sources.spark.plans import check_repeatable

__all__ = ["spark"]
pytestmark = needs_spark


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans") / "t.parquet"
    parquet.write_table(tables.arrow(tables.table(60)), path)
    return path


REFUSED = {
    "a sample": lambda frame: frame.sample(0.5, seed=1).select("age"),
    "a limit": lambda frame: frame.unionAll(frame.orderBy("age").limit(7)),
    "an offset": lambda frame: frame.offset(3),
    "an expression": lambda frame: frame.selectExpr("*", "monotonically_increasing_id() AS who"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_rows_that_differ_from_pass_to_pass_are_refused(spark, path, own_ledger, reason):
    frame = REFUSED[reason](frame_of(spark, path))
    with pytest.raises(UserError, match=f"its plan holds {reason}.*give frame.localCheckpoint"):
        sundog.Synthesizer(tables.DOCUMENT, rho=0.5, method="independent").fit(frame)
    assert not own_ledger.exists()


def test_a_stream_is_refused(spark):
    with pytest.raises(UserError, match="a streaming DataFrame, which has no end"):
        check_repeatable(spark.readStream.format("rate").load())


def test_what_is_held_or_computed_row_by_row_is_not_refused(spark, path):
    frame = frame_of(spark, path)
    held = frame.sample(0.5)
    held.persist()
    for allowed in (frame, held, frame.limit(20).localCheckpoint(), frame.where("age > 30 AND seen < now()")):
        check_repeatable(allowed)
