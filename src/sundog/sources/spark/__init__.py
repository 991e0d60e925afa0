"""Tables that a Spark cluster holds: executors encode and count, and only totals travel."""

from sundog.sources.spark.session import OnSpark
from sundog.sources.spark.table import is_spark_frame, open_on_spark, open_spark_frame

__all__ = ["OnSpark", "is_spark_frame", "open_on_spark", "open_spark_frame"]
