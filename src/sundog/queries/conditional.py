"""Class-conditional queries (RAP++, Section 5.1): a threshold or range together with every label of a target column.

For one range or halfspace the cells are: satisfied with label y, for every y, and not satisfied (the complement). Every
row falls into exactly one of them, so all labels are measured at once with the sensitivity of a partition (1 or sqrt 2),
where the paper pays for each label. Class-conditional categorical marginals are plain marginals that hold the target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.tally import Tally
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.queries.choosing import numeric_names, targets_of
from sundog.queries.halfspace import Halfspaces, random_halfspaces
from sundog.queries.ranges import Ranges, conjunctions

INNER: dict[str, type[Ranges] | type[Halfspaces]] = {"ranges": Ranges, "halfspaces": Halfspaces}


@dataclass(frozen=True, eq=False)
class Conditional:
    """For every inner query: the rows that satisfy it, by label, then the rows that do not."""

    label: Axis
    inner: Ranges | Halfspaces
    scale = 1

    def __post_init__(self) -> None:
        if self.label.column in self.inner.columns:
            raise UserError(
                f"conditional: the target {self.label.column!r} is also a condition; leave it out of those."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The target, then the columns of the conditions."""
        return (self.label.column, *self.inner.columns)

    @property
    def size(self) -> int:
        """Inner queries times (labels + 1)."""
        return self.inner.size * self.block

    @property
    def tallies(self) -> tuple[Tally, ...] | None:
        """For every range one by label, and one of the complement; none where the inner queries are halfspaces."""
        if not isinstance(self.inner, Ranges):
            return None
        return tuple(
            tally
            for within in self.inner.conditions
            for tally in (Tally((self.label,), within), Tally(within=within, outside=True))
        )

    @property
    def block(self) -> int:
        """The labels and the complement of one inner query."""
        return self.label.size + 1

    @property
    def partition(self) -> bool:
        """One inner query makes a partition; several make several."""
        return self.inner.size == 1

    def sensitivity_squared(self, neighbours: Neighbours) -> Fraction:
        """Every inner query makes a partition: 1 or 2 for each."""
        return self.inner.size * self.block_l1(neighbours)

    def sensitivity_l1(self, neighbours: Neighbours) -> Fraction:
        """Every inner query makes a partition: 1 or 2 for each."""
        return self.inner.size * self.block_l1(neighbours)

    def sensitivity_linf(self, neighbours: Neighbours) -> Fraction:
        """One row changes a single answer by at most 1."""
        return Fraction(1)

    def block_l1(self, neighbours: Neighbours) -> Fraction:
        """A block is a partition."""
        return Fraction(1 if neighbours == "add-remove" else 2)

    def add(self, rows: Rows, totals: Int[np.ndarray, " cells"]) -> None:
        """Count the rows into the cells."""
        counts = self.inner.counts_by(rows, rows.cells(self.label), self.label.size)
        rest = len(rows) - counts.sum(axis=1, keepdims=True)
        totals += np.concatenate([counts, rest], axis=1).ravel()

    def vectors(self, rows: Rows) -> Int[np.ndarray, "rows cells"]:
        """For every inner query a 1 at the row's label, or at the complement."""
        held = self.inner.vectors(rows)[:, :, None]
        labels = np.eye(self.label.size, dtype=np.int64)[rows.cells(self.label)][:, None, :]
        return np.concatenate([held * labels, 1 - held], axis=2).reshape(len(rows), self.size)

    def block_keys(self) -> list[bytes]:
        """The target with each inner query."""
        head = repr(self.label.to_json()).encode()
        return [head + key for key in self.inner.block_keys()]

    def subset(self, blocks: Sequence[int]) -> "Conditional":
        """Some of the inner queries, each with all labels."""
        return Conditional(self.label, self.inner.subset(blocks))

    def describe(self) -> str:
        """The target and what it is combined with."""
        return f"{self.label.column} ({self.label.size} labels) by {self.inner.describe()}"

    def to_json(self) -> dict[str, Any]:
        """The target's axis and the inner queries."""
        return {"query": "conditional", "label": self.label.to_json(), "inner": self.inner.to_json()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], schema: Schema) -> "Conditional":
        """The query that `to_json` described."""
        label = Axis.from_json(document["label"], schema.column(document["label"]["column"]))
        return cls(label, INNER[document["inner"]["query"]].from_json(document["inner"], schema))

    @staticmethod
    def of(schema: Schema, target: str, inner: Ranges | Halfspaces) -> "Conditional":
        """The inner queries by every label of a target; a numeric target is split at the middle of its bounds."""
        column = schema.column(target)
        if isinstance(column, Numeric):
            return Conditional(Axis.cut(column, [0, column.steps // 2] if column.steps > 1 else [0]), inner)
        return Conditional(Axis.whole(column), inner)


def conditional_ranges(
    schema: Schema,
    *,
    targets: Sequence[str] | None = None,
    count: int = 1000,
    numbers: int = 2,
    seed: int = 0,
    reference: Rows | None = None,
) -> list[Conditional]:
    """Every label of every target with random thresholds on some numeric columns (RAP++: MM)."""
    made = []
    for target in targets_of(schema, targets):
        inner = conjunctions(
            schema,
            count,
            labels=0,
            numbers=numbers,
            seed=seed + schema.position(target),
            reference=reference,
            closed_below=False,
            without=target,
        )
        made.append(Conditional.of(schema, target, inner))
    return made


def conditional_thresholds(
    schema: Schema,
    *,
    targets: Sequence[str] | None = None,
    directions: int = 100,
    thresholds: int = 20,
    seed: int = 0,
    reference: Rows | None = None,
) -> list[Conditional]:
    """Every label of every target with linear thresholds over the numeric columns (RAP++: LT)."""
    made = []
    for target in targets_of(schema, targets):
        names = [name for name in numeric_names(schema) if name != target]
        if not names:
            raise UserError("linear thresholds: the schema has no numeric column beside the target; use marginals.")
        inner = random_halfspaces(
            schema, names, directions, thresholds=thresholds, seed=seed + schema.position(target), reference=reference
        )
        made.append(Conditional.of(schema, target, inner))
    return made
