"""Where tables live. `open_table` takes what users have; a new kind of source is one file and one line here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sundog.domain.dialect import STANDARD, Dialect
from sundog.sources.adbc import open_address
from sundog.sources.addresses import is_address
from sundog.sources.base import Source
from sundog.sources.databases import open_queries
from sundog.sources.files import open_file
from sundog.sources.frames import open_frame
from sundog.sources.server import OnServer, open_on_server
from sundog.sources.spark import OnSpark, is_spark_frame, open_on_spark, open_spark_frame

__all__ = ["OnServer", "OnSpark", "Source", "open_table", "open_tables"]


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


def open_tables(tables: Mapping[str, Any], *, dialects: Mapping[str, Dialect]) -> dict[str, Source]:
    """The sources of several tables by name, each given as for one table or as a database and a query on it.

    The queries on one database see one snapshot of it: between two, a row could lose its parent.
    """
    queries = {name: given for name, given in tables.items() if isinstance(given, tuple)}
    opened = {name: open_table(given, dialect=dialects[name]) for name, given in tables.items() if name not in queries}
    for place in dict.fromkeys(place for place, _ in queries.values()):
        opened |= open_queries(place, {name: sql for name, (where, sql) in queries.items() if where == place})
    return opened
