"""Metric: one number that says how alike a synthetic table is, and what it may be computed from.

Two kinds, distinguished by `needs`. "released" metrics are functions of released measurements and synthetic rows: public.
"real" metrics look at real rows: whatever they return is CONFIDENTIAL, and the rows come through one door only
(private.disclose), which writes the disclosure into the ledger first. No metric can open a table itself.

Every random query of a metric is drawn from a key, by default that of seed 0, so that tables are asked the same
questions wherever and whenever they are evaluated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Literal, Protocol, TypeVar

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.queries import Query
from sundog.random.keys import Key, key_of, permutation
from sundog.released import Released

BINS = 32
"""Numeric columns are cut into this many equal bins (fewer where the grid has fewer points); missing is its own cell."""


@dataclass(frozen=True)
class Score:
    """The number, and the parts it is made of: per query class, per target, ..."""

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A synthetic table beside the real one. CONFIDENTIAL: it holds real rows.

    `test` are real rows that the synthesizer never saw; `baseline` is the synthetic table that this one improves upon;
    `workload` are the queries that the run was meant to answer.
    """

    real: Rows
    synthetic: Rows
    test: Rows | None = None
    baseline: Rows | None = None
    workload: tuple[Query, ...] = ()
    key: Key = field(default_factory=lambda: key_of(0))

    def __post_init__(self) -> None:
        others = (rows for rows in (self.synthetic, self.test, self.baseline) if rows is not None)
        if any(rows.schema.columns != self.schema.columns for rows in others):  # compiled metrics trust their codes
            raise UserError("evaluate: the tables are encoded by different schemas; read all of them by the same one.")

    @property
    def schema(self) -> Schema:
        """The columns that are compared."""
        return self.real.schema

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The cells of every column."""
        return cells_of(self.schema)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of every column."""
        return tuple(axis.size for axis in self.axes)

    @cached_property
    def real_cells(self) -> Int[np.ndarray, "columns rows"]:
        """The real rows' cells."""
        return np.stack([self.real.cells(axis) for axis in self.axes])

    @cached_property
    def synthetic_cells(self) -> Int[np.ndarray, "columns rows"]:
        """The synthetic rows' cells."""
        return np.stack([self.synthetic.cells(axis) for axis in self.axes])


@dataclass(frozen=True, eq=False)
class Measured:
    """A synthetic table beside what was released. Public."""

    released: Released
    synthetic: Rows


Better = Literal["higher", "lower"]
Needs = Literal["released", "real"]
Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Metric(Protocol[Subject_contra]):
    """What every metric says of itself. `summary` is its definition in one sentence."""

    @property
    def name(self) -> str:
        """Its name in tables and files."""

    @property
    def summary(self) -> str:
        """Its definition in one sentence."""

    @property
    def better(self) -> Better:
        """Whether lower or higher values are better."""

    @property
    def needs(self) -> Needs:
        """What it is computed from; "real" makes the result CONFIDENTIAL."""

    def score(self, subject: Subject_contra) -> Score | None:
        """The score, or None where the tables have nothing to measure (no numeric column, no target, ...)."""


def cells_of(schema: Schema) -> tuple[Axis, ...]:
    """The cells of every column: labels as they are, numbers in BINS equal bins, missing apart."""
    return tuple(
        Axis.of(column, BINS) if isinstance(column, Numeric) else Axis.whole(column) for column in schema.columns
    )


def column_sets(key: Key, columns: int, *, ways: int, most: int) -> list[tuple[int, ...]]:
    """All sets of `ways` columns, or a random `most` of them."""
    every = list(combinations(range(columns), ways))
    if len(every) <= most:
        return every
    return [every[index] for index in sorted(permutation(key, len(every))[:most].tolist())]


def relative_gap(real: Float[np.ndarray, " queries"], synthetic: Float[np.ndarray, " queries"]) -> Score | None:
    """PrivPGD's Eq. 9: the mean absolute difference of the answers over the mean real answer; None if that is zero."""
    mean = float(np.mean(real))
    return Score(float(np.mean(np.abs(real - synthetic))) / mean) if mean > 0 else None
