"""How linked tables hang together: rows without a key, orphans, rows beyond the declared bounds. Exact counts."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sundog.domain.linked.table import LinkedTable
from sundog.sources.linked import LinkedSource, joined_keys, read_keyed


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


def _below(table: LinkedTable, wanted: pa.Array, above: pa.Array) -> tuple[int, int, int, int]:
    """Rows without a parent that is there, rows beyond the most of one, parents with fewer than the least, parents."""
    _, parent = joined_keys(wanted, above)
    sizes = np.bincount(parent, minlength=len(above))
    beyond = int(np.maximum(sizes - table.most, 0).sum())
    return len(wanted) - len(parent), beyond, int((sizes < table.least).sum()), len(above)
