"""How linked tables hang together: rows without a key, orphans, rows beyond the declared bounds. Exact counts."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sundog.domain.linked.table import LinkedTable
from sundog.sources.linked import Codes, LinkedSource, joined_keys, read_keyed


@dataclass(frozen=True)
class Links:
    """The links of one table, in rows; `few` is in parents."""

    table: str
    rows: int
    without_key: int = 0
    repeated_keys: int = 0
    without_parent: int = 0
    beyond: int = 0
    few: int = 0
    parents: int = 0


def count_links(source: LinkedSource) -> list[Links]:
    """The links of every table that is there, parents before children."""
    keys: dict[str, pa.Array] = {}
    found = []
    for table in source.package.tables:
        if table.name not in source.tables:
            continue
        rows, own, _ = read_keyed(table, source.tables[table.name])
        keys[table.name] = own[0]
        missing = own[0].null_count if table.key is not None else 0
        distinct = pc.count_distinct(own[0], mode="only_valid").as_py() if table.key is not None else len(rows)
        above = keys.get(table.parent or "")
        links = (0, 0, 0, 0) if above is None else _below(table, own[-1], pc.unique(above).drop_null())
        found.append(Links(table.name, len(rows), missing, len(rows) - missing - distinct, *links))
    return found


def faults(source: LinkedSource) -> Iterator[tuple[str, str]]:
    """What is wrong with the links of tables that are public or synthetic: table and what."""
    for links in count_links(source):
        if links.without_key or links.repeated_keys:
            yield links.table, f"a key {source.package.table(links.table).key!r} is missing or occurs twice."
        elif links.without_parent or links.beyond:
            yield links.table, "a row has no parent, or a parent has more rows than declared."
        elif links.few:
            yield links.table, "a parent has fewer rows than declared."


def joined(source: LinkedSource) -> dict[str, tuple[dict[str, Codes], Codes]]:
    """Codes by full name and each row's parent, of tables that are public or synthetic and have no faults."""
    made: dict[str, tuple[dict[str, Codes], Codes]] = {}
    keys: dict[str, pa.Array] = {}
    for table in source.package.tables:
        rows, own, _ = read_keyed(table, source.tables[table.name])
        keys[table.name] = own[0]
        parent = np.arange(len(rows)) if table.parent is None else joined_keys(own[-1], keys[table.parent])[1]
        made[table.name] = {f"{table.name}.{name}": rows.column(name) for name in table.schema.names}, parent
    return made


def _below(table: LinkedTable, wanted: pa.Array, above: pa.Array) -> tuple[int, int, int, int]:
    """Rows without a parent that is there, rows beyond the most of one, parents with fewer than the least, parents."""
    _, parent = joined_keys(wanted, above)
    sizes = np.bincount(parent, minlength=len(above))
    beyond = int(np.maximum(sizes - table.most, 0).sum())
    return len(wanted) - len(parent), beyond, int((sizes < table.least).sum()), len(above)
