"""The keys of linked tables: read as texts, joined so that a row belongs to one unit alone, and checked to name one record each.

What one unit can change is bounded in this universe of databases: in every table that others refer to by its key alone
(`Package.named_by_key`), the key is present and unique. Without it, one record could move the rows of all others: of a key that
repeats, each parent keeps some rows, and which they are depends on what all parents hold. So a run checks it before anything is
spent; a refusal tells one bit, which the ledger records.

Where rows carry the root's key, they join by it too. Such a row belongs to the unit that it names or to nobody, whatever its other
keys hold, and its parent's key need not be unique.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from sundog.domain import Schema
from sundog.domain.linked.structure import within
from sundog.domain.linked.table import LinkedTable, key_text
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.sources.base import Source
from sundog.sources.duck import Key
from sundog.sources.plain import numpy_of

TEXT = pa.large_string()
"""Keys as texts: those of a column may have more than 2 GB together."""
Codes = Int[np.ndarray, " rows"]


@runtime_checkable
class KeyedSource(Protocol):
    """A source that can also tell keys."""

    def keyed(self, schema: Schema, keys: Sequence[Key]) -> Iterator[tuple[Rows, list[pa.Array], Codes]]:
        """Batches of encoded rows, their keys as texts (null where one is missing), and a hash of each row and its keys."""

    def check_keys(self, schema: Schema, keys: Sequence[Key]) -> None:
        """Refuse, before any row is read, keys that are not there or cannot name a record."""


@dataclass(frozen=True, eq=False)
class Keyed:
    """A whole table as it is joined: encoded rows, keys as texts (null where one is missing), and the hash of each row and its keys.

    `own` is null where the table has no key of its own, `unit` is None where the rows do not carry the root's key.
    """

    rows: Rows
    own: pa.Array
    parent: pa.Array | None
    unit: pa.Array | None
    rank: Codes

    def __len__(self) -> int:
        return len(self.rank)


def keyed_source(source: Source) -> KeyedSource:
    """The source, if it can tell keys."""
    if not isinstance(source, KeyedSource):
        raise UserError(
            "linked tables are joined by their keys in this process, which cannot be done with rows that are only counted where "
            "they are (in a Spark cluster, or in a database that adds up); give a file, a query or a frame."
        )
    return source


def identifiers(table: LinkedTable) -> list[Key]:
    """The fields of every key that is read."""
    return [tuple(table.identifier(name) for name in key) for key in table.keys]


def read_keyed(table: LinkedTable, source: Source) -> Keyed:
    """A whole table with its keys."""
    keys = identifiers(table)
    batches = list(keyed_source(source).keyed(table.schema, keys))
    texts = {
        key: pa.concat_arrays([pa.array([], TEXT), *(found[k].cast(TEXT) for _, found, _ in batches)])
        for k, key in enumerate(table.keys)
    }
    rows = Rows.concatenate([batch for batch, _, _ in batches], table.schema)
    rank = np.concatenate([np.empty(0, np.uint64), *(rank for _, _, rank in batches)])
    own = texts.get(table.key, pa.nulls(len(rank), TEXT))
    below_root = table.parent is not None
    return Keyed(
        rows,
        own,
        texts.get(table.foreign_key) if below_root else None,
        texts.get(table.unit_key) if below_root else None,
        rank,
    )


def joint_numbers(wanted: Sequence[pa.Array], keys: Sequence[pa.Array]) -> tuple[Codes, Codes]:
    """A number for every wanted key and one for every key: equal where all their parts are, -1 where a part is missing."""
    parts = [numbers_of(pa.concat_arrays([above, below])) for above, below in zip(keys, wanted, strict=True)]
    numbers = parts[0]
    for part in parts[1:]:
        both = np.where((numbers < 0) | (part < 0), -1, numbers * (int(part.max(initial=0)) + 1) + part)
        numbers = np.where(both < 0, -1, np.unique(both, return_inverse=True)[1])
    return numbers[len(keys[0]) :], numbers[: len(keys[0])]


def numbers_of(keys: pa.Array) -> Codes:
    """A number for each different text, -1 for null."""
    return numpy_of(pc.fill_null(keys.dictionary_encode().indices.cast(pa.int64()), -1))


def matched(wanted: Codes, keys: Codes) -> tuple[Codes, Codes]:
    """Rows and their parents, for every parent that has the wanted number; what is negative matches nothing."""
    order = np.argsort(keys, kind="stable")
    low, high = (np.searchsorted(keys[order], wanted, side=side) for side in ("left", "right"))
    matches = np.where(wanted < 0, 0, high - low)
    place = np.repeat(np.arange(len(wanted)), matches)
    return place, order[np.repeat(low, matches) + within(place)]


def first_of_each(numbers: Codes, rank: Codes, *, most: int) -> Codes:
    """At most this many rows of every number, those of the smallest hash; none without a number."""
    order = np.lexsort((rank, numbers))
    return order[(numbers[order] >= 0) & (within(numbers[order]) < most)]


def names_one_each(keys: pa.Array) -> bool:
    """Whether every key is present and none occurs twice."""
    return not keys.null_count and pc.count_distinct(keys).as_py() == len(keys)


def refuse_repeated(table: LinkedTable, keys: pa.Array) -> None:
    """Refuse a table whose key does not name one record each; a value of it is never said."""
    if not names_one_each(keys):
        remedy = (
            ", or carry the key of the root in every table: a composite primaryKey, or unitKey" if table.parent else ""
        )
        raise UserError(
            f"table {table.name!r}: its primaryKey {key_text(table.key)!r} is missing in some row, or occurs in several. Other tables "
            "refer to it, so what one protected unit changes could not be bounded. Look for duplicates and rows without a key with: "
            f"sundog check; repair them{remedy}. Nothing was charged."
        )
