"""What rows say of pairs of siblings. Free: released values only.

Columns. A column is counted twice: in the rows of a table, and in the pairs of siblings, where families with one row are absent and each row
counts by its pairs. Both differ, but mostly not by much, and rows are counted with less noise. So what pairs say of a column is
as far from what rows say of it as the noise allows to say, by empirical Bayes (sundog.estimate.shrinkage). This takes a fifth to a third
off the error of siblings' columns. It is for siblings that have no order: in a sequence, the first of two differs from the second, and rows
do not tell by how much (in households, which are sequences, it took the first person's age away from the head of the family).

Dependence. Siblings are mostly alike in what also goes together within a row, and in what their parent tells of both. So the tables
of rows, with the columns of their parent, take part in the low-rank model of what all tables of siblings say together
(sundog.estimate.pairs.factors): once as the first sibling's and once as the second's, in counts of pairs. There each sibling's columns and their
parent's are held together by tables with less noise, and what siblings have in common stands out sooner. Tables of a row's place
do not take part: siblings have different ones. The table of a column with itself is cleaned without this support: no table of rows
has such a pair, and what is alike in siblings would be taken off with the noise (how often labels occur in a household was wrong by
3 to 8 % more).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sundog.domain.linked.views import SECOND, structural
from sundog.estimate.bins import Leaves
from sundog.estimate.pairs.factors import Excess
from sundog.estimate.pairs.pool import Pooled
from sundog.estimate.pairs.public import drawn
from sundog.queries.marginal import one_way_axis
from sundog.released import Measurement, Released

LEAST = 0.5
"""No cell is guessed to be emptier than half a root."""


def drawn_to_rows(siblings: Released, rows: Mapping[str, Leaves]) -> Released:
    """What was released of pairs of siblings, their columns drawn towards what is known of all rows."""
    total = float(siblings.rows)
    return siblings.with_measurements(tuple(_drawn(each, rows, total) for each in siblings.measurements))


def _drawn(measurement: Measurement, rows: Mapping[str, Leaves], total: float) -> Measurement:
    axis = one_way_axis(measurement.query)
    name = "" if axis is None else axis.column.removesuffix(SECOND)
    if axis is None or name not in rows or rows[name].stddev <= 0:
        return measurement
    guess = rows[name].shares(replace(axis, column=name)) * total
    return drawn(measurement, guess.clip(min=LEAST))


def of_both_siblings(rows: Sequence[Excess], own: Collection[str], *, scale: float) -> tuple[Excess, ...]:
    """What tables of rows say beyond independence, as of either of two siblings; `scale` turns roots with rows into roots with pairs."""
    seen = [each for each in rows if not any(structural(axis.column) for axis in each.axes)]
    return tuple(_scaled(each, scale) for table in seen for each in (table, _of_second(table, own)))


def with_own_alone(supported: Pooled, alone: Pooled) -> Pooled:
    """Tables of siblings that rows support, but those of a column with itself as they are by themselves."""
    tables = [
        own if own[0].columns[1] == f"{own[0].columns[0]}{SECOND}" else other
        for own, other in zip(alone.tables, supported.tables, strict=True)
    ]
    return replace(supported, tables=tuple(tables))


def _scaled(table: Excess, scale: float) -> Excess:
    return Excess(table.axes, table.counts * scale, table.stddev * scale)


def _of_second(table: Excess, own: Collection[str]) -> Excess:
    """The same of the second sibling: what is above both keeps its name."""
    first, second = (
        replace(axis, column=f"{axis.column}{SECOND}") if axis.column in own else axis for axis in table.axes
    )
    return replace(table, axes=(first, second))
