"""How linked tables hang together: rows without a key, orphans, rows beyond the declared bounds. Exact counts."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sundog.domain.linked.package import Package
from sundog.domain.linked.table import LinkedTable, key_text
from sundog.sources.linked import LinkedSource
from sundog.sources.linked_keys import Codes, Keyed, joint_numbers, matched, read_keyed


@dataclass(frozen=True)
class Links:
    """The links of one table, in rows; `few` is in parents."""

    table: str
    rows: int
    without_key: int = 0
    repeated_keys: int = 0
    without_foreign_key: int = 0
    without_parent: int = 0
    beyond: int = 0
    few: int = 0
    parents: int = 0


@dataclass(frozen=True, eq=False)
class _Named:
    """A table's own keys, and the root's key of every row, as far as either is there."""

    own: pa.Array
    unit: pa.Array


def count_links(source: LinkedSource) -> list[Links]:
    """The links of every table that is there, parents before children."""
    held: dict[str, _Named] = {}
    found = []
    for table in source.package.tables:
        if table.name not in source.tables:
            continue
        keyed = read_keyed(table, source.tables[table.name])
        parent = held.get(table.parent or "")
        held[table.name] = _named(table, keyed, parent)
        missing, repeated = _own_keys(source.package, table, held[table.name])
        links = {} if parent is None else _counts(table, keyed, parent)
        found.append(Links(table.name, len(keyed), missing, repeated, **links))
    return found


def _named(table: LinkedTable, keyed: Keyed, parent: _Named | None) -> _Named:
    """The rows' own keys and their roots': as they carry them, or those of the parent."""
    if table.parent is None:
        return _Named(keyed.own, keyed.own)
    if keyed.unit is not None or parent is None:
        return _Named(keyed.own, keyed.parent if keyed.unit is None else keyed.unit)
    place, above = _parents(keyed, parent)
    first = np.full(len(keyed), -1)
    first[place[::-1]] = above[::-1]
    return _Named(keyed.own, parent.unit.take(pa.array(first, mask=first < 0)))


def _own_keys(package: Package, table: LinkedTable, named: _Named) -> tuple[int, int]:
    """Rows without a key of their own, and rows that repeat one: of one unit, where units tell keys apart."""
    if not table.key:
        return 0, 0
    keys = [named.own] if table.name in package.named_by_key else [named.own, named.unit]
    numbers = joint_numbers([each.slice(0, 0) for each in keys], keys)[1]
    filled = numbers[numbers >= 0]
    return named.own.null_count, len(filled) - len(np.unique(filled))


def _parents(keyed: Keyed, parent: _Named) -> tuple[Codes, Codes]:
    """Rows and their parents, for every parent that has the key."""
    below, above = _numbers(keyed, parent)
    return matched(below, above)


def _numbers(keyed: Keyed, parent: _Named) -> tuple[Codes, Codes]:
    """A number for what each row names, and one for each row of the parent: joined as sources/linked.py joins them."""
    wanted, keys = [keyed.parent], [parent.own]
    if keyed.unit is not None and parent.own is not parent.unit:  # a parent that is the root says the same twice
        wanted, keys = [*wanted, keyed.unit], [*keys, parent.unit]
    return joint_numbers(wanted, keys)


def faults(source: LinkedSource) -> Iterator[tuple[str, str]]:
    """What is wrong with the links of tables that are public or synthetic: table and what."""
    for links in count_links(source):
        if links.without_key or links.repeated_keys:
            key = key_text(source.package.table(links.table).key)
            yield links.table, f"a key {key!r} is missing or occurs twice."
        elif links.without_foreign_key or links.without_parent or links.beyond:
            yield links.table, "a row has no parent, or a parent has more rows than declared."
        elif links.few:
            yield links.table, "a parent has fewer rows than declared."


def joined(source: LinkedSource) -> dict[str, tuple[dict[str, Codes], Codes]]:
    """Codes by full name and each row's parent, of tables that are public or synthetic and have no faults."""
    made: dict[str, tuple[dict[str, Codes], Codes]] = {}
    held: dict[str, _Named] = {}
    for table in source.package.tables:
        keyed = read_keyed(table, source.tables[table.name])
        parent = held.get(table.parent or "")
        held[table.name] = _named(table, keyed, parent)
        above = np.arange(len(keyed)) if parent is None else _parents(keyed, parent)[1]
        made[table.name] = {f"{table.name}.{name}": keyed.rows.column(name) for name in table.schema.names}, above
    return made


def _counts(table: LinkedTable, keyed: Keyed, parent: _Named) -> dict[str, int]:
    """Rows that name no parent, or one that is not there; rows beyond the most of one, parents with fewer than the least, parents."""
    below, above = _numbers(keyed, parent)
    parents = np.unique(above[above >= 0])
    named = below[below >= 0]
    there = np.isin(named, parents)
    sizes = np.bincount(named[there], minlength=int(parents.max(initial=-1)) + 1)[parents]
    return {
        "without_foreign_key": len(below) - len(named),
        "without_parent": int((~there).sum()),
        "beyond": int(np.maximum(sizes - table.most, 0).sum()),
        "few": int((sizes < table.least).sum()),
        "parents": len(parents),
    }
