"""A table that Spark holds: a DataFrame, or Parquet files that executors read. No row reaches the driver.

Every question is a job: executors encode and count their shares (spark.tasks), and the totals are added by a tree (spark.totals).
Files that executors can open are read there by Arrow, as on one machine; Spark hands over only which stretch of which file. Rows
of a DataFrame come through Spark, which costs several times as much as reading them.

Where rows per unit are bounded, Spark gathers the encoded rows of each unit in one task.
"""

import glob
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.sources.base import Adder
from sundog.sources.batches import open_parts, part_of
from sundog.sources.columnar import open_columnar, stretches
from sundog.sources.duck import DuckTable
from sundog.sources.spark import session as sessions
from sundog.sources.spark.plans import check_repeatable
from sundog.sources.spark.session import OnSpark
from sundog.sources.spark.tasks import (
    COUNTED,
    Count,
    CountFirst,
    CountFirstTexts,
    CountTexts,
    Encode,
    FileShare,
    FrameShare,
    Share,
)
from sundog.sources.spark.totals import TYPES, closed, tree_total
from sundog.sources.units import UNIT

PER_CORE = 4
"""Tasks per core: enough to even out their sizes, few enough that starting them and adding their totals costs little."""
PARQUET = (".parquet", ".pq")
OTHERS = "linked tables, checks, drafts and evaluation need the rows themselves; give a file or a frame that this process can read."


@dataclass
class SparkTable:
    """A table in a cluster. `outline` knows its columns and no rows; `shares` deals some of them out to tasks."""

    session: Any
    outline: DuckTable
    shares: Callable[[tuple[str, ...]], tuple[Any, Share]]
    tasks: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are there."""
        return self.outline.columns

    def check(self, names: tuple[str, ...], *, unit: str | None = None) -> None:
        """Refuse columns that are not there, that cannot be read, or that name no unit, and executors that cannot count."""
        self.outline.check(names, unit=unit)
        sessions.check_executors(self.session)

    def add_up(self, schema: Schema, unit: PrivacyUnit, *, add: Adder, size: int) -> Int[np.ndarray, " cells"]:
        """The totals over all shares."""
        self.check(schema.fields, unit=unit.column)
        with sessions.discreet(self.session, self.outline.label):
            frame, share = self._shares(schema.fields, unit)
            if unit.column is None:
                told = frame.mapInArrow(Count(share, schema, add, size).run, TYPES)
            else:
                encoded = self._gathered(frame, Encode(share, schema, "", unit))
                told = encoded.mapInArrow(CountFirst(schema, unit.rows, add, size).run, TYPES)
            return tree_total(closed(told), self.tasks, size=size)

    def value_counts(self, column: str, unit: PrivacyUnit) -> dict[str, int]:
        """How often each text occurs in one column. The texts reach the driver with their counts, not the rows."""
        self.check((column,), unit=unit.column)
        with sessions.discreet(self.session, self.outline.label):
            frame, share = self._shares((column,), unit)
            if unit.column is None:
                told = frame.mapInArrow(CountTexts(share, column).run, COUNTED)
            else:
                encoded = self._gathered(frame, Encode(share, None, column, unit))
                told = encoded.mapInArrow(CountFirstTexts(unit.rows).run, COUNTED)
            return {row[0]: row[1] for row in told.groupBy("text").sum("count").collect()}

    def read(self, schema: Schema) -> Rows:
        """Refused: rows stay where they are."""
        del schema
        self._refuse()

    def numbers(self, column: str) -> Float[np.ndarray, " rows"]:
        """Refused: rows stay where they are."""
        del column
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UserError(f"{self.outline.label}: rows that Spark holds are counted there and never fetched; {OTHERS}")

    def _shares(self, names: tuple[str, ...], unit: PrivacyUnit) -> tuple[Any, Share]:
        return self.shares(tuple(dict.fromkeys([*names, *([unit.column] if unit.column else [])])))

    def _gathered(self, frame: Any, encode: Encode) -> Any:
        """The encoded rows, all those of a unit in one task."""
        return frame.mapInArrow(encode.run, encode.types).repartition(self.tasks, UNIT)


def is_spark_frame(data: Any) -> bool:
    """Whether it is a frame of pyspark; imports nothing."""
    return any(kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame" for kind in type(data).__mro__)


def open_spark_frame(frame: Any) -> SparkTable:
    """The table of a Spark DataFrame; it is computed again for every question, unless it is cached."""
    sessions.check_packages()
    if not hasattr(frame, "_jdf"):
        raise UserError(
            f"the table is a {type(frame).__module__}.DataFrame; give a pyspark.sql.DataFrame of a session without Spark "
            "Connect (of pandas on Spark: frame.to_spark())."
        )
    check_repeatable(frame)
    schema = _arrow_schema(frame.schema)
    numbered = frame.toDF(*(f"c{k}" for k in range(len(schema))))
    tasks = PER_CORE * max(1, frame.sparkSession.sparkContext.defaultParallelism)

    def shares(names: tuple[str, ...]) -> tuple[Any, Share]:
        places = [schema.get_field_index(name) for name in names]
        chosen = numbered.select(*(f"c{place}" for place in places)).coalesce(tasks)
        return chosen, FrameShare(pa.schema([schema.field(place) for place in places]))

    outline = open_parts([part_of("the table", schema, read=lambda names: iter(()))])
    return SparkTable(frame.sparkSession, outline, shares, tasks)


def open_on_spark(given: OnSpark, *, sql: str | None = None) -> SparkTable:
    """The table in Parquet files: read by the executors where this process sees them, else as Spark reads their address."""
    if sql is not None:
        raise UserError(
            "--sql: with --engine spark there are no queries; from Python, fit the DataFrame that spark.sql(...) gives."
        )
    session = sessions.start(given.master)
    if "://" in given.data and not given.data.startswith("file://"):
        with sessions.discreet(session, f"data {given.data!r}"):
            return open_spark_frame(session.read.parquet(given.data))
    paths = _parquet_files(given.data.removeprefix("file://"))
    dealt = stretches(paths, PER_CORE * max(1, session.sparkContext.defaultParallelism))
    tasks = len(dealt)
    return SparkTable(
        session,
        open_columnar(paths, PARQUET[0]),
        lambda names: (session.range(0, tasks, 1, tasks), FileShare(dealt)),
        tasks,
    )


def _parquet_files(data: str) -> list[str]:
    found = sorted(glob.glob(data, recursive=True)) if glob.has_magic(data) else [data]
    if not found or not all(path.lower().endswith(PARQUET) for path in found):
        raise UserError(f"data {data!r}: with --engine spark it must name Parquet files (.parquet, .pq), and does not.")
    return found


def _arrow_schema(schema: Any) -> pa.Schema:
    """The types in which Spark hands columns over; those that it cannot are lists of nothing, which are refused by name."""
    return pa.schema([pa.field(part.name, _arrow_type(part.dataType)) for part in schema.fields])


def _arrow_type(kind: Any) -> pa.DataType:
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        return to_arrow_type(kind, timezone="UTC")
    except Exception:  # types that Arrow does not know
        return pa.list_(pa.null())
