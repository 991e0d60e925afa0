"""Where tables live. `open_table` takes what users have; a new kind of source is one file and one line here."""

from pathlib import Path
from typing import Any

from sundog.domain.dialect import STANDARD, Dialect
from sundog.sources.adbc import open_address
from sundog.sources.addresses import is_address
from sundog.sources.base import Source
from sundog.sources.files import open_file
from sundog.sources.frames import open_frame
from sundog.sources.server import OnServer, open_on_server
from sundog.sources.spark import OnSpark, is_spark_frame, open_on_spark, open_spark_frame

__all__ = ["OnServer", "OnSpark", "Source", "open_table"]


def open_table(data: Any, *, dialect: Dialect = STANDARD, sql: str | None = None) -> Source:
    """The source for a path, a glob, the address of a database, a frame, or something that is a source already."""
    if hasattr(data, "add_up"):
        return data
    if isinstance(data, str) and is_address(data):
        return open_address(data, sql)
    if isinstance(data, OnServer | OnSpark):
        return open_on_spark(data, sql=sql) if isinstance(data, OnSpark) else open_on_server(data, sql=sql)
    if is_spark_frame(data):
        return open_spark_frame(data)
    if isinstance(data, str | Path):
        return open_file(data, dialect=dialect, sql=sql)
    return open_frame(data)
