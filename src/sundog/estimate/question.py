"""Question: what analysts ask of a table, in terms of its columns; and what an answer consists of."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition, Inside, columns_of
from sundog.errors import UserError
from sundog.estimate.answers import quantile

Names = tuple[str, ...]
Kind = Literal["count", "share", "mean", "sum", "quantile"]
MOST_BY = 3

Numbers = Float[np.ndarray, "cells items"]


@dataclass(frozen=True)
class Statistic:
    """What is asked: of a share the cell of the column (None: all of `cells`), of a quantile its probability.

    `cells` are coarser ones than those that were measured; None: those.
    """

    kind: Kind
    column: str | None = None
    label: Inside | None = None
    probability: float | None = None
    name: str = ""
    cells: Axis | None = None


@dataclass(frozen=True)
class Question:
    """Statistics of the rows that satisfy a condition, by cells of some columns."""

    by: Names = ()
    where: Condition | None = None
    statistics: tuple[Statistic, ...] = (Statistic("count", name="count"),)
    confidence: float = 0.95

    def columns(self, statistic: Statistic) -> Names:
        """All columns that a statistic's rows are looked at by."""
        own = () if statistic.column is None else (statistic.column,)
        where = () if self.where is None else columns_of(self.where)
        return tuple(dict.fromkeys((*self.by, *own, *where)))

    @property
    def z(self) -> float:
        """How many standard deviations either side an interval reaches."""
        return quantile(self.confidence)


@dataclass(frozen=True, eq=False)
class Found:
    """Answers by cells of the `by` axes: several items per statistic (the labels of a share), each with an interval."""

    items: tuple[str, ...]
    estimate: Numbers
    low: Numbers
    high: Numbers
    origin: Literal["measured", "composed", "synthetic"]


def check_question(question: Question, schema: Schema) -> None:
    """Refuse what cannot be asked of a table of this schema."""
    if len(question.by) > MOST_BY or len(set(question.by)) < len(question.by):
        raise UserError(f"by: found {', '.join(question.by)}; name one to {MOST_BY} columns, each once.")
    for name in question.by:
        schema.position(name)
    if not 0 < question.confidence < 1:
        raise UserError(f"confidence: found {question.confidence!r}; it must lie between 0 and 1, such as 0.95.")
    for statistic in question.statistics:
        column = None if statistic.column is None else schema.column(statistic.column)
        if statistic.column in question.by:
            raise UserError(f"{statistic.kind}: column {statistic.column!r} is also named in by; name another there.")
        if statistic.kind in ("mean", "sum") and not (
            isinstance(column, Numeric) and column.kind in ("integer", "number")
        ):
            raise UserError(f"{statistic.kind}: column {statistic.column!r} holds no numbers; ask for shares instead.")
        if statistic.kind == "quantile" and isinstance(column, Categorical) and not column.ordered:
            raise UserError(f"quantile: the labels of {statistic.column!r} have no order; ask for shares instead.")
        if statistic.probability is not None and not 0 < statistic.probability < 1:
            raise UserError(f"quantile: found {statistic.probability!r}; it must lie between 0 and 1, such as 0.5.")


def bounds_of(column: Categorical | Numeric) -> tuple[float, float]:
    """The lower bound, and how far the upper lies from it: as numbers, or as codes for labels and dates."""
    if isinstance(column, Numeric) and column.kind in ("integer", "number"):
        unit = 10.0**-column.decimals if column.kind == "number" else 1.0
        return column.lower * unit, (column.steps - 1) * unit
    return 0.0, float(column.size - column.nullable - 1)


def cell_name(axis: Axis, column: Categorical | Numeric, cell: int) -> str:
    """A cell in words: a label, a value, a range of values, or merged labels."""
    if axis.groups is not None:
        codes = np.flatnonzero(axis.cell_of == cell)
        names = [column.describe(int(code)) for code in codes[:3]]
        return ", ".join(names) + (f" and {len(codes) - 3} more" if len(codes) > 3 else "")
    low, high = axis.bounds(cell)
    first, last = column.describe(low), column.describe(high - 1)
    return first if high - low == 1 else f"{first} to {last}"
