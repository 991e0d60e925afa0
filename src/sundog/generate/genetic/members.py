"""Parts of the flat forms of 0/1 queries (ranges, halfspaces, with or without a label), and how lists are laid out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.forms import Places
from sundog.queries import Halfspaces, Ranges
from sundog.queries.halfspace import width


def pointers(
    keys: Int[np.ndarray, " entries"], number: int
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " entries"]]:
    """Where each key's entries begin once sorted by key, and the order that sorts them."""
    order = np.argsort(keys, kind="stable")
    return np.searchsorted(keys[order], np.arange(number + 1)), order


def flat(parts: Sequence[Any], kind: type = np.int64) -> Any:
    """Some arrays or numbers as one array of a fixed type."""
    return (
        np.concatenate([np.atleast_1d(np.asarray(part)) for part in parts]).astype(kind) if parts else np.empty(0, kind)
    )


@dataclass(eq=False)
class PlacesBuilder:
    """Where the members of 0/1 queries are counted."""

    columns: int
    inside: list[Any] = field(default_factory=list)
    outside: list[Any] = field(default_factory=list)
    weight: list[Any] = field(default_factory=list)
    label_column: list[Any] = field(default_factory=list)
    label_offset: list[Any] = field(default_factory=list)
    cells: list[Any] = field(default_factory=list)
    held: int = 0

    def add(
        self, number: int, start: int, weight: float, *, label: tuple[int, Int[np.ndarray, " atoms"]] | None
    ) -> None:
        """So many queries; with a label their blocks are its cells and the complement."""
        column, cells = label if label is not None else (-1, np.empty(0, np.int64))
        block = int(cells.max()) + 2 if label is not None else 1
        self.inside.append(start + block * np.arange(number))
        self.outside.append(np.full(number, -1) if label is None else start + block * np.arange(number) + block - 1)
        self.weight.append(np.full(number, weight))
        self.label_column.append(np.full(number, column))
        self.label_offset.append(np.full(number, self.held))
        self.cells.append(cells)
        self.held += len(cells)

    def built(self, order: Int[np.ndarray, " queries"] | None = None) -> Places:
        """The form, with the queries in another order if one is given."""
        some = slice(None) if order is None else order
        column = flat(self.label_column)[some]
        label, query = pointers(column[column >= 0], self.columns)
        return Places(
            inside=flat(self.inside)[some],
            outside=flat(self.outside)[some],
            weight=flat(self.weight, np.float64)[some],
            label_column=column,
            label_offset=flat(self.label_offset)[some],
            label_cells=flat(self.cells),
            label=label,
            label_query=np.flatnonzero(column >= 0)[query],
        )


def conditions_of(query: Ranges, atoms: Atoms) -> Int[np.ndarray, "4 conditions"]:
    """Every condition as (query, column, low atom, high atom), one for each column of a query, in the queries' order."""
    places = np.array([atoms.schema.position(name) for name in query.columns])
    which = np.where(query.which >= 0, places[query.which], -1)
    low, high = np.zeros_like(query.low), np.zeros_like(query.high)
    for place in places:
        on = which == place
        low[on] = np.searchsorted(atoms.starts[place], query.low[on])
        high[on] = np.searchsorted(atoms.starts[place], query.high[on])
    for k in range(which.shape[1]):
        for m in range(k):  # two conditions on one column: their intersection
            twice = (which[:, k] == which[:, m]) & (which[:, k] >= 0)
            low[twice, m] = np.maximum(low[twice, m], low[twice, k])
            high[twice, m] = np.minimum(high[twice, m], high[twice, k])
            which[twice, k] = -1
    held = np.nonzero(which >= 0)
    return np.stack([held[0], which[held], low[held], high[held]])


def embedded(schema: Schema, query: Halfspaces) -> Int[np.ndarray, "directions features"]:
    """A query's directions over the embedding of all columns."""
    widths = [width(column) for column in schema.columns]
    starts = dict(zip(schema.names, np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
    theta = np.zeros((len(query.theta), sum(widths)), dtype=np.int16)
    held = 0
    for name, wide in zip(query.columns, query.widths, strict=True):
        theta[:, starts[name] : starts[name] + wide] = query.theta[:, held : held + wide]
        held += wide
    return theta
