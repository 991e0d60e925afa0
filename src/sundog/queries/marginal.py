"""k-way marginals: how many rows fall into each combination of cells of k columns.

A partition of the rows: one row adds 1 to one cell (L2 sensitivity 1 when a row is added or removed), and a replaced row
takes 1 from one cell and gives it to another (sqrt 2). Cells are half-open, so no boundary value counts twice.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int
from numba import njit

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.base import OneBlock, Query
from sundog.queries.choosing import label_names, sampled, targets_of

MOST_CELLS = 2**31 - 1
"""More cells than any table can have here; what memory holds is checked where a run begins."""


@dataclass(frozen=True)
class Marginal(OneBlock):
    """The table of counts over some axes, flattened with the last axis fastest."""

    axes: tuple[Axis, ...]
    partition = True

    def __post_init__(self) -> None:
        if not self.axes or len(set(self.columns)) < len(self.axes):
            raise UserError(f"marginal: it needs one or more distinct columns; found {self.columns}.")
        if self.size > MOST_CELLS:
            raise UserError(
                f"marginal: {self.describe()} has {self.size:.3g} cells; at most {MOST_CELLS} can be counted. Choose fewer "
                "columns, or wider bins."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return tuple(axis.column for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def tables(self) -> "tuple[Marginal, ...]":
        """Itself, as the only one."""
        return (self,)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """One, over all axes."""
        return (Tally(self.axes),)

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return math.prod(self.shape)

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove) or 2 (replace)."""
        return Fraction(1 if neighbours == "add-remove" else 2)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """1 (add-remove) or 2 (replace)."""
        return Fraction(1 if neighbours == "add-remove" else 2)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """1: a row sits in one cell."""
        return Fraction(1)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Count the rows into the cells."""
        if totals.shape != (self.size,):
            raise UserError(f"marginal: found totals of shape {totals.shape}; it has {self.size} cells.")
        if len(rows):
            _count(tuple(rows.cells(axis) for axis in self.axes), self._strides, totals)

    @cached_property
    def _strides(self) -> Int[np.ndarray, " axes"]:
        return np.array([math.prod(self.shape[k + 1 :]) for k in range(len(self.axes))], dtype=np.int64)

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """A single 1 in every row."""
        places = sum(rows.cells(axis) * stride for axis, stride in zip(self.axes, self._strides, strict=True))
        found = np.zeros((len(rows), self.size), dtype=np.int64)
        found[np.arange(len(rows)), places] = 1
        return found

    def block_keys(self) -> list[bytes]:
        """One name: it is one block, the same in any order of its columns."""
        in_order = Marginal(tuple(sorted(self.axes, key=lambda axis: axis.column)))
        return OneBlock.block_keys(in_order)

    def describe(self) -> str:
        """The columns and their numbers of cells."""
        return " x ".join(f"{axis.column} ({axis.size})" for axis in self.axes)

    def to_json(self) -> dict[str, Any]:
        """The axes of the table, as a document."""
        return {"query": "marginal", "axes": [axis.to_json() for axis in self.axes]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Marginal":
        """The query that `to_json` described."""
        return cls(tuple(Axis.from_json(axis, schema.column(axis["column"])) for axis in document["axes"]))

    @staticmethod
    def of(schema: Schema, *columns: str, bins: int | None = None) -> "Marginal":
        """The marginal over named columns with their public default cells.

        >>> schema = Schema.from_json({"fields": [{"name": "smoker", "type": "boolean"}]})
        >>> Marginal.of(schema, "smoker").describe()
        'smoker (3)'
        """
        return Marginal(tuple(Axis.of(schema.column(name), bins) for name in columns))


def tables_of(query: Query) -> tuple[Marginal, ...]:
    """The marginals that a query consists of, one after the other (a marginal, a tree); none where it is something else."""
    return query.tables if isinstance(query, _OfTables) else ()


@runtime_checkable
class _OfTables(Protocol):
    """A query that consists of marginals."""

    @property
    def tables(self) -> tuple[Marginal, ...]:
        """The marginals, one after the other."""


def one_way_axis(query: Query) -> Axis | None:
    """The axis of a marginal of one column; None for any other query."""
    return query.axes[0] if isinstance(query, Marginal) and len(query.axes) == 1 else None


def marginals(
    schema: Schema,
    *,
    k: int = 2,
    sample: int | None = None,
    seed: int = 0,
    columns: Sequence[str] | None = None,
    bins: int | None = None,
) -> list[Marginal]:
    """k-way marginals over all (or named) columns; `sample` draws that many of them."""
    names = list(columns) if columns is not None else list(schema.names)
    if not 1 <= k <= len(names):
        raise UserError(f"marginals: found k = {k}; with {len(names)} columns, 1 to {len(names)} are allowed.")
    chosen = sampled(list(itertools.combinations(names, k)), sample, seed=seed)
    axes = {name: Axis.of(schema.column(name), bins) for name in dict.fromkeys(itertools.chain(*chosen))}
    return [Marginal(tuple(axes[name] for name in names)) for names in chosen]


def conditional_marginals(
    schema: Schema,
    *,
    targets: Sequence[str] | None = None,
    k: int = 2,
    columns: Sequence[str] | None = None,
    bins: int | None = None,
) -> list[Marginal]:
    """Every target with every k categorical (or named) columns (RAP++: CM); each set of columns once."""
    candidates = label_names(schema) if columns is None else list(columns)
    chosen: dict[frozenset[str], tuple[str, ...]] = {}
    for target in targets_of(schema, targets):
        others = [name for name in candidates if name != target]
        for features in itertools.combinations(others, k):
            chosen.setdefault(frozenset((target, *features)), (*features, target))
    return [Marginal.of(schema, *names, bins=bins) for names in chosen.values()]


@njit(cache=True, nogil=True)
def _count(cells: Any, strides: Any, totals: Any) -> None:  # pragma: no cover (compiled)
    for row in range(cells[0].shape[0]):
        place = 0
        for k in range(len(cells)):
            place += cells[k][row] * strides[k]
        totals[place] += 1
