"""Class-conditional queries (RAP++, Section 5.1): a threshold or range together with every label of a target column.

For one range or halfspace the cells are: satisfied with label y, for every y, and not satisfied (the complement). Every
row falls into exactly one of them, so all labels are measured at once with the sensitivity of a partition (1 or sqrt 2),
where the paper pays for each label. Class-conditional categorical marginals are plain marginals that hold the target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.queries.base import changed, difference
from sundog.queries.halfspace import Halfspaces
from sundog.queries.ranges import Ranges
from sundog.rows import Rows
from sundog.schema import Numeric, Schema
from sundog.unit import Neighbours

if TYPE_CHECKING:
    from jaxtyping import Array

    from sundog.soft import SoftRows

INNER: dict[str, type[Ranges] | type[Halfspaces]] = {"ranges": Ranges, "halfspaces": Halfspaces}


@dataclass(frozen=True, eq=False)
class Conditional:
    """For every inner query: the rows that satisfy it, by label, then the rows that do not."""

    label: Axis
    inner: Ranges | Halfspaces
    unit = 1

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
        """1."""
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

    def relaxed(self, soft: "SoftRows", sharpness: float) -> "Float[Array, ' cells']":
        """Soft membership times soft label."""
        import jax.numpy as jnp

        labels = soft.cells(self.label, sharpness)
        counts = jnp.matmul(self.inner.members(soft, sharpness).T, labels, precision="highest")
        rest = labels.shape[0] - counts.sum(axis=1, keepdims=True)
        return jnp.concatenate([counts, rest], axis=1).ravel()

    def change(
        self, rows: Rows, row: int, *, column: str, code: int
    ) -> tuple[Int[np.ndarray, " touched"], Int[np.ndarray, " touched"]]:
        """A row moves between two cells of each inner query that it satisfies before or after."""
        if column not in self.columns:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return difference(self, *changed(rows, row, column=column, code=code))

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
